package cli

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/examples"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// initOptions are the flags of init.
type initOptions struct {
	skill, optimizer, target, config string
	generate, triggers               int
	drafts                           bool // --triggers was given, whatever its number
	env, sleep, bench                bool // which example
	world                            initWorld
	seed                             int64
	yes                              bool
}

const initHelp = `Write a skill, tasks and a config that train as they are, with a simulated
model and without a key. Then change the tasks to yours and the provider to a
real one.

With --env the tasks are carried out by a program in Python instead, which asks the
model in several turns (docs/environments.md). With --sleep it is the example of three
nights on the sessions of an agent (docs/sleep.md). With --bench it is a benchmark that
"skillopt bench run DIR --fixture" runs (docs/benchmarks.md).

With --world it is a simulated world made from a few numbers: a task asks for one value of
a card, and rules that nobody states say in which form it is expected. Equal numbers give
equal files. docs/simulation.md says what such a world plays.

With --skill and --generate the optimizer drafts that many tasks from the skill
and its references instead: it writes them with expected answers and checks,
answers them once more without seeing these, and what is broken, given away,
repeated or answered otherwise is dropped. DIR gets tasks.jsonl, config.yaml,
and the record of the calls in draft/: the same command again pays for nothing
twice. Runs on drafted tasks are exploratory until they are accepted with
"skillopt tasks review".

With --triggers the optimizer drafts that many trigger tasks: half of them prompts
on which an agent should load the skill, half near misses on which it should not.
In a folder that has a config.yaml, skill, models and tasks are those of it, and
the new tasks are added behind those that its .jsonl file holds if it has an agent
that finds the skill by itself; else they go into triggers.jsonl. The record of the
calls is in draft-triggers/.

The config names its schema, which is written beside it (config.schema.json): editors that
know YAML schemas then complete and explain its keys.

Files that exist are never overwritten, but for the schema.`

func initCommand(a *app) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "init [DIR] [--env | --sleep | --world] | init [DIR] --skill PATH --generate N | init [DIR] --triggers N",
		Short: "Write a working example to change, or draft tasks for a skill",
		Long:  initHelp,
		Example: `  skillopt init my-skill && skillopt train my-skill
  skillopt init my-env --env && skillopt train my-env
  skillopt init my-nights --sleep
  skillopt init hard --world --rules 30 --depth 3 --noise 0.1 && skillopt train hard
  skillopt init work --skill SKILL.md --generate 30 --optimizer openai/gpt-5
  skillopt init work --skill skills/pdf --generate 30 --config models.yaml
  skillopt init work --triggers 20
  skillopt init trig --skill skills/pdf --triggers 20 --optimizer openai/gpt-5`,
		Args: atMost(1, "at most one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			o.drafts = cmd.Flags().Changed("triggers")
			if err := o.world.check(cmd); err != nil {
				return err
			}
			if o.world.asked {
				return o.runWorld(a, initFolder(a, dir), cmd)
			}
			return o.run(cmd.Context(), a, dir)
		},
	}
	c.Flags().BoolVar(&o.env, "env", false, "the example of a task environment in Python")
	c.Flags().BoolVar(&o.sleep, "sleep", false, "the example of three nights on the sessions of an agent (see skillopt sleep)")
	c.Flags().BoolVar(&o.bench, "bench", false, "a benchmark of your own, with a few rows and a simulated world")
	addWorldFlags(c, &o.world)
	c.Flags().StringVar(&o.skill, "skill", "", "the skill to draft tasks for: a folder or a SKILL.md")
	c.Flags().IntVar(&o.generate, "generate", 0, "how many tasks to draft, up to 500")
	c.Flags().IntVar(&o.triggers, "triggers", 0, "how many trigger tasks to draft, 2 to 500")
	c.Flags().StringVar(&o.optimizer, "optimizer", "", "PROVIDER/MODEL that drafts the tasks; of a world: "+worldOptimizers())
	c.Flags().StringVar(&o.target, "target", "", "PROVIDER/MODEL of the config; default: --optimizer")
	c.Flags().StringVar(&o.config, "config", "", "a config whose models are used and extended")
	c.Flags().Int64Var(&o.seed, "seed", 42, "seed of the draft; of a world: of all that is drawn, default 1")
	c.Flags().BoolVar(&o.yes, "yes", false, "do not ask before spending")
	return c
}

// run writes a folder to train in: the example, or tasks drafted for a skill.
func (o *initOptions) run(ctx context.Context, a *app, dir string) error {
	folder := initFolder(a, dir)
	if (o.env || o.bench) && (o.drafts || o.skill != "" || o.generate != 0) {
		return usagef("--env and --bench write an example, and go with no --skill, --generate or --triggers")
	}
	if o.sleep {
		if o.env || o.drafts || o.skill != "" || o.generate != 0 {
			return usagef("--sleep writes an example, and goes with no --env, --skill, --generate or --triggers")
		}
		return writeSleepExample(a, folder)
	}
	if o.bench {
		return writeBenchmark(a, folder)
	}
	if o.drafts {
		if err := o.checkTriggers(); err != nil {
			return err
		}
		return o.runTriggers(ctx, a, folder)
	}
	generate, err := o.generates()
	if err != nil {
		return err
	}
	if generate {
		return o.runGenerate(ctx, a, folder)
	}
	if o.env {
		return writeExample(a, folder, examples.Environment, "env-model")
	}
	return writeExample(a, folder, examples.Quickstart, "quickstart")
}

// initFolder is a folder in which init overwrites nothing.
func initFolder(a *app, dir string) newFolder {
	return newFolder{dir: a.absolute(dir), name: dir, refusal: "`skillopt init` overwrites nothing, choose another folder"}
}

// writeExample writes an example.
func writeExample(a *app, folder newFolder, from embed.FS, name string) error {
	files, err := exampleFiles(from, name)
	if err != nil {
		return err
	}
	return folder.writeToTrain(a, files, map[string]any{})
}

// writeToTrain writes files that can be trained, and prints which, or a document with more.
func (f newFolder) writeToTrain(a *app, files map[string][]byte, more map[string]any) error {
	names, err := f.write(files)
	if err != nil {
		return err
	}
	if a.json {
		more["dir"], more["files"] = f.dir, names
		return printJSON(a.Out, more)
	}
	for _, name := range names {
		fmt.Fprintf(a.Out, "wrote %s\n", filepath.Join(f.name, name))
	}
	_, err = fmt.Fprintf(a.Out, "next: skillopt train %s\n", shellWord(f.name))
	return err
}

// writeSleepExample writes the example of nights, whose files lie in folders.
func writeSleepExample(a *app, folder newFolder) error {
	files := map[string][]byte{}
	err := fs.WalkDir(examples.Sleep, "sleep", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := examples.Sleep.ReadFile(path)
		files[filepath.FromSlash(strings.TrimPrefix(path, "sleep/"))] = data
		return err
	})
	if err != nil {
		return fmt.Errorf("read example: %w", err)
	}
	names, err := folder.write(files)
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, map[string]any{"dir": folder.dir, "files": names})
	}
	fmt.Fprintf(a.Out, "wrote %s\n", wording.Plural(len(names), "file", "files"))
	_, err = fmt.Fprintf(a.Out, "next: %s says which three nights there are\n", filepath.Join(folder.name, "README.md"))
	return err
}

// workSchema is the schema of configs, next to the config of a folder. Editors find it by
// the config's first line.
const workSchema = "config.schema.json"

// withSchemaLine is a config whose first line names the schema next to it.
func withSchemaLine(text []byte) []byte {
	return append([]byte("# yaml-language-server: $schema="+workSchema+"\n"), text...)
}

// writeSchema writes the schema of configs into a folder, instead of an older one.
func writeSchema(dir string) error {
	schema, err := config.Schema()
	if err != nil {
		return err
	}
	return run.WriteExport(filepath.Join(dir, workSchema), schema)
}

// exampleFiles returns the files of the example by name.
func exampleFiles(from embed.FS, dir string) (map[string][]byte, error) {
	entries, err := from.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read example: %w", err)
	}
	files := make(map[string][]byte, len(entries))
	for _, e := range entries {
		data, err := from.ReadFile(dir + "/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("read example: %w", err)
		}
		files[e.Name()] = data
	}
	files[workConfig] = withSchemaLine(files[workConfig])
	if files[workSchema], err = config.Schema(); err != nil {
		return nil, err
	}
	return files, nil
}

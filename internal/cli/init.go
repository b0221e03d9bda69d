package cli

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"hash/crc32"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/examples"
)

// initOptions are the flags of init.
type initOptions struct {
	skill, tasks, optimizer, target, config string
	generate, triggers                      int
	drafts                                  bool // --triggers was given, whatever its number
	env, bench                              bool // which example
	world                                   string
	seed                                    int64
	yes, noTry                              bool
	repo                                    repoOptions
}

const initHelp = `Write a folder to train in. On a terminal init asks for the skill, the tasks, the model
and the name of the folder; flags answer the same questions. Then it tries three tasks, shows
what was asked and how it was scored, and says what is next.

Without flags, and without a terminal, it is an example with simulated models, which needs no
key. Change its tasks to yours and its models to real ones. With --env a program in Python
carries out the tasks and asks the model in several turns (docs/environments.md). With
--world it is a simulated world made from a few numbers (docs/environments.md), with --bench
a benchmark that "skillopt bench run DIR --fixture" runs (docs/import.md).

With --generate the optimizer drafts that many tasks from the skill and its references: it
writes them with expected answers and checks, and answers them again without seeing these.
What is broken, given away, repeated or answered otherwise is dropped. The record of the
calls is in draft/: the same command again pays for nothing twice. Runs on drafted tasks are
exploratory until they are accepted with "skillopt tasks review".

With --triggers the optimizer drafts that many trigger tasks: half of them prompts
on which an agent should load the skill, half near misses on which it should not.
In a folder that has a config.yaml, skill, models and tasks are those of it, and
the new tasks are added behind those that its .jsonl file holds if it has an agent
that finds the skill by itself; else they go into triggers.jsonl. The record of the
calls is in draft-triggers/.

With --repo the tasks are made of a git repository, of its commits that came with tests and
of small faults that its tests notice, and the document that is trained is its CLAUDE.md or
AGENTS.md. Its tests run confined, without network. Linux only (docs/repository.md).

Files that exist are never overwritten.`

func initCommand(a *app) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a folder to train in: your skill and tasks, drafted tasks, or an example",
		Long:  initHelp,
		Example: `  skillopt init
  skillopt init my-skill && skillopt train my-skill
  skillopt init work --skill SKILL.md --tasks questions.csv --target openai/gpt-5-mini --optimizer openai/gpt-5
  skillopt init work --tasks questions.csv --target qwen2.5@http://127.0.0.1:8080/v1
  skillopt init work --skill skills/pdf --generate 30 --optimizer openai/gpt-5
  skillopt init work --triggers 20
  skillopt init work --repo ~/src/project --target openai/gpt-5-mini --optimizer openai/gpt-5
  skillopt init my-env --env && skillopt train my-env
  skillopt init hard --world rules=30,depth=3,noise=0.1 && skillopt train hard`,
		Args: atMost(1, "at most one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.drafts = cmd.Flags().Changed("triggers")
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			if o.world != "" {
				return o.runWorld(a, initFolder(a, dir), cmd)
			}
			if asks := a.Terminal && !a.json && cmd.Flags().NFlag() == 0; asks {
				var err error
				if dir, err = o.ask(cmd.Context(), a, args); err != nil || dir == "" {
					return err
				}
			}
			return o.run(cmd.Context(), a, dir)
		},
	}
	c.Flags().BoolVar(&o.env, "env", false, "the example of a task environment in Python")
	c.Flags().BoolVar(&o.bench, "bench", false, "a benchmark of your own, with a few rows and a simulated world")
	c.Flags().StringVar(&o.world, "world", "", worldUsage)
	c.Flags().StringVar(&o.skill, "skill", "", "a folder or a SKILL.md; default: one to begin with is written")
	c.Flags().StringVar(&o.tasks, "tasks", "", "task file or directory")
	c.Flags().IntVar(&o.generate, "generate", 0, "how many tasks to draft, up to 500")
	c.Flags().IntVar(&o.triggers, "triggers", 0, "how many trigger tasks to draft, 2 to 500")
	c.Flags().StringVar(&o.target, "target", "", "PROVIDER/MODEL, or MODEL@URL, that carries out the tasks; with --generate the default is --optimizer")
	c.Flags().StringVar(&o.optimizer, "optimizer", "", "PROVIDER/MODEL, or MODEL@URL, that proposes edits and drafts tasks; default: none, worked examples alone")
	c.Flags().StringVar(&o.config, "config", "", "a config or a directory with config.yaml, whose models are used and extended")
	c.Flags().Int64Var(&o.seed, "seed", 42, "seed of the draft")
	o.repo.addFlags(c)
	c.Flags().BoolVar(&o.yes, "yes", false, "do not ask before spending")
	c.Flags().BoolVar(&o.noTry, "no-try", false, "try no tasks: no model is called")
	return c
}

// run writes a folder to train in: the example, own tasks, or tasks drafted for a skill.
func (o *initOptions) run(ctx context.Context, a *app, dir string) error {
	folder := initFolder(a, dir)
	if o.repo.path != "" {
		return o.runRepo(ctx, a, folder)
	}
	if (o.env || o.bench) && (o.drafts || o.skill+o.tasks != "" || o.generate != 0) {
		return usagef("--env and --bench write an example, and go with no --skill, --tasks, --generate or --triggers")
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
	if o.tasks != "" {
		return o.runOwn(ctx, a, folder)
	}
	generate, err := o.generates()
	if err != nil {
		return err
	}
	if generate {
		return o.runGenerate(ctx, a, folder)
	}
	if o.env {
		files, err := exampleFiles(examples.Environment, "env-model")
		if err != nil {
			return err
		}
		return folder.writeToTrain(a, files, map[string]any{})
	}
	files, err := exampleFiles(examples.Quickstart, "quickstart")
	if err != nil {
		return err
	}
	// Another seed makes it another configuration than that of the quick start, or of an example of another name.
	seed := fmt.Sprintf("seed: %d", 1+crc32.ChecksumIEEE([]byte(filepath.Base(folder.dir)))%9999)
	files[workConfig] = bytes.ReplaceAll(files[workConfig], []byte("seed: 42"), []byte(seed))
	return o.writeAndTry(ctx, a, folder, files)
}

// initFolder returns a folder in which init overwrites nothing.
func initFolder(a *app, dir string) newFolder {
	return newFolder{dir: a.absolute(dir), name: dir, refusal: "`skillopt init` overwrites nothing, choose another folder"}
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
	return files, nil
}

package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/result"
)

// trainOptions are the flags of train.
type trainOptions struct {
	sessionOptions
	fork                     string
	from, epochs             string           // --continue, and for how long
	beside                   []config.Setting // of a run that continues from another one without a config of its own
	sets                     []string
	tasks, target, optimizer string   // without a config
	memory                   []string // other runs, for the optimizer
	plan, finish, reopen     bool
	keepOpen                 bool
	again                    bool
	ui                       bool // serve a page next to it

	summary *result.Summary // its result, for a command that has this one train; nil: nothing yet
}

func trainCommand(a *app) *cobra.Command {
	var o trainOptions
	c := &cobra.Command{
		Use:   "train CONFIG_OR_DIR | SKILL.md --tasks FILE --target PROVIDER/MODEL [--optimizer PROVIDER/MODEL] | --continue RUN --epochs +N",
		Short: "Train a skill, or resume its training",
		Long: `Train a skill. A directory with config.yaml is a config; otherwise a directory with
SKILL.md, or a Markdown file, is a skill to train with the flags --tasks, --target
and --optimizer, and the config that they amount to is saved in the run. Without an
optimizer worked examples alone are tried: train tasks with their answers.

The same command again resumes an unfinished run: what was paid for is answered
from its record. Ctrl-C stops softly (calls in flight are finished and recorded),
a second one at once. Once the run is complete the command says so; --again begins
another run of the same configuration. What equals a request at temperature 0 that
another run below run.dir was answered is not paid for again.

Training ends before its last step where a rule of train.stop says so: by default when
every selection task is solved, asked twice. --continue RUN trains on from a finished
run, as a new one: with its skill, what the optimizer has read, and its schedule; what
RUN has paid for is not paid again. --epochs +3 adds three epochs to those that it
carried out, --epochs 8 trains up to eight in all. A rule that ended RUN does not end
what continues it, unless it is set to another value. Without a config, that of RUN
is taken. The test tasks were read by RUN: reading them again certifies less.

` + exitHelp,
		Example: `  skillopt train examples/quickstart
  skillopt train my-skill --ui                           follow it in a browser
  skillopt train my-skill --plan                         calls, tokens, money and time, unspent
  skillopt train my-skill --set train.epochs=2 --yes
  skillopt train my-skill --run runs/my-skill-1          resume this run
  skillopt train my-skill --run runs/my-skill-1 --finish evaluate what there is, open the test
  skillopt train my-skill --run runs/a --fork runs/b     new run with what a has paid for
  skillopt train my-skill --again                        another run of a configuration that is complete
  skillopt train my-skill --continue runs/a --epochs +3  train on from a finished run
  skillopt train my-skill --again --memory runs/a,runs/b what other runs tried in vain
  skillopt train my-skill --set train.stop.patience=5    stop when 5 steps gain nothing
  skillopt train my-skill --replay bug.cassette          answered from a record, offline
  skillopt train SKILL.md --tasks tasks.csv --target openai/gpt-5-mini --optimizer openai/gpt-5
  skillopt train SKILL.md --tasks tasks.csv --target ollama/qwen2.5-coder:1.5b   examples alone`,
		Args: func(c *cobra.Command, args []string) error {
			if o.from != "" && len(args) == 0 {
				return nil
			}
			return exactArgs(1, "a config, a directory or a SKILL.md")(c, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				var err error
				if args, err = o.configOfRun(a); err != nil {
					return err
				}
			}
			if o.plan {
				return o.runPlan(cmd.Context(), a, args[0])
			}
			return o.run(cmd.Context(), a, args[0])
		},
	}
	o.addFlags(c, "keep the run in this directory; resumes it if it is there")
	c.Flags().StringVar(&o.fork, "fork", "", "begin a new run in this directory with what --run has paid for")
	c.Flags().StringVar(&o.from, "continue", "", "train on from this finished run, as a new one; with --epochs")
	c.Flags().StringVar(&o.epochs, "epochs", "", "with --continue: +N for N more epochs, N for N in all")
	c.Flags().StringVar(&o.tasks, "tasks", "", "task file or directory, without a config")
	c.Flags().StringVar(&o.target, "target", "", "PROVIDER/MODEL that carries out the tasks, without a config")
	c.Flags().StringVar(&o.optimizer, "optimizer", "", "PROVIDER/MODEL that proposes edits, without a config; default: none, worked examples alone")
	c.Flags().StringSliceVar(&o.memory, "memory", nil, "have the optimizer read what these runs, RUN[,RUN...], tried in vain")
	c.Flags().BoolVar(&o.plan, "plan", false, "print what the run is expected to take, by role and stage, and send nothing")
	c.Flags().BoolVar(&o.finish, "finish", false, "end the run where it stopped: skip what is left of training and evaluate what there is")
	c.Flags().BoolVar(&o.keepOpen, "keep-open", false, "begin a run whose ceilings will be raised: nothing is made smaller for them, and where one ends the run the test stays unread")
	c.Flags().BoolVar(&o.again, "again", false, "begin another run of this configuration though one is complete")
	c.Flags().BoolVar(&o.ui, "ui", false, "serve a page that shows the run, and can stop it; on a terminal until Ctrl-C after the run (see skillopt serve)")
	c.Flags().BoolVar(&o.reopen, "reopen-test", false, "open the test split again, which a run does once; the report says so")
	addLimit(c, &o.sets)
	addSet(c, &o.sets)
	return c
}

// run trains, or resumes a run.
func (o *trainOptions) run(ctx context.Context, a *app, path string) error {
	if o.fork != "" && o.runDir == "" && o.from == "" {
		return usagef("--fork %s needs --run with the run to take over from; `skillopt runs list` shows runs", o.fork)
	}
	if o.fork != "" && o.replay != "" {
		return usagef("--fork continues with models and --replay without any: give one of them")
	}
	goesOn, err := o.earlier(a)
	if err != nil {
		return err
	}
	l, err := o.load(a, path)
	if err != nil {
		return err
	}
	ctx, opts, end, err := a.session(ctx, l, o.sessionOptions)
	if err != nil {
		return err
	}
	opts = append(opts, skillopt.WithFork(a.absolute(o.fork)), skillopt.WithReopenTest(o.reopen))
	opts = append(opts, goesOn...)
	if o.finish {
		opts = append(opts, skillopt.WithFinish())
	}
	if o.keepOpen {
		opts = append(opts, skillopt.WithKeepOpen())
	}
	if o.again {
		opts = append(opts, skillopt.WithAgain())
	}
	var page *sidePage
	if o.ui {
		page = a.serveNext(ctx, o.uiFolder(a, l))
	}
	summary, err := skillopt.Train(ctx, l.Config, opts...)
	if cerr := end(); cerr != nil && err == nil {
		err = cerr
	}
	o.summary = summary
	if summary != nil && summary.Found {
		o.complete(a, command{path: path, options: *o, hide: l.Redactor()})
	}
	if perr := printSummary(ctx, a, summary); perr != nil && err == nil {
		err = perr
	}
	if err != nil && summary != nil && summary.RunDir != "" {
		err = withResume(err, a.relative(summary.RunDir), command{path: path, options: *o, hide: l.Redactor()})
	}
	return page.end(err)
}

// complete says that there was nothing left to do.
func (o *trainOptions) complete(a *app, c command) {
	shown := a.relative(o.summary.RunDir)
	out := a.printer(a.Err)
	what := "this configuration was trained to its end"
	if o.from != "" {
		what = fmt.Sprintf("it continued from %s to its end", shellWord(o.from))
	}
	out.line(fmt.Sprintf("%s is complete: %s, and nothing is asked", shown, what))
	out.line(fmt.Sprintf("  skillopt runs show %s    step by step", shellWord(shown)))
	out.line(fmt.Sprintf("  %s --again    another run of the same configuration", c.text("")+c.memory()))
}

// load reads the config, or makes one of the flags.
func (o *trainOptions) load(a *app, path string) (*config.Loaded, error) {
	full := a.absolute(path)
	if err := a.guard.Inside(full); err != nil {
		return nil, err
	}
	st, err := os.Stat(full)
	if err != nil {
		return nil, usagef("%s: %v; give a config, a directory with config.yaml or SKILL.md, or a SKILL.md (`skillopt init` writes an example)", path, stripPath(err))
	}
	isSkill := strings.EqualFold(filepath.Ext(full), ".md")
	if st.IsDir() {
		if _, err := os.Stat(filepath.Join(full, "config.yaml")); err != nil {
			if _, err := os.Stat(filepath.Join(full, "SKILL.md")); err != nil {
				return nil, usagef("%s holds neither config.yaml nor SKILL.md; `skillopt init %s` writes a working example", path, path)
			}
			isSkill = true
		}
	}
	if isSkill {
		return o.fromFlags(a, full)
	}
	if o.tasks+o.target+o.optimizer != "" {
		return nil, usagef("--tasks, --target and --optimizer go with a SKILL.md; with a config use --set tasks.path=..., --set models.target.model=...")
	}
	return a.loadConfig(full, o.sets, o.beside)
}

// fromFlags makes a config of the flags for training without one.
func (o *trainOptions) fromFlags(a *app, skill string) (*config.Loaded, error) {
	if o.tasks == "" || o.target == "" {
		return nil, usagef("training %s without a config needs --tasks FILE and --target PROVIDER/MODEL", skill)
	}
	flags := []config.Setting{
		{Key: "skill", Value: skill, Origin: "argument"},
		{Key: "tasks.path", Value: o.tasks, Origin: "--tasks"},
		{Key: "run.name", Value: skillName(skill), Origin: "argument"},
	}
	for _, m := range []struct{ role, text string }{{"target", o.target}, {"optimizer", o.optimizer}} {
		if m.text == "" { // there is no optimizer: worked examples alone are tried
			continue
		}
		model, err := modelSettings(m.role, m.text)
		if err != nil {
			return nil, err
		}
		flags = append(flags, model...)
	}
	return a.loadConfig("", o.sets, flags)
}

// printSummary prints the result of the run, nothing if there is none.
func printSummary(ctx context.Context, a *app, s *result.Summary) error {
	if s == nil {
		return nil
	}
	if s = shareable(s); a.guard != nil {
		s = ask.HideSummaryQuotes(s)
	}
	if a.json {
		return printJSON(a.Out, s)
	}
	writeClosing(context.WithoutCancel(ctx), a.results(), s)
	return nil
}

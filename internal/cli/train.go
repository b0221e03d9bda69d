package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/plural"
)

// askAbove is the number of calls above which `train` asks before it spends.
const askAbove = 500

type trainFlags struct {
	run, fork, replay        string
	sets                     []string
	tasks, target, optimizer string
	yes, finish, reopen      bool
	acceptSeed               bool
	plan                     bool
}

func (a *app) trainCommand() *cobra.Command {
	var f trainFlags
	c := &cobra.Command{
		Use:   "train CONFIG_OR_DIR | SKILL.md --tasks FILE --target PROVIDER/MODEL --optimizer PROVIDER/MODEL",
		Short: "Train a skill, or resume its training",
		Long: `Train a skill. A directory with config.yaml is a config; otherwise a directory with
SKILL.md, or a Markdown file, is a skill to train with the flags --tasks, --target
and --optimizer, and the config that they amount to is saved in the run.

The same command again resumes an unfinished run: what was paid for is answered
from its record. Ctrl-C stops softly (calls in flight are finished and recorded),
a second one at once.

` + exitHelp,
		Example: `  skillopt train examples/quickstart
  skillopt train my-skill --plan                         calls, tokens, money and time, unspent
  skillopt train my-skill --set train.epochs=2 --yes
  skillopt train my-skill --run runs/my-skill-1          resume this run
  skillopt train my-skill --run runs/my-skill-1 --finish evaluate what there is, open the test
  skillopt train my-skill --run runs/a --fork runs/b     new run with what a has paid for
  skillopt train my-skill --replay bug.cassette          answered from a record, offline
  skillopt train SKILL.md --tasks tasks.csv --target openai/gpt-5-mini --optimizer openai/gpt-5`,
		Args: exactly(1, "a config, a directory or a SKILL.md"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.plan {
				return a.plan(cmd.Context(), args[0], f)
			}
			return a.train(cmd.Context(), args[0], f)
		},
	}
	c.Flags().StringVar(&f.run, "run", "", "keep the run in this directory; resumes it if it is there")
	c.Flags().StringVar(&f.fork, "fork", "", "begin a new run in this directory with what --run has paid for")
	addReplay(c, &f.replay)
	c.Flags().StringVar(&f.tasks, "tasks", "", "task file or directory, without a config")
	c.Flags().StringVar(&f.target, "target", "", "PROVIDER/MODEL that carries out the tasks, without a config")
	c.Flags().StringVar(&f.optimizer, "optimizer", "", "PROVIDER/MODEL that proposes edits, without a config; default: as --target")
	c.Flags().BoolVar(&f.plan, "plan", false, "print what the run is expected to take, by role and stage, and send nothing")
	c.Flags().BoolVar(&f.finish, "finish", false, "end the run where it stopped: skip what is left of training and evaluate what there is")
	c.Flags().BoolVar(&f.acceptSeed, "accept-seed", false, "train on though the seed skill's first scores look as if the measurement were broken")
	c.Flags().BoolVar(&f.reopen, "reopen-test", false, "open the test split again, which a run does once; the report says so")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask before spending")
	addSet(c, &f.sets)
	return c
}

func (a *app) train(ctx context.Context, path string, f trainFlags) error {
	if f.fork != "" && f.run == "" {
		return usagef("--fork %s needs --run with the run to take over from; `skillopt runs list` shows runs", f.fork)
	}
	if f.fork != "" && f.replay != "" {
		return usagef("--fork goes on with models and --replay without any: give one of them")
	}
	l, err := a.trainConfig(path, f)
	if err != nil {
		return err
	}
	ctx, opts, end, err := a.session(ctx, l, sessionFlags{run: f.run, replay: f.replay, yes: f.yes})
	if err != nil {
		return err
	}
	opts = append(opts, skillopt.WithFork(a.absolute(f.fork)), skillopt.WithReopenTest(f.reopen))
	if f.acceptSeed {
		opts = append(opts, skillopt.WithAcceptedSeed())
	}
	if f.finish {
		opts = append(opts, skillopt.WithFinish())
	}
	summary, err := skillopt.Train(ctx, l.Config, opts...)
	if cerr := end(); cerr != nil && err == nil {
		err = cerr
	}
	if perr := a.printSummary(summary); perr != nil && err == nil {
		err = perr
	}
	if err != nil && summary != nil && summary.RunDir != "" {
		return a.withResume(err, summary, command{path: path, flags: f, hide: l.Redactor()})
	}
	return err
}

func (a *app) absolute(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.Dir, path)
}

func (a *app) relative(path string) string {
	if rel, err := filepath.Rel(a.Dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// signals turns the first interrupt into a soft stop and the second into a
// hard one.
func (a *app) signals(ctx context.Context) (context.Context, <-chan struct{}, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := make(chan struct{})
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for n := 0; ; n++ {
			select {
			case <-a.Signals:
			case <-done:
				return
			}
			if n == 0 {
				fmt.Fprintln(a.Err, "\nstopping: calls in flight are finished and recorded; interrupt again to stop at once")
				close(stop)
				continue
			}
			cancel(context.Canceled)
		}
	}()
	return ctx, stop, func() { close(done); <-finished; cancel(nil) }
}

// confirm shows the upper bound of calls and asks on a terminal when it is
// large.
func (a *app) confirm(yes bool) func(skillopt.Plan) error {
	return func(p skillopt.Plan) error {
		a.writePlan(p)
		if p.Forecast != nil {
			a.writeForecast(a.Err, p)
		}
		a.writeNoForecast(a.Err, p)
		if p.Simulated {
			fmt.Fprintln(a.Err, "the models are simulated: this run shows how training works, not what a model can do")
		}
		if p.Unreviewed > 0 {
			fmt.Fprintln(a.Err, exploratory(p.Unreviewed))
		}
		if yes || p.Simulated || p.Total <= askAbove || !a.Terminal {
			return nil
		}
		fmt.Fprint(a.Err, "go on? [y/N] ")
		line, err := bufio.NewReader(a.In).ReadString('\n')
		if err != nil && line == "" {
			return usagef("no answer; --yes goes on without asking")
		}
		if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
			return usagef("not started; --set train.epochs=1 or a smaller task file makes a run cheaper")
		}
		return nil
	}
}

// amount is a number of things.
// planWidth is where the list of stages is broken, at the latest.
const planWidth = 79

// writePlan prints the upper bound of calls, in whole words.
func (a *app) writePlan(p skillopt.Plan) { a.writeBound(a.Err, p) }

func (a *app) writeBound(out io.Writer, p skillopt.Plan) {
	if p.Episodes > 0 {
		fmt.Fprintf(out, "at most %s, each of as many model calls as it needs, and %s:\n", plural.Of(p.Episodes, "episode", "episodes"), plural.Of(p.Total-p.Episodes, "other model call", "other model calls"))
	} else {
		fmt.Fprintf(out, "at most %s, not counting what is asked again:\n", plural.Of(p.Total, "model call", "model calls"))
	}
	line, width := " ", planWidth
	if a.Terminal && a.Width > 0 {
		width = min(width, a.Width-1)
	}
	for _, s := range p.Stages {
		if s.Calls == 0 {
			continue
		}
		word := fmt.Sprintf(" %s %d", s.Stage, s.Calls)
		if len(line)+len(word) > width && line != " " {
			fmt.Fprintln(out, line)
			line = " "
		}
		line += word
	}
	fmt.Fprintln(out, line)
}

// trainConfig reads the config, or makes one of the flags.
func (a *app) trainConfig(path string, f trainFlags) (*config.Loaded, error) {
	full := a.absolute(path)
	st, err := os.Stat(full)
	if err != nil {
		return nil, usagef("%s: %v; give a config, a directory with config.yaml or SKILL.md, or a SKILL.md (`skillopt init` writes an example)", path, reasonOf(err))
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
		return a.configOfFlags(full, f)
	}
	if f.tasks+f.target+f.optimizer != "" {
		return nil, usagef("--tasks, --target and --optimizer go with a SKILL.md; with a config use --set tasks.path=..., --set models.target.model=...")
	}
	return a.loadConfig(full, f.sets, nil)
}

func (a *app) configOfFlags(skill string, f trainFlags) (*config.Loaded, error) {
	if f.tasks == "" || f.target == "" {
		return nil, usagef("training %s without a config needs --tasks FILE and --target PROVIDER/MODEL", skill)
	}
	if f.optimizer == "" {
		f.optimizer = f.target
	}
	flags := []config.Setting{
		{Key: "skill", Value: skill, Origin: "argument"},
		{Key: "tasks.path", Value: f.tasks, Origin: "--tasks"},
		{Key: "run.name", Value: skillName(skill), Origin: "argument"},
	}
	for _, m := range []struct{ role, text string }{{"target", f.target}, {"optimizer", f.optimizer}} {
		model, err := modelSettings(m.role, m.text)
		if err != nil {
			return nil, err
		}
		flags = append(flags, model...)
	}
	return a.loadConfig("", f.sets, flags)
}

// modelSettings are the settings that PROVIDER/MODEL of a role stands for.
func modelSettings(role, text string) ([]config.Setting, error) {
	provider, name, ok := strings.Cut(text, "/")
	if !ok || provider == "" || name == "" {
		return nil, usagef("--%s %s: want PROVIDER/MODEL, for example openai/gpt-5-mini", role, text)
	}
	key := "model"
	if provider == "sim" {
		key = "world"
	}
	return []config.Setting{
		{Key: "models." + role + ".provider", Value: provider, Origin: "--" + role},
		{Key: "models." + role + "." + key, Value: name, Origin: "--" + role},
	}, nil
}

// skillName names a run after the skill's folder, or its file.
func skillName(path string) string {
	name := filepath.Base(path)
	if strings.EqualFold(filepath.Ext(name), ".md") {
		name = filepath.Base(filepath.Dir(path))
	}
	if name = strings.TrimLeft(name, "."); !config.IsRunName(name) {
		return "skill"
	}
	return name
}

func reasonOf(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// printSummary prints what the run came to.
func (a *app) printSummary(s *skillopt.Summary) error {
	if s == nil {
		return nil
	}
	s = shareable(s)
	if a.json {
		return printJSON(a.Out, s)
	}
	return a.writeSummary(a.results(), s)
}

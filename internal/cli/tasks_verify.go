package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/result"
)

// tasksVerifyOptions are the flags of tasks verify.
type tasksVerifyOptions struct{ ids, sets []string }

func tasksVerifyCommand(a *app) *cobra.Command {
	var o tasksVerifyOptions
	c := &cobra.Command{
		Use:   "verify CONFIG_OR_DIR",
		Short: "Prove tasks of a repository: doing nothing fails, the real fix passes",
		Long: `Run the tests of each task of a repository ("skillopt init DIR --repo PATH") on what it
begins with, and on its real fix, three times each. Doing nothing has to score 0 and the
fix 1, each time; else the exit code is 1. No model is called.`,
		Example: `  skillopt tasks verify my-repo
  skillopt tasks verify my-repo --task h-0123456789ab --json`,
		Args: exactArgs(1, "a config or a directory with one"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args[0]) },
	}
	c.Flags().StringArrayVar(&o.ids, "task", nil, "only the task with this id; may be repeated")
	addSet(c, &o.sets)
	return c
}

// run proves tasks.
func (o *tasksVerifyOptions) run(ctx context.Context, a *app, path string) error {
	l, err := a.loadConfig(path, o.sets, nil)
	if err != nil {
		return err
	}
	ctx, release := a.signalContext(ctx)
	defer release()
	out := a.printer(a.Out)
	note := func(t result.ProvenTask) {
		switch {
		case a.json:
		case t.OK:
			out.line(fmt.Sprintf("ok    %-14s %-8s %6.1f s of CPU %10s", t.ID, t.Type, t.CPUSeconds, memory(t.MB)))
		default:
			out.line(fmt.Sprintf("FAIL  %-14s %-8s %s", t.ID, t.Type, oneLine(t.Why)))
		}
	}
	p, err := skillopt.VerifyTasks(ctx, l.Config, o.ids, note, skillopt.WithLoaded(l), skillopt.WithClouds(a.Clouds))
	if err != nil {
		return err
	}
	if a.json {
		err = printJSON(a.Out, p)
	} else {
		out.line(fmt.Sprintf("%d of %d proven, three times of three", len(p.Tasks)-p.Failed, len(p.Tasks)))
	}
	if err == nil && p.Failed > 0 {
		err = fmt.Errorf("%d of %d tasks do not hold", p.Failed, len(p.Tasks))
	}
	return err
}

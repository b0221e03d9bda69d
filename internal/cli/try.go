package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

// tryOptions are the flags of try.
type tryOptions struct{ evalOptions }

func tryCommand(a *app) *cobra.Command {
	var o tryOptions
	o.repeat = 1
	c := &cobra.Command{
		Use:   "try CONFIG_OR_DIR | SKILL.md --config CONFIG",
		Short: "Carry out a few tasks and show everything: prompt, reply, answer, score",
		Long: `Carry out a few real tasks with the skill of a config, or another one, and show of each
what the model was sent, its reply, what of it was scored, what was expected and why it
scored what it did. It costs as many calls as there are tasks, which are recorded: the
same command again pays for nothing twice.

The tasks are those of the train split, so that nothing is learned of the others.

` + exitHelp,
		Example: `  skillopt try my-skill
  skillopt try my-skill -n 1 --type total
  skillopt try other.md --config my-skill --task inv-7`,
		Args: exactArgs(1, "a config or a directory, or a skill with --config"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := o.configPath(args[0])
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), a, path)
		},
	}
	c.Flags().IntVarP(&o.only.Limit, "number", "n", 3, "this many tasks, the first of the split")
	o.addConfig(c)
	c.Flags().StringVar(&o.split, "split", "train", "train or selection; test as well, which is a reading of the test set")
	o.addOnly(c)
	o.addFlags(c, recordUsage)
	addSet(c, &o.sets)
	return c
}

// run carries out tasks and shows them.
func (o *tryOptions) run(ctx context.Context, a *app, path string) error {
	if o.only.Limit < 1 {
		return usagef("-n %d: allowed: 1 or more", o.only.Limit)
	}
	o.only.Limit = max(o.only.Limit, len(o.only.IDs))
	evaluated, err := o.evaluate(ctx, a, path)
	if err != nil {
		return err
	}
	shown, err := readEvaluations(ctx, evaluated)
	if err != nil {
		return err
	}
	shown = shareable(shown)
	if a.json {
		return printJSON(a.Out, struct {
			Evaluations []ask.Evaluation `json:"evaluations"`
			*result.Evaluation
		}{shown, shareable(evaluated)})
	}
	return o.print(a.results(), evaluated, shown)
}

// readEvaluations reads back what was said in an evaluation, task by task.
func readEvaluations(ctx context.Context, evaluated *result.Evaluation) ([]ask.Evaluation, error) {
	r, err := record.Open(ctx, evaluated.RunDir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // it was only read
	sheets, err := r.Sheets()
	if err != nil {
		return nil, err
	}
	show := ask.TaskQuestion{Prompt: true}
	var out []ask.Evaluation
	for _, sheet := range sheets {
		outcomes, err := r.Outcomes(sheet)
		if err != nil {
			return nil, err
		}
		for _, o := range outcomes {
			evaluations, err := r.Task(ctx, o.ID)
			if err != nil {
				return nil, err
			}
			shown, err := show.ReadConversations(ctx, r, evaluations)
			if err != nil {
				return nil, err
			}
			out = append(out, shown...)
		}
	}
	return out, nil
}

func (o *tryOptions) print(out printer, evaluated *result.Evaluation, shown []ask.Evaluation) error {
	for i, e := range shown {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := printTask(out, e.Task, []ask.Evaluation{e}, true); err != nil {
			return err
		}
	}
	fmt.Fprintln(out)
	return writeEvaluation(out, evaluated)
}

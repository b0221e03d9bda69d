package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/worlds"
)

// initWorld are the flags of init --world. It shares two with drafts, --seed and --optimizer.
type initWorld struct {
	asked  bool
	params worlds.Params
}

// addWorldFlags adds the flags that say what a world is like.
func addWorldFlags(c *cobra.Command, w *initWorld) {
	w.params = worlds.Default()
	p := &w.params
	f := c.Flags()
	f.BoolVar(&w.asked, "world", false, "a simulated world, made from a few numbers")
	f.IntVar(&p.Tasks, "tasks", p.Tasks, "of a world: tasks, over all splits")
	f.IntVar(&p.Rules, "rules", p.Rules, "of a world: rules that are to be learnt")
	f.IntVar(&p.Depth, "depth", p.Depth, "of a world: rules that one answer needs, at most (1 to 3)")
	f.Float64Var(&p.Plain, "plain", p.Plain, "of a world: share of tasks that no rule concerns: always solved")
	f.Float64Var(&p.Skew, "skew", p.Skew, "of a world: 0: kinds of tasks are alike in number; above: some are rare")
	f.Float64Var(&p.Noise, "noise", p.Noise, "of a world: share of tasks that can never be solved")
	f.Float64Var(&p.Flip, "flip", p.Flip, "of a world: share of answers that forget the skill")
	f.Float64Var(&p.Harm, "harm", p.Harm, "of a world: share of failure analyses that propose a harmful rule as well")
	f.Float64Var(&p.Fooled, "fooled", p.Fooled, "of a world: share of harmful rules that ranking takes for good ones")
	f.Float64Var(&p.Note, "note", p.Note, "of a world: share of success analyses that propose a useless note")
}

// check reports flags that --world does not go with, and those that it alone goes with.
func (w *initWorld) check(c *cobra.Command) error {
	barred, why := "tasks rules depth plain skew noise flip harm fooled note", "--%s says what a simulated world is like: add --world"
	if w.asked {
		barred, why = "env sleep skill generate triggers target config", "--world makes an example, and goes with no --%s"
	}
	for name := range strings.FieldsSeq(barred) {
		if c.Flags().Changed(name) {
			return usagef(why, name)
		}
	}
	return nil
}

// worldParams returns the world that is asked for.
func (o *initOptions) worldParams(c *cobra.Command) (worlds.Params, error) {
	p := o.world.params
	if o.optimizer != "" {
		p.Optimizer = o.optimizer
	}
	if c.Flags().Changed("seed") {
		if o.seed < 0 {
			return p, usagef("--seed: found %d, allowed for a world is 0 and more", o.seed)
		}
		p.Seed = uint64(o.seed)
	}
	if err := p.Validate(); err != nil {
		return p, usagef("--%v; `skillopt init --help` lists the flags", err)
	}
	return p, nil
}

// runWorld makes a world.
func (o *initOptions) runWorld(a *app, folder newFolder, c *cobra.Command) error {
	p, err := o.worldParams(c)
	if err != nil {
		return err
	}
	w, err := worlds.New(p)
	if err != nil {
		return err
	}
	files, err := w.Files()
	if err != nil {
		return err
	}
	files[workConfig] = withSchemaLine(files[workConfig])
	if files[workSchema], err = config.Schema(); err != nil {
		return err
	}
	return folder.writeToTrain(a, files, map[string]any{"simulated": true, "world": p})
}

// worldOptimizers names the optimizers that a world can have.
func worldOptimizers() string { return strings.Join(worlds.OptimizerNames(), ", ") }

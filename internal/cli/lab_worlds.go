package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/lab/worlds"
)

// labWorldsOptions are the flags of lab worlds.
type labWorldsOptions struct {
	dir   string
	world worlds.Params
}

func labWorldsCommand(a *app) *cobra.Command {
	o := labWorldsOptions{world: worlds.Default()}
	p := &o.world
	c := &cobra.Command{
		Use:   "worlds --out DIR",
		Short: "Make a simulated world from a few numbers",
		Long: `Write a simulated world: a world file for the provider sim, tasks with their
expected answers, a starting skill that states no rule, and a config that trains it
as it is. A task asks for one value of a card; rules that nobody states say in
which form it is expected. docs/simulation.md describes what the world plays.

Equal numbers give equal files. Files that exist are never overwritten.

` + exitHelp,
		Example: `  skillopt lab worlds --out my-world && skillopt train my-world
  skillopt lab worlds --out hard --rules 30 --depth 3 --skew 1 --noise 0.1
  skillopt lab worlds --out twin --seed 2`,
		Args: exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return o.run(a) },
	}
	c.Flags().StringVar(&o.dir, "out", "", "folder to write to")
	c.Flags().StringVar(&p.Name, "name", p.Name, "name of the world, a word; the model is named sim:NAME")
	c.Flags().IntVar(&p.Tasks, "tasks", p.Tasks, "tasks, over all splits")
	addWorldFlags(c, p)
	return c
}

// addWorldFlags adds the flags that say what a world is like.
func addWorldFlags(c *cobra.Command, p *worlds.Params) {
	f := c.Flags()
	f.Uint64Var(&p.Seed, "seed", p.Seed, "seed of everything that is drawn")
	f.IntVar(&p.Rules, "rules", p.Rules, "rules that are to be learnt")
	f.IntVar(&p.Depth, "depth", p.Depth, "rules that one answer needs, at most (1 to 3)")
	f.StringVar(&p.Optimizer, "optimizer", p.Optimizer, "what the optimizer cannot do: "+strings.Join(worlds.OptimizerNames(), ", "))
	f.Float64Var(&p.Plain, "plain", p.Plain, "share of tasks that no rule concerns: always solved")
	f.Float64Var(&p.Skew, "skew", p.Skew, "0: kinds of tasks are alike in number; above: some are rare")
	f.Float64Var(&p.Noise, "noise", p.Noise, "share of tasks that can never be solved")
	f.Float64Var(&p.Flip, "flip", p.Flip, "share of answers that forget the skill")
	f.Float64Var(&p.Harm, "harm", p.Harm, "share of failure analyses that propose a harmful rule as well")
	f.Float64Var(&p.Fooled, "fooled", p.Fooled, "share of harmful rules that ranking takes for good ones")
	f.Float64Var(&p.Note, "note", p.Note, "share of success analyses that propose a useless note")
}

// run makes a world.
func (o *labWorldsOptions) run(a *app) error {
	if o.dir == "" {
		return usagef("--out names the folder to write the world to; `skillopt lab worlds --help` shows examples")
	}
	p := o.world
	if err := p.Validate(); err != nil {
		return usagef("--%v; `skillopt lab worlds --help` lists the flags", err)
	}
	w, err := worlds.New(p)
	if err != nil {
		return err
	}
	files, err := w.Files()
	if err != nil {
		return err
	}
	names, err := newFolder{dir: a.absolute(o.dir), name: o.dir, refusal: "nothing is overwritten, choose another folder"}.write(files)
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, map[string]any{"simulated": true, "dir": a.absolute(o.dir), "files": names, "world": p})
	}
	for _, name := range names {
		fmt.Fprintf(a.Out, "wrote %s\n", filepath.Join(o.dir, name))
	}
	_, err = fmt.Fprintf(a.Out, "next: skillopt train %s\n", shellWord(o.dir))
	return err
}

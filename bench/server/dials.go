package main

import (
	"flag"
	"fmt"
)

// dials say how well the simulated models read and write. Chances are 0 to 1.
type dials struct {
	seed uint64

	// Of the target.
	noise, flip float64 // share of items that cannot be solved; chance of a wrong answer

	// Of what an analyst reads.
	attend    int    // trajectories at most, 0 = all
	attendHow string // which: first or random
	need      int    // failures of one kind before its rule is seen
	hit       float64

	// Of what it writes.
	limit              int // edits at most, 0 = all
	drop, harm, fooled float64
}

func (d *dials) register(flags *flag.FlagSet) {
	flags.Uint64Var(&d.seed, "seed", 1, "seed of all that is drawn")
	flags.Float64Var(&d.noise, "noise", 0.05, "share of items that cannot be solved")
	flags.Float64Var(&d.flip, "flip", 0, "chance of a wrong answer")
	flags.IntVar(&d.attend, "attend", 0, "trajectories that an analyst reads at most (0: all)")
	flags.StringVar(&d.attendHow, "attend-how", "first", "which trajectories it reads: first or random")
	flags.IntVar(&d.need, "need", 1, "failures of one kind that it must read before it proposes the rule")
	flags.Float64Var(&d.hit, "hit", 1, "chance that it reads a rule right; otherwise it writes a note that helps with nothing")
	flags.IntVar(&d.limit, "cap", 0, "edits that it writes at most, drawn from what it would write (0: all)")
	flags.Float64Var(&d.drop, "drop", 0, "chance, for each right rule of the skill, that it deletes the rule")
	flags.Float64Var(&d.harm, "harm", 0.25, "chance of a harmful edit in a reply about failures")
	flags.Float64Var(&d.fooled, "fooled", 0.5, "chance that the ranking puts a harmful edit before rules")
}

func (d *dials) validate() error {
	if d.attendHow != "first" && d.attendHow != "random" {
		return fmt.Errorf("-attend-how: found %q, allowed: first, random", d.attendHow)
	}
	return nil
}

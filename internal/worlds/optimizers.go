package worlds

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
)

// Optimizer is a kind of simulated optimizer.
type Optimizer struct {
	Name   string     `json:"name"` // a word
	What   string     `json:"what"`
	Limits sim.Limits `json:"limits"`
	Harm   float64    `json:"harm,omitempty"` // Params.Harm, where it is larger
}

// Mixture returns the standard mixture of optimizers, in equal shares. The first one has no
// limits.
func Mixture() []Optimizer {
	return []Optimizer{
		{Name: "perfect", What: "reads every failure of a prompt and writes every rule"},
		{Name: "needs-3", What: "proposes a rule only if three failures of a prompt miss it", Limits: sim.Limits{Need: 3}},
		{Name: "reads-8", What: "reads 8 trajectories of a prompt, drawn at random", Limits: sim.Limits{Reads: 8}},
		{Name: "reads-first-8", What: "reads the first 8 trajectories of a prompt", Limits: sim.Limits{Reads: 8, First: true}},
		{Name: "writes-3", What: "writes 3 edits a reply at most", Limits: sim.Limits{Writes: 3}},
		{Name: "misses-half", What: "overlooks half of the rules that a prompt shows", Limits: sim.Limits{Misses: 0.5}},
		{Name: "drops-fifth", What: "deletes a fifth of the good rules of the skill with each reply", Limits: sim.Limits{Drops: 0.2}},
		{Name: "harmful", What: "proposes a harmful rule with 80 % of its replies", Harm: 0.8},
	}
}

// Memorizer returns an optimizer whose edits look good on the tasks that they were made
// from, and only there. It is not in the mixture.
func Memorizer() Optimizer {
	return Optimizer{Name: "memorizes", What: "writes down the answers of 30 % of the failed tasks", Limits: sim.Limits{Memorizes: 0.3}}
}

// OptimizerNames returns the names of all kinds.
func OptimizerNames() []string {
	var names []string
	for _, o := range append(Mixture(), Memorizer()) {
		names = append(names, o.Name)
	}
	return names
}

// optimizer returns the optimizer of a world.
func (p Params) optimizer() (Optimizer, error) {
	for _, o := range append(Mixture(), Memorizer()) {
		if o.Name == p.Optimizer || p.Optimizer == "" {
			return o, nil
		}
	}
	return Optimizer{}, fmt.Errorf("optimizer: found %q, allowed is one of %s", p.Optimizer, strings.Join(OptimizerNames(), ", "))
}

// keys writes the limits as keys of a world file, nothing if there are none.
func (o Optimizer) keys() string {
	if o.Limits == (sim.Limits{}) {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\noptimizer: # %s\n", o.What)
	l := o.Limits
	for _, k := range []struct {
		name string
		set  bool
		got  any
	}{
		{"need", l.Need > 0, l.Need},
		{"reads", l.Reads > 0, l.Reads},
		{"first", l.First, l.First},
		{"writes", l.Writes > 0, l.Writes},
		{"misses", l.Misses > 0, l.Misses},
		{"drops", l.Drops > 0, l.Drops},
		{"repeats", l.Repeats > 0, l.Repeats},
		{"memorizes", l.Memorizes > 0, l.Memorizes},
	} {
		if k.set {
			fmt.Fprintf(&b, "  %s: %v\n", k.name, k.got)
		}
	}
	return b.String()
}

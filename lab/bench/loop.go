package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/seed-f4525e22/skillopt/internal/worlds"
	"github.com/seed-f4525e22/skillopt/result"
)

// LoopStudy measures what training gains with the defaults, with the loop of the published
// protocol and with parts of the loop changed: in worlds of several kinds, with optimizers
// that tire, and with few and many selection tasks.
type LoopStudy struct {
	Worlds int    `json:"worlds"` // of each kind and number of selection tasks
	Calls  int    `json:"calls"`  // that a run may make; 0: as in loopCeilings
	Seed   uint64 `json:"seed"`
	Large  bool   `json:"large"` // 400 selection tasks as well
}

// loopCeiling is what a run may make: so many calls, and so many for each selection task.
type loopCeiling struct {
	name       string
	base, each int
}

// loopCeilings are the short one, of some two to four steps, where what a gate spends is
// missing elsewhere, and the long one: 360 and 1,000 calls with 30 selection tasks.
func (s LoopStudy) loopCeilings() []loopCeiling {
	if s.Calls != 0 {
		return []loopCeiling{{"given", s.Calls, 0}}
	}
	return []loopCeiling{{"short", 240, 4}, {"long", 700, 10}}
}

// DefaultLoopStudy takes minutes on two cores.
func DefaultLoopStudy() LoopStudy { return LoopStudy{Worlds: 30, Seed: 1} }

// Validate reports what nothing can be measured with.
func (s LoopStudy) Validate() error {
	switch {
	case s.Worlds < 2 || s.Worlds > 10_000:
		return fmt.Errorf("worlds: found %d, allowed is 2 to 10000", s.Worlds)
	case s.Calls != 0 && (s.Calls < 100 || s.Calls > 10_000_000):
		return fmt.Errorf("calls: found %d, allowed is 100 to 10000000, or 0", s.Calls)
	}
	return nil
}

func (s LoopStudy) sizes() []int {
	if s.Large {
		return []int{12, 30, 100, 400}
	}
	return []int{12, 30, 100}
}

// LoopKind is a kind of world, or of optimizer.
type LoopKind struct {
	Name   string `json:"name"`
	What   string `json:"what"`
	change func(*Setup)
}

// loopKinds returns the kinds of worlds. What they do not say is as in loopSetup.
func loopKinds() []LoopKind {
	kinds := []LoopKind{
		{"near-deterministic", "2 % of the answers forget the skill", func(s *Setup) { s.World.Flip = 0.02 }},
		{"noisy", "20 % of the answers forget the skill", func(s *Setup) { s.World.Flip = 0.2 }},
		{"few harmful", "5 % of the analyses propose a harmful rule", func(s *Setup) { s.World.Harm = 0.05 }},
		{"many harmful", "50 % of the analyses propose a harmful rule, and half of those look good", func(s *Setup) {
			s.World.Harm, s.World.Fooled = 0.5, 0.5
		}},
		{"sparse", "80 % of the tasks are solved without a rule; 8 rules for the rest", func(s *Setup) {
			s.World.Rules, s.World.Plain = 8, 0.8
		}},
		{"clusters", "20 kinds of task with a rule each; tasks of a kind are solved or failed together, and declared as clusters", func(s *Setup) {
			s.World.Rules, s.World.Depth, s.World.Plain, s.World.Skew, s.Cluster = 20, 1, 0, 0, "type"
		}},
		{"by example", "the target also follows a rule that two worked examples show", func(s *Setup) { s.World.Examples = 2 }},
		{"heavy tails", "soft scores: a solved task is worth the cube of a uniform draw", func(s *Setup) { s.Heavy = true }},
	}
	for _, o := range worlds.Mixture()[1:] { // the others have the perfect one
		kinds = append(kinds, LoopKind{o.Name, o.What, func(s *Setup) { s.World.Optimizer = o.Name }})
	}
	return kinds
}

// loopSetup is what the kinds of worlds start from.
func loopSetup() Setup {
	s := Default() // 20 rules of unequal frequency, 60 train and 200 test tasks
	s.World.Flip = 0.1
	return s
}

// setups returns the setup of each cell. No two cells draw the same worlds.
func (s LoopStudy) setups() (cells []LoopCell, setups []Setup) {
	for _, k := range loopKinds() {
		for _, n := range s.sizes() {
			for _, c := range s.loopCeilings() {
				setup := loopSetup()
				setup.Worlds, setup.Selection, setup.Calls = s.Worlds, n, c.base+c.each*n
				setup.Seed = s.Seed*1_009 + uint64(len(cells))
				k.change(&setup)
				cells = append(cells, LoopCell{World: k.Name, Selection: n, Ceiling: c.name, Calls: setup.Calls})
				setups = append(setups, setup)
			}
		}
	}
	return cells, setups
}

// Figure is a mean with its standard error.
type Figure struct {
	Mean float64 `json:"mean"`
	SE   float64 `json:"se"`
	N    int     `json:"n"`
}

// LoopRow is the result of one way to train in a cell. Scores go from 0 to 1.
type LoopRow struct {
	Way    string `json:"way"`
	Gain   Figure `json:"gain"`   // expected score on the test tasks, shipped skill minus seed skill
	Ahead  Figure `json:"ahead"`  // gain minus that of the defaults in the same world
	Calls  Figure `json:"calls"`  // that a run made, of target and optimizer
	Worse  Figure `json:"worse"`  // share of runs whose gain is negative
	Excess Figure `json:"excess"` // reported score minus the expected one, both on the selection tasks
	Lost   Figure `json:"lost"`   // share of runs that passed the ceiling with what they held for the best
}

// LoopCell is one kind of world with one number of selection tasks and one ceiling.
type LoopCell struct {
	World     string    `json:"world"`
	Selection int       `json:"selection"`
	Ceiling   string    `json:"ceiling"`
	Calls     int       `json:"calls"` // of the ceiling
	Rows      []LoopRow `json:"rows"`
}

func (c LoopCell) row(way string) LoopRow {
	for _, r := range c.Rows {
		if r.Way == way {
			return r
		}
	}
	return LoopRow{}
}

// LoopReport is what a study came to.
type LoopReport struct {
	Simulated bool       `json:"simulated"` // always
	Study     LoopStudy  `json:"study"`
	Kinds     []LoopKind `json:"kinds"`
	Cells     []LoopCell `json:"cells"`
	Pooled    []LoopRow  `json:"pooled"` // over all cells, each counting once
	Findings  []Claim    `json:"findings"`
}

// Run carries the study out. The result does not depend on how many worlds are played
// at once.
func (s LoopStudy) Run(ctx context.Context) (LoopReport, error) {
	if err := s.Validate(); err != nil {
		return LoopReport{}, err
	}
	cells, setups := s.setups()
	runs := make([][][]loopRun, len(cells))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for c, setup := range setups {
		runs[c] = make([][]loopRun, setup.Worlds)
		for i := range setup.Worlds {
			g.Go(func() (err error) {
				if runs[c][i], err = setup.loops(ctx, i); err != nil {
					return fmt.Errorf("worlds %q with %d selection tasks and %d calls, world %d: %w", cells[c].World, cells[c].Selection, cells[c].Calls, i, err)
				}
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		return LoopReport{}, err
	}
	for c := range cells {
		cells[c].Rows = loopRows(runs[c])
	}
	r := LoopReport{Simulated: true, Study: s, Kinds: loopKinds(), Cells: cells, Pooled: pooled(cells)}
	r.Findings = r.claims()
	return r, nil
}

// loops plays one world in every way.
func (s Setup) loops(ctx context.Context, i int) ([]loopRun, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a, err := newArena(s, i)
	if err != nil {
		return nil, err
	}
	var out []loopRun
	for _, g := range loopWays() {
		r, err := a.loop(ctx, g)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.name, err)
		}
		r.kept = result.Candidates{} // the texts of all runs of a study are more than memory should hold
		out = append(out, r)
	}
	return out, nil
}

// loopRows sums up the runs of a cell, by world and way.
func loopRows(runs [][]loopRun) []LoopRow {
	var rows []LoopRow
	for j, w := range loopWays() {
		var gain, ahead, calls, worse, excess, lost []float64
		for _, world := range runs {
			r := world[j]
			gain, ahead = append(gain, r.gain), append(ahead, r.gain-world[0].gain)
			calls, worse = append(calls, float64(r.calls)), append(worse, indicator(r.gain < -rounding))
			lost = append(lost, indicator(r.lost))
			if r.excess != nil {
				excess = append(excess, *r.excess)
			}
		}
		rows = append(rows, LoopRow{w.name, figure(gain), figure(ahead), figure(calls), figure(worse), figure(excess), figure(lost)})
	}
	return rows
}

// rounding is how far a gain of nothing can be from zero.
const rounding = 1e-9

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func figure(xs []float64) Figure {
	f := Figure{N: len(xs)}
	if f.N == 0 {
		return f
	}
	for _, x := range xs {
		f.Mean += x / float64(f.N)
	}
	for _, x := range xs {
		f.SE += (x - f.Mean) * (x - f.Mean)
	}
	if f.N > 1 {
		f.SE = math.Sqrt(f.SE / float64(f.N-1) / float64(f.N))
	}
	return f
}

// pooled is the mean over cells by way. Cells are drawn apart, so that the squares of
// their errors add up.
func pooled(cells []LoopCell) []LoopRow {
	var rows []LoopRow
	for _, w := range loopWays() {
		join := func(pick func(LoopRow) Figure) Figure {
			var all []Figure
			for _, c := range cells {
				all = append(all, pick(c.row(w.name)))
			}
			return joined(all)
		}
		rows = append(rows, LoopRow{
			w.name, join(func(r LoopRow) Figure { return r.Gain }), join(func(r LoopRow) Figure { return r.Ahead }),
			join(func(r LoopRow) Figure { return r.Calls }), join(func(r LoopRow) Figure { return r.Worse }), join(func(r LoopRow) Figure { return r.Excess }),
			join(func(r LoopRow) Figure { return r.Lost }),
		})
	}
	return rows
}

func joined(figures []Figure) Figure {
	out, n := Figure{}, 0.0
	for _, f := range figures {
		if f.N > 0 {
			n++
		}
	}
	for _, f := range figures {
		if f.N > 0 {
			out.Mean, out.SE, out.N = out.Mean+f.Mean/n, out.SE+f.SE*f.SE/n/n, out.N+f.N
		}
	}
	out.SE = math.Sqrt(out.SE)
	return out
}

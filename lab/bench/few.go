package bench

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/seed-f4525e22/skillopt/internal/worlds"
	"github.com/seed-f4525e22/skillopt/schedule"
)

// FewStudy measures what training gains where tasks are few: with a fixed split into
// train and selection tasks, with both as one pool in folds, and with a pool all of which
// teaches and judges.
type FewStudy struct {
	Worlds int    `json:"worlds"` // of each kind, number of tasks and ceiling
	Seed   uint64 `json:"seed"`
}

// DefaultFewStudy takes minutes on two cores.
func DefaultFewStudy() FewStudy { return FewStudy{Worlds: 30, Seed: 1} }

// Validate reports what nothing can be measured with.
func (s FewStudy) Validate() error { return LoopStudy{Worlds: s.Worlds}.Validate() }

// fewTasks are the numbers of tasks in all, a fifth of them sealed for the test.
func fewTasks() []int { return []int{8, 12, 16, 24, 40} }

// fewCeilings are a short one, of some two steps, and one that all epochs fit into.
func fewCeilings() []loopCeiling { return []loopCeiling{{"short", 60, 6}, {"long", 120, 16}} }

// fewWay is a way to use the tasks that are not sealed for the test.
type fewWay struct {
	name  string
	folds int // 1: all tasks teach, and all judge; 0: train and selection are apart
}

// The ways: the default, which others are compared with, and the others.
const (
	fewDefault = "one pool"
	fewFixed   = "fixed split"
	fewFolds   = "4 folds"
)

func fewWays() []fewWay {
	return []fewWay{{fewDefault, 1}, {fewFixed, 0}, {fewFolds, 4}}
}

// divide returns the arena with its tasks as a way has them.
func (a *Arena) divide(w fewWay) *Arena {
	b := *a
	if w.folds > 0 {
		b.Data = a.Data.CrossFit(min(w.folds, (len(a.Data.Train)+len(a.Data.Selection))/2), a.Seed)
	}
	return &b
}

// FewRow is what one way came to in a cell. Scores go from 0 to 1.
type FewRow struct {
	Way    string `json:"way"`
	Gain   Figure `json:"gain"`   // expected score on the test tasks, shipped skill minus seed skill
	Ahead  Figure `json:"ahead"`  // gain minus that of the default in the same world
	Calls  Figure `json:"calls"`  // that a run made, of target and optimizer
	Worse  Figure `json:"worse"`  // share of runs whose gain is negative
	False  Figure `json:"false"`  // share of accepted candidates that are worse on the test tasks than what they replaced
	Same   Figure `json:"same"`   // reported score minus the expected one on the same tasks
	Unseen Figure `json:"unseen"` // reported score minus the expected one on the test tasks
	Lost   Figure `json:"lost"`   // share of runs that passed the ceiling with what they held for the best
}

// FewCell is one kind of world with one number of tasks and one ceiling.
type FewCell struct {
	World   string   `json:"world"`
	Tasks   int      `json:"tasks"`
	Ceiling string   `json:"ceiling"`
	Calls   int      `json:"calls"` // of the ceiling
	Rows    []FewRow `json:"rows"`
}

// FewReport is what a study came to.
type FewReport struct {
	Simulated bool       `json:"simulated"` // always
	Study     FewStudy   `json:"study"`
	Kinds     []LoopKind `json:"kinds"`
	Cells     []FewCell  `json:"cells"`
}

// fewKinds returns the kinds of worlds and optimizers. The last one memorizes, which a pool
// that teaches and judges cannot notice.
func fewKinds() []LoopKind {
	m := worlds.Memorizer()
	return append(loopKinds(), LoopKind{m.Name, m.What, func(s *Setup) { s.World.Optimizer = m.Name }})
}

// setups returns the setup of each cell. No two cells draw the same worlds.
func (s FewStudy) setups() (cells []FewCell, setups []Setup) {
	for _, k := range fewKinds() {
		for _, n := range fewTasks() {
			for _, c := range fewCeilings() {
				setup, parts := loopSetup(), schedule.DefaultCounts(n)
				setup.Worlds, setup.Train, setup.Selection, setup.Calls = s.Worlds, parts.Train, parts.Selection, c.base+c.each*n
				setup.Seed = s.Seed*2_003 + uint64(len(cells))
				k.change(&setup)
				cells = append(cells, FewCell{World: k.Name, Tasks: n, Ceiling: c.name, Calls: setup.Calls})
				setups = append(setups, setup)
			}
		}
	}
	return cells, setups
}

// Run carries the study out. The result does not depend on how many worlds are played
// at once.
func (s FewStudy) Run(ctx context.Context) (FewReport, error) {
	if err := s.Validate(); err != nil {
		return FewReport{}, err
	}
	cells, setups := s.setups()
	runs := make([][][]fewRun, len(cells))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for c, setup := range setups {
		runs[c] = make([][]fewRun, setup.Worlds)
		for i := range setup.Worlds {
			g.Go(func() (err error) {
				if runs[c][i], err = setup.few(ctx, i); err != nil {
					return fmt.Errorf("worlds %q with %d tasks and %d calls, world %d: %w", cells[c].World, cells[c].Tasks, cells[c].Calls, i, err)
				}
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		return FewReport{}, err
	}
	for c := range cells {
		cells[c].Rows = fewRows(runs[c])
	}
	return FewReport{Simulated: true, Study: s, Kinds: fewKinds(), Cells: cells}, nil
}

// fewRun is one run with what its decisions are worth on the test tasks.
type fewRun struct {
	loopRun
	accepted, wrong float64  // candidates, and those of them that are worse than what they replaced
	unseen          *float64 // reported score minus the expected one on the test tasks
}

// few plays one world in every way.
func (s Setup) few(ctx context.Context, i int) ([]fewRun, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a, err := newArena(s, i)
	if err != nil {
		return nil, err
	}
	var out []fewRun
	for _, w := range fewWays() {
		r, err := a.divide(w).loop(ctx, loopWays()[0])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		run := fewRun{loopRun: r}
		if err := a.weigh(ctx, &run); err != nil {
			return nil, err
		}
		out = append(out, run)
	}
	return out, nil
}

// weigh finds what the decisions of a run are worth on the test tasks.
func (a *Arena) weigh(ctx context.Context, r *fewRun) error {
	worth := map[string]float64{}
	for _, c := range r.kept.Candidates {
		scores, err := a.expected(ctx, c.Text, a.Data.Test)
		if err != nil {
			return err
		}
		worth[c.Hash] = meanOf(scores, a.Data.Test, "")
		if before, ok := worth[c.Parent]; ok && c.Accepted {
			r.accepted++
			r.wrong += indicator(worth[c.Hash] < before-rounding)
		}
	}
	if r.told != nil && len(r.kept.Candidates) > 0 {
		v := *r.told - r.gain - worth[r.kept.Candidates[0].Hash]
		r.unseen = &v
	}
	return nil
}

// fewRows sums up the runs of a cell, by world and way.
func fewRows(runs [][]fewRun) []FewRow {
	var rows []FewRow
	for j, w := range fewWays() {
		var gain, ahead, calls, worse, wrong, same, unseen, lost []float64
		for _, world := range runs {
			r := world[j]
			gain, ahead = append(gain, r.gain), append(ahead, r.gain-world[0].gain)
			calls, worse = append(calls, float64(r.calls)), append(worse, indicator(r.gain < -rounding))
			lost = append(lost, indicator(r.lost))
			if r.accepted > 0 {
				wrong = append(wrong, r.wrong/r.accepted)
			}
			if r.excess != nil && r.unseen != nil {
				same, unseen = append(same, *r.excess), append(unseen, *r.unseen)
			}
		}
		rows = append(rows, FewRow{w.name, figure(gain), figure(ahead), figure(calls), figure(worse), figure(wrong), figure(same), figure(unseen), figure(lost)})
	}
	return rows
}

// pooledFew is the mean over cells by way, each cell counting once.
func pooledFew(cells []FewCell) []FewRow {
	var rows []FewRow
	for j, w := range fewWays() {
		join := func(pick func(FewRow) Figure) Figure {
			var all []Figure
			for _, c := range cells {
				all = append(all, pick(c.Rows[j]))
			}
			return joined(all)
		}
		rows = append(rows, FewRow{
			w.name, join(func(r FewRow) Figure { return r.Gain }), join(func(r FewRow) Figure { return r.Ahead }),
			join(func(r FewRow) Figure { return r.Calls }), join(func(r FewRow) Figure { return r.Worse }), join(func(r FewRow) Figure { return r.False }),
			join(func(r FewRow) Figure { return r.Same }), join(func(r FewRow) Figure { return r.Unseen }), join(func(r FewRow) Figure { return r.Lost }),
		})
	}
	return rows
}

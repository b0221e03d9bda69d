// Package bench lets ways of getting a skill compete in simulated worlds under
// one budget of model calls: no skill, the starting skill, one that the optimizer
// writes in one go, the best of several such, and what training makes of it, with
// this or that curriculum.
//
// A world is made by internal/worlds and played by the provider sim. Training
// is the real loop of internal/train, over rollouts and requests that are kept in
// memory instead of recorded. Every contestant's skill is scored at the end on the
// same test tasks, which cost it nothing and which no contestant sees before.
//
// Everything is drawn from a seed, and the results do not depend on how many
// worlds run at once. What it measures holds for these worlds. The package knows
// nothing about real models, run directories, configs or terminals.
package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/internal/worlds"
)

// Setup is what all contestants share.
type Setup struct {
	Worlds    int           `json:"worlds"` // worlds that differ by their seed alone
	Seed      uint64        `json:"seed"`
	World     worlds.Params `json:"world"` // its Seed and Tasks are set by the bench
	Train     int           `json:"train"` // tasks of each split
	Selection int           `json:"selection"`
	Test      int           `json:"test"`
	Calls     int           `json:"calls"`             // budget of model calls of a contestant in one world
	Epochs    int           `json:"epochs"`            // of training, if the budget reaches so far
	Batch     int           `json:"batch"`             // tasks of a train batch
	Heavy     bool          `json:"heavy,omitempty"`   // solved tasks have soft scores with a heavy tail
	Cluster   string        `json:"cluster,omitempty"` // gate.group of contestants that know of it
}

// Default returns a setup that takes a few minutes on two cores.
func Default() Setup {
	p := worlds.Default()
	p.Rules, p.Skew = 20, 1
	return Setup{Worlds: 100, Seed: 1, World: p, Train: 60, Selection: 60, Test: 200, Calls: 1200, Epochs: 4, Batch: 20}
}

// Validate reports every number that nothing can be measured with, by its name.
func (s Setup) Validate() error {
	for _, n := range []struct {
		name             string
		got, least, most int
	}{
		{"worlds", s.Worlds, 1, 100_000},
		{"train", s.Train, 4, worlds.MaxTasks / 3},
		{"selection", s.Selection, 4, worlds.MaxTasks / 3},
		{"test", s.Test, 4, worlds.MaxTasks / 3},
		{"calls", s.Calls, 1, 10_000_000},
		{"epochs", s.Epochs, 1, 1000},
		{"batch", s.Batch, 1, worlds.MaxTasks},
	} {
		if n.got < n.least || n.got > n.most {
			return fmt.Errorf("%s: found %d, allowed is %d to %d", n.name, n.got, n.least, n.most)
		}
	}
	return s.params(0).Validate()
}

// params returns the parameters of world number i.
func (s Setup) params(i int) worlds.Params {
	p := s.World
	p.Tasks = s.Train + s.Selection + s.Test
	p.Seed = s.Seed*1_000_003 + uint64(i)
	return p
}

// Contestant is a way to get a skill.
type Contestant struct {
	Name string
	What string // in a few words
	Play func(ctx context.Context, a *Arena) (Outcome, error)
}

// Outcome is what a contestant came to in one world.
type Outcome struct {
	Skill string
	Calls int // model calls that it used; what a gate cancelled or did not read does not count
}

// Estimate is a mean over the worlds with its 95 % interval. Low and High are nil
// where there is none: fewer than two worlds, or no spread.
type Estimate struct {
	Mean float64  `json:"mean"`
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

// Row is what one contestant came to over all worlds.
type Row struct {
	Name  string   `json:"name"`
	What  string   `json:"what"`
	Score Estimate `json:"score"` // share of test tasks solved
	// Difference to the first contestant in the same worlds; nil for the first.
	Difference *Estimate `json:"difference"`
	Better     int       `json:"better"` // worlds in which it beats the first
	Worse      int       `json:"worse"`
	Calls      float64   `json:"calls"`  // model calls used, mean
	Scores     []float64 `json:"scores"` // by world
}

// Result is what a competition came to.
type Result struct {
	Simulated bool  `json:"simulated"` // always
	Setup     Setup `json:"setup"`
	Rows      []Row `json:"rows"`
}

// Run lets the contestants compete in every world; the first is what the others
// are compared with.
func Run(ctx context.Context, s Setup, contestants []Contestant) (Result, error) {
	if err := s.Validate(); err != nil {
		return Result{}, err
	}
	if len(contestants) == 0 {
		return Result{}, errors.New("nobody competes")
	}
	played := make([][]standing, s.Worlds)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range s.Worlds {
		g.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if played[i], err = s.play(ctx, i, contestants); err != nil {
				return fmt.Errorf("world %d: %w", i, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return Result{}, err
	}
	return Result{Simulated: true, Setup: s, Rows: rows(s, contestants, played)}, nil
}

// standing is what a contestant came to in one world.
type standing struct {
	score float64
	calls int
}

func (s Setup) play(ctx context.Context, i int, contestants []Contestant) ([]standing, error) {
	a, err := newArena(s, i)
	if err != nil {
		return nil, err
	}
	out := make([]standing, len(contestants))
	for j, c := range contestants {
		o, err := c.Play(ctx, a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		if out[j].score, err = a.exam(ctx, o.Skill); err != nil {
			return nil, fmt.Errorf("%s: test: %w", c.Name, err)
		}
		out[j].calls = o.Calls
	}
	return out, nil
}

func rows(s Setup, contestants []Contestant, played [][]standing) []Row {
	out := make([]Row, len(contestants))
	for j, c := range contestants {
		r := Row{Name: c.Name, What: c.What, Scores: make([]float64, s.Worlds)}
		diffs := make([]float64, s.Worlds)
		for i, p := range played {
			r.Scores[i] = p[j].score
			r.Calls += float64(p[j].calls) / float64(s.Worlds)
			diffs[i] = p[j].score - p[0].score
			switch {
			case diffs[i] > 0:
				r.Better++
			case diffs[i] < 0:
				r.Worse++
			}
		}
		r.Score = estimate(r.Scores, s.Seed)
		if j > 0 {
			d := estimate(diffs, s.Seed)
			r.Difference = &d
		}
		out[j] = r
	}
	return out
}

// estimate gives the mean with a bootstrap interval over the worlds.
func estimate(xs []float64, seed uint64) Estimate {
	e := Estimate{}
	for _, x := range xs {
		e.Mean += x / float64(len(xs))
	}
	b, err := stats.PairedBootstrapBCa(xs, 4000, 0.05, int64(seed))
	if err != nil { // too few worlds, or all alike: no interval
		return e
	}
	e.Mean, e.Low, e.High = b.Mean, &b.Interval.Low, &b.Interval.High
	return e
}

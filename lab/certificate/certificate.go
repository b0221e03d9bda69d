package certificate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/stats"
)

// What a skill that is measured on a test split is like: on a share of the tasks it does
// otherwise than the seed skill, neither better nor worse on average; one that is
// better does a share of what was missing besides.
const (
	siblings   = 3 // runs that read the same test tasks one after the other
	otherwise  = 0.3
	better     = 0.25 // of what is missing, 0.4 on average: 10 points
	gain       = better * (1 - betaA/(betaA+betaB))
	inCluster  = 5   // tasks
	following  = 0.8 // share of tasks that do as their cluster does
	checksEach = 5   // of a noisy soft score
)

// Scores are the kinds of scores that certificates are simulated for.
type Scores string

const (
	HardScores   Scores = "hard"
	SoftScores   Scores = "soft"
	RareLosses   Scores = "soft, rare losses" // many small gains and a few large losses: what misleads tests that take a mean for normal
	lossShare           = 1.0 / 11
	smallGain           = 0.05
	largeLoss           = 0.5
	rareBaseline        = 0.6
)

// TestSplit is what a certificate is simulated on.
type TestSplit struct {
	Scores    Scores `json:"scores"`
	Noisy     bool   `json:"noisy"`     // each reading is subject to chance
	Clustered bool   `json:"clustered"` // tasks come in clusters of five, which are declared
	Tasks     int    `json:"tasks"`
}

func (s TestSplit) test() gate.LookTest {
	if s.Scores == HardScores && !s.Clustered {
		return gate.LookExact
	}
	return gate.LookBound
}

// draw makes the tasks of a split.
func (s TestSplit) draw(r *rand.Rand) *drawnSplit {
	d := &drawnSplit{TestSplit: s, chance: make([]float64, s.Tasks), cluster: make([]int, s.Tasks)}
	shared := 0.0
	for i := range d.chance {
		d.cluster[i] = i
		if s.Clustered {
			d.cluster[i] = i / inCluster
		}
		if !s.Clustered || i%inCluster == 0 {
			shared = s.fresh(r)
		}
		d.chance[i] = shared
		if s.Clustered && r.Float64() >= following {
			d.chance[i] = s.fresh(r)
		}
	}
	return d
}

// fresh is how a skill does on a task: the chance of a hard score, or a soft score.
func (s TestSplit) fresh(r *rand.Rand) float64 {
	c := beta(r, betaA, betaB)
	switch {
	case s.Scores == RareLosses:
		return rareBaseline
	case s.Scores == HardScores && !s.Noisy:
		return share(r.Float64() < c)
	}
	return c
}

// drawnSplit holds the tasks of a split, with how the seed skill does on them.
type drawnSplit struct {
	TestSplit
	chance  []float64
	cluster []int
}

// sibling is how another skill does on the tasks, ahead by gain or by nothing on
// average over all tasks that might have been drawn.
func (d *drawnSplit) sibling(r *rand.Rand, ahead bool) []float64 {
	out := make([]float64, len(d.chance))
	var change, value float64
	for i, c := range d.chance {
		if i == 0 || d.cluster[i] != d.cluster[i-1] {
			change, value = r.Float64(), d.fresh(r)
		}
		x, y := change, value
		if d.Clustered && r.Float64() >= following {
			x, y = r.Float64(), d.fresh(r)
		}
		out[i] = d.changed(r, c, x, y, ahead)
	}
	return out
}

// changed is how a skill does on a task: x from 0 to 1 decides whether otherwise than
// before, and y is how then.
func (d *drawnSplit) changed(r *rand.Rand, was, x, y float64, ahead bool) float64 {
	if d.Scores == RareLosses {
		move := smallGain
		if x < lossShare {
			move = -largeLoss
		}
		return was + move + gain*share(ahead)
	}
	now := was
	if x < otherwise {
		now = y
	}
	switch {
	case !ahead:
		return now
	case d.Scores == HardScores && !d.Noisy:
		return max(now, share(r.Float64() < better))
	}
	return now + (1-now)*better
}

// read scores a skill once on each task.
func (d *drawnSplit) read(r *rand.Rand, skill []float64) []float64 {
	out := make([]float64, len(skill))
	for i, c := range skill {
		out[i] = c
		switch {
		case !d.Noisy:
		case d.Scores == HardScores:
			out[i] = share(r.Float64() < c)
		default:
			passed := 0.0
			for range checksEach {
				passed += share(r.Float64() < c)
			}
			out[i] = passed / checksEach
		}
	}
	return out
}

// pairs scores a skill and the seed skill.
func (d *drawnSplit) pairs(r *rand.Rand, skill []float64) []gate.Pair {
	seed, own := d.read(r, d.chance), d.read(r, skill)
	out := make([]gate.Pair, len(own))
	for i := range out {
		out[i] = gate.Pair{Candidate: own[i], Reference: seed[i]}
		if d.Clustered {
			out[i].Cluster = strconv.Itoa(d.cluster[i])
		}
	}
	return out
}

// Study is an experiment: how often the certificate at the end of a run errs, and
// how often it finds what is there.
type Study struct {
	Runs    int   // for each row; 20000
	Seed    int64 // of all that is drawn
	Sizes   []int // test tasks
	Workers int   // how much runs at once; it changes no result

	level func(alpha float64, reading int) float64 // nil: gate.LevelOf
}

// DefaultRuns give standard errors of .0015 at 5 %.
const DefaultRuns = 20_000

// Row is what certificates came to on one kind of test split.
type Row struct {
	TestSplit
	Test gate.LookTest `json:"test"`

	Wrong  Estimate `json:"wrong"`  // of three siblings that are no better, read one after the other, one or more is certified
	TooFar Estimate `json:"beyond"` // a first reading of a better skill says "at least" more than is so

	// Shares of skills that are better by 10 points.
	First    Estimate `json:"first"`    // certified by a first reading
	Second   Estimate `json:"second"`   // by a second one
	Evidence Estimate `json:"evidence"` // by evidence that may be looked at any number of times, at all of alpha
	Exact    *float64 `json:"exact"`    // computed: McNemar's exact test at the level of a first reading; null where there is none
}

// Report holds the results of an experiment.
type Report struct {
	Runs     int       `json:"runs"`
	Seed     int64     `json:"seed"`
	Alpha    float64   `json:"alpha"`
	Levels   []float64 `json:"levels"` // of the readings
	Rows     []Row     `json:"rows"`
	Findings []Finding `json:"findings"`
}

func (e Study) withDefaults() Study {
	if e.Runs == 0 {
		e.Runs = DefaultRuns
	}
	if len(e.Sizes) == 0 {
		e.Sizes = []int{8, 20, 40, 100, 200, 400}
	}
	if e.Workers == 0 {
		e.Workers = runtime.GOMAXPROCS(0)
	}
	if e.level == nil {
		e.level = gate.LevelOf
	}
	return e
}

// splits lists the kinds of test splits.
func (e Study) splits() []TestSplit {
	var out []TestSplit
	for _, scores := range []Scores{HardScores, SoftScores, RareLosses} {
		for _, noisy := range []bool{false, true} {
			for _, clustered := range []bool{false, true} {
				for _, n := range e.Sizes {
					out = append(out, TestSplit{scores, noisy, clustered, n})
				}
			}
		}
	}
	return out
}

// Run carries out the experiment on all cores. The context ends it early, with its
// error.
func (e Study) Run(ctx context.Context) (Report, error) {
	e = e.withDefaults()
	splits := e.splits()
	r := Report{Runs: e.Runs, Seed: e.Seed, Alpha: alpha, Rows: make([]Row, len(splits))}
	for k := range siblings {
		r.Levels = append(r.Levels, e.level(alpha, k+1))
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(e.Workers)
	for i, s := range splits {
		group.Go(func() (err error) {
			r.Rows[i], err = e.row(groupCtx, s, uint64(i))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Report{}, err
	}
	r.Findings = r.findings()
	return r, nil
}

// row simulates one kind of test split.
func (e Study) row(ctx context.Context, s TestSplit, stream uint64) (Row, error) {
	var wrong, beyond, first, second, evidence int
	for i := range e.Runs {
		if ctx.Err() != nil {
			return Row{}, context.Cause(ctx)
		}
		o, err := e.once(s, rand.New(rand.NewPCG(mix(uint64(e.Seed), stream), uint64(i))))
		if err != nil {
			return Row{}, fmt.Errorf("lab: a certificate on %d tasks with %s scores: %w", s.Tasks, s.Scores, err)
		}
		for _, c := range []struct {
			count *int
			is    bool
		}{{&wrong, o.wrong}, {&beyond, o.beyond}, {&first, o.first}, {&second, o.second}, {&evidence, o.evidence}} {
			if c.is {
				*c.count++
			}
		}
	}
	return Row{
		TestSplit: s, Test: s.test(), Wrong: e.share(wrong), TooFar: e.share(beyond),
		First: e.share(first), Second: e.share(second), Evidence: e.share(evidence), Exact: s.exactPower(e.level(alpha, 1)),
	}, nil
}

func (e Study) share(n int) Estimate {
	p := float64(n) / float64(e.Runs)
	return Estimate{Mean: p, SE: math.Sqrt(p * (1 - p) / float64(e.Runs))}
}

// looks is what came of one test split.
type looks struct{ wrong, beyond, first, second, evidence bool }

// once draws a test split. Three siblings that are no better read it one after the other;
// and, as if nobody had, one that is better.
func (e Study) once(s TestSplit, r *rand.Rand) (out looks, err error) {
	d := s.draw(r)
	for k := range siblings {
		l, err := gate.LookOnce(d.pairs(r, d.sibling(r, false)), s.test(), e.level(alpha, k+1))
		if err != nil {
			return out, err
		}
		out.wrong = out.wrong || l.Certified
	}
	pairs := d.pairs(r, d.sibling(r, true))
	first, err := gate.LookOnce(pairs, s.test(), e.level(alpha, 1))
	if err != nil {
		return out, err
	}
	second, err := gate.LookOnce(pairs, s.test(), e.level(alpha, 2))
	if err != nil {
		return out, err
	}
	wealth, err := stats.Betting{}.LogWealth(first.Differences, 0)
	out.first, out.second, out.evidence = first.Certified, second.Certified, wealth >= -math.Log(alpha)
	out.beyond = first.Low != nil && *first.Low > gain+1e-9
	return out, err
}

// exactPower sums up, over all numbers of wins and losses, the probability that
// McNemar's exact test finds the better skill; nil where that is not the test.
func (s TestSplit) exactPower(level float64) *float64 {
	if s.test() != gate.LookExact {
		return nil
	}
	win, loss := s.discordant()
	sum := 0.0
	for m := 1; m <= s.Tasks; m++ {
		fair, own := distuv.Binomial{N: float64(m), P: 0.5}, distuv.Binomial{N: float64(m), P: win / (win + loss)}
		power := 0.0
		for wins := m; wins > 0 && fair.Survival(float64(wins)-1) <= level; wins-- {
			power += own.Prob(float64(wins))
		}
		sum += power * distuv.Binomial{N: float64(s.Tasks), P: win + loss}.Prob(float64(m))
	}
	return &sum
}

// discordant are the probabilities that only the better skill solves a task, and that
// only the seed skill does.
func (s TestSplit) discordant() (win, loss float64) {
	mean := betaA / (betaA + betaB)
	square := mean * (betaA + 1) / (betaA + betaB + 1) // of a chance, on average
	if !s.Noisy {
		square = mean // chances are 0 and 1
	}
	both, neither := mean-square, 1-2*mean+square // the means of c(1-c) and (1-c)^2
	fresh := mean + (1-mean)*better
	win = (1-otherwise)*(both+better*neither) + otherwise*(1-mean)*fresh
	loss = (1-otherwise)*(1-better)*both + otherwise*mean*(1-fresh)
	return win, loss
}

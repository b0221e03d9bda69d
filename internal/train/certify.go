package train

import (
	"fmt"
	"math"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/gate"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/internal/testset"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Certificate compares the best skill with the seed skill on the test split,
// which nothing was decided by: each task's scores are a pair. Differences are in
// gate-score points, best minus seed.
type Certificate struct {
	Metric     string   `json:"metric"`
	N          int      `json:"n"`     // pairs; items of one cluster count once
	Tasks      int      `json:"tasks"` // behind them
	Difference *float64 `json:"difference"`
	Low        *float64 `json:"low"`  // 95 % interval by the paired bootstrap (BCa); null: too few pairs, or all alike
	High       *float64 `json:"high"` //

	Wins   int      `json:"wins"` // pairs that the best skill scores higher on
	Losses int      `json:"losses"`
	Ties   int      `json:"ties"`
	P      *float64 `json:"mcnemar_p"` // exact, two-sided, on the discordant pairs; null if there are none

	Alpha     float64  `json:"alpha"`     // level of what follows
	Wealth    float64  `json:"e_mean"`    // evidence for a higher mean: certified from 1/alpha on
	SignE     float64  `json:"e_sign"`    // the same for more wins than losses
	Certified bool     `json:"certified"` // the best skill is better, at most alpha of such claims being wrong
	AtLeast   *float64 `json:"at_least"`  // lower end of the confidence sequence of the mean difference; null unless certified

	Words string `json:"words"` // all of it in a sentence
}

// resamples of the bootstrap behind what is printed.
const resamples = 10_000

// certified compares the best skill with the seed skill. A test that was opened
// before certifies nothing.
func (t *trainer) certified(final *FinalRecord, opened *seal, seed, best []trajectory.Outcome) {
	c := t.certify(seed, best)
	if n := len(opened.openings); n > 1 {
		c.Certified, c.AtLeast = false, nil
		c.Words = fmt.Sprintf("not certified: the test split was opened for the %s time, so its scores could have been chosen by", ordinal(n))
	}
	if t.Gate == ModeRace {
		final.Certificate = c
	}
	t.cert = c.after(opened.before)
	c = t.cert
	t.Events(event.Certificate{Certified: c.Certified, Difference: c.Difference, Low: c.Low, High: c.High, AtLeast: c.AtLeast, Words: c.Words})
}

// after is the certificate with words on who had read the test set before. The history
// has it without them: they depend on what else ran.
func (c *Certificate) after(before *testset.Before) *Certificate {
	words := before.Words()
	if words == "" {
		return c
	}
	told := *c
	told.Words += "; the test set was " + words
	if c.Certified {
		told.Words += "; the level is that of a first reading"
	}
	return &told
}

// certify compares two skills on the items that both were measured on.
func (t *trainer) certify(seed, best []trajectory.Outcome) *Certificate {
	_, clusters := Strata(t.Data.Test, t.Cluster)
	var pairs []gate.Pair
	for i := range min(len(seed), len(best)) {
		if !seed[i].Status.Measured() || !best[i].Status.Measured() {
			continue
		}
		p := gate.Pair{Candidate: t.scoreOf(best[i]), Reference: t.scoreOf(seed[i])}
		if clusters != nil {
			p.Cluster = clusters[i]
		}
		pairs = append(pairs, p)
	}
	same := t.best.skill.Text() == t.Skill.Text()
	return newCertificate(string(t.Projection.Metric), pairs, t.Alpha, t.Seed, same)
}

func (t *trainer) scoreOf(o trajectory.Outcome) float64 {
	return t.Projection.Of(score.Pair{Hard: o.Hard, Soft: o.Soft}, 0)
}

// newCertificate computes the certificate of pairs. same says that both skills
// are one text.
func newCertificate(metric string, pairs []gate.Pair, alpha float64, seed int64, same bool) *Certificate {
	g, err := gate.Certify(pairs, alpha)
	if err != nil {
		return &Certificate{Metric: metric, Alpha: alpha, Words: "not certified: " + err.Error()}
	}
	c := &Certificate{
		Metric: metric, N: g.N, Tasks: len(pairs), Wins: g.Wins, Losses: g.Losses, Ties: g.Ties, Alpha: alpha, Wealth: g.Wealth, SignE: g.SignE,
		Certified: g.Certified && !same,
	}
	if diffs := g.Differences; len(diffs) > 0 {
		sum := 0.0
		for _, d := range diffs {
			sum += d
		}
		mean := sum / float64(len(diffs))
		c.Difference = &mean
	}
	if b, err := stats.PairedBootstrapBCa(g.Differences, resamples, 0.05, seed); err == nil {
		c.Low, c.High = &b.Interval.Low, &b.Interval.High
	}
	if c.Wins+c.Losses > 0 {
		p := stats.McNemarExact(c.Wins, c.Losses).TwoSided
		c.P = &p
	}
	if c.Certified {
		c.AtLeast = g.Low
	}
	c.Words = c.sentence(same)
	return c
}

// sentence says what the certificate comes to.
func (c *Certificate) sentence(same bool) string {
	switch {
	case c.N == 0:
		return "not certified: no test task was measured with both skills"
	case same:
		return "not certified: the best skill is the seed skill"
	}
	level := fmt.Sprintf("%.4g %%", 100*c.Alpha)
	found := fmt.Sprintf("%+.1f points", 100**c.Difference)
	if c.Low != nil {
		found += fmt.Sprintf(" (95 %% interval %+.1f to %+.1f)", 100**c.Low, 100**c.High)
	}
	found += " on " + inClustersOf(plural.Of(c.Tasks, "test task", "test tasks"), c.Tasks, c.N)
	if c.Certified {
		if c.AtLeast != nil && *c.AtLeast >= 0.001 {
			least := math.Floor(1000**c.AtLeast) / 10 // a bound is never rounded up
			return fmt.Sprintf("certified at the %s level: better than the seed skill by at least %.1f points; measured %s", level, least, found)
		}
		return fmt.Sprintf("certified at the %s level: better than the seed skill; measured %s", level, found)
	}
	why := "too little to tell it from chance: more test tasks would help"
	switch {
	case *c.Difference <= 0:
		why = "the best skill is not ahead of the seed skill"
	case c.Wins+c.Losses == 0:
		why = "no task was answered differently"
	}
	return fmt.Sprintf("not certified at the %s level: measured %s; %s", level, found, why)
}

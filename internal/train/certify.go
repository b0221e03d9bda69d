package train

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// resamples of the bootstrap behind what is printed.
const resamples = 10_000

// assumes is what every certificate takes for granted.
const assumes = "the test tasks are drawn at random, each by itself or with its group, from those that matter; no one who wrote or chose the skill knew how it does on them"

// certify compares the best skill with the seed skill. A test that was opened before
// certifies nothing. same says that both are one text.
func (s *testSplit) certify(r *tested, pairs []gate.Pair, same bool) {
	c := lookOnce(string(s.opts.Projection.Metric), pairs, *r.opened.level, s.opts.Seed, same)
	if n := len(r.opened.openings); n > 1 && !r.opened.isSealed() {
		c.Certified, c.AtLeast = false, nil
		c.Words = fmt.Sprintf("not certified: the test split was opened for the %s time, so its scores could have been chosen by", ordinal(n))
	}
	r.compared = &c.TestComparison
	c = withReads(c, r.opened.before)
	c.Shared, c.Near = s.shared, s.near
	if len(s.shared) > 0 {
		c.Words += "; " + task.PairWords(s.shared, "the same as one of train or selection, and not counted")
	}
	if len(s.near) > 0 {
		c.Words += "; " + task.PairWords(s.near, "almost the same as one of train or selection")
	}
	r.certificate = c
	s.emit(event.Certificate{
		Certified: c.Certified, Difference: c.Difference, Low: c.Low, High: c.High, AtLeast: c.AtLeast, Test: string(c.Test), Reading: c.Reading,
		Level: c.Level, P: c.PGreater, EValue: c.EValue, Assumes: c.Assumes, Words: c.Words,
	})
}

// withReads returns the certificate with words on who had read the test set before. The history has
// none of them: they depend on what else ran.
func withReads(c *result.Certificate, before *result.TestReads) *result.Certificate {
	words := before.Words()
	if words == "" {
		return c
	}
	told := *c
	told.Words += "; the test set was " + words
	if c.Reading > 1 && c.Level != nil {
		told.Words += fmt.Sprintf(": this %s reading spends %s of the %s that all readings may err", ordinal(c.Reading), percent(*c.Level), percent(c.Alpha))
	}
	return &told
}

// pairs returns the gate scores of the items that both skills were measured on. It leaves out items
// that another split has, too.
func (s *testSplit) pairs(seed, best []trajectory.Outcome) []gate.Pair {
	_, clusters := Strata(s.tasks, s.opts.Cluster)
	var pairs []gate.Pair
	for i := range min(len(seed), len(best)) {
		if slices.ContainsFunc(s.shared, func(p task.Pair) bool { return p.Task == s.tasks[i].ID }) {
			continue
		}
		if !seed[i].Status.Measured() || !best[i].Status.Measured() {
			continue
		}
		p := gate.Pair{Candidate: outcomeScore(s.opts.Projection, best[i]), Reference: outcomeScore(s.opts.Projection, seed[i])}
		if clusters != nil {
			p.Cluster = clusters[i]
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// lookOnce computes the certificate of pairs by the test and at the level that were
// settled before. same says that both skills are one text.
func lookOnce(metric string, pairs []gate.Pair, l Level, seed int64, same bool) *result.Certificate {
	c := &result.Certificate{TestComparison: result.TestComparison{Metric: metric, Tasks: len(pairs)}, Test: l.Test, Reading: l.Reading, Alpha: l.Alpha, Assumes: assumes}
	level := gate.LevelOf(l.Alpha, 1) // for the figures of a test whose level is not known
	if l.Reading > 0 {
		c.Level, level = &l.Level, l.Level
	}
	g, err := gate.LookOnce(pairs, l.Test, level)
	if err != nil {
		c.Words = "not certified: " + err.Error()
		return c
	}
	c.N, c.Wins, c.Losses, c.Ties = g.N, g.Wins, g.Losses, g.Ties
	setDifference(&c.TestComparison, g.Differences, seed)
	if c.PGreater = g.P; g.P != nil && c.Wins+c.Losses > 0 {
		p := stats.McNemarExact(c.Wins, c.Losses).TwoSided
		c.P = &p
	}
	if c.Level != nil {
		c.EValue = g.Wealth
	}
	if c.Certified = g.Certified && c.Level != nil && !same; c.Certified {
		c.AtLeast = g.Low
	}
	c.Words = sentence(c, same)
	return c
}

// setDifference sets the mean of the differences and its interval.
func setDifference(c *result.TestComparison, diffs []float64, seed int64) {
	if len(diffs) > 0 {
		sum := 0.0
		for _, d := range diffs {
			sum += d
		}
		mean := sum / float64(len(diffs))
		c.Difference = &mean
	}
	if b, err := stats.PairedBootstrapBCa(diffs, resamples, 0.05, seed); err == nil {
		c.Low, c.High = &b.Interval.Low, &b.Interval.High
	}
}

// sentence describes the result of the certificate.
func sentence(c *result.Certificate, same bool) string {
	switch {
	case c.N == 0:
		return "not certified: no test task was measured with both skills"
	case same:
		return "not certified: the best skill is the seed skill"
	}
	found := fmt.Sprintf("%+.1f points", 100**c.Difference)
	if c.Low != nil {
		found += fmt.Sprintf(" (95 %% interval %+.1f to %+.1f)", 100**c.Low, 100**c.High)
	}
	found += " on " + nameGroups(wording.Plural(c.Tasks, "test task", "test tasks"), c.Tasks, c.N)
	if c.Certified {
		better := "better than the seed skill"
		if c.AtLeast != nil && *c.AtLeast >= 0.001 {
			better += fmt.Sprintf(" by at least %.1f points", floorPoints(*c.AtLeast))
		}
		return fmt.Sprintf("certified at the %s: %s; measured %s", levelWords(c), better, found)
	}
	if c.Level == nil {
		return fmt.Sprintf("not certified: the level depends on how often the test set was read before, and that is not known; measured %s%s", found, c.Figure(", "))
	}
	why := "too small to exclude chance: more test tasks would help"
	switch {
	case *c.Difference <= 0:
		why = "the best skill is not ahead of the seed skill"
	case c.Wins+c.Losses == 0:
		why = "no task was answered differently"
	}
	return fmt.Sprintf("not certified at the %s: measured %s; %s", levelWords(c), found, why)
}

// levelWords names the level, and what the certificate rests on: "4 % level (exact McNemar test, p 0.02)".
func levelWords(c *result.Certificate) string {
	return fmt.Sprintf("%s level (%s)", percent(*c.Level), c.Basis())
}

func percent(share float64) string { return fmt.Sprintf("%.4g %%", 100*share) }

// floorPoints returns a bound in points with one decimal, never rounded up. A bound that lies a
// rounding error below a tenth counts as that tenth.
func floorPoints(bound float64) float64 { return math.Floor(1000*bound+1e-9) / 10 }

package gate

import (
	"fmt"
	"math"

	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/score"
)

// Test names what a certificate rests on.
type Test string

const (
	// TestMean bets on the mean of the differences: the default.
	TestMean Test = "mean"
	// TestSign counts who wins where the two differ, and not by how much.
	TestSign Test = "sign"
)

// Pair holds the gate scores of one item, both from fresh passes that no
// decision has gone by.
type Pair struct {
	Candidate float64
	Reference float64
	Cluster   string // pairs of one call with the same name are averaged and count as one; "": on its own
}

// Certificate is the evidence that a candidate is better than a reference. Its
// e-values may be looked at after every pair and added to on another night: if
// the candidate is no better, the probability that one ever reaches 1/Alpha is
// at most Alpha.
//
// A Certificate with Test and Alpha set is the start; Add continues from any state,
// also one that was written down as JSON.
type Certificate struct {
	Test  Test    `json:"test"`
	Alpha float64 `json:"alpha"` // 0..1

	Wealth float64 `json:"wealth"` // of one who bets that the mean difference is above 0; begins at 1
	SignE  float64 `json:"sign_e"` // the same for the signs of the differences

	Wins   int `json:"wins"`
	Losses int `json:"losses"`
	Ties   int `json:"ties"`
	N      int `json:"n"`

	// Low and High bound the mean difference, each at level Alpha and at every N at
	// once: Low is above 0 just when Wealth has reached 1/Alpha. They are nil
	// without pairs.
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`

	Certified bool `json:"certified"`

	// Differences are those that were added, a cluster as one: what Add continues
	// from.
	Differences []float64 `json:"differences,omitempty"`
}

// Certify tests the mean of the differences at level alpha. It fails for an
// alpha outside (0, 1) and for scores that are not finite or differ by more than 1.
func Certify(pairs []Pair, alpha float64) (Certificate, error) {
	return Certificate{Test: TestMean, Alpha: alpha}.Add(pairs)
}

// Add returns the certificate with further pairs. It fails as Certify does, and
// for an unknown test.
func (c Certificate) Add(pairs []Pair) (Certificate, error) {
	if !(c.Alpha > 0 && c.Alpha < 1) {
		return Certificate{}, fmt.Errorf("certify: a level of %v: use one between 0 and 1, such as 0.05", c.Alpha)
	}
	if c.Test != TestMean && c.Test != TestSign {
		return Certificate{}, fmt.Errorf("certify: test %q is unknown: use %s or %s", c.Test, TestMean, TestSign)
	}
	more, err := differences(pairs)
	if err != nil {
		return Certificate{}, fmt.Errorf("certify: %w", err)
	}
	all := append(append([]float64{}, c.Differences...), more...)
	out := Certificate{Test: c.Test, Alpha: c.Alpha, Differences: all, N: len(all)}
	for _, d := range all {
		switch {
		case d > score.Negligible:
			out.Wins++
		case d < -score.Negligible:
			out.Losses++
		default:
			out.Ties++
		}
	}
	log, err := stats.Betting{}.LogWealth(all, 0)
	if err != nil {
		return Certificate{}, fmt.Errorf("certify: %w", err)
	}
	out.Wealth, out.SignE = stats.Evidence(log), stats.DiscordantE(out.Wins, out.Losses)
	evidence := out.Wealth
	if out.Test == TestSign {
		evidence = out.SignE
	}
	out.Certified = evidence >= 1/out.Alpha
	return out, out.bound()
}

// bound sets Low and High. The sequence has two sides, so that twice the level
// makes each of them hold at Alpha.
func (c *Certificate) bound() error {
	if c.N == 0 {
		return nil
	}
	if c.Alpha >= 0.5 { // either side is wrong as often as not: nothing is known
		low, high := -1.0, 1.0
		c.Low, c.High = &low, &high
		return nil
	}
	i, err := stats.Betting{}.Interval(c.Differences, 1-2*c.Alpha)
	if err != nil {
		return fmt.Errorf("certify: %w", err)
	}
	c.Low, c.High = &i.Low, &i.High
	return nil
}

// differences returns the differences of the pairs, clusters averaged, in the order of their first
// pairs.
func differences(pairs []Pair) ([]float64, error) {
	var sums []Pooled
	at := map[string]int{}
	for i, p := range pairs {
		d := p.Candidate - p.Reference
		if math.IsNaN(d) || math.Abs(d) > 1+score.Negligible {
			return nil, fmt.Errorf("pair %d has the scores %v and %v: scores go from 0 to 1", i+1, p.Candidate, p.Reference)
		}
		u, seen := at[p.Cluster]
		if p.Cluster == "" || !seen {
			u = len(sums)
			at[p.Cluster] = u
			sums = append(sums, Pooled{})
		}
		sums[u].Sum += d
		sums[u].N++
	}
	out := make([]float64, len(sums))
	for i, s := range sums {
		out[i] = max(-1, min(1, s.Mean()))
	}
	return out, nil
}

package lab

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/stats"
)

// Rule is a gate that is tried.
type Rule struct {
	Name   string
	Policy gate.Policy
}

// Names of the rules that the findings are about.
const (
	strictRule     = "strict"
	exploreRule    = "full, k 0"
	fullRule       = "full, k 0.5"
	discordantRule = "discordant, k 0.5"
	noneRule       = "none, k 0.5"
	measuredRule   = "measured, k 0" // the default in long runs; here answers vary in every world
)

// mainRules are those between which the choice is.
func mainRules() []string {
	return []string{strictRule, exploreRule, fullRule, measuredRule, discordantRule, noneRule}
}

// Rules returns what `lab gates` compares: the published rule, the usual ways to
// be more careful with fixed passes, and races with each kind of confirmation.
func Rules() []Rule {
	rules := []Rule{
		{strictRule, gate.Strict{}},
		{"dead band, 3 points", fixed{passes: 1, accept: above(0.03)}},
		{"1 standard error", fixed{passes: 1, accept: aboveError(1)}},
		{"sign test, 5 %", fixed{passes: 1, accept: bySign(0.05)}},
		{"median of 3, 3 points", fixed{passes: 3, accept: medianAbove(0.03)}},
	}
	for _, confirm := range []gate.Confirm{gate.ConfirmNone, gate.ConfirmDiscordant, gate.ConfirmFull} {
		for _, k := range []float64{0, 0.5, 1.5} {
			rules = append(rules, Rule{fmt.Sprintf("%s, k %g", confirm, k), gate.Race{Risk: k, Confirm: confirm}})
		}
	}
	return append(rules, Rule{measuredRule, gate.Race{Confirm: gate.ConfirmMeasured}})
}

// fixed measures the candidate a fixed number of times on every item and then
// decides once, against what is known of the incumbent.
type fixed struct {
	passes int
	accept func(passMeans, differences []float64, incumbent float64) bool
}

var _ gate.Policy = fixed{}

// Next asks for all passes.
func (f fixed) Next(e *gate.Evidence) []gate.Draw {
	var draws []gate.Draw
	for sample := range f.passes {
		for item := range e.Trial.Items {
			draws = append(draws, gate.Draw{Item: item, Arm: gate.Candidate, Sample: sample})
		}
	}
	return draws
}

// Judge decides when all passes are read. In the lab nothing is ever missing.
func (f fixed) Judge(e *gate.Evidence) (gate.Verdict, bool) {
	n := len(e.Trial.Items)
	if len(e.Readings) < f.passes*n {
		return gate.Verdict{}, false
	}
	means := make([]float64, f.passes)
	for i, r := range e.Readings {
		means[i/n] += r.Outcome.Hard / float64(n)
	}
	differences := make([]float64, n)
	var incumbent float64
	for i, p := range e.Pooled(gate.Incumbent) {
		differences[i] = e.Pooled(gate.Candidate)[i].Mean() - p.Mean()
		incumbent += p.Mean() / float64(n)
	}
	if f.accept(means, differences, incumbent) {
		return gate.Verdict{Action: gate.AcceptNewBest}, true
	}
	return gate.Verdict{Action: gate.Reject}, true
}

// above accepts a mean more than a margin above the incumbent's.
func above(margin float64) func(_, differences []float64, _ float64) bool {
	return func(_, differences []float64, _ float64) bool {
		d, _ := meanAndError(differences)
		return d > margin
	}
}

// aboveError accepts a difference above k standard errors.
func aboveError(k float64) func(_, differences []float64, _ float64) bool {
	return func(_, differences []float64, _ float64) bool {
		d, se := meanAndError(differences)
		return d > 0 && d > k*se
	}
}

// bySign accepts by a one-sided exact sign test.
func bySign(alpha float64) func(_, differences []float64, _ float64) bool {
	return func(_, differences []float64, _ float64) bool {
		wins, losses := 0, 0
		for _, d := range differences {
			switch {
			case d > 0:
				wins++
			case d < 0:
				losses++
			}
		}
		return stats.McNemarExact(wins, losses).Greater <= alpha
	}
}

// medianAbove accepts a median of the passes more than a margin above the
// incumbent's mean.
func medianAbove(margin float64) func(passMeans, _ []float64, incumbent float64) bool {
	return func(passMeans, _ []float64, incumbent float64) bool {
		sorted := slices.Sorted(slices.Values(passMeans))
		return sorted[len(sorted)/2]-incumbent > margin
	}
}

// meanAndError returns the mean and its standard error, 0 for fewer than two.
func meanAndError(xs []float64) (mean, se float64) {
	if len(xs) == 0 {
		return 0, 0
	}
	n := float64(len(xs))
	for _, x := range xs {
		mean += x / n
	}
	if len(xs) < 2 {
		return mean, 0
	}
	var squares float64
	for _, x := range xs {
		squares += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(squares / (n - 1) / n)
}

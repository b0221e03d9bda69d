package lab

import (
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/gate"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small is an experiment that takes a moment.
func small() Gates {
	return Gates{Runs: 4, Null: 4, Seed: 3, Budget: 4, Steps: 2, Sizes: []int{15}}
}

func TestResultsDoNotDependOnWhatRunsAtOnce(t *testing.T) {
	t.Parallel()
	one, four, other := small(), small(), small()
	one.Workers, four.Workers, other.Seed = 1, 4, 4
	want, err := one.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := four.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("1 and 4 workers (-1 +4):\n%s", diff)
	}
	if got.Markdown("x") != want.Markdown("x") || got.SVG() != want.SVG() || got.Text() != want.Text() {
		t.Error("equal results are written in different ways")
	}
	got, err = other.Run(t.Context())
	if err != nil || cmp.Diff(want.EqualBudget, got.EqualBudget) == "" {
		t.Errorf("another seed gives the same results (%v)", err)
	}
}

func TestItemsAreAsTheWorldSays(t *testing.T) {
	t.Parallel()
	const n = 200_000
	s := startSkill(rand.New(rand.NewPCG(1, 2)), n)
	var squares float64
	for _, p := range s.chance {
		squares += p * p / n
	}
	mean := s.truth(n)
	// Beta(a, b): mean a/(a+b), variance ab/((a+b)^2 (a+b+1)); the edges cost less
	// than the tolerance.
	if math.Abs(mean-0.6) > 0.004 || math.Abs(squares-mean*mean-0.12) > 0.004 {
		t.Errorf("mean %.4f, variance %.4f, want 0.6 and 0.12", mean, squares-mean*mean)
	}
}

func TestEditsAreAsTheWorldSays(t *testing.T) {
	t.Parallel()
	w := World{Good: 0.2, GoodShift: 1, Bad: 0.5, BadShift: 2}
	start := newSkill(0, []float64{0, -1})
	count := map[float64]int{}
	const n = 20_000
	rng := rand.New(rand.NewPCG(5, 6))
	for range n {
		s := w.edit(rng, start, 1)
		if math.Abs(s.logits[0]-s.logits[1]-1) > 1e-12 {
			t.Fatalf("without a spread items move together: %v", s.logits)
		}
		count[s.logits[0]]++
	}
	for shift, want := range map[float64]float64{1: 0.2, -2: 0.5, 0: 0.3} {
		if got := float64(count[shift]) / n; math.Abs(got-want) > 0.015 {
			t.Errorf("%.3f of edits shift by %g, want %.3f", got, shift, want)
		}
	}
}

// A draw belongs to its skill, item and sample: asking again gives the same, and
// over many samples it is the chance of the item.
func TestDrawsHaveTheirOwnNoise(t *testing.T) {
	t.Parallel()
	tr := &trainer{seed: 9}
	s := newSkill(3, []float64{0, 2})
	for item, p := range s.chance {
		var sum float64
		const n = 20_000
		for sample := range n {
			o := tr.draw(s, item, sample)
			if o.Hard != tr.draw(s, item, sample).Hard {
				t.Fatal("the same draw comes out differently")
			}
			sum += o.Hard / n
		}
		if math.Abs(sum-p) > 0.015 {
			t.Errorf("item %d: mean %.3f, chance %.3f", item, sum, p)
		}
	}
}

// An optimizer that only helps is followed, one that only harms is not, by every
// rule that is not a lottery.
func TestRulesTellGoodFromBad(t *testing.T) {
	t.Parallel()
	until := limit{steps: 5}
	for _, r := range Rules() {
		good, err := train(t.Context(), World{Good: 1, GoodShift: 3}, 100, r.Policy, until, 1)
		if err != nil || good.accepts == 0 || good.end <= good.start {
			t.Errorf("%s: an optimizer that helps: %+v, %v", r.Name, good, err)
		}
		bad, err := train(t.Context(), World{Bad: 1, BadShift: 3}, 100, r.Policy, until, 1)
		if err != nil || bad.accepts != 0 || bad.end != bad.start {
			t.Errorf("%s: an optimizer that harms: %+v, %v", r.Name, bad, err)
		}
	}
}

func TestBudgetsEndRuns(t *testing.T) {
	t.Parallel()
	nothing := World{}
	h, err := train(t.Context(), nothing, 40, gate.Strict{}, limit{rollouts: 90}, 1)
	if err != nil || h.steps != 3 || h.rollouts != 120 {
		t.Errorf("a budget of 90 at 40 a step: %d steps, %d rollouts, %v", h.steps, h.rollouts, err)
	}
	h, err = train(t.Context(), nothing, 40, gate.Strict{}, limit{rollouts: 90, overhead: 40}, 1)
	if err != nil || h.steps != 2 {
		t.Errorf("with as much again for the batch: %d steps, %v", h.steps, err)
	}
}

func TestStoppingEndsTheExperiment(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped by the user")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, err := small().Run(ctx); !errors.Is(err, stopped) {
		t.Errorf("error: %v", err)
	}
}

func TestImpossibleExperimentsAreRefused(t *testing.T) {
	t.Parallel()
	for _, g := range []Gates{{Runs: 1}, {Budget: -1}, {Steps: -1}, {Sizes: []int{1}}} {
		if _, err := g.Run(t.Context()); err == nil {
			t.Errorf("%+v: no error", g)
		}
	}
}

func TestFindingsCanFail(t *testing.T) {
	t.Parallel()
	row := func(rule string, gain, worse, cost float64) Row {
		return Row{World: "w", Items: 40, Rule: rule, Gain: Estimate{gain, 0.01}, Worse: Estimate{worse, 0.01}, Cost: Estimate{cost, 0.01}, Excess: Estimate{worse, 0.01}, Ahead: Estimate{gain - 0.1, 0.01}}
	}
	good := Report{NullRuns: 100, NullCertified: 5, EqualBudget: []Row{row(strictRule, 0.1, 0.3, 1), row(fullRule, 0.2, 0.1, 1.1), row(measuredRule, 0.2, 0.1, 1.0), row(discordantRule, 0.1, 0.1, 0.7)}}
	bad := Report{NullRuns: 100, NullCertified: 6, EqualBudget: []Row{row(strictRule, 0.1, 0.3, 1), row(fullRule, 0.05, 0.4, 1.2), row(measuredRule, 0.05, 0.4, 1.2), row(discordantRule, 0.1, 0.1, 0.8)}}
	if n := len(findings(good)); n != 7 {
		t.Errorf("%d findings", n)
	}
	for _, f := range findings(good) {
		if !f.Holds {
			t.Errorf("does not hold: %+v", f)
		}
	}
	for _, f := range findings(bad) {
		if f.Holds {
			t.Errorf("holds: %+v", f)
		}
	}
	if findings(Report{}) != nil {
		t.Error("findings without results")
	}
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	r, err := small().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := r.CSV(&table); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(table.String())).ReadAll()
	if want := 1 + len(r.EqualBudget) + len(r.EqualTotal) + len(r.EqualSteps) + len(r.Nothing) + len(r.Guidance); err != nil || len(lines) != want {
		t.Errorf("%d lines of CSV, want %d (%v)", len(lines), want, err)
	}
	for line := range strings.Lines(r.Text()) {
		if len(line) > 76 {
			t.Errorf("too wide: %s", line)
		}
	}
	dec := xml.NewDecoder(strings.NewReader(r.SVG()))
	for {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	page := r.Markdown("skillopt lab gates")
	for _, want := range []string{"# What the gates cost and err", "```sh\nskillopt lab gates\n```", "Simulated", "| late | 3 % | +0.48 |", "| late 15 | strict |"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

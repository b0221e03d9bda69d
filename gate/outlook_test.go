package gate

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// outlooks is a policy that holds the outlook of each reading against what the policy
// itself says of it.
type outlooks struct {
	Policy

	fatal   *string // what was wrong first
	outlook interface {
		Reached(e *Evidence) (Phase, int, int, bool)
		Outlook(e *Evidence) Outlook
	}
	check func(c Outlook, v Verdict, done bool) (wrong string)
}

func (p outlooks) Judge(e *Evidence) (Verdict, bool) {
	v, done := p.Policy.Judge(e)
	if _, _, _, whole := p.outlook.Reached(e); whole || done {
		if wrong := p.check(p.outlook.Outlook(e), v, done); *p.fatal == "" {
			*p.fatal = wrong
		}
	}
	return v, done
}

func deref(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// TestOutlookOfAStrictGate: beyond its lines nothing that is left changes the verdict, and
// they meet at the end.
func TestOutlookOfAStrictGate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "items")
		scores := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.25, 1}), n, n)
		candidate, incumbent := scores.Draw(t, "candidate"), scores.Draw(t, "incumbent")
		w := world(func(item int, arm Arm, _ int) float64 {
			if arm == Incumbent {
				return incumbent[item]
			}
			return candidate[item]
		})
		trial := Trial{Items: ids(n), Projection: hard(), AtOnce: 1}
		for i := range n {
			o, _ := w.measure(t.Context(), i, Incumbent, 0)
			trial.Incumbent = append(trial.Incumbent, o)
		}
		var seen []Outlook
		s := Strict{}
		res, err := Run(context.Background(), trial, outlooks{s, new(string), s, func(c Outlook, _ Verdict, _ bool) string {
			seen = append(seen, c)
			return ""
		}}, w.measure)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range seen {
			if c.Difference == nil {
				continue
			}
			if c.Reject != nil && *c.Difference < *c.Reject-1e-9 && res.Verdict.Action.Accepted() || c.Accept != nil && *c.Difference > *c.Accept+1e-9 && !res.Verdict.Action.Accepted() {
				t.Fatalf("%s, though it stood at %g with lines at %g and %g", res.Verdict.Action, *c.Difference, deref(c.Reject), deref(c.Accept))
			}
		}
		last := seen[len(seen)-1]
		if last.Units != n || *last.Reject != 0 || *last.Accept != 0 || math.Abs(*last.Low-*last.High) > 1e-9 || math.Abs(*last.Low-*last.Difference) > 1e-9 {
			t.Fatalf("the end is %+v", last)
		}
	})
}

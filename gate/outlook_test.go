package gate

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/score"
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

// TestOutlookIsWhatTheRaceGoesBy: a race ends early exactly at the line that its outlook
// shows, and a confirmation at its own.
func TestOutlookIsWhatTheRaceGoesBy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(13, 50).Draw(t, "items")
		r := Race{
			Risk:        rapid.SampledFrom([]float64{0, 0.5, 1.5}).Draw(t, "risk"),
			Confirm:     rapid.SampledFrom([]Confirm{ConfirmFull, ConfirmDiscordant, ConfirmNone, ConfirmMeasured}).Draw(t, "confirm"),
			NonInferior: rapid.Bool().Draw(t, "no harm"),
		}
		chances := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n)
		w := noisy(rapid.Uint64().Draw(t, "seed"), chances.Draw(t, "candidate"), chances.Draw(t, "incumbent"))
		quarter := func(c Outlook) bool { return (&progress{units: make([]unit, c.Of)}).quarter(c.Units) }
		const eps = 1e-6
		check := func(c Outlook, v Verdict, done bool) string {
			if c.Difference == nil || v.Action == Indecisive {
				return ""
			}
			d := *c.Difference
			out := c.Reject != nil && d < *c.Reject-eps
			stays := c.Reject == nil || d > *c.Reject+eps
			in := c.Accept != nil && d > *c.Accept+eps
			switch {
			case c.Wins+c.Losses+c.Ties == 0 || c.Low != nil && (*c.Low > d || *c.High < d):
				return fmt.Sprintf("%+v is no outlook", c)
			case c.Phase == PhaseRace && c.Units < c.Of && done && !v.Action.Rejected():
				return fmt.Sprintf("accepted in the race: %+v", v)
			case c.Phase == PhaseRace && c.Units < c.Of && done && stays, c.Phase == PhaseRace && c.Units < c.Of && !done && out:
				return fmt.Sprintf("done %v at %g, though the line is at %g (%s)", done, d, deref(c.Reject), v.Reason)
			case c.Phase == PhaseRace && c.Units == c.Of && done && c.Accept != nil && v.Action.Accepted() && d < *c.Accept-eps:
				return fmt.Sprintf("accepted at %g, though the line is at %g (%s)", d, *c.Accept, v.Reason)
			case c.Phase == PhaseRace && c.Units == c.Of && done && in && !r.NonInferior && !v.Action.Accepted() && d > score.Negligible:
				return fmt.Sprintf("not accepted at %g, though the line is at %g (%s)", d, *c.Accept, v.Reason)
			case c.Phase == PhaseConfirm && quarter(c) && c.Units < c.Of && done != (out || in) && math.Abs(d) > eps && math.Abs(d-deref(c.Accept)) > eps:
				return fmt.Sprintf("done %v at %g, between %g and %g (%s)", done, d, deref(c.Reject), deref(c.Accept), v.Reason)
			case c.Phase == PhaseConfirm && done && (v.Action.Accepted() && out || v.Action.Rejected() && stays):
				return fmt.Sprintf("%s at %g, though the line is at %g: %+v (%s)", v.Action, d, deref(c.Reject), c, v.Reason)
			}
			return ""
		}
		wrong := ""
		trial := Trial{Items: ids(n), Projection: hard(), Seed: 1}
		if _, err := Run(context.Background(), trial, outlooks{r, &wrong, r, check}, w.measure); err != nil {
			t.Fatal(err)
		}
		if wrong != "" {
			t.Fatal(wrong)
		}
	})
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

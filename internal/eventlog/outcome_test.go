package eventlog

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/event"
)

// TestOutcomesAreWrittenAsAnyEvent: the short way gives the bytes of the long one.
func TestOutcomesAreWrittenAsAnyEvent(t *testing.T) {
	t.Parallel()
	text, number := rapid.String(), rapid.OneOf(rapid.Just(0), rapid.Int())
	share := rapid.Ptr(rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 0.5, math.Copysign(0, -1), 1e-9, math.Inf(1), math.NaN()}), rapid.Float64()), true)
	one := rapid.Custom(func(t *rapid.T) event.OutcomeDone {
		return event.OutcomeDone{
			Row: int64(number.Draw(t, "row")), Key: text.Draw(t, "key"), Epoch: number.Draw(t, "epoch"), Step: number.Draw(t, "step"),
			Stage: text.Draw(t, "stage"), Arm: text.Draw(t, "arm"), Task: text.Draw(t, "task"), Sample: number.Draw(t, "sample"), Status: text.Draw(t, "status"),
			Hard: share.Draw(t, "hard"), Soft: share.Draw(t, "soft"), Reason: text.Draw(t, "reason"), Seconds: rapid.SampledFrom([]float64{0, 1, 0.25, 3e-7}).Draw(t, "seconds"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		o, at := one.Draw(t, "outcome"), time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "s"), rapid.Int64Range(0, 1e9-1).Draw(t, "ns"))
		want, werr := event.Marshal(o, at)
		got, err := appendOutcome(nil, &o, at)
		if (err == nil) != (werr == nil) || err == nil && string(got) != string(want) {
			t.Fatalf("got  %s, %v\nwant %s, %v", got, err, want, werr)
		}
	})
}

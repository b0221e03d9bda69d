package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/result"
)

func scored(v float64) *float64 { return &v }

// The parts of a run stand in its order, and each gain belongs to the part that brought it.
func TestGainsBelongToTheirPart(t *testing.T) {
	t.Parallel()
	r := &Run{History: result.History{
		Steps: []result.StepRecord{
			{Best: scored(.2)},
			{Epoch: 1, Step: 1, Best: scored(.5)},
			{Epoch: 1, Step: 2, Best: scored(.5)},
			{Epoch: 2, Step: 3, Best: scored(.9)},
		},
		Epochs: []result.EpochRecord{
			{Epoch: 1, SlowUpdate: "accept_new_best", Score: scored(.75)},
			{Epoch: 2, SlowUpdate: "reject", Score: scored(.1)},
		},
	}}
	got := map[string]string{}
	for part, g := range r.gains() {
		got[part] = "-"
		if g.gain != nil {
			got[part] = string(rune('0' + int(*g.gain*100+.5)/10))
		}
	}
	want := map[string]string{"seed": "-", "step 1": "3", "step 2": "0", "end of epoch 1": "2", "step 3": "1", "end of epoch 2": "0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPartsAreInOrder(t *testing.T) {
	t.Parallel()
	parts := []Spent{{Part: "seed"}, {Part: "step 1", Step: 1, Epoch: 1}, {Part: "step 900", Step: 900, Epoch: 1}, {Part: "end of epoch 1", Epoch: 1}, {Part: "step 901", Step: 901, Epoch: 2}, {Part: "end of epoch 2", Epoch: 2}, {Part: "final"}}
	for i := range parts[1:] {
		if a, b := &parts[i], &parts[i+1]; a.order() >= b.order() {
			t.Errorf("%s does not stand before %s", a.Part, b.Part)
		}
	}
}

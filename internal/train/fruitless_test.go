package train

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/optimize"
)

// Three steps in a row end a run, counted over those that asked somebody who is this
// run's.
func TestFruitlessStepsInARow(t *testing.T) {
	t.Parallel()
	const (
		lost      = "lost"      // nothing could be used
		some      = "some"      // one reply of two could
		nobody    = "nobody"    // no analyst was asked
		inherited = "inherited" // nothing could be used, of another run's record
	)
	for name, tt := range map[string]struct {
		steps    []string
		change   func(d *Deps, o *Options)
		want     []int // the steps that are named; nil: it goes on
		recorded map[string][]byte
	}{
		"three":                 {steps: []string{lost, lost, lost}, want: []int{1, 2, 3}},
		"two":                   {steps: []string{lost, lost, some, lost, lost}},
		"later":                 {steps: []string{some, lost, some, lost, lost, lost, some}, want: []int{4, 5, 6}},
		"nobody asked between":  {steps: []string{lost, nobody, lost, nobody, lost}, want: []int{1, 3, 5}},
		"of another run":        {steps: []string{inherited, inherited, inherited, inherited}},
		"of another run before": {steps: []string{inherited, lost, inherited, lost, lost}, want: []int{2, 4, 5}},
		"a replay":              {steps: []string{lost, lost, lost, lost}, change: func(d *Deps, _ *Options) { d.Fruitless = false }},
		"only to be finished":   {steps: []string{lost, lost, lost, lost}, change: func(_ *Deps, o *Options) { o.EndAfter = new(int) }},
		"ended before, the same optimizer": {
			steps: []string{lost, lost, lost}, want: []int{1, 2, 3}, recorded: map[string][]byte{"e1/s3/fruitless": []byte(`{"optimizer":"a"}`)},
		},
		"ended before, another optimizer": {
			steps: []string{lost, lost, lost}, recorded: map[string][]byte{"e1/s3/fruitless": []byte(`{"optimizer":"b"}`)},
		},
		"another optimizer in a session between": {
			steps: []string{lost, lost, lost}, recorded: map[string][]byte{
				"e1/s3/fruitless": []byte(`{"optimizer":"a"}`), "e1/s3/fruitless/passed": []byte(`{"optimizer":"b"}`),
			},
		},
		"another optimizer that is no better": {
			steps: []string{lost, lost, lost, lost, lost, lost}, want: []int{4, 5, 6}, recorded: map[string][]byte{"e1/s3/fruitless": []byte(`{"optimizer":"b"}`)},
		},
	} {
		w := newWorld(8, 8, 0)
		o, d := standard(), Deps{Record: w, Fruitless: true, Optimizer: "a"}
		if tt.recorded != nil {
			w.recorded = tt.recorded
		}
		if tt.change != nil {
			tt.change(&d, &o)
		}
		f := newFruitless(o, d)
		var got []int
		for i, kind := range tt.steps {
			replies := &lostReplies{}
			r := optimize.ReflectResult{Calls: 2}
			switch kind {
			case some:
				r.Analyses = make([]optimize.Analysis, 1)
			case nobody:
				r.Calls = 0
			default:
				replies.add(&optimize.LostError{Key: "k", Inherited: kind == inherited})
			}
			err := f.check(t.Context(), stepID{epoch: 1, number: i + 1}, []optimize.ReflectResult{r, {}}, replies)
			var found *FruitlessError
			if errors.As(err, &found) {
				got = found.Steps
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

package report

import (
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
	"pgregory.net/rapid"
)

// Files of a run come from others too: whatever numbers stand in them, there is a
// report.
func TestOddNumbers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "run")
	rapid.Check(t, func(t *rapid.T) {
		training, err := record.ReadTraining(dir, "runs/odd")
		if err != nil {
			t.Fatal(err)
		}
		r := Of(training)
		odd := rapid.SampledFrom([]int{-1 << 40, -5, -1, 0, 1, 2, 3, 7, 1 << 40})
		some := rapid.Bool()
		for i := range r.History.Steps {
			s := &r.History.Steps[i]
			for _, field := range []*int{&s.Step, &s.Epoch, &s.SelectionN, &s.Ranked, &s.LostReplies} {
				if some.Draw(t, "odd") {
					*field = odd.Draw(t, "number")
				}
			}
			if some.Draw(t, "score") {
				v := rapid.Float64().Draw(t, "value")
				s.Candidate, s.Current, s.SelectionHard = &v, &v, &v
			}
		}
		for i := range r.History.Epochs {
			if some.Draw(t, "odd epoch") {
				r.History.Epochs[i].Epoch = odd.Draw(t, "epoch")
			}
		}
		if f := r.History.Final; f != nil && some.Draw(t, "odd final") {
			f.BestStep, f.TestOpenings = odd.Draw(t, "best"), odd.Draw(t, "openings")
		}
		if s := r.Summary; s != nil {
			s.Calls.Total, s.WallS = int64(odd.Draw(t, "calls")), rapid.Float64().Draw(t, "seconds")
			for i := range s.Stages {
				s.Stages[i].Input = int64(odd.Draw(t, "tokens"))
			}
			if c := s.Certificate; c != nil {
				c.Alpha = rapid.SampledFrom([]float64{0, 1, -1, 0.05}).Draw(t, "alpha")
			}
		}
		if _, err := HTML(r); err != nil {
			t.Fatal(err)
		}
		Markdown(r)
		for _, step := range []string{"best", "1"} {
			r.Blame(step, r.Best)
		}
	})
}

// What episodes report without a price makes the cost of their role unknown.
func TestTheCostOfEpisodesWithoutAPrice(t *testing.T) {
	t.Parallel()
	some := 0.5
	rows := costs(&result.Summary{Stages: []result.Stage{{Stage: "rollout", Role: "target", Input: 1000}, {Stage: "other", Role: "target", Calls: 2, CostUSD: &some}}})
	if total := rows[len(rows)-1]; !total.Total || total.USD != "not known" {
		t.Errorf("%+v", total)
	}
}

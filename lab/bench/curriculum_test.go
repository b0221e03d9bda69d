package bench

import (
	"bytes"
	"strings"
	"testing"
)

func TestAStudyIsWrittenDown(t *testing.T) {
	if testing.Short() {
		t.Skip("trains in a few worlds")
	}
	s := DefaultStudy()
	s.Worlds = 2
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.CSV(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != 1+4*4 {
		t.Errorf("%d lines of figures, want a heading and 4 curricula in 4 kinds of worlds", n)
	}
	page := r.Markdown("go run . curriculum", "c.svg")
	for _, part := range []string{"SIMULATED", "from the run's seed", "](c.svg)", "| competence_based |", "## Worlds: rare rules"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page does not hold %q:\n%s", part, page)
		}
	}
	for _, f := range r.Findings {
		for _, row := range f.Result.Rows {
			step := f.Result.Setup.Batch + 3*f.Result.Setup.Selection + 10 // the most by which a last step can pass the budget
			if row.Calls > float64(f.Result.Setup.Calls+step) || row.Score.Mean < 0.3 {
				t.Errorf("%s, %s: %.0f calls of %d, score %.3f", f.World, row.Name, row.Calls, f.Result.Setup.Calls, row.Score.Mean)
			}
		}
	}
}

func TestVerdictsFollowTheInterval(t *testing.T) {
	v := func(x float64) *float64 { return &x }
	for want, e := range map[string]Estimate{
		"helps":              {Mean: 0.2, Low: v(0.1), High: v(0.3)},
		"hurts":              {Mean: -0.2, Low: v(-0.3), High: v(-0.1)},
		"not told apart":     {Mean: 0.2, Low: v(-0.1), High: v(0.3)},
		"no difference seen": {},
	} {
		if got := verdict(e); got != want {
			t.Errorf("%+v: %s, want %s", e, got, want)
		}
	}
}

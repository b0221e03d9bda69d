package bench

import (
	"bytes"
	"encoding/xml"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func small() Setup {
	s := Default()
	s.Worlds, s.Train, s.Selection, s.Test, s.Calls, s.Batch = 4, 30, 30, 40, 500, 10
	s.World.Rules = 8
	return s
}

func TestBaselines(t *testing.T) {
	r, err := Run(t.Context(), small(), Baselines())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		t.Logf("%-10s %.3f calls %.0f", row.Name, row.Score.Mean, row.Calls)
		if row.Calls > 500 {
			t.Errorf("%s used %v calls of 500", row.Name, row.Calls)
		}
	}
	if trained, seed := r.Rows[0].Score.Mean, r.Rows[2].Score.Mean; trained < seed+0.2 {
		t.Errorf("trained %.3f, seed %.3f", trained, seed)
	}
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	again, err := Run(t.Context(), small(), Baselines())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, again); diff != "" {
		t.Errorf("one worker comes to another result (-many +one):\n%s", diff)
	}
}

func TestAResultIsDrawnAndWritten(t *testing.T) {
	low, high := 0.1, 0.3
	r := Result{Simulated: true, Setup: small(), Rows: []Row{
		{Name: "a", Score: Estimate{Mean: 0.5}, Scores: []float64{0.5}},
		{Name: "b & c", Score: Estimate{Mean: 0.2, Low: &low, High: &high}, Difference: &Estimate{Mean: -0.3}, Worse: 1, Calls: 12},
	}}
	var b bytes.Buffer
	if err := r.CSV(&b); err != nil {
		t.Fatal(err)
	}
	const want = "contestant,score,score_low,score_high,difference,difference_low,difference_high,better,worse,calls,worlds,simulated\n" +
		"a,0.50000,,,,,,0,0,0.00000,4,true\n" +
		"b & c,0.20000,0.10000,0.30000,-0.30000,,,0,1,12.00000,4,true\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	svg := r.Scores("scores").SVG()
	if err := xml.Unmarshal([]byte(svg), new(struct{ XMLName xml.Name })); err != nil {
		t.Error(err)
	}
	for _, part := range []string{"b &amp; c", "0.200", "simulated: 4 worlds"} {
		if !strings.Contains(svg, part) {
			t.Errorf("the figure does not hold %q", part)
		}
	}
	if n := strings.Count(svg, `class="ci"`); n != 1 {
		t.Errorf("%d intervals drawn, one is known", n)
	}
}

func TestWhatNobodyCanMeasureIsRefused(t *testing.T) {
	for want, change := range map[string]func(*Setup){
		"worlds: found 0, allowed is 1 to 100000": func(s *Setup) { s.Worlds = 0 },
		"calls: found 0": func(s *Setup) { s.Calls = 0 },
		"rules: found 0": func(s *Setup) { s.World.Rules = 0 },
	} {
		s := small()
		change(&s)
		if _, err := Run(t.Context(), s, Baselines()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// With a budget for nothing, every contestant is left with the starting skill.
func TestABudgetForNothingBuysNothing(t *testing.T) {
	s := small()
	s.Calls, s.Worlds = 10, 2
	r, err := Run(t.Context(), s, Baselines())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		if row.Name != "no skill" && row.Score.Mean != r.Rows[2].Score.Mean {
			t.Errorf("%s scores %.3f, the starting skill %.3f", row.Name, row.Score.Mean, r.Rows[2].Score.Mean)
		}
		if row.Calls > 10 {
			t.Errorf("%s used %v calls of 10", row.Name, row.Calls)
		}
	}
}

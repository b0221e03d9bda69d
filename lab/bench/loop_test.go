package bench

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/result"
)

func TestTheLoopIsMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("trains in a few worlds")
	}
	s := LoopStudy{Worlds: 2, Seed: 1, Calls: 400}
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Cells {
		for _, row := range c.Rows {
			if row.Calls.Mean > 400 || row.Calls.Mean < 100 {
				t.Errorf("%s %d, %s: %.0f calls of 400", c.World, c.Selection, row.Way, row.Calls.Mean)
			}
			if row.Way == defaultWay && row.Ahead != (Figure{N: 2}) {
				t.Errorf("%s %d: the default is ahead of itself by %+v", c.World, c.Selection, row.Ahead)
			}
		}
	}
	for _, row := range r.Pooled {
		if row.Gain.Mean < 0.2 || row.Gain.Mean > 0.9 {
			t.Errorf("%s gains %.3f", row.Way, row.Gain.Mean)
		}
	}
	var b bytes.Buffer
	if err := r.CSV(&b); err != nil {
		t.Fatal(err)
	}
	if n, want := strings.Count(b.String(), "\n"), 1+len(loopKinds())*3*len(loopWays()); n != want {
		t.Errorf("%d lines of figures, want %d", n, want)
	}
	page := r.Markdown("go run . loop")
	for _, part := range []string{"SIMULATED", "together (400 calls)", "| reads-first-8 | ", "## What is to hold"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page does not hold %q", part)
		}
	}
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	_, setups := s.setups()
	for _, c := range []int{4, 15, 21} { // a noisy target, clusters, an optimizer that needs several failures
		var runs [][]loopRun
		for i := range s.Worlds {
			run, err := setups[c].loops(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, run)
		}
		if diff := cmp.Diff(r.Cells[c].Rows, loopRows(runs)); diff != "" {
			t.Errorf("%s %d: one worker comes to another result (-many +one):\n%s", r.Cells[c].World, r.Cells[c].Selection, diff)
		}
	}
}

// The expected score is what many samples of the target come to.
func TestTheExpectedScoreIsTheMeanOfMany(t *testing.T) {
	s := loopSetup()
	s.World.Flip, s.Selection, s.Test = 0.3, 12, 100
	a, err := newArena(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"seed": a.Skill.Text(), "perfect": a.Perfect, "harmful": a.Skill.Text() + "- End the answer with a full stop.\n",
	} {
		scores, err := a.expected(t.Context(), text, a.Data.Test)
		if err != nil {
			t.Fatal(err)
		}
		want := meanOf(scores, a.Data.Test, "")
		const samples = 40
		got := 0.0
		for seed := range int64(samples) {
			a.Seed = seed
			mean, err := a.exam(t.Context(), text)
			if err != nil {
				t.Fatal(err)
			}
			got += mean / samples
		}
		if math.Abs(got-want) > 0.03 { // three standard errors, at most
			t.Errorf("%s: expected %.3f, the mean of %d samples is %.3f", name, want, samples, got)
		}
	}
}

func TestClustersCountOnce(t *testing.T) {
	a, err := newArena(loopSetup(), 0)
	if err != nil {
		t.Fatal(err)
	}
	tasks := a.Data.Test[:3]
	tasks[0].Type, tasks[1].Type, tasks[2].Type = "a", "a", "b"
	scores := []float64{0, 0, 1}
	if got := meanOf(scores, tasks, "type"); got != 0.5 {
		t.Errorf("mean over clusters %v, want 0.5", got)
	}
	if got := meanOf(scores, tasks, ""); math.Abs(got-1./3) > 1e-12 {
		t.Errorf("mean over tasks %v, want a third", got)
	}
}

// A step that passes the ceiling decides nothing, one that has no room is cut.
func TestTheCeilingHolds(t *testing.T) {
	m := &models{}
	c := &ceiling{models: m, calls: 200, pending: "seed", shipped: "seed"}
	step := train.Unit{Name: train.UnitStep, Tasks: 60, Least: 10, Closing: 20}
	spend := func(n int, best string) {
		t.Helper()
		m.train.Add(int64(n))
		if err := c.WriteFile("best_skill.md", []byte(best)); err != nil {
			t.Fatal(err)
		}
		if err := c.WriteJSON("candidates.json", result.Candidates{}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := c.room(step); n != 60 || err != nil {
		t.Fatalf("room for %d tasks, %v; want 60", n, err)
	}
	m.rolled.Add(60)
	spend(100, "better")
	if n, err := c.room(step); n < 10 || n > 40 || err != nil { // 78 are left, 40 of a step are not for its batch
		t.Fatalf("room for %d tasks, %v; want 10 to 40", n, err)
	}
	spend(90, "too late")
	if _, err := c.room(step); err == nil || c.shipped != "better" {
		t.Errorf("ships %q, %v; want what was within the ceiling", c.shipped, err)
	}
}

func TestClaimsCanFail(t *testing.T) {
	rows := func(reference, worse, excess float64) []LoopRow {
		return []LoopRow{
			{Way: defaultWay, Worse: Figure{Mean: worse}, Excess: Figure{Mean: excess, N: 9}},
			{Way: referenceWay, Ahead: Figure{Mean: reference, SE: 0.01, N: 9}, Worse: Figure{Mean: 0.1}},
		}
	}
	for name, tc := range map[string]struct {
		reference, worse, excess float64
		holds                    bool
	}{
		"good": {-0.05, 0.05, 0.005, true},
		"bad":  {0.03, 0.2, -0.03, false},
	} {
		r := LoopReport{
			Pooled: rows(tc.reference, tc.worse, tc.excess), Kinds: []LoopKind{{Name: "noisy"}},
			Cells: []LoopCell{{World: "noisy", Selection: 12, Rows: rows(tc.reference, 0, 0)}},
		}
		for _, c := range r.claims() {
			if c.Holds != tc.holds {
				t.Errorf("%s: %q holds: %v (%s)", name, c.Claim, c.Holds, c.Why)
			}
		}
	}
}

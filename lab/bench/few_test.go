package bench

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/task"
)

func TestFewTasksAreMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("trains in a few worlds")
	}
	s := FewStudy{Worlds: 2, Seed: 1}
	cells, setups := s.setups()
	r := FewReport{Simulated: true, Study: s, Kinds: loopKinds()}
	for _, c := range []int{4, 56} { // near-deterministic with 16 tasks, and clusters
		var runs [][]fewRun
		for i := range s.Worlds {
			run, err := setups[c].few(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, run)
		}
		cells[c].Rows = fewRows(runs)
		r.Cells = append(r.Cells, cells[c])
		again, err := setups[c].few(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		for j := range again {
			if again[j].gain != runs[1][j].gain || again[j].calls != runs[1][j].calls {
				t.Errorf("%s: played again it comes to something else", fewWays()[j].name)
			}
		}
	}
	for _, c := range r.Cells {
		for j, row := range c.Rows {
			if row.Calls.Mean > float64(c.Calls) || row.Calls.Mean < 50 {
				t.Errorf("%s, %s: %.0f of %d calls", c.World, row.Way, row.Calls.Mean, c.Calls)
			}
			if w := fewWays()[j]; w.name == fewDefault && row.Ahead != (Figure{N: 2}) {
				t.Errorf("%s is ahead of itself by %+v", w.name, row.Ahead)
			}
		}
	}
	var b bytes.Buffer
	if err := r.CSV(&b); err != nil {
		t.Fatal(err)
	}
	if n, want := strings.Count(b.String(), "\n"), 1+2*len(fewWays()); n != want {
		t.Errorf("%d lines of figures, want %d", n, want)
	}
	if text := r.Text(); strings.Count(text, "\n") != 1+len(fewWays()) {
		t.Errorf("for a terminal:\n%s", text)
	}
}

// Every way uses the same tasks, and none those of the test.
func TestEveryWayHasTheSameTasks(t *testing.T) {
	_, setups := FewStudy{Worlds: 2, Seed: 1}.setups()
	a, err := newArena(setups[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	ids := func(tasks []task.Task) map[string]bool {
		out := map[string]bool{}
		for _, tk := range tasks {
			out[tk.ID] = true
		}
		return out
	}
	all := ids(append(append([]task.Task{}, a.Data.Train...), a.Data.Selection...))
	for _, w := range fewWays() {
		d := a.divide(w).Data
		if diff := cmp.Diff(all, ids(append(append([]task.Task{}, d.Train...), d.Selection...))); diff != "" {
			t.Errorf("%s (-all +its):\n%s", w.name, diff)
		}
		if w.folds == 1 && d.Drawable() != len(all) || d.NumFolds() != min(w.folds, len(all)/2) || w.folds > 1 && d.Drawable()+d.Judges() != len(all) {
			t.Errorf("%s: %d folds, %d to draw from, %d judge", w.name, d.NumFolds(), d.Drawable(), d.Judges())
		}
	}
}

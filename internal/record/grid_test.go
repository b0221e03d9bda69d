package record

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/testing/recordtest"
	"github.com/seed-f4525e22/skillopt/result"
)

// What is read of outcomes without decoding the rest is what decoding all of it gives, however
// the file was written.
func TestGradesAreThoseOfTheDecoder(t *testing.T) {
	t.Parallel()
	r, dir := emptyRun(t)
	rapid.Check(t, func(t *rapid.T) {
		named := rapid.Bool().Draw(t, "named")
		file := map[bool]string{true: "outcomes.json", false: "some.json"}[named]
		if err := os.WriteFile(filepath.Join(dir, file), drawFile(t, named), 0o600); err != nil {
			t.Fatal(err)
		}
		sheets := []Sheet{{file: file, Split: "selection"}}
		if named {
			sheets = nil
			for _, name := range []string{"best", "selection", "a\""} {
				sheets = append(sheets, Sheet{file: file, name: name, Split: "selection"})
			}
		}
		got, want := make([][]graded, len(sheets)), make([][]graded, len(sheets))
		g := newTestGrader(sheets)
		err := grade(r, sheets, got, g)
		whole, decoded := newTestGrader(sheets), error(nil)
		for i, s := range sheets {
			all, err := r.Outcomes(s)
			if err != nil {
				decoded = err
			}
			whole.sheet = i
			for _, o := range all {
				if o.ID != "" { // null in the place of an outcome is none
					want[i] = append(want[i], whole.of(o))
				}
			}
		}
		if decoded != nil {
			return // of a file that cannot be decoded as a whole other outcomes may be found
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(graded{}), cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Fatalf("%v (-decoded +graded):\n%s", err, diff)
		}
		if diff := cmp.Diff(whole.questions.of, g.questions.of, cmp.AllowUnexported(asked{}, rowKey{})); diff != "" {
			t.Fatalf("questions (-decoded +graded):\n%s", diff)
		}
	})
}

func newTestGrader(sheets []Sheet) *grader {
	return &grader{questions: &questions{of: map[rowKey]asked{}}, sheets: sheets, reasons: slices.Repeat([]bool{true}, len(sheets))}
}

func TestCellsOfOutcomes(t *testing.T) {
	t.Parallel()
	ok := func(hard, soft float64) graded { return graded{hard: hard, soft: soft, measured: true} }
	agent, lost, unread := graded{measured: true, failed: true}, graded{why: true}, graded{}
	for want, list := range map[string][]graded{
		"1": {ok(1, 1)}, "0": {ok(0, 0)}, "u": {unread, lost}, ".": {unread}, "x": {agent}, "a": {ok(0, 0.04)}, "c": {ok(0, 0.3)}, "i": {ok(0, 0.99)},
		"e": {ok(1, 1), ok(0, 0)}, "f": {ok(1, 1), lost, ok(0, 0), ok(1, 1)}, "h": {ok(0.8, 1)}, "b": {agent, agent, ok(0.75, 1)},
	} {
		var sum cellSum
		for _, o := range list {
			sum.add(o)
		}
		if got := string(sum.cell()); got != want {
			t.Errorf("%+v: cell %s, want %s", list, got, want)
		}
	}
}

// smallRun is a run of a few steps in a folder of its own.
func smallRun(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordtest.Write(t.Context(), dir, recordtest.Size{Steps: 6, Candidates: 9, Batch: 20, Selection: 30, Train: 40, Test: 10, Record: true}); err != nil {
		t.Fatal(err)
	}
	return dir
}

func readGrid(ctx context.Context, t *testing.T, dir string, damage func()) result.Grid {
	t.Helper()
	r, err := Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	sheets, err := r.Sheets()
	if err != nil || len(sheets) == 0 {
		t.Fatal(len(sheets), err)
	}
	damage()
	g, err := r.Grid(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A grid is the same whatever its files look like, counts flips as they are, and goes without
// files that are damaged or gone, which it names.
func TestGridOfRuns(t *testing.T) {
	t.Parallel()
	dir := smallRun(t)
	whole := readGrid(t.Context(), t, dir, func() {})
	if len(whole.Columns) != 15 || len(whole.Problems) > 0 {
		t.Fatalf("%d columns, problems %v", len(whole.Columns), whole.Problems)
	}
	for _, row := range GridRows(whole) {
		flips, regressions := flipsOf(row.Cells)
		if row.Flips != flips || row.Regressions != regressions || len(row.Cells) == 0 {
			t.Errorf("%s %s: %d flips, %d regressions, want %d and %d", row.ID, row.Cells, row.Flips, row.Regressions, flips, regressions)
		}
	}
	step := filepath.Join(dir, "steps", "step_0003")
	indented(t, filepath.Join(step, "selection.json"))
	if diff := cmp.Diff(whole, readGrid(t.Context(), t, dir, func() {})); diff != "" {
		t.Errorf("of an indented file it differs:\n%s", diff)
	}
	if err := os.WriteFile(filepath.Join(step, "selection.json"), []byte(`[{"id":"x"`), 0o600); err != nil {
		t.Fatal(err)
	}
	g := readGrid(t.Context(), t, dir, func() {})
	if len(g.Columns) != 14 || len(g.Problems) != 1 || !strings.Contains(g.Problems[0], "selection.json") {
		t.Errorf("damaged: %d columns, %q", len(g.Columns), g.Problems)
	}
	if err := os.Remove(filepath.Join(step, "rollout.json")); err != nil {
		t.Fatal(err)
	}
	if g := readGrid(t.Context(), t, dir, func() {}); len(g.Columns) != 13 || len(g.Problems) != 1 {
		t.Errorf("a file that is missing before: %d columns, %q", len(g.Columns), g.Problems)
	}
}

// flipsOf counts changes between passed and failed from one measured cell to the next.
func flipsOf(cells string) (flips, regressions int) {
	measured := strings.Map(func(r rune) rune {
		if r == '.' || r == 'u' {
			return -1
		}
		if r != '1' {
			return '0'
		}
		return r
	}, cells)
	return strings.Count(measured, "01") + strings.Count(measured, "10"), strings.Count(measured, "10")
}

// indented writes a file of JSON in another form.
func indented(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if data, err = json.MarshalIndent(v, "", " "); err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Files that vanish while they are read are named.
func TestGridOfARunThatVanishes(t *testing.T) {
	t.Parallel()
	r, err := Open(t.Context(), smallRun(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	sheets, err := r.Sheets()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(r.dir, "steps")); err != nil {
		t.Fatal(err)
	}
	g := newTestGrader(sheets[:1])
	if err := grade(r, sheets[:1], make([][]graded, 1), g); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(filepath.Join(r.dir, run.ManifestFile)); err != nil {
		t.Fatal(err)
	}
	if row := Row(t.Context(), r.dir); row.Status != RowDamaged || !strings.Contains(row.Reason, "is gone") {
		t.Errorf("%+v", row)
	}
}

// The sheet of a step is that of the candidate that was taken, whichever it was.
func TestASheetShowsTheTakenCandidate(t *testing.T) {
	t.Parallel()
	third := Sheet{Step: 3, Arm: "candidate"}
	for _, tt := range []struct {
		sheet  Sheet
		origin string
		want   bool
	}{
		{third, "step 3", true},
		{third, "step 3, second try", true},
		{third, "step 3, worked examples", true},
		{third, "step 33, second try", false},
		{third, "", false},
		{Sheet{Arm: "seed"}, "seed", true},
		{Sheet{Epoch: 2}, "slow update, epoch 2", true},
		{Sheet{Epoch: 2}, "slow update, epoch 21", false},
	} {
		if got := tt.sheet.shows(tt.origin); got != tt.want {
			t.Errorf("%+v shows %q: %v", tt.sheet, tt.origin, got)
		}
	}
}

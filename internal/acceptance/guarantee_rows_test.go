package acceptance_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

// Every number of a list and of a grid is one that `runs show --json`, the history and the
// report have, whatever the run was: with tasks that were not measured, a test that stayed
// closed, a ceiling, several candidates, folds, one that does not train.
func TestRowsAndGridsHaveTheNumbersOfTheRun(t *testing.T) {
	t.Parallel()
	folder, names := recordedRuns(t)
	rows, err := new(record.Index).Rows(t.Context(), folder)
	if err != nil || len(rows) != len(names) {
		t.Fatalf("%d rows of %d runs, %v", len(rows), len(names), err)
	}
	again, err := new(record.Index).Rows(t.Context(), folder)
	if diff := cmp.Diff(rows, again); err != nil || diff != "" {
		t.Errorf("from the index they differ, %v:\n%s", err, diff)
	}
	unmeasured := 0
	for _, row := range rows {
		if diff := cmp.Diff(row, record.Row(t.Context(), row.Dir)); diff != "" {
			t.Errorf("%s by itself:\n%s", row.Name, diff)
		}
		shown := shownRun(t, row.Dir)
		rowIsShown(t, row, shown)
		unmeasured += gridIsShown(t, row, shown)
		versionsAreFiled(t, row)
		stepsAreShown(t, row, shown)
	}
	if unmeasured == 0 {
		t.Error("every task was measured: the runs show less than they should")
	}
}

// shownRun is what `runs show --json` prints, as any program reads it.
func shownRun(t *testing.T, dir string) map[string]any {
	t.Helper()
	v, err := ask.Run(dir, dir)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var shown map[string]any
	if err := json.Unmarshal(data, &shown); err != nil {
		t.Fatal(err)
	}
	return shown
}

// valueAt is the value at a path of a document, nil if there is none.
func valueAt(doc any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		m, ok := doc.(map[string]any)
		if !ok {
			return nil
		}
		doc = m[key]
	}
	return doc
}

// jsonNumber is a pointer's value as JSON has it.
func jsonNumber(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

// rowIsShown fails unless the numbers of a row are those of the document and of the report.
func rowIsShown(t *testing.T, row result.RunRow, shown map[string]any) {
	t.Helper()
	document, score := "summary", "summary.test.best"
	change := valueAt(shown, "summary.certificate.difference")
	switch {
	case valueAt(shown, "evaluation") != nil:
		document, change = "evaluation", nil
		score = "evaluation.splits." + row.Split
	case valueAt(shown, "comparison") != nil:
		document, score, change = "comparison", "comparison.b.score", valueAt(shown, "comparison.difference")
	case valueAt(shown, "pruning") != nil:
		document, score, change = "pruning", "none", valueAt(shown, "pruning.certificate.difference")
	case valueAt(shown, "ablation") != nil:
		document, score, change = "ablation", "none", nil
	case valueAt(shown, score) == nil:
		score = "summary.best.selection"
		seed := valueAt(shown, "history.steps").([]any)[0]
		if best := valueAt(shown, score+".hard"); best != nil {
			change = best.(float64) - valueAt(seed, "selection_hard").(float64)
		}
	}
	got := map[string]any{
		"score": jsonNumber(row.Score), "low": jsonNumber(row.Low), "high": jsonNumber(row.High), "change": jsonNumber(row.Change), "calls": float64(row.Calls),
		"cost": jsonNumber(row.CostUSD), "status": row.Status, "run": row.RunID,
	}
	want := map[string]any{
		"score": valueAt(shown, score+".hard"), "low": valueAt(shown, score+".hard_low"), "high": valueAt(shown, score+".hard_high"), "change": change, "calls": valueAt(shown, document+".calls.total"),
		"cost": valueAt(shown, document+".cost_usd"), "status": valueAt(shown, "manifest.status"), "run": valueAt(shown, "manifest.run_id"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-runs show +row):\n%s", row.Name, diff)
	}
	if report, err := os.ReadFile(filepath.Join(row.Dir, "report.md")); row.Kind == result.Train && row.Status == "completed" {
		if text := fmt.Sprintf("%.3f", *row.Score); err != nil || !strings.Contains(string(report), text) {
			t.Errorf("%s: the report has no %s, %v", row.Name, text, err)
		}
	}
}

// fileOutcome is an outcome as a file has it.
type fileOutcome struct {
	ID     string   `json:"id"`
	Status string   `json:"status"`
	Hard   *float64 `json:"hard"`

	FailReason string `json:"fail_reason"`
}

// gridIsShown fails unless columns and cells of a grid say what the history and the files of
// outcomes say. It returns how many cells were not measured.
func gridIsShown(t *testing.T, row result.RunRow, shown map[string]any) (unmeasured int) {
	t.Helper()
	r, err := record.Open(t.Context(), row.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	g, _, err := ask.Grid(t.Context(), r, true)
	if err != nil {
		t.Fatal(err)
	}
	if none := row.Kind == result.Ablate || row.Kind == result.Prune; none != (len(g.Columns) == 0) {
		t.Errorf("%s: %d columns", row.Name, len(g.Columns))
	}
	for _, c := range g.Columns {
		if want, told := hardOf(shown, c); told && !cmp.Equal(want, jsonNumber(c.Hard)) {
			t.Errorf("%s, %s: hard %v, the run says %v", row.Name, c.Title, jsonNumber(c.Hard), want)
		}
		unmeasured += strings.Count(c.Cells, "u")
		cellsAreFiled(t, row, g, c)
	}
	for _, task := range g.Tasks {
		if task.Split == "test" && (task.Text != "" || task.Reason != "") {
			t.Errorf("%s shows what test task %s is", row.Name, task.ID)
		}
	}
	return unmeasured
}

// hardOf is the score of a column as the document has it.
func hardOf(shown map[string]any, c result.GridColumn) (want any, told bool) {
	for _, s := range steps(shown) {
		if valueAt(s, "step") != float64(c.Step) || c.Epoch > 0 || c.Split == "test" || c.Arm == "best" {
			continue
		}
		key := map[string]string{"train": "rollout_hard", "selection": "selection_hard"}[c.Split]
		return valueAt(s, key), true
	}
	switch {
	case c.Split == "selection" && c.Arm == "best":
		return valueAt(shown, "summary.best.selection.hard"), true
	case c.Split == "test" && valueAt(shown, "history.final.test."+c.Arm) != nil:
		return valueAt(shown, "history.final.test."+c.Arm+".hard"), true
	case c.Arm == "skill":
		return valueAt(shown, "evaluation.splits."+c.Split+".hard"), true
	case c.Arm == "a" || c.Arm == "b":
		return valueAt(shown, "comparison."+c.Arm+".score.hard"), true
	}
	return nil, false
}

func steps(shown map[string]any) []any {
	all, _ := valueAt(shown, "history.steps").([]any)
	return all
}

// cellsAreFiled fails unless the cells of a column are those that follow from its file.
func cellsAreFiled(t *testing.T, row result.RunRow, g result.Grid, c result.GridColumn) {
	t.Helper()
	sums, n, of, lost := map[string]float64{}, map[string]int{}, map[string]bool{}, map[string]bool{}
	for _, o := range filed(t, row.Dir, c) {
		of[o.ID] = true
		lost[o.ID] = lost[o.ID] || o.FailReason != "" // what the gate did not read has no reason
		if o.Status != "unmeasured" && o.Status != "" {
			sums[o.ID], n[o.ID] = sums[o.ID]+*o.Hard, n[o.ID]+1
		}
	}
	measured := 0
	for i, task := range g.Tasks {
		if task.Split != c.Split {
			if c.Cells[i] != '.' {
				t.Errorf("%s, %s: %s of %s has cell %c", row.Name, c.Title, task.ID, task.Split, c.Cells[i])
			}
			continue
		}
		want := "."
		mean := sums[task.ID] / float64(n[task.ID])
		switch {
		case n[task.ID] > 0 && mean == 1:
			want = "1"
		case n[task.ID] > 0 && mean > 0:
			want = string(rune('a' + max(0, int(math.Floor(mean*10+1e-9))-1)))
		case n[task.ID] > 0:
			want = "0abcdefghix" // a soft score is not looked at here
		case lost[task.ID]:
			want = "u"
		}
		if n[task.ID] > 0 {
			measured++
		}
		if !strings.Contains(want, string(c.Cells[i])) {
			t.Errorf("%s, %s: task %s has cell %c, want one of %s", row.Name, c.Title, task.ID, c.Cells[i], want)
		}
		delete(of, task.ID)
	}
	if measured != c.N || len(of) > 0 {
		t.Errorf("%s, %s: %d measured, %d are filed; %d tasks are missing", row.Name, c.Title, c.N, measured, len(of))
	}
}

// filed are the outcomes of a column, as its file has them.
func filed(t *testing.T, dir string, c result.GridColumn) (out []fileOutcome) {
	t.Helper()
	name, key := "outcomes.json", c.Arm
	switch {
	case c.Epoch > 0:
		name, key = fmt.Sprintf("epochs/epoch_%02d/selection.json", c.Epoch), ""
	case c.Arm == "seed" && c.Split == "selection":
		name, key = "steps/step_0000/selection.json", ""
	case c.Step > 0:
		name, key = fmt.Sprintf("steps/step_%04d/%s.json", c.Step, map[string]string{"train": "rollout", "selection": "selection"}[c.Split]), ""
	case c.Arm == "skill":
		key = c.Split
	case c.Arm == "best" && c.Split == "selection":
		name, key = "last_outcomes.json", "final/fresh"
	case slices.Contains([]string{"seed", "best", "final", "no_skill"}, c.Arm):
		name = "test_outcomes.json"
	}
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		var all map[string]json.RawMessage
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		data = all[key]
	}
	if json.Unmarshal(data, &out) == nil {
		return out
	}
	var passes [][]fileOutcome
	if err := json.Unmarshal(data, &passes); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return slices.Concat(passes...)
}

// versionsAreFiled fails unless each version is the skill that the history names, with the score
// that it has there, and the best one is what the run ships.
func versionsAreFiled(t *testing.T, row result.RunRow) {
	t.Helper()
	all, err := ask.Versions(row.Dir, row.Name)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all.Versions {
		s, err := record.Version(row.Dir, v.Version)
		if err != nil || s.Digest() != v.Hash {
			t.Errorf("%s: version %s is %s, want %s; %v", row.Name, v.Version, s.Digest(), v.Hash, err)
		}
	}
	if row.Kind != result.Train {
		return
	}
	best, err := record.Version(row.Dir, "best")
	if err != nil {
		t.Fatal(err)
	}
	if of, err := record.Version(row.Dir, all.Best); err != nil || !of.Equal(best) || len(all.Versions) == 0 || all.Versions[0].Origin != "seed" {
		t.Errorf("%s: version %s is not the best skill, %v", row.Name, all.Best, err)
	}
}

// stepsAreShown fails unless each edit of the history is one of its step, with the same state,
// and edits are kept of accepted steps alone.
func stepsAreShown(t *testing.T, row result.RunRow, shown map[string]any) {
	t.Helper()
	for n, s := range steps(shown) {
		d, err := ask.Step(row.Dir, row.Name, n)
		if err != nil || len(d.Problems) > 0 {
			t.Fatal(err, d.Problems)
		}
		edits, _ := valueAt(s, "edits").([]any)
		for i, e := range edits {
			got := d.Edits[i]
			preview := valueAt(e, "content_preview").(string)
			if got.Status != valueAt(e, "status") || float64(got.Index) != valueAt(e, "index") || !strings.HasPrefix(got.Content, strings.TrimSuffix(preview, "…")[:min(len(got.Content), 100, len(preview))]) {
				t.Errorf("%s, step %d: edit %+v, the history has %v", row.Name, n, got, e)
			}
		}
		accepted := strings.HasPrefix(valueAt(s, "action").(string), "accept")
		if kept := slices.ContainsFunc(d.Edits, func(e result.EditDetail) bool { return e.Kept }); kept != (accepted && len(edits) > 0) {
			t.Errorf("%s, step %d (%v): kept %v", row.Name, n, valueAt(s, "action"), kept)
		}
	}
}

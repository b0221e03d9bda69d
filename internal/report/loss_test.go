package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
)

// What a step lost: items with their reason, replies by stage, candidates, tries.
func TestLossesOfAStep(t *testing.T) {
	t.Parallel()
	missing := []Item{{ID: "a", Status: score.OK}, {ID: "b", Status: score.Unmeasured, FailReason: "no server"}}
	for name, tt := range map[string]struct {
		record result.StepRecord
		files  Step
		want   lossList
	}{
		"nothing":           {result.StepRecord{Step: 1}, Step{}, nil},
		"the seed skill":    {result.StepRecord{Unmeasured: []string{"b"}}, Step{Selection: missing}, lossList{{"seed skill", "not measured: b", "no server"}}},
		"of its batch":      {result.StepRecord{Step: 1, Unmeasured: []string{"b"}}, Step{Trained: missing}, lossList{{"step 1", "not measured: b", "no server"}}},
		"no reason is left": {result.StepRecord{Step: 1, Unmeasured: []string{"c"}}, Step{Trained: missing}, lossList{{"step 1", "not measured: c", "the decision went on without"}}},
		"replies": {
			result.StepRecord{Step: 2, LostReplies: 4},
			Step{Lost: []string{"analyst_error/0", "analyst_error/1", "merge/failure/1/0", "ranking"}},
			lossList{{"step 2", "4 replies of the optimizer: analyst_error 2, merge 1, ranking 1", "no usable answer after all tries"}},
		},
		"replies of a run whose files are gone": {
			result.StepRecord{Step: 2, LostReplies: 1}, Step{}, lossList{{"step 2", "1 reply of the optimizer", "no usable answer after all tries"}},
		},
		"tried again, and undecided": {
			result.StepRecord{Step: 2, LostReplies: 3, Retried: true, Action: "indecisive", Reason: "4 of 16 items"},
			Step{Lost: []string{"ranking"}},
			lossList{
				{"step 2", "3 replies of the optimizer: its first try 2, ranking 1", "no usable answer after all tries"},
				{"step 2", "its first try", "too little could be measured to decide"},
				{"step 2", "its decision", "4 of 16 items"},
			},
		},
		"of several candidates": {
			result.StepRecord{Step: 2, Candidates: []result.CandidateRecord{{Index: 1, Taken: true, Unmeasured: []string{"b"}}, {Index: 2, Unmeasured: []string{"a", "b"}}}},
			Step{},
			lossList{{"step 2, candidate 2", "not measured: a, b", "it was judged without"}},
		},
	} {
		var got lossList
		got.step(tt.record, tt.files)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// Of several candidates each has files of its own, and those of the taken one stand beside.
func TestLostRepliesAreReadOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"patches.json":      `[{"analyses": [], "lost": ["analyst_error/0"]}, {"analyses": [], "lost": ["analyst_success/0"]}]`,
		"ranked_edits.json": `{"lost": ["ranking"]}`, "p1/ranked_edits.json": `{"lost": ["ranking"]}`, "p2/merged_patch.json": `{"lost": ["merge/final/0"]}`,
	} {
		path := filepath.Join(dir, "steps", "step_0001", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	analysts := []string{"analyst_error/0", "analyst_success/0"}
	for want, record := range map[*[]string]result.StepRecord{
		{"ranking"}:                  {Step: 1, LostReplies: 3},
		{"ranking", "merge/final/0"}: {Step: 1, LostReplies: 4, Candidates: []result.CandidateRecord{{Index: 1}, {Index: 2}, {Index: 3, Merged: []int{1, 2}}}},
		{}:                           {Step: 1, LostReplies: 2},
	} {
		r := &reader{root: root, run: &Run{}}
		if diff := cmp.Diff(append(analysts[:2:2], *want...), r.step(record).Lost); diff != "" {
			t.Errorf("%+v:\n%s", record, diff)
		}
	}
}

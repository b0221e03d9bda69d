package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
)

// What a step lost: items with their reason, replies by stage, candidates, tries.
func TestLossesOfAStep(t *testing.T) {
	t.Parallel()
	missing := []record.Item{{ID: "a", Status: score.OK}, {ID: "b", Status: score.Unmeasured, FailReason: "no server"}}
	for name, tt := range map[string]struct {
		of    result.StepRecord
		files record.Step
		want  lossList
	}{
		"nothing":           {result.StepRecord{Step: 1}, record.Step{}, nil},
		"the seed skill":    {result.StepRecord{Unmeasured: []string{"b"}}, record.Step{Selection: missing}, lossList{{"seed skill", "not measured: b", "no server"}}},
		"of its batch":      {result.StepRecord{Step: 1, Unmeasured: []string{"b"}}, record.Step{Trained: missing}, lossList{{"step 1", "not measured: b", "no server"}}},
		"no reason is left": {result.StepRecord{Step: 1, Unmeasured: []string{"c"}}, record.Step{Trained: missing}, lossList{{"step 1", "not measured: c", "the decision was made without"}}},
		"replies": {
			result.StepRecord{Step: 2, LostReplies: 4},
			record.Step{Lost: []string{"analyst_error/0", "analyst_error/1", "merge/failure/1/0", "ranking"}},
			lossList{{"step 2", "4 replies of the optimizer: analyst_error 2, merge 1, ranking 1", "no usable answer after all tries"}},
		},
		"replies of a run whose files are gone": {
			result.StepRecord{Step: 2, LostReplies: 1}, record.Step{}, lossList{{"step 2", "1 reply of the optimizer", "no usable answer after all tries"}},
		},
		"tried again, and undecided": {
			result.StepRecord{Step: 2, LostReplies: 3, Retried: true, Action: "indecisive", Reason: "4 of 16 items"},
			record.Step{Lost: []string{"ranking"}},
			lossList{
				{"step 2", "3 replies of the optimizer: its first try 2, ranking 1", "no usable answer after all tries"},
				{"step 2", "its first try", "too little could be measured to decide"},
				{"step 2", "its decision", "4 of 16 items"},
			},
		},
		"of several candidates": {
			result.StepRecord{Step: 2, Candidates: []result.CandidateRecord{{Index: 1, Taken: true, Unmeasured: []string{"b"}}, {Index: 2, Unmeasured: []string{"a", "b"}}}},
			record.Step{},
			lossList{{"step 2, candidate 2", "not measured: a, b", "it was judged without"}},
		},
	} {
		var got lossList
		got.step(tt.of, tt.files)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

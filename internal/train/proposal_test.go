package train

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/result"
)

// Candidates of a step begin with what is recorded of it, and what is recorded of one
// reaches neither the step nor another one.
func TestCandidatesOfAStepAreApart(t *testing.T) {
	t.Parallel()
	notes := append(make([]string, 0, 8), "of the step")
	step := &proposal{prefix: "e1/s1", record: result.StepRecord{Step: 1, Notes: notes}, files: map[string]any{"rollout.json": 1}}
	step.verdict, step.weighed, step.lost = gate.Verdict{Action: gate.Reject}, true, 3
	for _, index := range []int{1, 2} {
		p := step.fork(index)
		if p.weighed || p.verdict.Action != "" || p.lost != 0 || len(p.files) > 0 {
			t.Errorf("candidate %d begins with what was found of another one: %+v", index, p)
		}
		if want := map[int]string{1: "e1/s1", 2: "e1/s1/p2"}[index]; p.prefix != want {
			t.Errorf("candidate %d stands under %s, want %s", index, p.prefix, want)
		}
		p.record.Notes = append(p.record.Notes, "of the candidate")
		p.files["selection.json"] = index
	}
	if diff := cmp.Diff([]string{"of the step", "", ""}, notes[:3]); diff != "" {
		t.Errorf("notes of the step (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"rollout.json": 1}, step.files); diff != "" {
		t.Errorf("files of the step (-want +got):\n%s", diff)
	}
}

package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/result"
)

// The files of a step hold the candidate that it is recorded by.
func TestCandidateOf(t *testing.T) {
	t.Parallel()
	several := []result.CandidateRecord{
		{Index: 1, Hash: "a"},
		{Index: 2, Hash: "b", SecondTry: 1, Place: "second/"},
		{Index: 3, Hash: "c", SecondTry: 1, Place: "second/half1/"},
		{Index: 4, Hash: "d", SecondTry: 1, Place: "second/half2/"},
	}
	got := map[string]string{}
	for _, hash := range []string{"", "a", "b", "c", "d"} {
		got[hash] = candidatePlace(result.StepRecord{CandidateHash: hash, Candidates: several})
	}
	want := map[string]string{"": "", "a": "", "b": "second/", "c": "second/half1/", "d": "second/half2/"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Of all places of a run those hold the outcomes of a sheet, in this order, the last one
// first, at which just this skill was asked.
func TestPlacesOfSheets(t *testing.T) {
	t.Parallel()
	keys := []string{
		"seed/selection", "seed/selection/again", "e1/s1/gate/cand", "e1/s3/mb0/rollout", "e1/s3/mb1/more2/rollout", "e1/s3/again/mb0/rollout", "e1/s3/gate/cand", "e1/s3/gate/inc",
		"e1/s3/gate/again", "e1/s3/gate/drift/gate/cand", "e1/s3/gate/drift/current", "e1/s3/anew/gate/cand", "e1/s3/second/gate/cand", "e1/s3/second/anew/gate/cand", "e1/s3/second/anew/anew/gate/drift/gate/cand",
		"e1/s3/second/half1/gate/cand", "e1/s3/second/half2/gate/cand", "e1/s3/anew/second/half2/gate/cand", "e1/s3/again/gate/cand", "e1/s3/again/second/gate/cand",
		"e1/end/gate/cand", "e1/end/gate/drift/gate/cand", "e2/end/gate/cand", "e1/end/compare/current",
		"final/test/best", "final/test/open2/best", "final/test/open10/best", "final/test/open2/seed", "eval/test", "compare/a",
	}
	step := func(candidate string, again bool) Sheet {
		return Sheet{Step: 3, stage: stageGate, candidate: candidate, again: again}
	}
	for name, tt := range map[string]struct {
		sheet Sheet
		want  []string
	}{
		"seed":          {Sheet{stage: "seed/selection"}, []string{"seed/selection"}},
		"batch":         {Sheet{Step: 3, stage: stageRollout}, []string{"e1/s3/mb0/rollout", "e1/s3/mb1/more2/rollout", "e1/s3/again/mb0/rollout"}},
		"batch, again":  {Sheet{Step: 3, stage: stageRollout, again: true}, []string{"e1/s3/again/mb0/rollout", "e1/s3/mb0/rollout", "e1/s3/mb1/more2/rollout"}},
		"first":         {step("", false), []string{"e1/s3/anew/gate/cand", "e1/s3/gate/drift/gate/cand", "e1/s3/gate/cand"}},
		"first, again":  {step("", true), []string{"e1/s3/again/gate/cand"}},
		"second":        {step("second/", false), []string{"e1/s3/second/anew/anew/gate/drift/gate/cand", "e1/s3/second/anew/gate/cand", "e1/s3/second/gate/cand"}},
		"second, again": {step("second/", true), []string{"e1/s3/again/second/gate/cand"}},
		"half 1":        {step("second/half1/", false), []string{"e1/s3/second/half1/gate/cand"}},
		"half 2":        {step("second/half2/", false), []string{"e1/s3/anew/second/half2/gate/cand", "e1/s3/second/half2/gate/cand"}},
		"epoch":         {Sheet{Epoch: 1, stage: "end/gate/cand"}, []string{"e1/end/gate/drift/gate/cand", "e1/end/gate/cand"}},
		"test":          {Sheet{stage: "final/test/best"}, []string{"final/test/open10/best", "final/test/open2/best", "final/test/best"}},
		"compare":       {Sheet{stage: "compare/a"}, []string{"compare/a"}},
	} {
		var got []string
		for rank := 99; rank > 0; rank-- {
			for _, key := range keys {
				if tt.sheet.rank(ParsePlace(key+"/t-1/sample0/attempt0/turn1")) == rank {
					got = append(got, key)
				}
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

package provenance

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/skill"
)

func TestAsked(t *testing.T) {
	t.Parallel()
	appended := func(content string) skill.Edit {
		return skill.Edit{Op: skill.Append, Content: content, Source: skill.FromFailure, SupportCount: 3}
	}
	dates := Pattern{Name: "rule_missing", Count: 2, Description: "dates are not written in ISO form"}
	money := Pattern{Name: "rule_missing", Count: 1, Description: "amounts of money lack their currency"}
	analyses := []Analysis{
		{Source: skill.FromFailure, Tasks: []string{"a", "b"}, Patterns: []Pattern{money, dates}, Edits: []skill.Edit{appended("- Write dates in ISO form."), appended("- Name the currency.")}},
		{Source: skill.FromFailure, Tasks: []string{"c", "a"}, Patterns: []Pattern{dates}, Edits: []skill.Edit{appended("- Write dates in ISO form. ")}},
		{Source: skill.FromSuccess, Tasks: []string{"z"}, Patterns: []Pattern{{Description: "sums are checked"}}},
	}
	both := dates
	both.Count = 4
	tests := []struct {
		name string
		edit skill.Edit
		want Reason
	}{
		{"as it was proposed, twice", appended("- Write dates in ISO form."), Reason{Link: Verbatim, Tasks: []string{"a", "b", "c"}, Patterns: []Pattern{both}}},
		{"reworded", appended("- Always write dates in ISO form, please."), Reason{Link: Reworded, Tasks: []string{"a", "b", "c"}, Patterns: []Pattern{both}}},
		{"like nothing", appended("- Stay calm!"), Reason{Link: Batch, Tasks: []string{"a", "b", "c"}, Patterns: []Pattern{money, both}}},
		{"another operation", skill.Edit{Op: skill.Delete, Target: "- Write dates in ISO form.", Source: skill.FromSuccess, SupportCount: 3}, Reason{Link: Batch, Tasks: []string{"z"}, Patterns: []Pattern{{Description: "sums are checked"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.Source, tt.want.Support = tt.edit.Source, 3
			if diff := cmp.Diff(tt.want, FindReason(tt.edit, analyses)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := FindReason(appended("x"), nil); len(got.Tasks) != 0 || got.Link != Batch {
		t.Errorf("without analyses: %+v", got)
	}
	unsourced := appended("- Write dates in ISO form.")
	unsourced.Source = ""
	if got := FindReason(unsourced, analyses); got.Source != skill.FromFailure {
		t.Errorf("the source is not taken from the analysts: %+v", got)
	}
}

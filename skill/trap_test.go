package skill

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Trap 13: an edit that cannot be applied, or adds nothing, ends in a state of its own, and the document stays byte for byte.
func TestTrap13EditsThatChangeNothing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		edit Edit
		want ApplyStatus
	}{
		{"replace whose anchor is not there", Edit{Op: Replace, Target: "- Sums have three decimals.", Content: "- x"}, SkippedReplaceTargetNotFound},
		{"replace without an anchor", Edit{Op: Replace, Content: "- x"}, SkippedReplaceMissingTarget},
		{"replace by the same", Edit{Op: Replace, Target: "- Dates are ISO.", Content: "- Dates are ISO."}, SkippedNoChange},
		{"delete whose anchor is not there", Edit{Op: Delete, Target: "- Sums have three decimals."}, SkippedDeleteTargetNotFound},
		{"delete without an anchor", Edit{Op: Delete}, SkippedDeleteMissingTarget},
		{"delete without an anchor, with content", Edit{Op: Delete, Content: "- Dates are ISO."}, SkippedDeleteMissingTarget},
		{"add what is there", Edit{Op: Append, Content: "- Dates are ISO."}, SkippedDuplicate},
		{"add what is there, with other spaces", Edit{Op: Append, Content: "\n*  Dates  are ISO. \n"}, SkippedDuplicate},
		{"add two that are there", Edit{Op: Append, Content: "- Dates are ISO.\n\n- Sums have two decimals."}, SkippedDuplicate},
		{"insert what is there", Edit{Op: InsertAfter, Target: "- Sums have two decimals.", Content: "- Dates are ISO."}, SkippedDuplicate},
		{"add nothing", Edit{Op: Append}, SkippedNoChange},
		{"add white space", Edit{Op: Append, Content: " \n\t\u00a0\n"}, SkippedNoChange},
		{"add markers alone", Edit{Op: Append, Content: LearnedStart + "\n" + LearnedEnd}, SkippedNoChange},
		{"insert nothing", Edit{Op: InsertAfter, Target: "- Dates are ISO."}, SkippedNoChange},
		{"an unknown op", Edit{Op: "prepend", Content: "- x"}, SkippedUnknownOp},
		{"no op", Edit{Content: "- x"}, SkippedUnknownOp},
		{"an op in other letters", Edit{Op: "Append", Content: "- x"}, SkippedUnknownOp},
	}
	for _, text := range []string{memory, WithLineEnd(memory, crlf)} {
		for _, tt := range tests {
			for _, only := range []Region{LearnedRegion, ""} {
				if only == "" && tt.want == SkippedDuplicate {
					continue // of a whole document nobody can say which lines are rules
				}
				after, reports := Apply(New(text), []Edit{tt.edit}, ApplyOptions{Only: only, Scope: Scope{}.WithTidy(true)})
				if diff := cmp.Diff(text, after.Text()); diff != "" || reports[0].Status != tt.want {
					t.Errorf("%s, region %q: %s, want %s (-want +got):\n%s", tt.name, only, reports[0].Status, tt.want, diff)
				}
			}
		}
		// What says more than is there is added.
		for _, content := range []string{"- Dates are ISO. Always.", "- Sums have two decimals.\n- Dates are ISO.", "- dates are ISO.", "- Tabs, not spaces."} {
			after, reports := Apply(New(text), []Edit{{Op: Append, Content: content}}, ApplyOptions{Only: LearnedRegion})
			if reports[0].Status != AppliedAppend || len(after.Text()) < len(text)+len(content) {
				t.Errorf("%q: %s", content, reports[0].Status)
			}
		}
		// Twice in one set of edits is once.
		once, _ := Apply(New(text), []Edit{{Op: Append, Content: "- x"}}, ApplyOptions{Only: LearnedRegion})
		twice, reports := Apply(New(text), []Edit{{Op: Append, Content: "- x"}, {Op: Append, Content: "- x "}}, ApplyOptions{Only: LearnedRegion})
		if twice.Text() != once.Text() || reports[1].Status != SkippedDuplicate {
			t.Errorf("%s: %q", reports[1].Status, twice.Text())
		}
	}
}

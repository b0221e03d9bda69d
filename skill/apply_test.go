package skill

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const withRegions = "---\nname: t\n---\n# T\n\n- a\n- b\n\n" +
	SlowStart + "\nguidance\n" + SlowEnd + "\n\ntail\n\n" +
	AppendixStart + "\n" + appendixTitle + "\n- note\n" + AppendixEnd + "\n"

func TestApply(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		text   string
		edit   Edit
		want   string // "" = unchanged
		status ApplyStatus
	}{
		{"append", "# T\n\n- a \n\n", Edit{Op: Append, Content: " new\n"}, "# T\n\n- a\n\nnew\n", AppliedAppend},
		{
			"append goes before the first region", withRegions,
			Edit{Op: Append, Content: "new"},
			strings.Replace(withRegions, "- b\n\n", "- b\n\nnew\n\n", 1), AppliedAppendBeforeRegion,
		},
		{
			"append before a marker that nothing closes", "a\n\n" + SlowStart + "\nb\n",
			Edit{Op: Append, Content: "new"},
			"a\n\nnew\n\n" + SlowStart + "\nb\n", AppliedAppendBeforeRegion,
		},
		{
			"append to front matter alone", "---\nname: t\n---  \n",
			Edit{Op: Append, Content: "new"},
			"---\nname: t\n---  \n\nnew\n", AppliedAppend,
		},
		{
			"append to front matter without a last line break", "---\nname: t\n---",
			Edit{Op: Append, Content: "new"},
			"---\nname: t\n---\n\nnew\n", AppliedAppend,
		},
		{
			"append between front matter and region", "---\nname: t\n---\n" + SlowStart + SlowEnd,
			Edit{Op: Append, Content: "new"},
			"---\nname: t\n---\n\nnew\n\n" + SlowStart + SlowEnd, AppliedAppendBeforeRegion,
		},
		{
			"append takes CRLF from the document", "# T\r\n\r\n- a\r\n",
			Edit{Op: Append, Content: "x\ny"},
			"# T\r\n\r\n- a\r\n\r\nx\r\ny\r\n", AppliedAppend,
		},
		{"append takes LF from the document", "# T\n", Edit{Op: Append, Content: "x\r\ny"}, "# T\n\nx\ny\n", AppliedAppend},
		{
			"markers in content go, also those put together", "a\n",
			Edit{Op: Append, Content: "x<!-- SLOW_UPD" + AppendixEnd + "ATE_END -->y"},
			"a\n\nxy\n", AppliedAppend,
		},
		{"insert", "# T\n\n- a\n- b\n", Edit{Op: InsertAfter, Target: "a", Content: "new"}, "# T\n\n- a\n\nnew\n- b\n", AppliedInsertAfter},
		{
			"insert after a target that ends its line", "# T\n\n- a\n- b\n",
			Edit{Op: InsertAfter, Target: "- a\n", Content: "new"},
			"# T\n\n- a\n\nnew\n- b\n", AppliedInsertAfter,
		},
		{"insert after an unfinished line", "- a", Edit{Op: InsertAfter, Target: "a", Content: "new"}, "- a\nnew\n", AppliedInsertAfter},
		{"insert without its target", "- a\n", Edit{Op: InsertAfter, Target: "zzz", Content: "new"}, "- a\n\nnew\n", AppliedInsertAfterFallbackAppend},
		{
			"insert without its target, before a region", withRegions,
			Edit{Op: InsertAfter, Content: "new"},
			strings.Replace(withRegions, "- b\n\n", "- b\n\nnew\n\n", 1), AppliedInsertAfterFallbackBeforeRegion,
		},
		{
			"insert on the line of a region", "a " + SlowStart + "\ng\n" + SlowEnd + "\n",
			Edit{Op: InsertAfter, Target: "a", Content: "new"},
			"", SkippedProtectedRegion,
		},
		{"replace the first occurrence", "a b a\n", Edit{Op: Replace, Target: "a", Content: "X"}, "X b a\n", AppliedReplace},
		{
			"replace over several lines of a CRLF document", "# T\r\n- a\r\n- b\r\n",
			Edit{Op: Replace, Target: "- a\n- b", Content: "- c\n- d"},
			"# T\r\n- c\r\n- d\r\n", AppliedReplace,
		},
		{
			"replace prefers the body to the front matter", "---\nname: sums\n---\nAdd sums.\n",
			Edit{Op: Replace, Target: "sums", Content: "parts"},
			"---\nname: sums\n---\nAdd parts.\n", AppliedReplace,
		},
		{"replace in the front matter", withRegions, Edit{Op: Replace, Target: "name: t", Content: "name: u"}, "", SkippedProtectedRegion},
		{"replace from front matter into the body", withRegions, Edit{Op: Replace, Target: "---\n# T", Content: "# T"}, "", SkippedProtectedRegion},
		{"replace in a region", withRegions, Edit{Op: Replace, Target: "guidance", Content: "x"}, "", SkippedProtectedRegion},
		{"replace into a region", withRegions, Edit{Op: Replace, Target: "- b\n\n<!-- SLOW", Content: "x"}, "", SkippedProtectedRegion},
		{"replace without target", "a\n", Edit{Op: Replace, Content: "x"}, "", SkippedReplaceMissingTarget},
		{"replace what is not there", "a\n", Edit{Op: Replace, Target: "b", Content: "x"}, "", SkippedReplaceTargetNotFound},
		{"replace makes front matter", "x---\nname: u\n---\n", Edit{Op: Replace, Target: "x", Content: ""}, "", SkippedProtectedRegion},
		{"delete", "a b\n", Edit{Op: Delete, Target: " b", Content: "ignored"}, "a\n", AppliedDelete},
		{"delete in the second region", withRegions, Edit{Op: Delete, Target: "note"}, "", SkippedProtectedRegion},
		{
			"delete closes a marker", "<!-- SLOW_xUPDATE_START -->\ng\n" + SlowEnd + "\n",
			Edit{Op: Delete, Target: "x"},
			"", SkippedProtectedRegion,
		},
		{"delete an unclosed marker", "a\n" + SlowStart + "\n", Edit{Op: Delete, Target: SlowStart}, "a\n\n", AppliedDelete},
		{"delete without target", "a\n", Edit{Op: Delete}, "", SkippedDeleteMissingTarget},
		{"delete what is not there", "a\n", Edit{Op: Delete, Target: "b"}, "", SkippedDeleteTargetNotFound},
		{"unknown op", "a\n", Edit{Op: "Append", Content: "x"}, "", SkippedUnknownOp},
		{"unknown op on a region", withRegions, Edit{Op: "upsert", Target: "guidance"}, "", SkippedProtectedRegion},
		{"append with a target in a region", withRegions, Edit{Op: Append, Target: "guidance", Content: "x"}, "", SkippedProtectedRegion},
		{"append nothing", "a \n\n", Edit{Op: Append}, "", SkippedNoChange},
		{"append white space", "a\n", Edit{Op: Append, Content: " \n\u00a0\u200b"}, "", SkippedNoChange},
		{"append a marker alone, before a region", withRegions, Edit{Op: Append, Content: SlowEnd}, "", SkippedNoChange},
		{"insert nothing", "- a\n- b\n", Edit{Op: InsertAfter, Target: "a", Content: "\n"}, "", SkippedNoChange},
		{"insert nothing without its target", "- a\n", Edit{Op: InsertAfter, Target: "zzz"}, "", SkippedNoChange},
		{"insert nothing in a region", withRegions, Edit{Op: InsertAfter, Target: "guidance"}, "", SkippedProtectedRegion},
		{"replace by the same", "- a\n", Edit{Op: Replace, Target: "- a", Content: " - a\n"}, "", SkippedNoChange},
		{"replace by the same with another line end", "- a\r\n- b\r\n", Edit{Op: Replace, Target: "- a\n- b", Content: "- a\n- b"}, "", SkippedNoChange},
		{"replace by nothing", "- a\n- b\n", Edit{Op: Replace, Target: "- a\n"}, "- b\n", AppliedReplace},
		{"an empty edit without an op", "- a\n", Edit{}, "", SkippedUnknownOp},
		{"SKILL.md by name", "a\n", Edit{Op: Append, File: Main, Content: "x"}, "a\n\nx\n", AppliedAppend},
		{"another file", "a\n", Edit{Op: Append, File: "references/x.md", Content: "x"}, "", SkippedUnsupportedFile},
		{"a path out of the skill", "a\n", Edit{Op: Append, File: "../SKILL.md", Content: "x"}, "", SkippedUnsupportedFile},
		{"not UTF-8", "a\n", Edit{Op: Append, Content: "x\xff"}, "", Failed},
		{"too large", "a\n", Edit{Op: Append, Content: strings.Repeat("x", MaxBytes)}, "", SkippedTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, reports := Apply(New(tt.text), []Edit{tt.edit}, ApplyOptions{})
			want := tt.want
			if want == "" {
				want = tt.text
			}
			if diff := cmp.Diff(want, got.Text()); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if len(reports) != 1 || reports[0].Status != tt.status {
				t.Errorf("reports = %+v, want one with status %s", reports, tt.status)
			}
			if changed := got.Text() != tt.text; changed && !tt.status.Applied() {
				t.Errorf("status %s, but the text changed", tt.status)
			}
		})
	}
}

func TestApplyUnprotected(t *testing.T) {
	t.Parallel()
	edits := []Edit{
		{Op: Replace, Target: "guidance", Content: SlowEnd},
		{Op: Replace, Target: "name: t", Content: "name: u"},
		{Op: Append, Content: "new"},
	}
	got, reports := Apply(New(withRegions), edits, ApplyOptions{Unprotected: true})
	want := strings.Replace(strings.Replace(withRegions, "guidance", SlowEnd, 1), "name: t", "name: u", 1) + "\nnew\n"
	if diff := cmp.Diff(want, got.Text()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	for _, r := range reports {
		if !r.Status.Applied() {
			t.Errorf("edit %d: %s", r.Index, r.Status)
		}
	}
}

func TestApplyBudget(t *testing.T) {
	t.Parallel()
	edits := []Edit{
		{Op: Append, Content: "one"},
		{Op: Delete, Target: "not there"}, // costs nothing
		{Op: Append, Content: " one "},    // the first again
		{Op: Append},                      // costs nothing
		{Op: Append, Content: "two"},
		{Op: Append, Content: "three"},
		{Op: "nope"},
	}
	got, reports := Apply(New("a\n"), edits, ApplyOptions{Budget: 2})
	if want := "a\n\none\n\ntwo\n"; got.Text() != want {
		t.Errorf("text = %q, want %q", got.Text(), want)
	}
	var statuses []ApplyStatus
	for _, r := range reports {
		statuses = append(statuses, r.Status)
	}
	want := []ApplyStatus{
		AppliedAppend, SkippedDeleteTargetNotFound, SkippedDuplicate, SkippedNoChange, AppliedAppend, SkippedOverBudget, SkippedUnknownOp,
	}
	if diff := cmp.Diff(want, statuses); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}

func TestApplyReport(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 201)
	_, reports := Apply(New("a\n"), []Edit{{Op: Replace, Target: long, Content: " " + long}, {Op: Append, File: "x"}}, ApplyOptions{})
	cutText := strings.Repeat("é", 200)
	want := []Report{
		{Index: 1, Op: Replace, Status: SkippedReplaceTargetNotFound, Target: cutText, Content: cutText},
		{Index: 2, Op: Append, Status: SkippedUnsupportedFile, Detail: `"x": only SKILL.md may be edited`},
	}
	if diff := cmp.Diff(want, reports); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

func TestApplyKeepsOtherFiles(t *testing.T) {
	t.Parallel()
	s := New("a\n").WithFile("references/x.md", "x")
	got, _ := Apply(s, []Edit{{Op: Append, Content: "new"}}, ApplyOptions{})
	if x, ok := got.File("references/x.md"); !ok || x != "x" {
		t.Errorf("references/x.md = %q, %v", x, ok)
	}
	if s.Text() != "a\n" {
		t.Errorf("Apply changed its input to %q", s.Text())
	}
}

// A document over the limit may be made smaller, but not larger.
func TestApplyShrinksTooLarge(t *testing.T) {
	t.Parallel()
	s := New("# long document\n")
	got, reports := Apply(s, []Edit{{Op: Append, Content: "x"}, {Op: Delete, Target: " document"}}, ApplyOptions{MaxBytes: 4})
	if got.Text() != "# long\n" || reports[0].Status != SkippedTooLarge {
		t.Errorf("text = %q, first status = %s", got.Text(), reports[0].Status)
	}
}

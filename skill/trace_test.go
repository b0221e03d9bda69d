package skill

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTrace(t *testing.T) {
	t.Parallel()
	const text = "# Title\n\n- one\n- two\n\n"
	for _, tt := range []struct {
		name string
		edit Edit
		want *Change
	}{
		{"append", Edit{Op: Append, Content: "- new"}, &Change{From: 20, To: 22, Text: "\n\n- new\n"}},
		{"insert", Edit{Op: InsertAfter, Target: "one", Content: "- new"}, &Change{From: 15, To: 15, Text: "\n- new\n"}},
		{"replace", Edit{Op: Replace, Target: "one", Content: "1"}, &Change{From: 11, To: 14, Text: "1"}},
		{"delete", Edit{Op: Delete, Target: "- one\n"}, &Change{From: 9, To: 15, Text: ""}},
		{"not found", Edit{Op: Delete, Target: "three"}, nil},
	} {
		_, _, changes := Trace(New(text), []Edit{tt.edit}, ApplyOptions{})
		if diff := cmp.Diff([]*Change{tt.want}, changes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// The changes, one after the other, are the whole difference.
func TestTraceIsWhatApplyDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawDocument(t)
		edits := drawEdits(t, text)
		opts := ApplyOptions{Unprotected: rapid.Bool().Draw(t, "unprotected")}
		applied, reports := Apply(New(text), edits, opts)
		traced, again, changes := Trace(New(text), edits, opts)
		if traced.Text() != applied.Text() || !cmp.Equal(reports, again) || len(changes) != len(edits) {
			t.Fatalf("Trace and Apply differ: %q and %q", traced.Text(), applied.Text())
		}
		for i, c := range changes {
			if (c != nil) != reports[i].Status.Applied() {
				t.Fatalf("edit %d is %s, its change %v", i, reports[i].Status, c)
			}
			if c != nil {
				text = text[:c.From] + c.Text + text[c.To:]
			}
		}
		if text != applied.Text() {
			t.Fatalf("the changes give %q, want %q", text, applied.Text())
		}
	})
}

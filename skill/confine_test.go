package skill

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestApplyOnlyInRegion(t *testing.T) {
	t.Parallel()
	in := func(content string) string {
		out, err := ReplaceLearned(memory, content)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const iso, sums = "- Dates are ISO.\n", "- Sums have two decimals.\n"
	tests := []struct {
		name   string
		edit   Edit
		want   string // what the region holds; "" = as before
		status ApplyStatus
	}{
		{"append", Edit{Op: Append, Content: "- new"}, iso + sums + "\n- new\n", AppliedAppend},
		{"insert", Edit{Op: InsertAfter, Target: "Sums", Content: "- new"}, iso + sums + "\n- new\n", AppliedInsertAfter},
		{"insert behind nothing", Edit{Op: InsertAfter, Target: "nowhere", Content: "- new"}, iso + sums + "\n- new\n", AppliedInsertAfterFallbackAppend},
		{"replace, the first one within", Edit{Op: Replace, Target: "Dates are ISO.", Content: "Dates are RFC 3339."}, "- Dates are RFC 3339.\n" + sums, AppliedReplace},
		{"replace to the end", Edit{Op: Replace, Target: sums, Content: "- x"}, iso + "- x\n", AppliedReplace},
		{"delete", Edit{Op: Delete, Target: iso}, sums, AppliedDelete},
		{"delete the last line end", Edit{Op: Delete, Target: "\n- Sums have two decimals.\n"}, iso, AppliedDelete},
		{"a marker in content", Edit{Op: Append, Content: "- new" + LearnedEnd + SlowStart}, iso + sums + "\n- new\n", AppliedAppend},
		{"insert outside", Edit{Op: InsertAfter, Target: "Tabs", Content: "x"}, "", SkippedOutsideRegion},
		{"replace outside", Edit{Op: Replace, Target: "Tabs", Content: "x"}, "", SkippedOutsideRegion},
		{"delete outside", Edit{Op: Delete, Target: "## Later"}, "", SkippedOutsideRegion},
		{"across the end", Edit{Op: Replace, Target: "decimals.\n" + LearnedEnd, Content: "x"}, "", SkippedOutsideRegion},
		{"the marker", Edit{Op: Delete, Target: LearnedStart}, "", SkippedOutsideRegion},
		{"another file", Edit{Op: Append, File: "x.md", Content: "x"}, "", SkippedOutsideRegion},
		{"the description", Edit{Op: Describe, Content: "x"}, "", SkippedOutsideRegion},
		{"a move", Edit{Op: Move, File: "x.md", Target: iso}, "", SkippedOutsideRegion},
		{"code that stays open", Edit{Op: Append, Content: "```\nx"}, "", SkippedOutsideRegion},
		{"a comment that stays open", Edit{Op: Append, Content: "<!-- x"}, "", SkippedOutsideRegion},
		{"what looks like a marker", Edit{Op: Append, Content: "<!-- skillopt-sleep:learned end -->"}, "", SkippedOutsideRegion},
		{"no such target", Edit{Op: Replace, Target: "nowhere", Content: "x"}, "", SkippedReplaceTargetNotFound},
		{"no target", Edit{Op: Delete}, "", SkippedDeleteMissingTarget},
		{"unknown op", Edit{Op: "upsert", Content: "x"}, "", SkippedUnknownOp},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, reports := Apply(New(memory), []Edit{tt.edit}, ApplyOptions{Only: LearnedRegion})
			want := memory
			if tt.want != "" {
				want = in(tt.want)
			}
			if diff := cmp.Diff(want, got.Text()); diff != "" || reports[0].Status != tt.status {
				t.Errorf("%s %q (-want +got):\n%s", reports[0].Status, reports[0].Detail, diff)
			}
			if reports[0].Status == SkippedOutsideRegion && reports[0].Detail == "" {
				t.Error("no reason")
			}
		})
	}
}

func TestApplyOnlyTidy(t *testing.T) {
	t.Parallel()
	scope := Scope{}.WithTidy(true).WithRegion(LearnedRegion)
	text, err := InjectLearned("# T\n\n- mine\n")
	if err != nil {
		t.Fatal(err)
	}
	got, _ := Apply(New(text), []Edit{{Op: Append, Content: "- a"}, {Op: Append, Content: "* b"}, {Op: InsertAfter, Target: "a", Content: "- c"}}, ApplyOptions{Scope: scope})
	want := strings.Replace(text, LearnedEnd, "- a\n- b\n- c\n"+LearnedEnd, 1)
	if diff := cmp.Diff(want, got.Text()); diff != "" && got.Text() != strings.Replace(want, "- b\n- c", "- c\n- b", 1) {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// Whatever edits, rewritten texts, guidance and notes say, bytes outside of the region stay.
func TestConfinedLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.Custom(drawLearned), rapid.Custom(drawDocument)).Draw(t, "text")
		if out, err := InjectLearned(text); err == nil && rapid.Bool().Draw(t, "region") {
			text = out
		}
		scope := Scope{}.WithTidy(rapid.Bool().Draw(t, "tidy")).WithRegion(LearnedRegion)
		edits := drawEdits(t, text)
		if !rapid.Bool().Draw(t, "raw") {
			edits = append(edits, Edit{Op: Append, Content: drawText(t, "appended")})
		}
		opts := ApplyOptions{Scope: scope, Unprotected: rapid.Bool().Draw(t, "unprotected")}
		edited, _ := Apply(New(text), edits, opts)
		stays(t, text, edited.Text())
		stays(t, text, scope.WithSlow(New(text), drawText(t, "guidance")).Text())
		stays(t, text, scope.WithNotes(New(text), []string{drawText(t, "note")}).Text())
		if out, err := scope.Confine(text, edited.Text()); err == nil {
			stays(t, text, out)
		}
		if out, err := Rewrite(New(text), []FileText{{File: Main, Content: drawText(t, "rewritten") + text}}, scope); err == nil {
			stays(t, text, out.Text())
		}
		for _, r := range scope.Protected(text) {
			if r[0] < 0 || r[0] > r[1] || r[1] > len(text) {
				t.Fatalf("range %v of %d bytes", r, len(text))
			}
		}
	})
}

// stays fails unless after is before but for what its learned region holds.
func stays(t failer, before, after string) {
	t.Helper()
	if before == after || outsideSame(before, after) {
		return
	}
	t.Fatalf("outside of its region %q became %q", before, after)
}

func TestConfine(t *testing.T) {
	t.Parallel()
	changed := strings.Replace(memory, "two decimals", "no decimals", 1)
	crlfMemory := WithLineEnd(memory, crlf)
	tests := []struct{ name, before, after, want, err string }{
		{"within", memory, changed, changed, ""},
		{"other line ends and white space outside", crlfMemory, strings.Replace(changed, "spaces.\n", "spaces.  \n", 1) + "\n\n", WithLineEnd(changed, crlf), ""},
		{"outside", memory, strings.Replace(changed, "Tabs", "Spaces", 1), "", "the new text, line 3: it differs"},
		{"behind", memory, strings.Replace(changed, "## Later", "## Sooner", 1), "", "the new text, line 10: it differs"},
		{"a line less", memory, strings.Replace(changed, "Tabs, not spaces.\n", "", 1), "", "the new text, line 3: it differs"},
		{"region gone", memory, "# T\n", "", "the new text: there is no learned region"},
		{"region twice", memory, memory + memory, "", "the new text: line 17: there is a second"},
		{"no region before", "# T\n", memory, "", "the document: there is no learned region"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Scope{}.WithRegion(LearnedRegion).Confine(tt.before, tt.after)
			if diff := cmp.Diff(tt.want, got); diff != "" || err == nil != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("error %v, want %q (-want +got):\n%s", err, tt.err, diff)
			}
		})
	}
}

func TestSlowAndNotesInRegion(t *testing.T) {
	t.Parallel()
	scope := Scope{}.WithRegion(LearnedRegion)
	once := scope.WithSlow(New(memory), "be calm")
	twice := scope.WithNotes(scope.WithSlow(once, "be exact"), []string{"look twice"})
	got, err := LearnedText(twice.Text())
	want := "- Dates are ISO.\n- Sums have two decimals.\n\n" + SlowStart + "\nbe exact\n" + SlowEnd + "\n\n" + AppendixStart + "\n" + appendixTitle + "\n- look twice\n" + AppendixEnd + "\n"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	stays(t, memory, twice.Text())
	if got := scope.WithSlow(New("# T\n"), "x").Text(); got != "# T\n" {
		t.Errorf("without a region: %q", got)
	}
	if got := scope.WithSlow(New(memory), "```\nopen").Text(); got != memory {
		t.Errorf("guidance that would make code of the marker: %q", got)
	}
	// Edits of a step leave both alone.
	after, reports := Apply(twice, []Edit{{Op: Delete, Target: "be exact"}, {Op: Append, Content: "- new"}}, ApplyOptions{Scope: scope})
	if reports[0].Status != SkippedProtectedRegion || reports[1].Status != AppliedAppendBeforeRegion || SlowText(after.Text()) != "be exact" {
		t.Errorf("%v: %q", reports, after.Text())
	}
}

func TestCheckRegion(t *testing.T) {
	t.Parallel()
	scope, outside := Scope{}.WithRegion(LearnedRegion), "# T\n"+SlowStart+"\nx\n"+SlowEnd+"\n\n"+LearnedStart+"\n"+LearnedEnd+"\n"
	var bad *RegionError
	for _, tt := range []struct {
		text            string
		guidance, notes bool
		line            int
	}{{memory, true, true, 0}, {outside, true, false, 2}, {outside, false, true, 0}, {LearnedEnd, false, false, 1}} {
		err := scope.CheckRegion(New(tt.text), tt.guidance, tt.notes)
		if errors.As(err, &bad) != (tt.line > 0) || tt.line > 0 && bad.Line != tt.line {
			t.Errorf("%q: %v, want line %d", tt.text, err, tt.line)
		}
	}
	if err := (Scope{}).CheckRegion(New("x"), true, true); err != nil {
		t.Errorf("without a region: %v", err)
	}
	if err := scope.CheckRegion(New("x"), true, true); !errors.Is(err, ErrNoRegion) {
		t.Errorf("error %v", err)
	}
}

func TestProtectedOutsideRegion(t *testing.T) {
	t.Parallel()
	text := "---\nname: x\n---\n" + strings.Replace(memory, "- Sums", SlowStart+"\ny\n"+SlowEnd+"\n- Sums", 1)
	from, to, err := LearnedRange(text)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(text, SlowStart)
	want := [][2]int{{0, from}, {at, strings.Index(text, SlowEnd) + len(SlowEnd)}, {to, len(text)}}
	if got := (Scope{}).WithRegion(LearnedRegion).Protected(text); !slices.Equal(got, want) {
		t.Errorf("ranges %v, want %v", got, want)
	}
	if got := (Scope{}).Protected(text); !slices.Equal(got, Protected(text)) {
		t.Errorf("without a region: %v", got)
	}
}

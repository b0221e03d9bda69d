package skill

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// The laws below must hold for every document and every set of edits.

// drawText draws a text of lines, words, markers, white space and fences.
func drawText(t *rapid.T, label string) string {
	piece := rapid.SampledFrom([]string{
		"rule", "größer", "日期", "é", "🙂", " ", "\u00a0", "\t", "\n", "\n\n", "\r\n", "- ", "## ", "\x1f", "\u2028", "\r", "\x1b", "\u009b", "\u202e",
		"---", "---\n", "name: x\n", SlowStart, SlowEnd, AppendixStart, AppendixEnd, "<!-- SLOW_UPD", "ATE_END -->", "<!-- SLOW_UPD\x00ATE_END -->",
	})
	return strings.Join(rapid.SliceOfN(piece, 0, 24).Draw(t, label), "")
}

// drawDocument draws a text, often with front matter and regions.
func drawDocument(t *rapid.T) string {
	text := drawText(t, "body")
	if rapid.Bool().Draw(t, "front matter") {
		text = "---\nname: " + rapid.StringMatching(`[a-z]{0,5}`).Draw(t, "name") + "\n---\n" + text
	}
	if rapid.Bool().Draw(t, "slow") {
		text += "\n" + SlowStart + "\n" + drawText(t, "guidance") + "\n" + SlowEnd + "\n" + drawText(t, "tail")
	}
	if rapid.Bool().Draw(t, "crlf") {
		text = WithLineEnd(text, crlf)
	}
	return text
}

// drawEdits draws edits whose targets often stand in text.
func drawEdits(t *rapid.T, text string) []Edit {
	var edits []Edit
	for range rapid.IntRange(0, 6).Draw(t, "edits") {
		target := drawText(t, "target")
		if len(text) > 0 && rapid.IntRange(0, 3).Draw(t, "found") > 0 {
			from := rapid.IntRange(0, len(text)-1).Draw(t, "from")
			target = text[from:min(len(text), from+rapid.IntRange(1, 60).Draw(t, "length"))]
		}
		edits = append(edits, Edit{
			Op:      rapid.SampledFrom([]Op{Append, InsertAfter, Replace, Delete, "", "upsert"}).Draw(t, "op"),
			File:    rapid.SampledFrom([]string{"", "", "", Main, "x.md", "../x"}).Draw(t, "file"),
			Target:  target,
			Content: drawText(t, "content"),
		})
	}
	return edits
}

func TestApplyLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawDocument(t)
		edits := drawEdits(t, text)
		checkApplyLaws(t, text, edits, ApplyOptions{
			Budget:   rapid.IntRange(0, 3).Draw(t, "budget"),
			MaxBytes: rapid.SampledFrom([]int{0, 0, 200}).Draw(t, "max"),
		})
	})
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkApplyLaws(t failer, text string, edits []Edit, opts ApplyOptions) {
	t.Helper()
	got, reports := Apply(New(text), edits, opts)
	again, _ := Apply(New(text), edits, opts)
	if got.Text() != again.Text() {
		t.Fatalf("two results of one input: %q and %q", got.Text(), again.Text())
	}
	if !RegionsEqual(text, got.Text()) {
		t.Fatalf("a protected region changed: %q became %q", text, got.Text())
	}
	if len(reports) != len(edits) {
		t.Fatalf("%d reports of %d edits", len(reports), len(edits))
	}
	applied, texts := 0, textsOf(text, edits, opts)
	for i, r := range reports {
		if r.Index != i+1 || r.Status == "" || r.Op != edits[i].Op {
			t.Fatalf("report %d is %+v", i, r)
		}
		if r.Status.Applied() {
			applied++
		}
		if changed := texts[i] != texts[i+1]; changed != r.Status.Applied() {
			t.Fatalf("edit %d is %s: %q became %q", i, r.Status, texts[i], texts[i+1])
		}
	}
	if opts.Budget > 0 && applied > opts.Budget {
		t.Fatalf("%d edits applied, the budget is %d", applied, opts.Budget)
	}
	if applied == 0 && got.Text() != text {
		t.Fatalf("no edit applied, but %q became %q", text, got.Text())
	}
	limit := opts.MaxBytes
	if limit == 0 {
		limit = MaxBytes
	}
	if len(got.Text()) > max(limit, len(text)) {
		t.Fatalf("%d bytes, allowed are %d", len(got.Text()), limit)
	}
}

// textsOf returns the document before the first edit and after each.
func textsOf(text string, edits []Edit, opts ApplyOptions) []string {
	texts := []string{text}
	for i := range edits {
		got, _ := Apply(New(text), edits[:i+1], opts)
		texts = append(texts, got.Text())
	}
	return texts
}

// Outside of what an edit names, nothing changes but the white space that an
// append replaces.
func TestApplyTouchesNothingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawDocument(t)
		edits := drawEdits(t, text)
		for _, e := range edits {
			got, reports := Apply(New(text), []Edit{e}, ApplyOptions{})
			checkOneEdit(t, text, got.Text(), reports[0].Status, e)
		}
	})
}

func checkOneEdit(t *rapid.T, before, after string, status ApplyStatus, e Edit) {
	prefix := 0
	for prefix < min(len(before), len(after)) && before[prefix] == after[prefix] {
		prefix++
	}
	suffix := 0
	for suffix < min(len(before), len(after))-prefix && before[len(before)-1-suffix] == after[len(after)-1-suffix] {
		suffix++
	}
	gone := before[prefix : len(before)-suffix]
	switch status {
	case AppliedReplace, AppliedDelete:
		if len(gone) > len(e.Target)+strings.Count(e.Target, lf) {
			t.Fatalf("%s took %q, its target is %q", status, gone, e.Target)
		}
	case AppliedInsertAfter:
		if gone != "" {
			t.Fatalf("%s took %q out of %q", status, gone, before)
		}
	default:
		if trim(gone) != "" {
			t.Fatalf("%s took %q out of %q", status, gone, before)
		}
	}
}

// A document with CRLF only keeps it, whatever line ends the edits have, and
// the result is that of the same document with LF.
func TestApplyKeepsCRLF(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := "# T\r\n" + WithLineEnd(strings.ReplaceAll(drawDocument(t), "\r", ""), crlf)
		var edits []Edit
		for _, e := range drawEdits(t, text) {
			if strings.HasSuffix(e.Target, "\r") || strings.HasPrefix(e.Target, lf) {
				continue // cuts a line end in two
			}
			edits = append(edits, e)
		}
		got, _ := Apply(New(text), edits, ApplyOptions{})
		if rest := strings.ReplaceAll(got.Text(), crlf, ""); strings.Contains(rest, lf) {
			t.Fatalf("a bare line feed in %q", got.Text())
		}
	})
}

func TestApplyKeepsUTF8(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		edits := []Edit{
			{Op: Append, Content: rapid.String().Draw(t, "content")},
			{Op: Replace, Target: rapid.String().Draw(t, "target"), Content: rapid.String().Draw(t, "replacement")},
		}
		got, reports := Apply(New(text), edits, ApplyOptions{})
		if !utf8.ValidString(got.Text()) {
			t.Fatalf("not UTF-8: %q", got.Text())
		}
		for _, r := range reports {
			if !utf8.ValidString(r.Target) || !utf8.ValidString(r.Content) {
				t.Fatalf("report cut inside a code point: %+v", r)
			}
		}
	})
}

func TestParseIsLossless(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawDocument(t)
		doc, err := Parse(text)
		if doc.Text() != text {
			t.Fatalf("%q became %q (error %v)", text, doc.Text(), err)
		}
	})
}

// Setting a region twice is the same as setting it once to the last content,
// and the body stays.
func TestRegionLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := New(drawDocument(t))
		first, second := drawText(t, "first"), drawText(t, "second")
		once := s.WithSlow(second)
		if twice := s.WithSlow(first).WithSlow(second); twice.Text() != once.Text() {
			t.Fatalf("set twice: %q, once: %q", twice.Text(), once.Text())
		}
		want := WithLineEnd(trim(StripMarkers(Plain(second))), lf)
		if got := WithLineEnd(SlowText(once.Text()), lf); got != trim(want) {
			t.Fatalf("content %q, want %q", got, want)
		}
		if len(slow.regions(once.Text(), frontMatterEnd(once.Text()))) != 1 || !HasSlow(once.Text()) {
			t.Fatalf("not one region: %q", once.Text())
		}
		if at := frontMatterEnd(s.Text()); !strings.HasPrefix(once.Text(), s.Text()[:at]) {
			t.Fatalf("front matter %q became part of %q", s.Text()[:at], once.Text())
		}
		noted := once.WithNotes([]string{first, second, first})
		if got := DedupeNotes(Notes(noted.Text())); len(got) != len(Notes(noted.Text())) {
			t.Fatalf("repeated notes: %q", Notes(noted.Text()))
		}
	})
}

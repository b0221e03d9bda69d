package skill

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tidy applies edits that are fitted in.
func tidy(text string, edits ...Edit) string {
	s, _ := Apply(New(text), edits, ApplyOptions{Scope: Scope{}.WithTidy(true)})
	return s.Text()
}

func TestTidy(t *testing.T) {
	t.Parallel()
	const fence = "# T\n\n```sh\nrun a\n\n\nrun b\n```\n\nend\n"
	for _, tt := range []struct {
		name, text string
		edit       Edit
		want       string
	}{
		{"an item joins the last list", "# T\n\n- a\n- b\n", Edit{Op: Append, Content: "- c"}, "# T\n\n- a\n- b\n- c\n"},
		{"a loose list stays loose", "- a\n\n- b\n", Edit{Op: Append, Content: "- c"}, "- a\n\n- b\n\n- c\n"},
		{"items with blank lines between them join a tight list", "- a\n- b\n", Edit{Op: Append, Content: "- c\n\n- d"}, "- a\n- b\n- c\n- d\n"},
		{"with the bullet of the list", "* a\n* b\n", Edit{Op: Append, Content: "- c\n  - d"}, "* a\n* b\n* c\n  - d\n"},
		{"a numbered item joins a numbered list", "1. a\n2. b\n", Edit{Op: Append, Content: "3. c"}, "1. a\n2. b\n3. c\n"},
		{"a bullet joins no numbered list", "1. a\n", Edit{Op: Append, Content: "- c"}, "1. a\n\n- c\n"},
		{"a paragraph does not", "- a\n", Edit{Op: Append, Content: "Text"}, "- a\n\nText\n"},
		{"an item behind a nested one joins the outer list", "- a\n  - b\n", Edit{Op: Append, Content: "- c"}, "- a\n  - b\n- c\n"},
		{"unless it is indented", "- a\n  - b\n", Edit{Op: Append, Content: "  - c"}, "- a\n  - b\n  - c\n"},
		{"blank lines are not doubled", "a\n\n\n", Edit{Op: Append, Content: "## H\n\n\n\ntext\n\n\n- x"}, "a\n\n## H\n\ntext\n\n- x\n"},
		{"but in code", "a\n", Edit{Op: Append, Content: "```\nx\n\n\ny\n```"}, "a\n\n```\nx\n\n\ny\n```\n"},
		{
			"before a region", "- a\n\n" + SlowStart + "\ng\n" + SlowEnd + "\n",
			Edit{Op: Append, Content: "- b"},
			"- a\n- b\n\n" + SlowStart + "\ng\n" + SlowEnd + "\n",
		},
		{"a row joins its table", "| a |\n|---|\n| 1 |\n", Edit{Op: Append, Content: "| 2 |"}, "| a |\n|---|\n| 1 |\n| 2 |\n"},
		{"CRLF", "- a\r\n- b\r\n", Edit{Op: Append, Content: "- c\n- d"}, "- a\r\n- b\r\n- c\r\n- d\r\n"},
		{"front matter alone", "---\nname: t\n---\n", Edit{Op: Append, Content: "- c"}, "---\nname: t\n---\n\n- c\n"},
		{"code that is not closed", "```\na\n", Edit{Op: Append, Content: "- c"}, "```\na\n\n- c\n"},

		{"insert into a list", "- a\n- b\n", Edit{Op: InsertAfter, Target: "a", Content: "- x"}, "- a\n- x\n- b\n"},
		{"insert behind the last item", "- a\n- b\n\nText\n", Edit{Op: InsertAfter, Target: "- b", Content: "- x"}, "- a\n- b\n- x\n\nText\n"},
		{"insert behind a whole item", "- a\n  more\n- b\n", Edit{Op: InsertAfter, Target: "a\n", Content: "- x"}, "- a\n  more\n- x\n- b\n"},
		{"insert behind a nested item", "- a\n  - n\n  - o\n- b\n", Edit{Op: InsertAfter, Target: "- n", Content: "- x"}, "- a\n  - n\n  - x\n  - o\n- b\n"},
		{"insert as the first nested item", "- a\n- b\n", Edit{Op: InsertAfter, Target: "- a", Content: "  - x\n  - y"}, "- a\n  - x\n  - y\n- b\n"},
		{"insert an indented item behind an item of the same indent", "- a\n  - n\n- b\n", Edit{Op: InsertAfter, Target: "n", Content: "  - x"}, "- a\n  - n\n  - x\n- b\n"},
		{"insert behind a loose item", "- a\n\n- b\n", Edit{Op: InsertAfter, Target: "a", Content: "- x"}, "- a\n\n- x\n\n- b\n"},
		{"insert behind a heading", "## H\ntext\n", Edit{Op: InsertAfter, Target: "## H", Content: "new"}, "## H\n\nnew\n\ntext\n"},
		{"insert the first items", "## H\n\n- a\n", Edit{Op: InsertAfter, Target: "## H", Content: "- x"}, "## H\n\n- x\n- a\n"},
		{"insert the first items behind a sentence", "Rules:\n- a\n", Edit{Op: InsertAfter, Target: "Rules:", Content: "* x"}, "Rules:\n- x\n- a\n"},
		{"insert behind a whole paragraph", "one\ntwo\n\nthree\n", Edit{Op: InsertAfter, Target: "one", Content: "new"}, "one\ntwo\n\nnew\n\nthree\n"},
		{"insert between blocks that stand apart already", "one\n\n\nthree\n", Edit{Op: InsertAfter, Target: "one", Content: "new"}, "one\n\nnew\n\nthree\n"},
		{"insert a paragraph into a list", "- a\n- b\n", Edit{Op: InsertAfter, Target: "a", Content: "Text"}, "- a\n\nText\n\n- b\n"},
		{"insert a row", "| a |\n|---|\n| 1 |\n", Edit{Op: InsertAfter, Target: "| a |", Content: "| 0 |"}, "| a |\n|---|\n| 0 |\n| 1 |\n"},
		{"insert into code", fence, Edit{Op: InsertAfter, Target: "run a", Content: "run c"}, strings.Replace(fence, "run a\n", "run a\nrun c\n", 1)},
		{"insert what would end the code", fence, Edit{Op: InsertAfter, Target: "run a", Content: "```\nx\n```"}, strings.Replace(fence, "```\n\nend", "```\n\n```\nx\n```\n\nend", 1)},
		{"insert behind code", fence, Edit{Op: InsertAfter, Target: "run b\n```", Content: "- x"}, strings.Replace(fence, "```\n\nend", "```\n\n- x\n\nend", 1)},
		{"insert at the end", "- a", Edit{Op: InsertAfter, Target: "a", Content: "- x"}, "- a\n- x\n"},
		{"insert behind a target with blank lines", "a\n\nb\n", Edit{Op: InsertAfter, Target: "a\n\n", Content: "x"}, "a\n\nx\n\nb\n"},

		{"replace keeps the line end", "- a\n- b\n", Edit{Op: Replace, Target: "- a\n", Content: "- x"}, "- x\n- b\n"},
		{"replace keeps the indent", "- a\n  - b\n", Edit{Op: Replace, Target: "  - b\n", Content: "  - x\n  - y"}, "- a\n  - x\n  - y\n"},
		{"replace a word", "a b c\n", Edit{Op: Replace, Target: " b", Content: " x"}, "a x c\n"},
		{"replace an item by a paragraph", "Rules:\n- a\n", Edit{Op: Replace, Target: "- a", Content: "None."}, "Rules:\n\nNone.\n"},
		{"replace a line of a paragraph", "a\nb\nc\n", Edit{Op: Replace, Target: "b", Content: "x"}, "a\nx\nc\n"},
		{"replace in code", fence, Edit{Op: Replace, Target: "run a\n", Content: "run x"}, strings.Replace(fence, "run a", "run x", 1)},

		{"delete an item", "- a\n- b\n- c\n", Edit{Op: Delete, Target: "- b"}, "- a\n- c\n"},
		{"delete a paragraph", "a\n\nb\n\nc\n", Edit{Op: Delete, Target: "b"}, "a\n\nc\n"},
		{"delete at the end", "a\n\nb\n", Edit{Op: Delete, Target: "b"}, "a\n"},
		{"delete at the beginning", "a\n\nb\n", Edit{Op: Delete, Target: "a"}, "b\n"},
		{"delete what parts two paragraphs", "a\n## H\nb\n", Edit{Op: Delete, Target: "## H"}, "a\n\nb\n"},
		{"delete words", "a b c\n", Edit{Op: Delete, Target: " b"}, "a c\n"},
		{"delete in code", fence, Edit{Op: Delete, Target: "run a"}, strings.Replace(fence, "run a", "", 1)},
		{"delete a code block", fence, Edit{Op: Delete, Target: "```sh\nrun a\n\n\nrun b\n```"}, "# T\n\nend\n"},
		{"replace by nothing", "- a\n- b\n", Edit{Op: Replace, Target: "- a"}, "- b\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tidy(tt.text, tt.edit)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// What is no Markdown stays as an edit has it.
func TestTidyIsForMarkdown(t *testing.T) {
	t.Parallel()
	s := New("# T\n").WithFile("references/a.txt", "- a\n").WithFile("references/b.md", "- a\n")
	scope := scopeOf(t, s, 1, "SKILL.md", "references/*").WithTidy(true)
	edits := []Edit{
		{Op: Append, File: "references/a.txt", Content: "- b"},
		{Op: Append, File: "references/b.md", Content: "- b"},
		{Op: Append, File: "references/c.md", Content: "- b\n\n\n\nText"},
	}
	got, _ := Apply(s, edits, ApplyOptions{Scope: scope})
	var texts []string
	for _, name := range got.Others() {
		text, _ := got.File(name)
		texts = append(texts, text)
	}
	if diff := cmp.Diff([]string{"- a\n\n- b\n", "- a\n- b\n", "- b\n\nText\n"}, texts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// drawMarkdown draws a document of blocks, tidy or not.
func drawMarkdown(t *rapid.T) string {
	block := rapid.SampledFrom([]string{
		"# Title", "## Part", "Text that says\nmore than a line.", "Rules:", "- one\n- two", "- one\n\n- two", "* star\n  goes on\n* more",
		"1. first\n2. second", "- outer\n  - inner\n  - other\n- last", "- item\n\n  its own paragraph", "```sh\nrun\n\n\n- not a rule\n```", "~~~\n```\n~~~",
		"- item\n  ```\n  code\n  ```", "| a | b |\n|---|---|\n| 1 | 2 |", "> quote\n> on", "---", "<!-- note -->", "<div>\nhtml\n</div>", "    indented\n    code", "Head\n====",
	})
	gap := rapid.SampledFrom([]string{"\n\n", "\n\n", "\n\n", "\n", "\n\n\n"})
	var b strings.Builder
	if rapid.Bool().Draw(t, "front") {
		b.WriteString("---\nname: x\n---\n\n")
	}
	for range rapid.IntRange(0, 7).Draw(t, "blocks") {
		b.WriteString(block.Draw(t, "block"))
		b.WriteString(gap.Draw(t, "gap"))
	}
	text := b.String()
	if rapid.Bool().Draw(t, "slow") {
		text += SlowStart + "\nguidance\n" + SlowEnd + "\n"
	}
	if rapid.IntRange(0, 3).Draw(t, "crlf") == 0 {
		text = WithLineEnd(text, crlf)
	}
	return text
}

// drawTidyEdit draws an edit whose target is often whole lines of text.
func drawTidyEdit(t *rapid.T, text string) Edit {
	lines := strings.SplitAfter(text, lf)
	i := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
	target := strings.Join(lines[i:min(len(lines), i+rapid.IntRange(1, 3).Draw(t, "lines"))], "")
	if rapid.Bool().Draw(t, "trimmed") {
		target = trim(target)
	}
	if len(target) > 2 && rapid.IntRange(0, 4).Draw(t, "part") == 0 {
		target = target[1 : len(target)-1]
	}
	return Edit{
		Op:     rapid.SampledFrom([]Op{Append, InsertAfter, InsertAfter, Replace, Delete}).Draw(t, "op"),
		Target: target,
		Content: rapid.SampledFrom([]string{
			"- new", "- new\n- newer", "- new\n\n- newer", "* new\n  with more", "3. new", "  - new\n  - newer", "New text.", "## New\n\n\nText\n\n- item", "```\nnew\n\n\ncode\n```", "| 3 | 4 |", "  indented", "> new",
		}).Draw(t, "content"),
	}
}

// code returns the lines of a text that are code.
func code(text string) []string {
	var out []string
	m := readLines(text, frontMatterEnd(text))
	for i, l := range m.lines {
		if m.lines[i].kind == codeLine {
			out = append(out, text[l.from:l.next])
		}
	}
	return out
}

// doubled counts the blank lines that follow blank lines outside of code.
func doubled(text string) int {
	n := 0
	m := readLines(text, frontMatterEnd(text))
	for i := 1; i < len(m.lines); i++ {
		if m.lines[i].kind == blankLine && m.lines[i-1].kind == blankLine {
			n++
		}
	}
	return n
}

// The laws of edits that are fitted in.
func TestTidyLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawMarkdown(t)
		e := drawTidyEdit(t, text)
		s, reports, changes := Trace(New(text), []Edit{e}, ApplyOptions{Scope: Scope{}.WithTidy(true)})
		got, c := s.Text(), changes[0]
		if c == nil {
			if got != text {
				t.Fatalf("%s changed %q into %q", reports[0].Status, text, got)
			}
			return
		}
		if got != c.in(text) || !RegionsEqual(text, got) {
			t.Fatalf("the change %+v does not give %q", c, got)
		}
		checkOutside(t, text, *c, e)
		// What opens a code block may have been cut, or stand behind other words now.
		within := (e.Op == Replace || e.Op == Delete) && (strings.ContainsAny(e.Target+e.Content, "`~") || trim(e.Target) == "")
		if before, after := doubled(text), doubled(got); after > before && !within {
			t.Fatalf("%+v of %q doubles blank lines: %q", e, text, got)
		}
		checkCode(t, text, got, e)
		checkKinds(t, text, *c, e)
	})
}

// checkOutside says that nothing but blank lines changes outside of the target.
func checkOutside(t *rapid.T, text string, c Change, e Edit) {
	gone := text[c.From:c.To]
	if reads := e.Op == Replace || e.Op == Delete; reads && trim(gone) != trim(WithLineEnd(e.Target, LineEnd(text))) && !strings.Contains(e.Target, trim(gone)) || !reads && trim(gone) != "" {
		t.Fatalf("%+v took %q out of %q", e, gone, text)
	}
	if end := LineEnd(text); end == crlf && strings.Contains(strings.ReplaceAll(c.in(text), crlf, ""), lf) && !strings.Contains(strings.ReplaceAll(text, crlf, ""), lf) && !strings.HasPrefix(e.Target, lf) && !strings.HasSuffix(e.Target, "\r") {
		t.Fatalf("a bare line feed in %q", c.in(text))
	}
}

// checkCode says that code which no target lies in stays as it is.
func checkCode(t *rapid.T, text, got string, e Edit) {
	if e.Op == Replace || e.Op == Delete || strings.Contains(text, trim(e.Target)) && len(code(e.Target)) > 0 {
		return
	}
	now := code(got)
	for _, line := range code(text) {
		i := slices.Index(now, line)
		if i < 0 {
			t.Fatalf("%+v changed the code line %q of %q: %q", e, line, text, got)
		}
		now = now[i+1:]
	}
}

// checkKinds says that every line outside of an insertion is afterwards what it was: an item
// an item, in the same list, and code code.
func checkKinds(t *rapid.T, text string, c Change, e Edit) {
	if e.Op == Replace || e.Op == Delete {
		return
	}
	before, after := readLines(text, frontMatterEnd(text)), readLines(c.in(text), frontMatterEnd(c.in(text)))
	moved := len(c.Text) - (c.To - c.From)
	behind := false // indented code, without a blank line between
	for i, l := range before.lines {
		behind = l.kind == indentedLine || behind && l.kind != blankLine
		if l.kind == blankLine || behind || l.from < c.To && l.to > c.From {
			continue // indented code behind a list is part of its last item, whatever stands between, and so is text that goes on it
		}
		at := l.from
		if l.from >= c.To {
			at += moved
		}
		j := after.at(at)
		if was, is := l, after.lines[j]; was.kind != is.kind || was.marker != is.marker || (was.owner < 0) != (is.owner < 0) || was.owner >= 0 && before.lines[was.owner].body != after.lines[is.owner].body {
			t.Fatalf("%+v makes line %d of %q another (%+v, %+v): %q", e, i, text, was, is, c.in(text))
		}
	}
}

// What is put in and taken out again leaves a tidy document as it was.
func TestTidyInsertAndDelete(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		blocks := rapid.SliceOfN(rapid.SampledFrom([]string{"# Title", "Text that says\nmore.", "- one\n- two", "1. first\n2. second", "```\ncode\n\n\nmore\n```", "- outer\n  - inner\n- last"}), 1, 6).Draw(t, "blocks")
		text := strings.Join(blocks, "\n\n") + lf
		e := Edit{Op: rapid.SampledFrom([]Op{Append, InsertAfter}).Draw(t, "op"), Content: rapid.SampledFrom([]string{"- QQ", "QQ", "## QQ", "- QQ\n- QR"}).Draw(t, "content")}
		lines := strings.Split(strings.TrimSuffix(text, lf), lf)
		e.Target = rapid.SampledFrom(lines).Draw(t, "target")
		with := tidy(text, e)
		if e.Op == InsertAfter && strings.Contains("\n```\ncode\nmore\n```\n", "\n"+e.Target+"\n") || !strings.Contains(with, e.Content) {
			return // within code nothing is fitted in
		}
		got, want := tidy(with, Edit{Op: Delete, Target: e.Content}), text
		if !strings.HasPrefix(e.Content, "-") || strings.HasSuffix(e.Target, "st") { // it may have parted a list
			got, want = strings.ReplaceAll(got, "\n\n", lf), strings.ReplaceAll(want, "\n\n", lf)
		}
		if got != want {
			t.Fatalf("%+v put into\n%q\ngave\n%q\nand taken out\n%q", e, text, with, got)
		}
		if !slices.Equal(code(text), code(with)) {
			t.Fatalf("code of %q changed: %q", text, with)
		}
	})
}

// The content of an edit is fitted in the same way twice.
func TestFitIsIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := trim(drawMarkdown(t))
		if text == "" {
			return
		}
		once := page{end: lf}.fit(mdText{}, text, 0).plain()
		if twice := (page{end: lf}).fit(mdText{}, once, 0).plain(); once != twice {
			t.Fatalf("%q, then %q", once, twice)
		}
	})
}

func FuzzTidy(f *testing.F) {
	f.Add("# T\n\n- a\n  - b\n\n```\nx\n```\n", "append", "", "- c")
	f.Add("- a\n- b", "insert_after", "a", "  - c\n\tmore")
	f.Add("a\r\n\r\n1. b\r\n", "delete", "b", "")
	f.Fuzz(func(t *testing.T, text, op, target, content string) {
		opts := ApplyOptions{Scope: Scope{}.WithTidy(true)}
		e := Edit{Op: Op(op), Target: target, Content: content}
		checkApplyLaws(t, text, []Edit{e, {Op: Append, Content: content}, {Op: Delete, Target: content}}, opts)
	})
}

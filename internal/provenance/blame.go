// Package provenance says where the lines of a trained skill come from: which
// step, slow update or note wrote each, by which edit, and which trajectories
// asked for it.
//
// It is pure: it gets the versions of a document and what analysts proposed, and
// returns values. It knows nothing about files, models, or how a run is stored.
package provenance

import (
	"strings"
	"unicode"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/seed-f4525e22/skillopt/skill"
)

// Kind says what wrote a line.
type Kind string

// What writes lines.
const (
	Seed       Kind = "seed"    // it was in the skill before training
	Edit       Kind = "edit"    // an edit of a step
	Rewrite    Kind = "rewrite" // a step that wrote the document again
	Examples   Kind = "worked_examples"
	Note       Kind = "note"        // a note on a lapse, in the appendix
	SlowUpdate Kind = "slow_update" // guidance from the end of an epoch
	Outside    Kind = "outside"     // no version of the run has it: somebody changed the file
)

// Origin is what wrote a line. It is comparable.
type Origin struct {
	Kind  Kind `json:"kind"`
	Step  int  `json:"step"`            // for a slow update the last step of its epoch; 0 for the seed
	Epoch int  `json:"epoch,omitempty"` // of a slow update
	Edit  int  `json:"edit,omitempty"`  // 1-based, as in the report of the step
}

// Applied is an edit that became part of a document, with its number in the
// report of its step.
type Applied struct {
	Number int
	Edit   skill.Edit
}

// Change leads from one incumbent to the next.
type Change struct {
	Origin Origin      // of what Edits do not explain: Rewrite, Note or SlowUpdate
	Edits  []Applied   // in the order in which they were applied; may be empty
	Skill  skill.Skill // afterwards
}

// Line is a line of a file.
type Line struct {
	Number int    `json:"line"` // from 1
	Text   string `json:"text"` // without its line ending
	Origin Origin `json:"origin"`
}

// File is a file of a skill with its lines.
type File struct {
	Path  string `json:"file"`
	Lines []Line `json:"lines"`
}

// Blame says for every line of every file of doc what wrote it: the last change after
// which its text was no longer what it had been. seed is the skill before the changes.
// edits says whether edits were fitted in, and to which region they were held; its files do
// not count.
// Each file of doc is that of one of the versions (of equal ones the latest counts); what
// no version has is Outside. A line that was moved into another file is blamed on the move.
//
// Where edits are given, a line is followed through the very bytes that they
// changed, so that equal lines are distinguished. What edits do not explain, such as
// a document that was rewritten as a whole, is compared line by line. SKILL.md is first, the others
// sorted by path.
func Blame(seed skill.Skill, changes []Change, doc skill.Skill, edits skill.Scope) []File {
	h := newHistory(seed, changes, edits)
	found := map[string][]line{}
	h.find(doc, found)
	for _, c := range changes {
		h.follow(c)
		h.find(doc, found)
	}
	var out []File
	for _, name := range doc.Files() {
		text, _ := doc.File(name)
		if _, ok := found[name]; !ok {
			t := h.file(name)
			t.become(text, Origin{Kind: Outside})
			found[name] = t.lines
		}
		f := File{Path: name, Lines: make([]Line, len(found[name]))}
		for i, l := range found[name] {
			f.Lines[i] = Line{Number: i + 1, Text: l.content(), Origin: l.origin}
		}
		out = append(out, f)
	}
	return out
}

// tracked is a document whose lines know their origin.
type tracked struct {
	text  string
	lines []line
}

type line struct {
	text   string // with its line ending
	origin Origin
}

func (l line) content() string {
	return strings.TrimSuffix(strings.TrimSuffix(l.text, "\n"), "\r")
}

func (l line) blank() bool { return strings.TrimSpace(l.text) == "" }

func newTracked(text string) *tracked {
	t := &tracked{}
	t.become(text, Origin{Kind: Seed})
	return t
}

// become makes text the document; what differs is from origin.
func (t *tracked) become(text string, origin Origin) {
	if text != t.text {
		t.splice(skill.Change{From: 0, To: len(t.text), Text: text}, origin)
	}
}

// splice carries a change out. Lines outside of it stay what they are; within it
// the lines whose content is the same as before keep their origin.
func (t *tracked) splice(c skill.Change, origin Origin) {
	text := t.text[:c.From] + c.Text + t.text[c.To:]
	head, tail := t.untouchedLines(c, text)
	middle := t.lines[len(head) : len(t.lines)-len(tail)]
	end := len(text)
	for _, l := range tail {
		end -= len(l.text)
	}
	begin := 0
	for _, l := range head {
		begin += len(l.text)
	}
	written := match(middle, splitLines(text[begin:end]), origin)
	t.text = text
	t.lines = append(append(append([]line(nil), head...), written...), tail...)
}

// untouchedLines returns the lines that end before the change and those that begin
// after it. A line that runs into the change is neither.
func (t *tracked) untouchedLines(c skill.Change, after string) (head, tail []line) {
	at := 0
	n := 0
	for n < len(t.lines) && at+len(t.lines[n].text) <= c.From && strings.HasSuffix(t.lines[n].text, "\n") {
		at += len(t.lines[n].text)
		n++
	}
	m, start := len(t.lines), len(t.text)
	for m > n && start-len(t.lines[m-1].text) >= c.To {
		start -= len(t.lines[m-1].text)
		m--
	}
	// The first line after the change may have become the end of another one.
	begins := c.From + len(c.Text) + start - c.To
	if m < len(t.lines) && begins > 0 && after[begins-1] != '\n' {
		m++
	}
	return t.lines[:n], t.lines[m:]
}

// match gives new lines the origin of the old ones that they equal, in order, and
// origin to the others. Blank lines follow the line before them: they
// are too much alike to be looked for.
func match(old []line, texts []string, origin Origin) []line {
	out := make([]line, len(texts))
	for i, text := range texts {
		out[i] = line{text, origin}
	}
	take := func(i, j int) {
		if i >= 0 {
			out[j].origin = old[i].origin
		}
		for i, j = i+1, j+1; i < len(old) && j < len(out) && old[i].blank() && out[j].blank(); i, j = i+1, j+1 {
			out[j].origin = old[i].origin
		}
	}
	take(-1, -1)
	a, b := nonBlankLines(old), nonBlankLines(out)
	for _, p := range pairs(contents(old, a), contents(out, b)) {
		take(a[p[0]], b[p[1]])
	}
	return out
}

// nonBlankLines returns the indices of the lines that are not blank.
func nonBlankLines(lines []line) []int {
	var at []int
	for i, l := range lines {
		if !l.blank() {
			at = append(at, i)
		}
	}
	return at
}

// contents returns what lines say. White space at the end is no one's work: to
// append drops it.
func contents(lines []line, at []int) []string {
	out := make([]string, len(at))
	for i, j := range at {
		out[i] = strings.TrimRightFunc(lines[j].text, unicode.IsSpace)
	}
	return out
}

// pairs returns the indices of equal texts of a and b, in order: what both begin
// with, what both end with, and the long equal parts between.
func pairs(a, b []string) (out [][2]int) {
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		out = append(out, [2]int{from, from})
		from++
	}
	to := 0
	for to < len(a)-from && to < len(b)-from && a[len(a)-1-to] == b[len(b)-1-to] {
		to++
		out = append(out, [2]int{len(a) - to, len(b) - to})
	}
	m := difflib.NewMatcherWithJunk(a[from:len(a)-to], b[from:len(b)-to], false, nil)
	for _, block := range m.GetMatchingBlocks() {
		for k := range block.Size {
			out = append(out, [2]int{from + block.A + k, from + block.B + k})
		}
	}
	return out
}

// splitLines returns the lines of text with their endings.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

package skill

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/rogpeppe/go-internal/diff"
)

// contextLines is how many unchanged lines a diff shows around a change.
const contextLines = 3

// Diff returns the unified diff from a to b, "" if they are equal. from and to
// name the two skills in the headers: "skill_v0001" gives skill_v0001/SKILL.md.
// A file that only one side has is compared with an empty one.
func Diff(a, b Skill, from, to string) string {
	paths := slices.Concat(a.Files(), b.Files())
	slices.Sort(paths)
	var out strings.Builder
	for _, path := range slices.Compact(paths) {
		before, _ := a.File(path)
		after, _ := b.File(path)
		if before == after {
			continue
		}
		fmt.Fprintf(&out, "--- %s/%s\n+++ %s/%s\n", from, path, to, path)
		writeHunks(&out, diffLines(before), diffLines(after))
	}
	return out.String()
}

func writeHunks(out *strings.Builder, a, b []string) {
	for _, h := range hunks(a, b) {
		fmt.Fprintf(out, "@@ -%s +%s @@\n", hunkRange(h.From, h.From+h.Deleted), hunkRange(h.To, h.To+h.Inserted))
		for _, l := range h.Lines {
			out.WriteByte(byte(l.Side))
			out.WriteString(l.Text)
		}
	}
}

// Side says in which of two texts a line is.
type Side byte

// The three.
const (
	InBoth   Side = ' '
	InFirst  Side = '-'
	InSecond Side = '+'
)

// Hunk is a stretch of lines of two texts around changes.
type Hunk struct {
	From, To          int // lines before it in either text
	Deleted, Inserted int // lines of either text in it, equal ones among them
	Lines             []Line
}

// Line is a line with its line break. One without has the remark behind it that diff and
// patch know.
type Line struct {
	Side Side
	Text string
}

// Hunks returns how one text becomes another, line by line; none if they are equal. The time
// that it takes is bounded for texts as large as a skill may be: of long ones that have changed
// all over it looks for lines that each has once.
func Hunks(before, after string) []Hunk { return hunks(diffLines(before), diffLines(after)) }

// fine is up to how many pairs of lines are all weighed.
const fine = 1 << 21

func hunks(a, b []string) (out []Hunk) {
	same := 0 // at the beginning
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	rest := 0 // at the end
	for rest < len(a)-same && rest < len(b)-same && a[len(a)-1-rest] == b[len(b)-1-rest] {
		rest++
	}
	if (len(a)-same-rest)*(len(b)-same-rest) > fine {
		return diffLongTexts(a, b)
	}
	for _, group := range difflib.NewMatcher(a, b).GetGroupedOpCodes(contextLines) {
		first, last := group[0], group[len(group)-1]
		h := Hunk{From: first.I1, To: first.J1, Deleted: last.I2 - first.I1, Inserted: last.J2 - first.J1}
		for _, op := range group {
			if op.Tag == 'e' {
				h.add(InBoth, a[op.I1:op.I2])
				continue
			}
			h.add(InFirst, a[op.I1:op.I2])
			h.add(InSecond, b[op.J1:op.J2])
		}
		out = append(out, h)
	}
	return out
}

func (h *Hunk) add(side Side, lines []string) {
	for _, l := range lines {
		h.Lines = append(h.Lines, Line{side, l})
	}
}

// diffLongTexts returns the hunks of long texts.
func diffLongTexts(a, b []string) (out []Hunk) {
	text := string(diff.Diff("a", []byte(strings.Join(plainEnds(a), "")), "b", []byte(strings.Join(plainEnds(b), ""))))
	for line := range strings.Lines(text) {
		var h Hunk
		switch {
		case strings.HasPrefix(line, "@@ "):
			if _, err := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &h.From, &h.Deleted, &h.To, &h.Inserted); err != nil {
				return whole(a, b)
			}
			if h.Deleted > 0 { // an empty range is named by the line before it
				h.From--
			}
			if h.Inserted > 0 {
				h.To--
			}
			out = append(out, h)
		case len(out) == 0: // the names of the texts
		case line[0] == '\\':
			last := &out[len(out)-1].Lines
			(*last)[len(*last)-1].Text += line
		default:
			last := &out[len(out)-1]
			last.Lines = append(last.Lines, Line{Side(line[0]), line[1:]})
		}
	}
	return out
}

// whole returns the hunk of two texts of which nothing is taken for equal.
func whole(a, b []string) []Hunk {
	h := Hunk{Deleted: len(a), Inserted: len(b)}
	h.add(InFirst, a)
	h.add(InSecond, b)
	return []Hunk{h}
}

// plainEnds returns lines without the remark after the last one.
func plainEnds(lines []string) []string {
	if n := len(lines); n > 0 && strings.HasSuffix(lines[n-1], NoEnd) {
		lines = append(slices.Clone(lines[:n-1]), strings.TrimSuffix(lines[n-1], NoEnd))
	}
	return lines
}

// hunkRange writes the half-open range of 0-based lines as diff does: 1-based
// with a count, and an empty range named by the line before it.
func hunkRange(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

// NoEnd is the remark behind a last line without a line break, which diff and patch know.
const NoEnd = "\n\\ No newline at end of file\n"

// diffLines splits text into lines with their ends. A last line without an end
// carries the remark that diff and patch know, which also sets it apart from
// the same line with an end.
func diffLines(text string) []string {
	lines := strings.SplitAfter(text, lf)
	last := len(lines) - 1
	if lines[last] == "" {
		return lines[:last]
	}
	lines[last] += NoEnd
	return lines
}

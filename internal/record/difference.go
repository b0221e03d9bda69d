package record

import (
	"slices"
	"strings"
	"unicode"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Diff returns how skill b differs from a, file by file; from and to name them. Its time is bounded
// whatever the skills are.
func Diff(a, b skill.Skill, from, to string) result.Difference {
	d := result.Difference{From: from, To: to, Equal: a.Equal(b), Diff: skill.Diff(a, b, from, to), Files: []result.FileDiff{}}
	paths := slices.Concat(a.Files(), b.Files())
	slices.Sort(paths)
	words := wordBudget
	for _, path := range slices.Compact(paths) {
		before, was := a.File(path)
		after, is := b.File(path)
		if before == after && was == is {
			continue
		}
		f := result.FileDiff{Path: path, State: "changed", Hunks: []result.DiffHunk{}}
		switch {
		case !was:
			f.State = "added"
		case !is:
			f.State = "removed"
		}
		for _, h := range skill.Hunks(before, after) {
			f.Hunks = append(f.Hunks, newHunk(h, &words))
		}
		d.Files = append(d.Files, f)
	}
	return d
}

// DiffText returns the Diff of a document that is no skill, and that has the name that is given. Its unified form names it as well.
func DiffText(a, b, name, from, to string) result.Difference {
	d := Diff(skill.New(a), skill.New(b), from, to)
	for i := range d.Files {
		d.Files[i].Path = name
	}
	d.Diff = strings.Replace(d.Diff, "--- "+from+"/"+skill.Main, "--- "+name+" ("+from+")", 1)
	d.Diff = strings.Replace(d.Diff, "+++ "+to+"/"+skill.Main, "+++ "+name+" ("+to+")", 1)
	return d
}

// Bounds of comparing lines by words.
const (
	wordBudget = 2_000_000 // pairs of words, of a whole difference
	lineWords  = 400       // of a line
	resembles  = 0.3       // share of equal words from which a line is taken for another, changed
)

// newHunk returns a hunk with the numbers of its lines, and with words where one line replaces
// another.
func newHunk(h skill.Hunk, budget *int) result.DiffHunk {
	out := result.DiffHunk{From: h.From + 1, To: h.To + 1, Lines: make([]result.DiffLine, 0, len(h.Lines))}
	from, to := h.From, h.To
	for _, l := range h.Lines {
		line := result.DiffLine{Text: strings.TrimSuffix(l.Text, "\n")}
		if text, ok := strings.CutSuffix(l.Text, skill.NoEnd); ok {
			line.Text, line.NoEnd = text, true
		}
		switch l.Side {
		case skill.InBoth:
			from, to = from+1, to+1
			line.Op, line.From, line.To = "equal", from, to
		case skill.InFirst:
			from++
			line.Op, line.From = "delete", from
		case skill.InSecond:
			to++
			line.Op, line.To = "insert", to
		}
		out.Lines = append(out.Lines, line)
	}
	for i := 0; i < len(out.Lines); {
		deleted := stretch(out.Lines[i:], "delete")
		inserted := stretch(out.Lines[i+deleted:], "insert")
		for k := range min(deleted, inserted) {
			compareWords(&out.Lines[i+k], &out.Lines[i+deleted+k], budget)
		}
		i += max(1, deleted+inserted)
	}
	return out
}

// stretch returns how many lines at the beginning are of a kind.
func stretch(lines []result.DiffLine, op string) int {
	n := slices.IndexFunc(lines, func(l result.DiffLine) bool { return l.Op != op })
	if n < 0 {
		return len(lines)
	}
	return n
}

// compareWords marks the words in which two lines differ, if they are similar.
func compareWords(before, after *result.DiffLine, budget *int) {
	a, b := splitWords(before.Text), splitWords(after.Text)
	cost := len(a) * len(b)
	if len(a) > lineWords || len(b) > lineWords || cost > *budget {
		return
	}
	*budget -= cost
	m := difflib.NewMatcherWithJunk(a, b, false, nil)
	ops := m.GetOpCodes()
	same := 0
	for _, op := range ops {
		if op.Tag == 'e' {
			same += len(strings.TrimSpace(strings.Join(a[op.I1:op.I2], "")))
		}
	}
	if float64(same) < resembles*float64(min(len(before.Text), len(after.Text))) {
		return
	}
	for _, op := range ops {
		before.Words = addWords(before.Words, a[op.I1:op.I2], op.Tag != 'e')
		after.Words = addWords(after.Words, b[op.J1:op.J2], op.Tag != 'e')
	}
}

// addWords adds a piece of a line, if there is one.
func addWords(to []result.DiffWord, words []string, changed bool) []result.DiffWord {
	if len(words) == 0 {
		return to
	}
	return append(to, result.DiffWord{Text: strings.Join(words, ""), Changed: changed})
}

// splitWords splits a line into words, and each other character by itself.
func splitWords(line string) (out []string) {
	from := -1 // of a word
	for i, r := range line {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
			if from < 0 {
				from = i
			}
			continue
		}
		if from >= 0 {
			out = append(out, line[from:i])
		}
		from = -1
		out = append(out, string(r))
		if len(out) > lineWords {
			return out
		}
	}
	if from >= 0 {
		out = append(out, line[from:])
	}
	return out
}

package skill

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
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
	for _, group := range difflib.NewMatcher(a, b).GetGroupedOpCodes(contextLines) {
		first, last := group[0], group[len(group)-1]
		fmt.Fprintf(out, "@@ -%s +%s @@\n", hunkRange(first.I1, last.I2), hunkRange(first.J1, last.J2))
		for _, op := range group {
			if op.Tag == 'e' {
				writeLines(out, " ", a[op.I1:op.I2])
				continue
			}
			writeLines(out, "-", a[op.I1:op.I2])
			writeLines(out, "+", b[op.J1:op.J2])
		}
	}
}

func writeLines(out *strings.Builder, prefix string, lines []string) {
	for _, line := range lines {
		out.WriteString(prefix + line)
	}
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

// diffLines splits text into lines with their ends. A last line without an end
// carries the remark that diff and patch know, which also sets it apart from
// the same line with an end.
func diffLines(text string) []string {
	lines := strings.SplitAfter(text, lf)
	last := len(lines) - 1
	if lines[last] == "" {
		return lines[:last]
	}
	lines[last] += "\n\\ No newline at end of file\n"
	return lines
}

package survey

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/plant"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

// hunk is a line of a diff: where lines went and came.
var hunk = pattern.New(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// findChangedFunctions returns the functions that a diff changes, as "path function", from the files before and after it.
func findChangedFunctions(diff string, before, after []tree.Change) []string {
	var out []string
	var path string
	for line := range strings.Lines(diff) {
		if name, ok := strings.CutPrefix(line, "diff --git a/"); ok {
			path, _, _ = strings.Cut(strings.TrimSpace(name), " b/")
		}
		m := hunk.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		out = append(out, inFunctions(path, before, m[1], m[2])...)
		out = append(out, inFunctions(path, after, m[3], m[4])...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// inFunctions returns the functions of a file that lines from first on lie in.
func inFunctions(path string, files []tree.Change, first, count string) []string {
	at := slices.IndexFunc(files, func(c tree.Change) bool { return c.Path == path })
	from, err := strconv.Atoi(first)
	if at < 0 || err != nil {
		return nil
	}
	n := 1
	if count != "" {
		n, _ = strconv.Atoi(count)
	}
	var lines []int
	for i := range min(n, 10_000) {
		lines = append(lines, from+i)
	}
	var out []string
	for _, name := range plant.Touched(plant.Functions(path, files[at].Data), lines) {
		out = append(out, path+" "+name)
	}
	return out
}

// families puts tasks that share a key into one family each, and names it: near copies have the same name.
func families(list []*made) {
	of := map[string]int{} // key -> task that has it first
	root := make([]int, len(list))
	find := func(i int) int {
		for root[i] != i {
			i = root[i]
		}
		return i
	}
	for i, m := range list {
		root[i] = i
		for _, key := range m.keys {
			first, seen := of[key]
			if !seen {
				of[key] = i
				continue
			}
			a, b := find(first), find(i)
			root[max(a, b)] = min(a, b)
		}
	}
	for i, m := range list {
		m.Kin = list[find(i)].id
	}
}

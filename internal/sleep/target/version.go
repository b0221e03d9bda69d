package target

import (
	"cmp"
	"strconv"
	"strings"
)

// compareVersions orders versions by their numbers; a release comes after what was before it, and a name that is no
// version before all. What follows a plus sign counts only between versions that are equal otherwise.
func compareVersions(a, b string) int {
	x, y := parseVersion(a), parseVersion(b)
	for i := range max(len(x.numbers), len(y.numbers)) {
		if c := cmp.Compare(number(x, i), number(y, i)); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(x.numbers), len(y.numbers)), cmp.Compare(x.after(), y.after()), compareBefore(x.pre, y.pre), cmp.Compare(a, b))
}

// compareBefore orders what follows the numbers of two versions before a release, such as beta.2 and beta.10: part
// by part, numbers as numbers and before words.
func compareBefore(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		n, errN := strconv.Atoi(x[i])
		m, errM := strconv.Atoi(y[i])
		var c int
		switch {
		case errN == nil && errM == nil:
			c = cmp.Compare(n, m)
		case errN == nil:
			c = -1
		case errM == nil:
			c = 1
		default:
			c = cmp.Compare(x[i], y[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

type version struct {
	numbers []int
	pre     string
}

func (v version) after() int {
	if len(v.numbers) > 0 && v.pre == "" {
		return 1
	}
	return 0
}

func number(v version, i int) int {
	if i < len(v.numbers) {
		return v.numbers[i]
	}
	if len(v.numbers) == 0 {
		return -1
	}
	return 0
}

func parseVersion(name string) version {
	name, _, _ = strings.Cut(name, "+")
	core, pre, _ := strings.Cut(strings.TrimPrefix(name, "v"), "-")
	var v version
	for part := range strings.SplitSeq(core, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return version{}
		}
		v.numbers = append(v.numbers, n)
	}
	v.pre = pre
	return v
}

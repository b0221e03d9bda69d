package mine

import (
	"cmp"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/similar"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
)

// Known is a task whose cluster is known.
type Known struct {
	Cluster string
	Task    wish.Task
}

// Clusters returns the name of the cluster of each task. One that is one wish with a known task is
// of its cluster; of several, of that of which most tasks are the same wish, and of equal ones of
// the first by name. The others are of clusters of their own: tasks that are one wish, and
// those that are one with any of these. Such a cluster is named by the first of its tasks by
// id. Apart from what is known, the order of tasks does not matter.
func Clusters(tasks []wish.Task, known ...Known) []string {
	// What belongs together by tasks between them is found first, so that a paraphrase that is
	// like no known task, and like one that is, goes with it.
	group := make([]int, len(tasks))
	for i := range group {
		group[i] = i
	}
	profiles := make([]profile, len(tasks))
	for i := range tasks {
		profiles[i] = newProfile(&tasks[i])
	}
	for i := range tasks {
		for j := range i {
			if root(group, i) != root(group, j) && profiles[i].same(&profiles[j]) {
				group[root(group, i)] = root(group, j)
			}
		}
	}
	votes := map[int]map[string]int{}
	for k := range known {
		c := newProfile(&known[k].Task)
		for i := range tasks {
			if profiles[i].same(&c) {
				r := root(group, i)
				if votes[r] == nil {
					votes[r] = map[string]int{}
				}
				votes[r][known[k].Cluster]++
			}
		}
	}
	out := make([]string, len(tasks))
	for i := range tasks {
		out[i] = pickWinner(votes[root(group, i)])
	}
	first := map[int]string{}
	for i := range tasks {
		if r := root(group, i); first[r] == "" || tasks[i].Task.ID < first[r] {
			first[r] = tasks[i].Task.ID
		}
	}
	for i := range tasks {
		if out[i] == "" {
			out[i] = "wish-" + digest(first[root(group, i)])
		}
	}
	return out
}

func pickWinner(votes map[string]int) string {
	best := ""
	for name, n := range votes {
		if best == "" || cmp.Or(n-votes[best], cmp.Compare(best, name)) > 0 {
			best = name
		}
	}
	return best
}

func root(group []int, i int) int {
	for group[i] != i {
		i = group[i]
	}
	return i
}

// relation is the result of a comparison.
type relation int

const (
	apart relation = iota - 1
	unknown
	matching
)

// profile is a task as it is compared.
type profile struct {
	input, outcome signature
	commit         string
	prompt         []string
}

func newProfile(t *wish.Task) profile {
	return profile{parseSignature(t.Input), parseSignature(t.Outcome), t.Place.Commit, sortedSet(stems(t.Task.Prompt))}
}

func sortedSet(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// Shares of words that requests have in common, from which their words decide.
const (
	wordsAlone  = 0.5 // where neither input nor outcome says anything
	wordsBeside = 0.2 // where what is expected is the same, and says little
)

// same reports whether two tasks are one wish.
func (a *profile) same(b *profile) bool {
	in, out := compareInput(a.input, b.input), compareOutcome(a.outcome, b.outcome)
	if out == matching && a.commit != "" && a.commit == b.commit && a.input.overlap(b.input, facetLines) != apart {
		return a.input.overlap(b.input, facetFiles) != apart
	}
	switch {
	case in == apart || out == apart:
		return false
	case in == matching && (out == matching || sameInput(a.input, b.input)):
		return true
	case out == matching && a.outcome.tells() && b.outcome.tells():
		return true
	case out == matching:
		return share(a.prompt, b.prompt) >= wordsBeside
	}
	// Figures say more than words in common, if each has some that the other lacks.
	return share(a.prompt, b.prompt) >= wordsAlone && !neitherContains(a.input[facetFigures], b.input[facetFigures])
}

// sameInput reports whether two inputs that match are the same, and not one a part of the other:
// a figure such as a rate occurs in many.
func sameInput(a, b signature) bool {
	return a.overlap(b, facetLines) == matching || a.overlap(b, facetFiles) == matching || slices.Equal(a[facetFigures], b[facetFigures])
}

func neitherContains(a, b []string) bool {
	both := inBoth(a, b)
	return both < len(a) && both < len(b)
}

// compareInput compares what was to be worked on. Material says the most, then files, then
// figures, then names.
func compareInput(a, b signature) relation {
	l, f, s, n := a.overlap(b, facetLines), a.overlap(b, facetFiles), a.overlap(b, facetFigures), a.overlap(b, facetNames)
	switch {
	case l == apart, f == apart && l != matching, s == apart && l != matching && f != matching:
		return apart
	case l == matching || f == matching || s == matching:
		return matching
	case n == apart:
		return apart
	}
	return unknown
}

// compareOutcome compares what is expected.
func compareOutcome(a, b signature) relation {
	if a[facetCommand] != nil || b[facetCommand] != nil || a[facetFiles] != nil || b[facetFiles] != nil {
		return compareWork(a, b)
	}
	if a[facetSaid] != nil || b[facetSaid] != nil {
		if share(a[facetSaid], b[facetSaid]) >= 0.35 {
			return matching
		}
		return unknown
	}
	if a[facetValues] != nil && b[facetValues] != nil {
		switch a.overlap(b, facetValues) {
		case apart:
			return apart
		case matching:
			if slices.Equal(a[facetValues], b[facetValues]) {
				return matching
			}
		}
		return unknown
	}
	if a[facetValues] != nil || b[facetValues] != nil {
		return unknown
	}
	return compareWords(a[facetWords], b[facetWords])
}

// compareWords compares expected answers without figures: the same but for a few words, or one
// that is a part of the other.
func compareWords(a, b []string) relation {
	both := inBoth(a, b)
	few := min(len(a), len(b))
	switch s := share(a, b); {
	case few == 0:
		return unknown
	case s > 0.5, few > 1 && both == few:
		return matching
	case both == 0, few > 2:
		return apart
	}
	return unknown
}

func compareWork(a, b signature) relation {
	f, l := a.overlap(b, facetFiles), a.overlap(b, facetLines)
	switch {
	case f == apart, l == apart:
		return apart
	case f == matching:
		return matching
	}
	return unknown
}

// tells reports whether an outcome is more than a word that many answers have.
func (s signature) tells() bool {
	return s[facetCommand] == nil && s[facetFiles] == nil && (len(s[facetValues]) > 0 || len(s[facetWords]) > 1 || len(s[facetSaid]) > 3)
}

// overlap compares a facet by the share of the smaller set that is in the larger one. Where one
// has nothing, nothing is known.
func (s signature) overlap(o signature, f facet) relation {
	a, b := s[f], o[f]
	if len(a) == 0 || len(b) == 0 {
		return unknown
	}
	both := inBoth(a, b)
	most := float64(both) / float64(min(len(a), len(b)))
	switch {
	case f == facetLines && most < 0.4, both == 0:
		return apart
	case f == facetLines && most < 0.6, most <= 0.5:
		return unknown
	}
	return matching
}

// inBoth returns how many elements two sorted sets have in common.
func inBoth(a, b []string) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		switch c := cmp.Compare(a[0], b[0]); {
		case c < 0:
			a = a[1:]
		case c > 0:
			b = b[1:]
		default:
			a, b, n = a[1:], b[1:], n+1
		}
	}
	return n
}

// share returns the Jaccard index of two sorted sets.
func share(a, b []string) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	both := inBoth(a, b)
	return float64(both) / float64(len(a)+len(b)-both)
}

// almostEqual reports whether two tasks ask almost in the same words for the same outcome of the
// same input. Tasks that are one wish otherwise stay two, in one cluster.
func almostEqual(a, b *wish.Task) bool {
	return a.Input == b.Input && a.Outcome == b.Outcome && similar.Near(similar.Words(a.Task.Prompt), similar.Words(b.Task.Prompt))
}

// merge adds to a task where it was shown again.
func merge(old *wish.Task, t wish.Task) {
	later := t.At.After(old.At)
	for _, ref := range t.Seen {
		if !slices.Contains(old.Seen, ref) {
			if later {
				old.Seen = append(old.Seen, ref)
			} else {
				old.Seen = slices.Insert(old.Seen, 0, ref)
			}
		}
	}
	if later {
		old.At = t.At
	}
	if old.Skill != t.Skill {
		old.Skill = ""
	}
	if old.Held == "" {
		old.Held = t.Held
	}
}

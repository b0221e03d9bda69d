package provenance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Analysis is what one analyst of a step read and proposed.
type Analysis struct {
	Place    string       // within the step, of the request to it: mb0/analyst_error/0
	Why      string       // it gave for what it proposed
	Source   skill.Source // which trajectories it read
	Tasks    []string     // their task ids
	Patterns []Pattern    // what it saw in them
	Edits    []skill.Edit // what it proposed; empty where it did not propose edits
}

// Pattern is a kind of failure, or a habit of successes, that an analyst saw.
type Pattern struct {
	Name        string `json:"name,omitempty"`
	Count       int    `json:"count,omitempty"` // trajectories that show it, by the analyst's word
	Description string `json:"description"`
}

// Link says how sure it is that analysts asked for an edit.
type Link string

const (
	Verbatim Link = "verbatim" // they proposed this very edit
	Reworded Link = "reworded" // a merge changed the wording of what they proposed
	Batch    Link = "batch"    // nothing they proposed is like it; they are all that were asked
)

// Reason says which trajectories asked for an edit.
type Reason struct {
	Link     Link         `json:"link"`
	Source   skill.Source `json:"source,omitempty"`
	Support  int          `json:"support,omitempty"`  // trajectories behind the edit, by the optimizer's word
	Tasks    []string     `json:"tasks,omitempty"`    // that the analysts read
	Patterns []Pattern    `json:"patterns,omitempty"` // that they saw, those that speak of the edit first
	Replies  []string     `json:"replies,omitempty"`  // their places within the step: mb0/analyst_error/0
	Why      []string     `json:"why,omitempty"`      // they gave for what they proposed
}

// similar is the share of common words from which a proposal counts as the origin
// of a merged edit.
const similar = 0.4

// FindReason returns who asked for an edit: the analysts of the step that proposed it, else those
// with the proposal most like it, else all who read trajectories of its kind.
func FindReason(e skill.Edit, analyses []Analysis) Reason {
	r := Reason{Link: Batch, Source: e.Source, Support: e.SupportCount}
	var from []Analysis
	best := similar
	for _, a := range analyses {
		likeness := a.likeness(e)
		switch {
		case likeness > best:
			best, from = likeness, []Analysis{a}
		case likeness == best:
			from = append(from, a)
		}
	}
	switch {
	case len(from) > 0 && best > 1:
		r.Link = Verbatim
	case len(from) > 0:
		r.Link = Reworded
	default:
		from = sameSource(e.Source, analyses)
	}
	for _, a := range from {
		r.Tasks = append(r.Tasks, a.Tasks...)
		r.Patterns = append(r.Patterns, a.Patterns...)
		if a.Place != "" {
			r.Replies = append(r.Replies, a.Place)
		}
		if a.Why != "" {
			r.Why = append(r.Why, a.Why)
		}
		if r.Source == "" {
			r.Source = a.Source
		}
	}
	r.Why = distinct(r.Why)
	r.Tasks, r.Patterns = distinct(r.Tasks), about(e, mergePatterns(r.Patterns))
	return r
}

func sameSource(source skill.Source, analyses []Analysis) []Analysis {
	var out []Analysis
	for _, a := range analyses {
		if source == "" || a.Source == source {
			out = append(out, a)
		}
	}
	return out
}

// likeness returns 2 for an analysis that proposed e itself, else the largest share of words that a
// proposal of the same operation has in common with it.
func (a Analysis) likeness(e skill.Edit) float64 {
	best := 0.0
	for _, p := range a.Edits {
		switch {
		case p.Op != e.Op:
		case p.Target == e.Target && strings.TrimSpace(p.Content) == strings.TrimSpace(e.Content):
			return 2
		default:
			best = max(best, overlap(words(p.Content+" "+p.Target), words(e.Content+" "+e.Target)))
		}
	}
	return best
}

// about puts the patterns that share words with an edit first and drops those
// that speak of something else, if any does not.
func about(e skill.Edit, patterns []Pattern) []Pattern {
	of := words(e.Content + " " + e.Target)
	share := func(p Pattern) float64 { return overlap(words(p.Name+" "+p.Description), of) }
	most := 0.0
	for _, p := range patterns {
		most = max(most, share(p))
	}
	slices.SortStableFunc(patterns, func(a, b Pattern) int { return cmp.Compare(share(b), share(a)) })
	return slices.DeleteFunc(patterns, func(p Pattern) bool { return share(p) < most/2 })
}

// mergePatterns adds up patterns that are described alike.
func mergePatterns(patterns []Pattern) []Pattern {
	var out []Pattern
	for _, p := range patterns {
		i := slices.IndexFunc(out, func(q Pattern) bool { return q.Name == p.Name && q.Description == p.Description })
		if i < 0 {
			out = append(out, p)
			continue
		}
		out[i].Count += p.Count
	}
	return out
}

func distinct(ids []string) []string {
	var out []string
	for _, id := range ids {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// words returns the words of text in lower case.
func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		out[w] = true
	}
	return out
}

// overlap returns the share of words that two texts have in common, 0 to 1.
func overlap(a, b map[string]bool) float64 {
	common := 0
	for w := range a {
		if b[w] {
			common++
		}
	}
	if all := len(a) + len(b) - common; all > 0 {
		return float64(common) / float64(all)
	}
	return 0
}

// String says in words who asked for an edit.
func (r Reason) String() string {
	who := map[Link]string{
		Verbatim: "proposed so by analysts of", Reworded: "reworded from what analysts proposed, who read", Batch: "made from what all analysts proposed, who read",
	}[r.Link] + " " + read(r.Source)
	if r.Support > 0 {
		who += fmt.Sprintf(", with %s behind it", wording.Plural(r.Support, "trajectory", "trajectories"))
	}
	return who
}

// read names the trajectories that analysts of a kind read.
func read(source skill.Source) string {
	switch source {
	case skill.FromFailure:
		return "failures"
	case skill.FromSuccess:
		return "successes"
	}
	return "trajectories"
}

// String writes a pattern on one line, unless its texts have several.
func (p Pattern) String() string {
	s := p.Name
	if p.Count > 0 {
		s = strings.TrimSpace(fmt.Sprintf("%s (%d)", s, p.Count))
	}
	if s != "" && p.Description != "" {
		s += ": "
	}
	return s + p.Description
}

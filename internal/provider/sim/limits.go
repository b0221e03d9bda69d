package sim

import (
	"cmp"
	"slices"
)

// Limits are what a simulated optimizer cannot do. The zero value has none: it reads all
// that a prompt holds and writes every rule that it sees.
type Limits struct {
	Need      int     `yaml:"need" json:"need,omitempty"`           // failures of a prompt that must miss a rule before it is proposed; 0 is 1
	Reads     int     `yaml:"reads" json:"reads,omitempty"`         // trajectories of a prompt that an analyst takes in, at most; 0: all
	First     bool    `yaml:"first" json:"first,omitempty"`         // those are the first of the prompt, not drawn at random
	Writes    int     `yaml:"writes" json:"writes,omitempty"`       // edits of an analyst at most, which ones is chance; 0: all
	Misses    float64 `yaml:"misses" json:"misses,omitempty"`       // share of rules that an analyst does not see, though its prompt shows them
	Drops     float64 `yaml:"drops" json:"drops,omitempty"`         // share of the good rules of a skill that an analyst deletes
	Repeats   float64 `yaml:"repeats" json:"repeats,omitempty"`     // share of the good rules of a skill that an analyst proposes again
	Memorizes float64 `yaml:"memorizes" json:"memorizes,omitempty"` // share of failures of which an analyst writes down the answer
}

// attend returns the trajectories of a prompt that an analyst takes in.
func (w *World) attend(p prompt, all []example) []example {
	n := w.limits.Reads
	switch {
	case n == 0 || len(all) <= n:
		return all
	case w.limits.First:
		return all[:n]
	}
	return draw(w, all, n, drawRead, p)
}

// limit returns what an analyst writes of what it thinks of.
func (w *World) limit(p prompt, all []proposal) []proposal {
	if n := w.limits.Writes; n > 0 && len(all) > n {
		all = draw(w, all, n, drawWrite, p)
	}
	return all[:min(len(all), p.budget())]
}

// draw returns n elements of a list, drawn by the prompt, in their order.
func draw[T any](w *World, all []T, n int, purpose uint64, p prompt) []T {
	at := make([]int, len(all))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int {
		return cmp.Compare(w.chance(purpose, p.id(), uint64(a)), w.chance(purpose, p.id(), uint64(b)))
	})
	at = at[:n]
	slices.Sort(at)
	out := make([]T, n)
	for k, i := range at {
		out[k] = all[i]
	}
	return out
}

// tinker returns what an analyst does to good rules of the skill without a reason: it
// deletes some, and proposes some again.
func (w *World) tinker(p prompt, skill string) []proposal {
	var out []proposal
	if w.limits.Drops == 0 && w.limits.Repeats == 0 {
		return nil
	}
	for _, s := range statements(skill) {
		for _, r := range w.rules {
			if r.harmful || !r.matches(s.text) {
				continue
			}
			if w.chance(drawDrop, p.id(), uint64(r.index)) < w.limits.Drops {
				out = append(out, proposal{rule: r, remove: true, text: s.raw, support: 1})
			}
			if w.chance(drawRepeat, p.id(), uint64(r.index)) < w.limits.Repeats {
				out = append(out, proposal{rule: r, text: "- " + w.pickWording(r, p), support: 1})
			}
			break
		}
	}
	return out
}

// limits reads the limits of the optimizer.
func (c *compiler) limits() Limits {
	l := c.file.Optimizer
	for _, n := range []struct {
		key  string
		got  int
		most int
	}{{"need", l.Need, 1000}, {"reads", l.Reads, 100_000}, {"writes", l.Writes, 1000}} {
		if n.got < 0 || n.got > n.most {
			c.fail("optimizer."+n.key, "found %d, allowed is 0 to %d", n.got, n.most)
		}
	}
	for _, s := range []struct {
		key string
		got float64
	}{{"misses", l.Misses}, {"drops", l.Drops}, {"repeats", l.Repeats}, {"memorizes", l.Memorizes}} {
		if !(s.got >= 0 && s.got <= 1) {
			c.fail("optimizer."+s.key, "found %v, allowed is 0 to 1", s.got)
		}
	}
	return l
}

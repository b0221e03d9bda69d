package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// align orders got so that elements equal to those of want are in their
// places, as many as can; the others fill the gaps in their order.
func (r jsonRule) align(got, want []any) []any {
	places := r.match(got, want)
	used := make([]bool, len(got))
	for _, j := range places {
		if j >= 0 {
			used[j] = true
		}
	}
	var rest []any
	for j, g := range got {
		if !used[j] {
			rest = append(rest, g)
		}
	}
	ordered := make([]any, 0, len(got))
	for _, j := range places {
		switch {
		case j >= 0:
			ordered = append(ordered, got[j])
		case len(rest) > 0:
			ordered, rest = append(ordered, rest[0]), rest[1:]
		default:
			return ordered // more is wanted than is there
		}
	}
	return append(ordered, rest...)
}

// match pairs the elements of want with equal ones of got, as many as can be:
// the result holds for each element of want the place in got, or -1.
func (r jsonRule) match(got, want []any) []int {
	places := make([]int, len(want))
	owner := make([]int, len(got)) // the other way round
	for j := range owner {
		owner[j] = -1
	}
	// Pairs that are the same value cost the others nothing, whatever else is
	// allowed as well: what would match one of the two matches the other too.
	same := map[[sha256.Size]byte][]int{}
	for j, g := range got {
		key := r.sum(g)
		same[key] = append(same[key], j)
	}
	for i, w := range want {
		places[i] = -1
		key := r.sum(w)
		if list := same[key]; len(list) > 0 {
			places[i], same[key] = list[0], list[1:]
			owner[list[0]] = i
		}
	}
	if r.extra {
		r.matchRest(got, want, places, owner)
	}
	return places
}

// matchRest pairs what is left when one element can represent several. To give
// an element its place, others may have to move (H. W. Kuhn, "The Hungarian
// Method for the Assignment Problem", 1955).
func (r jsonRule) matchRest(got, want []any, places, owner []int) {
	tried := make([]bool, len(got))
	var place func(i int) bool
	place = func(i int) bool {
		for j, g := range got {
			if tried[j] || !r.equal(g, want[i]) {
				continue
			}
			tried[j] = true
			if owner[j] < 0 || place(owner[j]) {
				places[i], owner[j] = j, i
				return true
			}
		}
		return false
	}
	for i := range want {
		if places[i] < 0 && place(i) {
			clear(tried) // after a failure they stay: nothing leads on from there
		}
	}
}

// equal reports whether two values are the same by the rule.
func (r jsonRule) equal(got, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || !r.extra && len(g) != len(w) {
			return false
		}
		for key, value := range w {
			if inner, ok := g[key]; !ok || !r.equal(inner, value) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		if r.anyOrder {
			return !slices.Contains(r.match(g, w), -1)
		}
		return slices.EqualFunc(g, w, r.equal)
	}
	return sameScalar(got, want)
}

// sum returns the same for values that are the same, in whatever order lists are if that does not
// matter. It allows no members next to those of a value.
func (r jsonRule) sum(v any) [sha256.Size]byte {
	h := sha256.New()
	text := func(kind byte, s string) {
		h.Write(binary.BigEndian.AppendUint64([]byte{kind}, uint64(len(s))))
		h.Write([]byte(s))
	}
	switch v := v.(type) {
	case map[string]any:
		text('{', "")
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text('k', key)
			inner := r.sum(v[key])
			h.Write(inner[:])
		}
	case []any:
		text('[', "")
		sums := make([][sha256.Size]byte, len(v))
		for i := range v {
			sums[i] = r.sum(v[i])
		}
		if r.anyOrder {
			slices.SortFunc(sums, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
		}
		for _, inner := range sums {
			h.Write(inner[:])
		}
	case json.Number:
		if q, ok := rational(v); ok {
			text('q', q.RatString())
		} else {
			text('n', v.String())
		}
	case string:
		text('s', v)
	case bool:
		text('b', strconv.FormatBool(v))
	default: // null
		text('0', "")
	}
	return [sha256.Size]byte(h.Sum(nil))
}

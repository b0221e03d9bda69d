// Package similar finds tasks that ask the same, or almost the same, and counts in how many edits one
// text differs from another. It knows texts, and nothing of
// tasks' files, of what a target is or of what is done with copies. Pure.
//
// Two tasks are equal when the target gets the same of both, but for case and space, and the
// same is expected. They are near when only a few words of their prompts differ. Near prompts of
// which different answers are expected are a template and no copies: what differs is the
// question.
package similar

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"unicode"
)

// Bounds of near prompts.
const (
	mostChanged   = 3  // words that only one of them has, on each side
	inCommon      = 90 // percent of the words of the longer one that both have
	fewestInSplit = 3  // tasks of a template in one split, from which its words show which are the question
)

// Sum names a text that is long.
type Sum [16]byte

// Kin is a task as it is compared with others.
type Kin struct {
	Text   Sum // its prompt, without regard to case and space
	System Sum
	Rest   Sum // all else that the target gets
	// Group names its copies and itself, "" for a task without any.
	Group string
	// Words are digests of the words of the prompt, sorted. Slots are those of them that
	// make it another task than the others of its template; none if it is of no template.
	Words, Slots []uint32

	mask  Mask
	wants Sum
	split string
}

// InputSums returns the sums of all that the target gets.
func (k *Kin) InputSums() [3]Sum { return [3]Sum{k.Text, k.System, k.Rest} }

// Ask is what is compared of a task.
type Ask struct {
	Prompt, System string
	Rest           string // all else that the target gets
	Wants          string // what is expected
	Split          string
}

// Groups collects the tasks of a set.
type Groups struct{ all []*Kin }

// Add takes in a task.
func (g *Groups) Add(a Ask) {
	words := Words(a.Prompt)
	g.all = append(g.all, &Kin{
		Text: sum(fold(a.Prompt)), System: sum(fold(a.System)), Rest: sum(fold(a.Rest)), Words: words,
		mask: NewMask(words), wants: sum(fold(a.Wants)), split: a.Split,
	})
}

// Find returns the tasks in the order in which they were added, with their groups.
func (g *Groups) Find() []*Kin {
	near := newForest(len(g.all))
	g.joinEqual(near, func(k *Kin) any { return k.InputSums() })
	g.joinNear(near)
	copies := newForest(len(g.all))
	g.joinEqual(copies, func(k *Kin) any { return [2]any{k.InputSums(), k.wants} })
	for _, members := range near.trees() {
		if !g.isTemplate(members) {
			copies.join(members)
			continue
		}
		g.findSlots(members)
		g.joinSameSlots(copies, members)
	}
	for _, members := range copies.trees() {
		for _, i := range members {
			if len(members) > 1 {
				g.all[i].Group = fmt.Sprint("copies ", members[0]+1)
			}
		}
	}
	return g.all
}

func (g *Groups) joinEqual(f forest, key func(*Kin) any) {
	first := map[any]int{}
	for i, k := range g.all {
		if j, known := first[key(k)]; known {
			f.join([]int{j, i})
			continue
		}
		first[key(k)] = i
	}
}

// joinNear joins near prompts with the same rest. Two prompts that differ in at most n words
// share one of their n+1 rarest: only such are compared.
func (g *Groups) joinNear(f forest) {
	times := map[uint32]int{}
	for _, k := range g.all {
		for _, w := range k.Words {
			times[w]++
		}
	}
	type place struct {
		rest [2]Sum
		word uint32
	}
	seen := map[place][][]int{} // those that were compared, by tree
	for i, k := range g.all {
		if f.root(i) != i && g.all[f.root(i)].InputSums() == k.InputSums() {
			continue // its equal was compared
		}
		rarest := slices.Clone(k.Words)
		slices.SortFunc(rarest, func(a, b uint32) int { return cmp.Or(cmp.Compare(times[a], times[b]), cmp.Compare(a, b)) })
		rarest = slices.Compact(rarest[:min(len(rarest), maxChanges(len(rarest)+mostChanged)+1)])
		for _, w := range rarest {
			at := place{[2]Sum{k.System, k.Rest}, w}
			seen[at] = g.compare(f, i, seen[at])
		}
	}
}

// compare joins a task with each tree that has a near one, and returns the trees with it.
func (g *Groups) compare(f forest, i int, trees [][]int) [][]int {
	own, others := []int{i}, trees[:0]
	for _, tree := range trees {
		isNear := func(j int) bool {
			return g.all[i].mask.MayBeNear(&g.all[j].mask) && Near(g.all[i].Words, g.all[j].Words)
		}
		if f.root(i) != f.root(tree[0]) {
			at := slices.IndexFunc(tree, isNear)
			if at < 0 {
				others = append(others, tree)
				continue
			}
			f.join([]int{tree[at], i})
		}
		if len(tree) > len(own) {
			own, tree = tree, own
		}
		own = append(own, tree...)
	}
	return append(others, own)
}

func (g *Groups) isTemplate(members []int) bool {
	return slices.ContainsFunc(members, func(i int) bool { return g.all[i].wants != g.all[members[0]].wants })
}

// findSlots finds the words that make each task of a template another one: those that no more
// than half of its tasks have, of the same split where there are enough of these.
func (g *Groups) findSlots(members []int) {
	splits := map[string][]int{}
	for _, i := range members {
		splits[g.all[i].split] = append(splits[g.all[i].split], i)
	}
	for _, own := range splits {
		of := own
		if len(own) < fewestInSplit {
			of = members
		}
		have := map[uint32]int{}
		for _, i := range of {
			for _, w := range slices.Compact(slices.Clone(g.all[i].Words)) {
				have[w]++
			}
		}
		for _, i := range own {
			g.all[i].Slots = slices.DeleteFunc(slices.Clone(g.all[i].Words), func(w uint32) bool { return 2*have[w] > len(of) })
		}
	}
}

// joinSameSlots joins tasks of a template in two splits that are copies: the same is expected, and
// what differs is no slot of either.
func (g *Groups) joinSameSlots(f forest, members []int) {
	type place struct {
		wants Sum
		word  uint32 // 0: of those without slots
	}
	have, slots := map[place][]int{}, map[uint32]bool{}
	for _, i := range members {
		for _, w := range g.all[i].Slots {
			slots[w] = true
		}
	}
	for _, i := range members {
		k := g.all[i]
		for _, w := range slices.DeleteFunc(slices.Compact(slices.Clone(k.Words)), func(w uint32) bool { return !slots[w] }) {
			have[place{k.wants, w}] = append(have[place{k.wants, w}], i)
		}
		if len(k.Slots) == 0 {
			have[place{k.wants, 0}] = append(have[place{k.wants, 0}], i)
		}
	}
	for _, i := range members {
		k := g.all[i]
		rarest := uint32(0)
		for n, w := range k.Slots {
			if n == 0 || len(have[place{k.wants, w}]) < len(have[place{k.wants, rarest}]) {
				rarest = w
			}
		}
		for _, j := range have[place{k.wants, rarest}] {
			o := g.all[j]
			if k.split != o.split && f.root(i) != f.root(j) && Near(k.Words, o.Words) && Has(k.Words, o.Slots) && Has(o.Words, k.Slots) {
				f.join([]int{i, j})
			}
		}
	}
}

// Near reports whether two prompts are equal or near by their words, which are sorted.
func Near[W cmp.Ordered](a, b []W) bool {
	most := maxChanges(max(len(a), len(b)))
	onlyA, onlyB := 0, 0
	for len(a) > 0 && len(b) > 0 && onlyA <= most && onlyB <= most {
		switch c := cmp.Compare(a[0], b[0]); {
		case c < 0:
			onlyA, a = onlyA+1, a[1:]
		case c > 0:
			onlyB, b = onlyB+1, b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return onlyA+len(a) <= most && onlyB+len(b) <= most
}

// Mask has a bit for each word of a prompt and each further time that it is there; others may have
// the same bit. It rules out most pairs that are not near in a small part of the time of Near.
type Mask [16]uint64

// NewMask returns the mask of the words of a prompt, which are sorted.
func NewMask[W uint16 | uint32](words []W) (m Mask) {
	times := uint32(0)
	for i, w := range words {
		if times++; i == 0 || w != words[i-1] {
			times = 0
		}
		bit := (uint32(w) + times) * 0x9e3779b1 >> 22
		m[bit>>6] |= 1 << (bit & 63)
	}
	return m
}

// MayBeNear reports whether prompts with these masks can be near: a bit that only one mask has is
// at least one word that only its prompt has.
func (m *Mask) MayBeNear(o *Mask) bool {
	onlyM, onlyO := 0, 0
	for i := range m {
		onlyM += bits.OnesCount64(m[i] &^ o[i])
		onlyO += bits.OnesCount64(o[i] &^ m[i])
		if onlyM > mostChanged || onlyO > mostChanged {
			return false
		}
	}
	return true
}

// maxChanges returns how many words of a prompt of n words another one may lack.
func maxChanges(n int) int { return min(mostChanged, n*(100-inCommon)/100) }

// Has reports whether all of some is in all; both are sorted.
func Has[W cmp.Ordered](all, some []W) bool {
	for len(some) > 0 {
		at, found := slices.BinarySearch(all, some[0])
		if !found {
			return false
		}
		all, some = all[at+1:], some[1:]
	}
	return true
}

// fold leaves out what makes no other text: case, and how much space there is.
func fold(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

func sum(text string) (out Sum) {
	h := sha256.Sum256([]byte(text))
	copy(out[:], h[:])
	return out
}

// Words returns digests of the words of a text, sorted: runs of letters and digits in lower case, and
// each character of scripts that are written without spaces.
func Words(text string) []uint32 {
	var out []uint32
	word := func(w string) {
		s := sha256.Sum256([]byte(strings.ToLower(w)))
		out = append(out, binary.BigEndian.Uint32(s[:]))
	}
	from := -1
	for i, r := range text + " " {
		single := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
		inner := !single && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
		switch {
		case inner && from < 0:
			from = i
		case !inner && from >= 0:
			word(text[from:i])
			from = -1
		}
		if single {
			word(string(r))
		}
	}
	slices.Sort(out)
	return out
}

// forest is a union of numbers into trees.
type forest []int

func newForest(n int) forest {
	f := make(forest, n)
	for i := range f {
		f[i] = i
	}
	return f
}

func (f forest) root(i int) int {
	for f[i] != i {
		f[i] = f[f[i]]
		i = f[i]
	}
	return i
}

// join makes one tree of all, whose root is the least.
func (f forest) join(all []int) {
	for _, i := range all {
		a, b := f.root(all[0]), f.root(i)
		f[max(a, b)] = min(a, b)
	}
}

// trees returns the numbers by tree, in the order of their roots.
func (f forest) trees() [][]int {
	by := map[int][]int{}
	for i := range f {
		by[f.root(i)] = append(by[f.root(i)], i)
	}
	var out [][]int
	for _, r := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[r])
	}
	return out
}

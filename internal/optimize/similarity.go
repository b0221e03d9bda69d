package optimize

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// BySimilarity sorts measured outcomes into failures and successes as Minibatches does, and
// cuts each by likeness: outcomes of one kind (task type, then what failed, in words
// without numbers and quotations) are kept together, the most frequent kind first, and a
// minibatch takes as many as the window of v holds, in tokens of four bytes, at most sixteen,
// and eight in any case if that is as wide as a default one. A kind is cut only if it does
// not fit into one minibatch. So an analyst sees what has happened several times, and not one
// failure of each kind, and no more than it takes in.
func BySimilarity(outcomes []trajectory.Outcome, o MinibatchOptions, v View) (failures, successes [][]int) {
	o.Size = max(1, len(outcomes))
	cut := func(all [][]int) [][]int {
		if len(all) == 0 {
			return nil
		}
		return packGroups(kinds(outcomes, all[0]), func(i int) int { return v.tokens(outcomes[i]) }, v.Window)
	}
	failed, succeeded := Minibatches(outcomes, o)
	return cut(failed), cut(succeeded)
}

// wideWindow is the window, in tokens, that fewSimilar belongs to.
const wideWindow = 60_000

// mostSimilar is how many trajectories a minibatch takes at most. An optimizer that tires
// reads the rest of a longer list in vain: lab/docs/loop.md.
const mostSimilar = 16

// fewSimilar is how many trajectories a minibatch of a wide window takes however long they
// are: as many as SkillOpt puts into each. Where they do not fit they are cut.
const fewSimilar = 8

// leastSimilar returns how many a minibatch takes with a window: fewer for a smaller one.
func leastSimilar(window int) int { return max(1, fewSimilar*min(window, wideWindow)/wideWindow) }

// MaxBySimilarity bounds the number of minibatches of a batch: each but the last of the
// failures and the last of the successes takes as many as it has to.
func MaxBySimilarity(batch, window int) int {
	return (batch+leastSimilar(window)-1)/leastSimilar(window) + 1
}

// tokens estimates what an outcome takes in a prompt that has room for it.
func (v View) tokens(o trajectory.Outcome) int {
	if v.Whole {
		return outcomeSize(o)/bytesPerToken + 1
	}
	return RenderedTokens(RenderTrajectories([]trajectory.Outcome{o}))
}

// RenderedTokens estimates the tokens of a text: one for four bytes.
func RenderedTokens(text string) int { return len(text)/bytesPerToken + 1 }

// kinds groups indices by the kind of their outcomes, the largest group first; of equally
// large ones the one that comes first. Within a group the order stays.
func kinds(outcomes []trajectory.Outcome, list []int) [][]int {
	at := map[string]int{}
	var groups [][]int
	for _, i := range list {
		key := outcomeKind(outcomes[i])
		g, known := at[key]
		if !known {
			g, at[key] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	slices.SortStableFunc(groups, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	return groups
}

// varying is what differs between two failures of one kind: quotations and numbers.
var varying = pattern.New(`"[^"]*"|'[^']*'|\pN+`)

// kindWords is how many words of a reason show its kind.
const kindWords = 12

// outcomeKind returns the kind of an outcome.
func outcomeKind(o trajectory.Outcome) string {
	reason := o.FailReason
	if reason == "" {
		reason = o.Feedback
	}
	words := strings.Fields(varying.ReplaceAllString(reason[:min(len(reason), maxField)], "#"))
	return o.Type + "\x00" + strings.ToValidUTF8(strings.Join(words[:min(len(words), kindWords)], " "), string(utf8.RuneError))
}

// packGroups fills minibatches with groups in turn. A group that does not fit into what is left
// begins a new one, and is cut if it does not fit into a whole one. Each but the last has at least
// as many as a window has to take, and at most mostSimilar.
func packGroups(groups [][]int, size func(int) int, window int) [][]int {
	return room{window: window, least: leastSimilar(window), most: mostSimilar}.fill(groups, size)
}

// room is what a minibatch has room for.
type room struct {
	window int // of tokens
	least  int // elements that it takes in any case
	most   int // elements at most
}

// over reports whether n elements with a number of tokens are more than there is room for.
func (r room) over(n, tokens int) bool {
	return n > r.most || tokens > r.window && n > r.least
}

// halfFull reports whether a minibatch is full enough to end before a group that does not fit.
func (r room) halfFull(n, tokens int) bool {
	return n > r.most/2 || tokens > r.window/2 && n >= r.least
}

// fill fills minibatches with groups in turn.
func (r room) fill(groups [][]int, size func(int) int) [][]int {
	var out [][]int
	var current []int
	used := 0
	flush := func() {
		out = append(out, current)
		current, used = nil, 0
	}
	for _, g := range groups {
		whole := 0
		for _, i := range g {
			whole += size(i)
		}
		if r.halfFull(len(current), used) && r.over(len(current)+len(g), used+whole) {
			flush()
		}
		for _, i := range g {
			n := size(i)
			if len(current) > 0 && r.over(len(current)+1, used+n) {
				flush()
			}
			current, used = append(current, i), used+n
		}
	}
	if len(current) > 0 {
		flush()
	}
	return out
}

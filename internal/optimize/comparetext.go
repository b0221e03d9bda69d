package optimize

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Bounds, in code points, of the texts of one compared task.
const (
	maxPairTask         = 1_200
	maxPairConversation = 1_500
)

// RenderPairs writes a comparison for the optimizer: the counts, then the
// tasks by category, regressions first. What changed or failed is shown with
// its conversations, what was solved both times by name only. It is "" when
// there are no pairs.
func RenderPairs(pairs []Pair) string {
	return comparison(pairs, func(b *strings.Builder, p Pair) { p.write(b) })
}

// comparison writes the pairs by category, each by write. It is "" when there are none.
func comparison(pairs []Pair, write func(*strings.Builder, Pair)) string {
	if len(pairs) == 0 {
		return ""
	}
	groups := map[Category][]Pair{}
	for _, p := range pairs {
		groups[p.Category] = append(groups[p.Category], p)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d tasks: %d regressed, %d improved, %d failed both times, %d solved both times.\n", len(pairs),
		len(groups[Regressed]), len(groups[Improved]), len(groups[PersistentFail]), len(groups[StableSuccess]))
	for _, group := range []struct {
		category Category
		title    string
	}{
		{Regressed, "Regressed: solved before, failed now"},
		{PersistentFail, "Failed both times"},
		{Improved, "Improved: failed before, solved now"},
		{StableSuccess, "Solved both times"},
	} {
		if len(groups[group.category]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n", group.title)
		for _, p := range groups[group.category] {
			write(&b, p)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (p Pair) write(b *strings.Builder) {
	if p.Category == StableSuccess {
		fmt.Fprintf(b, "- %s: %s\n", p.ID, oneLine(p.Task, maxTargetLine))
		return
	}
	fmt.Fprintf(b, "\n#### Task %s\n%s\n", p.ID, clip(p.Task, maxPairTask))
	if p.Reference != "" {
		fmt.Fprintf(b, "Reference (hidden from the agent): %s\n", oneLine(p.Reference, maxTargetLine))
	}
	p.Prev.write(b, "Before", p.Category == Regressed)
	p.Curr.write(b, "Now", true)
}

func (s Side) write(b *strings.Builder, when string, conversation bool) {
	fmt.Fprintf(b, "%s: hard=%s soft=%s answer=%s", when, decimal(s.Hard), decimal(s.Soft), oneLine(s.Answer, maxTargetLine))
	if s.FailReason != "" {
		fmt.Fprintf(b, " (%s)", oneLine(s.FailReason, maxTargetLine))
	}
	b.WriteByte('\n')
	if conversation && len(s.Conversation) > 0 {
		fmt.Fprintf(b, "%s\n", clip(trajectory.Format(s.Conversation), maxPairConversation))
	}
}

package optimize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// writePairs writes a comparison, and what the agent was given with all of its tasks. With Whole it
// shows task, reference and both conversations of what changed or failed, all of it in about
// v.room() bytes.
func (v View) writePairs(pairs []Pair) (told, text string) {
	if !v.Whole {
		return "", RenderPairs(pairs)
	}
	sorted := slices.Clone(pairs)
	slices.SortStableFunc(sorted, func(a, b Pair) int { return cmp.Compare(solvedTwice(a), solvedTwice(b)) })
	ids := make([]string, len(sorted))
	var own Told
	for i, p := range sorted {
		ids[i], own = p.ID, firstTold(firstTold(own, p.Curr.Told), p.Prev.Told)
	}
	all, most := v.tells(ids, own), max(1, v.room()/leastShown-2)
	var sheets []sheet
	for i, p := range sorted[:min(len(sorted), most)] {
		if solvedTwice(p) == 0 {
			sheets = append(sheets, pairSheet(p, all.each[i], ids))
		}
	}
	n := len(sheets)
	if all.shared != nil {
		sheets = append(sheets, *all.shared)
	}
	texts := write(sheets, v.room())
	if all.shared != nil {
		told = trimSpace(texts[n])
	}
	written := map[string]string{}
	for i, text := range texts[:n] {
		written[ids[i]] = text
	}
	return told, comparison(pairs, func(b *strings.Builder, p Pair) {
		text, shown := written[p.ID]
		if !shown { // solved both times, or there is no room for more
			text = fmt.Sprintf("- %s: %s\n", oneLine(p.ID, maxTargetLine), oneLine(p.Task, maxTargetLine))
		}
		b.WriteString(text)
	})
}

// solvedTwice returns 1 for a task that was solved both times, of which little is shown, else 0.
func solvedTwice(p Pair) int {
	if p.Category == StableSuccess {
		return 1
	}
	return 0
}

// pairSheet writes a task as two skills carried it out; ids are those of all tasks.
func pairSheet(pair Pair, t telling, ids []string) sheet {
	form := func(conversation func(p *pen, s Side)) func(p *pen) {
		return func(p *pen) {
			fmt.Fprintf(&p.b, "\n#### Task %s\n", oneLine(pair.ID, maxTargetLine))
			t.write(p, func(at int) string { return "task " + escapeNewlines(ids[at-1]) })
			p.block("Task", pair.Task)
			p.block("Reference (hidden from the agent)", pair.Reference)
			for _, s := range []struct {
				when string
				side Side
			}{{"Before", pair.Prev}, {"Now", pair.Curr}} {
				p.b.WriteString("\n")
				p.writeSide(s.when, s.side)
				conversation(p, s.side)
			}
		}
	}
	return sheet{
		write: form(func(p *pen, s Side) { p.conversation("Conversation", s.Conversation) }),
		brief: form(func(p *pen, s Side) { p.block("Conversation", trajectory.Format(s.Conversation)) }),
	}
}

// writeSide writes how one skill fared, on one line.
func (p *pen) writeSide(when string, s Side) {
	fmt.Fprintf(&p.b, "%s: hard=%s soft=%s answer=%s", when, decimal(s.Hard), decimal(s.Soft), p.cut(escapeNewlines(s.Answer)))
	if s.FailReason != "" {
		fmt.Fprintf(&p.b, " (%s)", p.cut(escapeNewlines(s.FailReason)))
	}
	p.b.WriteByte('\n')
}

package optimize

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// compared writes a comparison, and what the agent was told with all of its tasks. With
// Whole task, reference and both conversations of what changed or failed are shown, all
// of it in about v.room() bytes.
func (v View) compared(pairs []Pair) (told, text string) {
	if !v.Whole {
		return "", RenderPairs(pairs)
	}
	var open []Pair
	for _, p := range pairs {
		if p.Category != StableSuccess {
			open = append(open, p)
		}
	}
	open = open[:min(len(open), max(1, v.room()/leastShown-2))]
	var ids []string
	for _, p := range open {
		ids = append(ids, p.ID)
	}
	all := v.tells(ids)
	var sheets []sheet
	for i, p := range open {
		sheets = append(sheets, pairSheet(p, all.each[i]))
	}
	if all.shared != nil {
		sheets = append(sheets, *all.shared)
	}
	texts, _ := write(sheets, v.room())
	if all.shared != nil {
		told = trimSpace(texts[len(open)])
	}
	written := map[string]string{}
	for i, id := range ids {
		written[id] = texts[i]
	}
	return told, comparison(pairs, func(b *strings.Builder, p Pair) {
		text, shown := written[p.ID]
		if !shown { // solved both times, or there is no room for more
			text = fmt.Sprintf("- %s: %s\n", oneLine(p.ID, maxTargetLine), oneLine(p.Task, maxTargetLine))
		}
		b.WriteString(text)
	})
}

// pairSheet writes a task as two skills carried it out.
func pairSheet(pair Pair, t telling) sheet {
	form := func(conversation func(p *pen, s Side)) func(p *pen) {
		return func(p *pen) {
			fmt.Fprintf(&p.b, "\n#### Task %s\n", oneLine(pair.ID, maxTargetLine))
			t.write(p)
			t.Told.write(p)
			p.block("Task", pair.Task)
			p.block("Reference (hidden from the agent)", pair.Reference)
			for _, s := range []struct {
				when string
				side Side
			}{{"Before", pair.Prev}, {"Now", pair.Curr}} {
				p.b.WriteString("\n")
				p.scored(s.when, s.side)
				conversation(p, s.side)
			}
		}
	}
	return sheet{
		write: form(func(p *pen, s Side) { p.conversation("Conversation", s.Conversation) }),
		brief: form(func(p *pen, s Side) { p.block("Conversation", trajectory.Format(s.Conversation)) }),
	}
}

// scored writes how one skill fared, on one line.
func (p *pen) scored(when string, s Side) {
	fmt.Fprintf(&p.b, "%s: hard=%s soft=%s answer=%s", when, decimal(s.Hard), decimal(s.Soft), p.cut(escaped(s.Answer)))
	if s.FailReason != "" {
		fmt.Fprintf(&p.b, " (%s)", p.cut(escaped(s.FailReason)))
	}
	p.b.WriteByte('\n')
}

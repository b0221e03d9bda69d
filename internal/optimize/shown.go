package optimize

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// writeRollouts writes rollouts for an analyst: what the agent was given with all of them, and each
// with its id, type, scores, fail reason and turns, then what it was given with this one alone,
// task, reference, feedback and conversation. It writes at most v.room() bytes. It leaves out the
// rollouts at the end whose beginnings do not fit, and says so.
func (v View) writeRollouts(outcomes []trajectory.Outcome) (told, rollouts string) {
	n := len(outcomes)
	outcomes = outcomes[:min(n, max(1, v.room()/leastShown-2))]
	var ids []string
	var own Told
	for _, o := range outcomes {
		ids = append(ids, o.ID)
		own = firstTold(own, o.Told)
	}
	all := v.tells(ids, own)
	var sheets []sheet
	for i, o := range outcomes {
		sheets = append(sheets, outcomeSheet(nth{i + 1, n}, o, all.each[i]))
	}
	if all.shared != nil {
		sheets = append(sheets, *all.shared)
	}
	texts := write(sheets, v.room()-len(leftOut(n)))
	if all.shared != nil {
		told, texts = trimSpace(texts[len(outcomes)]), texts[:len(outcomes)]
	}
	rollouts = strings.Join(texts, "\n")
	if n > len(outcomes) {
		rollouts += leftOut(n - len(outcomes))
	}
	return told, rollouts
}

func leftOut(n int) string {
	return fmt.Sprintf("\n[... %d more rollouts are left out: there is no room for them ...]\n", n)
}

// firstTold returns a, or b if a says nothing.
func firstTold(a, b Told) Told {
	if a == (Told{}) {
		return b
	}
	return a
}

// telling is what an agent was given with one task, or that it was given the same with an
// earlier one.
type telling struct {
	Told
	as int // 1-based place of the earlier one, 0: there is none
}

// tellings are those of a prompt.
type tellings struct {
	shared *sheet    // what was given with all tasks; nil: nothing was given, or not the same
	each   []telling // what is to be written with each, empty where shared says it
}

// tells finds what was given with tasks: what is the same for all is written once. own is
// what an agent of somebody else gave its model with one of them: with others it may name
// another time or folder, which teaches nothing.
func (v View) tells(ids []string, own Told) tellings {
	out := tellings{each: make([]telling, len(ids))}
	if own != (Told{}) {
		out.shared = &sheet{write: func(p *pen) { writeTold(p, own) }}
		return out
	}
	first := map[Told]int{}
	for i, id := range ids {
		t := v.findTold(id)
		if t == (Told{}) {
			first[t] = 0
			continue
		}
		if at, ok := first[t]; ok {
			out.each[i].as = at
			continue
		}
		first[t] = i + 1
		out.each[i].Told = t
	}
	if len(first) == 1 && len(ids) > 0 && out.each[0].Told != (Told{}) {
		all := out.each[0].Told
		out.each = make([]telling, len(ids))
		out.shared = &sheet{write: func(p *pen) { writeTold(p, all) }}
	}
	return out
}

func writeTold(p *pen, t Told) {
	p.block("Its system message, without the skill", t.System)
	p.block("Its tools", t.Tools)
}

// write writes it, earlier naming the one that was given the same.
func (t telling) write(p *pen, earlier func(at int) string) {
	if t.as > 0 {
		p.line("system message and tools", "as with "+earlier(t.as))
	}
	writeTold(p, t.Told)
}

// nth is a place in a list, from 1 up.
type nth struct{ number, of int }

// outcomeSheet writes the outcome at a place of a list.
func outcomeSheet(at nth, o trajectory.Outcome, t telling) sheet {
	form := func(conversation func(p *pen)) func(p *pen) {
		return func(p *pen) {
			fmt.Fprintf(&p.b, "### Trajectory %d of %d\n\n", at.number, at.of)
			p.line("id", o.ID)
			p.line("type", o.Type)
			p.line("score", fmt.Sprintf("hard=%s soft=%s", decimal(o.Hard), decimal(o.Soft)))
			p.line("fail reason", o.FailReason)
			p.line("turns", strconv.Itoa(len(o.Trajectory)))
			p.line("scored answer", o.Answer)
			t.write(p, func(at int) string { return fmt.Sprint("number ", at) })
			if !showsTask(o) {
				p.block("Task", o.Question)
			}
			p.block("Reference (hidden from the agent)", o.Reference)
			p.block("Feedback", o.Feedback)
			conversation(p)
		}
	}
	return sheet{
		write: form(func(p *pen) { p.conversation("Conversation", o.Trajectory) }),
		brief: form(func(p *pen) { p.block("Conversation", trajectory.Format(o.Trajectory)) }),
	}
}

// conversation writes turns as a block, each text of them cut by itself.
func (p *pen) conversation(label string, turns []trajectory.Turn) {
	if len(turns) == 0 {
		return
	}
	kept := make([]trajectory.Turn, len(turns))
	for i, t := range turns {
		t.Content, t.Action, t.Observation = p.cut(t.Content), p.cut(t.Action), p.cut(t.Observation)
		kept[i] = t
	}
	p.writeFenced(label, trajectory.Format(kept))
}

// outcomeSize returns how many bytes an outcome takes if nothing is cut.
func outcomeSize(o trajectory.Outcome) int {
	m := measureTexts(outcomeSheet(nth{1, 1}, o, telling{}).write)
	return m.size()
}

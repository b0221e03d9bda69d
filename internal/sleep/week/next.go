package week

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/result"
)

// mostSteps is how many proposals are named one by one.
const mostSteps = 5

// next says what to do, the most urgent first, with one command each.
func (g *gathering) next() {
	w := g.out.Waits
	add := func(why, command string) {
		g.out.Next = append(g.out.Next, result.WeekStep{Why: why, Command: command})
	}
	if len(w.Intents) > 0 {
		add(plural.Of(len(w.Intents), "adoption has", "adoptions have")+" begun and not ended: another process is at work, or the next command settles it", "skillopt sleep history")
	}
	for _, a := range g.out.Adoptions {
		if Standing(a) && a.Since != nil && a.Since.Verdict == result.AdoptedWorse {
			add(fmt.Sprintf("number %d, %s, fares worse than the document without it: take it back", a.Number, a.Target), fmt.Sprintf("skillopt sleep rollback %d", a.Number))
		}
	}
	for i, id := range w.Nights {
		if i == 0 {
			add("night "+id+" is not over: the same command goes on with it, and pays for nothing twice", "skillopt sleep run")
		}
	}
	g.proposals(add)
	if w.Review > 0 {
		text := plural.Of(w.Review, "task is", "tasks are") + " not reviewed: what rests on them is never certified"
		if w.Held > 0 {
			text += fmt.Sprintf("; %d of them are not used before you have looked", w.Held)
		}
		add(text, "skillopt sleep review")
	}
	if len(g.nights) == 0 {
		add("there was no night yet", "skillopt sleep run")
	}
}

// proposals names each night whose texts wait, once.
func (g *gathering) proposals(add func(why, command string)) {
	of := map[string]int{}
	var order []result.WeekProposal
	for _, p := range g.out.Waits.Proposals {
		key := p.Project + "\n" + p.Night
		if of[key] == 0 {
			order = append(order, p)
		}
		of[key]++
	}
	for i, p := range order {
		if i == mostSteps {
			break
		}
		n := of[p.Project+"\n"+p.Night]
		if n == 1 {
			add(fmt.Sprintf("night %s proposes a text for %s: %s", p.Night, p.Target, p.Outcome), "skillopt sleep adopt "+p.Night)
			continue
		}
		add(fmt.Sprintf("night %s proposes texts for %d documents", p.Night, n), "skillopt sleep adopt "+p.Night+" --all")
	}
}

// Standing reports whether an entry is an adoption that was not taken back.
func Standing(a result.WeekAdoption) bool { return a.Kind == "adopted" && a.BackBy == 0 }

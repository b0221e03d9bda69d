package week

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/wording"
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
		add(wording.Plural(len(w.Intents), "adoption has", "adoptions have")+" begun and not ended: another process is at work, or the next command settles it", "skillopt sleep rollback")
	}
	for _, a := range g.out.Adoptions {
		if IsStanding(a) && a.Since != nil && a.Since.Verdict == result.AdoptedWorse {
			add(fmt.Sprintf("number %d, %s, fares worse than the document without it: take it back", a.Number, a.Target), fmt.Sprintf("skillopt sleep rollback %d", a.Number))
		}
	}
	for i, id := range w.Nights {
		if i == 0 {
			add("night "+id+" is not over: the same command continues with it, and pays for nothing twice", "skillopt sleep run")
		}
	}
	g.proposals(add)
	if w.Review > 0 {
		text := wording.Plural(w.Review, "task is", "tasks are") + " not reviewed: what rests on them is never certified"
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
	slices.SortStableFunc(order, func(a, b result.WeekProposal) int { return rank(a.Outcome) - rank(b.Outcome) })
	for i, p := range order {
		if i == mostSteps {
			break
		}
		name := fmt.Sprintf("night %s of %s", p.Night, filepath.Base(p.Project))
		switch n := of[p.Project+"\n"+p.Night]; {
		case n > 1:
			add(fmt.Sprintf("%s proposes texts for %d documents", name, n), "skillopt sleep adopt "+p.Night+" --all")
		case p.Outcome == result.NightSuggested: // nothing is known of it: it is looked at first
			add(fmt.Sprintf("%s has a suggestion for %s", name, p.Target), "skillopt sleep show "+p.Night)
		default:
			add(fmt.Sprintf("%s proposes a text for %s: %s", name, p.Target, p.Outcome), "skillopt sleep adopt "+p.Night)
		}
	}
}

// rank returns the place of an outcome among those that have a proposal.
func rank(o result.NightOutcome) int {
	return slices.Index([]result.NightOutcome{result.NightCertified, result.NightSupported, result.NightSuggested}, o)
}

// IsStanding reports whether an entry is an adoption that was not taken back.
func IsStanding(a result.WeekAdoption) bool { return a.Kind == "adopted" && a.BackBy == 0 }

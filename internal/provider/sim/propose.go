package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// proposal is a change that the optimizer thinks of, before it is written down
// in the form that the prompt asks for.
type proposal struct {
	rule    *rule // nil for a note
	remove  bool
	text    string // the line to add, or the text to remove as it is in the skill
	support int    // trajectories behind it
	count   int    // of them, those that need nothing else
}

// analyze answers an analyst's prompt.
func (w *World) analyze(p prompt) (string, error) {
	failed := p.stage != model.StageAnalystSuccess
	head := headSuccessful
	switch p.stage {
	case model.StageAnalystError:
		head = headFailed
	case model.StageContrast:
		head = headContrasts
	}
	skill := p.section(headSkill)
	section := p.section(head)
	if p.stage == model.StageContrast {
		section = worstAnswers(section)
	}
	examples := w.attend(p, w.examples(section, inMinibatch))
	var found analysis
	if failed {
		var err error
		if found, err = w.diagnose(p, skill, examples); err != nil {
			return "", err
		}
	} else {
		found.proposals = w.note(p, skill)
	}
	found.proposals = w.limit(p, found.proposals)
	reply := analystReply{BatchSize: strings.Count("\n"+section, "\n### ")}
	reply.Patch = w.patch(p.form(), skill, found.proposals)
	if !failed {
		reply.Patterns = []string{"tasks are solved whose form of answer the skill states"}
		return encode(reply), nil
	}
	w.describe(p, &reply)
	reply.Failures = found.failures
	if strings.Contains(p.system, "appendix_notes") {
		reply.Notes = found.lapses
	}
	return encode(reply), nil
}

// analysis is what the failures of a minibatch show.
type analysis struct {
	proposals []proposal
	failures  []failure
	lapses    []string // reminders of rules that were stated and not followed
}

// diagnose compares what was answered with what was expected, and proposes the
// rules that would have made the difference, best supported first. A rule that fewer
// trajectories miss than the world needs to see is taken for an accident.
func (w *World) diagnose(p prompt, skill string, examples []example) (analysis, error) {
	r := w.read(skill)
	d, err := w.tally(examples, r.stated)
	if err != nil {
		return analysis{}, err
	}
	good := w.repairs(skill, d.broken)
	for _, rule := range w.rules {
		if n := d.missing[rule.index]; n >= max(1, w.limits.Need) && w.chance(drawMiss, p.id(), uint64(rule.index)) >= w.limits.Misses {
			good = append(good, proposal{rule: rule, text: "- " + w.pickWording(rule, p), support: n, count: d.alone[rule.index]})
		}
	}
	slices.SortStableFunc(good, func(a, b proposal) int {
		return cmp.Or(cmp.Compare(b.support, a.support), cmp.Compare(b.count, a.count))
	})
	out := analysis{proposals: slices.Concat(w.harm(p, r), w.tinker(p, skill), r.memorize(w, p, examples), good)}
	out.failures, out.lapses = w.failures(p, d)
	return out, nil
}

// diagnosis counts trajectories, by index of the rule.
type diagnosis struct {
	missing     []int
	alone       []int // of those, the ones that miss nothing else
	broken      []int
	lapsed      []int
	unexplained int
}

// tally explains each trajectory.
func (w *World) tally(examples []example, stated []bool) (diagnosis, error) {
	n := len(w.rules)
	d := diagnosis{missing: make([]int, n), alone: make([]int, n), broken: make([]int, n), lapsed: make([]int, n)}
	for _, e := range examples {
		task, err := w.solveTold(e)
		if err != nil {
			return diagnosis{}, err
		}
		var c cause
		if task != nil {
			c = task.explain(e, stated)
		}
		count(d.missing, c.missing)
		count(d.broken, c.broken)
		count(d.lapsed, c.lapsed)
		if len(c.missing) == 1 {
			count(d.alone, c.missing)
		}
		if len(c.missing)+len(c.broken)+len(c.lapsed) == 0 {
			d.unexplained++
		}
	}
	return d, nil
}

// solveTold understands the task of a trajectory. Where the target acts before it answers, what that gave
// is in its conversation.
func (w *World) solveTold(e example) (*problem, error) {
	p, err := w.solve(e.question)
	if err != nil || p == nil || len(p.kind.acts) == 0 {
		return p, err
	}
	return w.solveSeen(e.question, e.talk)
}

func count(counts []int, rules []*rule) {
	for _, r := range rules {
		counts[r.index]++
	}
}

// cause is why one task failed.
type cause struct {
	missing []*rule // rules that the skill does not state
	broken  []*rule // harmful rules that it does state
	lapsed  []*rule // rules that it states and that were not followed
}

// maxMissing is how many rules at once the optimizer can infer from one answer.
const maxMissing = 3

// explain finds out which rules turn what was answered into what was expected.
// The smallest set that does it is the cause, the earliest rules among equals.
func (p *problem) explain(e example, stated []bool) cause {
	var c cause
	if slices.Contains(e.want, e.got) {
		return c
	}
	var open, kept []*rule
	predicted := p.follow(p.plain, stated) == e.got // the skill was kept to: it is what is wrong
	for _, r := range p.rules {
		switch {
		case r.harmful && stated[r.index]:
			if predicted {
				c.broken = append(c.broken, r)
			}
		case stated[r.index]:
			kept = append(kept, r)
		case !r.harmful:
			open = append(open, r)
		}
	}
	for n := 1; n <= min(maxMissing, len(open)); n++ {
		for set := range subsets(len(open), n) {
			chosen := choose(open, set)
			if slices.Contains(e.want, applyRules(e.got, chosen)) ||
				predicted && slices.Contains(e.want, p.follow(p.plain, with(stated, chosen, c.broken))) {
				c.missing = chosen
				return c
			}
		}
	}
	if len(c.broken) == 0 && len(kept) > 0 && slices.Contains(e.want, p.follow(p.plain, stated)) {
		c.lapsed = kept
	}
	return c
}

func applyRules(answer string, rules []*rule) string {
	for _, r := range rules {
		answer = r.apply(answer)
	}
	return answer
}

// with returns what would be stated with some rules more and some less.
func with(stated []bool, more, less []*rule) []bool {
	out := slices.Clone(stated)
	for _, r := range more {
		out[r.index] = true
	}
	for _, r := range less {
		out[r.index] = false
	}
	return out
}

// subsets yields the index sets of n elements out of total, in lexical order.
func subsets(total, n int) func(yield func([]int) bool) {
	return func(yield func([]int) bool) {
		set := make([]int, n)
		for i := range set {
			set[i] = i
		}
		for {
			if !yield(set) {
				return
			}
			i := n - 1
			for i >= 0 && set[i] == total-n+i {
				i--
			}
			if i < 0 {
				return
			}
			set[i]++
			for j := i + 1; j < n; j++ {
				set[j] = set[j-1] + 1
			}
		}
	}
}

func choose(rules []*rule, set []int) []*rule {
	out := make([]*rule, len(set))
	for i, at := range set {
		out[i] = rules[at]
	}
	return out
}

// harm returns the wrong conclusion that an optimizer sometimes draws. It comes first, as
// conclusions drawn in haste do.
func (w *World) harm(p prompt, r *reading) []proposal {
	if w.chance(drawHarm, p.id()) >= w.rates.Harm {
		return nil
	}
	var harmful []*rule
	for _, rule := range w.rules {
		if rule.harmful && !r.stated[rule.index] && !p.triedInVain(rule) {
			harmful = append(harmful, rule)
		}
	}
	if len(harmful) == 0 {
		return nil
	}
	rule := harmful[w.pick(len(harmful), drawHarmRule, p.id())]
	return []proposal{{rule: rule, text: "- " + w.pickWording(rule, p), support: 1}}
}

// repairs removes the harmful statements that were seen to break tasks.
func (w *World) repairs(skill string, broken []int) []proposal {
	var out []proposal
	for _, s := range statements(skill) {
		for _, rule := range w.rules {
			if broken[rule.index] > 0 && rule.matches(s.text) {
				out = append(out, proposal{rule: rule, remove: true, text: s.raw, support: broken[rule.index], count: broken[rule.index]})
				break
			}
		}
	}
	return out
}

// note returns what a success analyst may add: harmless, and of no use.
func (w *World) note(p prompt, skill string) []proposal {
	if len(w.notes) == 0 || w.chance(drawNote, p.id()) >= w.rates.Note {
		return nil
	}
	text := w.notes[w.pick(len(w.notes), drawWording, p.id())]
	if strings.Contains(fold(skill), fold(text)) {
		return nil
	}
	return []proposal{{text: "- " + text, support: 1}}
}

// pickWording returns one of the ways to say a rule, by the prompt.
func (w *World) pickWording(r *rule, p prompt) string {
	return r.say[w.pick(len(r.say), drawWording, p.id(), uint64(r.index))]
}

// failures writes a diagnosis down, and reminders of what was not followed.
func (w *World) failures(p prompt, d diagnosis) ([]failure, []string) {
	out, lapses := []failure{}, []string{}
	class := func(name string) string {
		if strings.Contains(p.system, "appendix_notes") {
			return name
		}
		return ""
	}
	for _, r := range w.rules {
		if n := d.missing[r.index]; n > 0 {
			out = append(out, failure{"rule_missing", n, "the skill does not say: " + r.say[0], class("SKILL_DEFECT")})
		}
		if n := d.broken[r.index]; n > 0 {
			out = append(out, failure{"rule_wrong", n, "the skill is wrong to say: " + r.say[0], class("SKILL_DEFECT")})
		}
		if n := d.lapsed[r.index]; n > 0 {
			out = append(out, failure{"rule_not_followed", n, "the skill says, in vain: " + r.say[0], class("EXECUTION_LAPSE")})
			lapses = append(lapses, fmt.Sprintf("Check before answering: %s", r.say[0]))
		}
	}
	if d.unexplained > 0 {
		out = append(out, failure{"unexplained", d.unexplained, "no rule explains the difference", class("EXECUTION_LAPSE")})
	}
	return out, lapses
}

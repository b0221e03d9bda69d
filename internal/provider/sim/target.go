package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

// reading is what a document states.
type reading struct {
	digest   uint64
	stated   []bool            // by index of the rule
	memories map[uint64]string // answers to single tasks, by the digest of the task
}

// read finds the rules that a document states.
func (w *World) read(doc string) *reading {
	r := &reading{digest: digest(doc), stated: make([]bool, len(w.rules)), memories: memories(doc)}
	for _, s := range statements(doc) {
		for i, rule := range w.rules {
			r.stated[i] = r.stated[i] || rule.matches(s.text)
		}
	}
	if w.rates.Examples > 0 {
		for i, n := range w.countShown(doc) {
			r.stated[i] = r.stated[i] || n >= w.rates.Examples
		}
	}
	return r
}

// countShown returns how many worked examples of a document show each rule: those of tasks
// that it concerns, with the right answer.
func (w *World) countShown(doc string) []int {
	shown := make([]int, len(w.rules))
	harmless := make([]bool, len(w.rules))
	for i, r := range w.rules {
		harmless[i] = !r.harmful
	}
	for _, e := range skill.Examples(doc) {
		p, err := w.solve(e.Task)
		answer, found := w.readSlot(e.Answer)
		if !found {
			answer = e.Answer
		}
		if err != nil || p == nil || p.follow(p.plain, harmless) != answer {
			continue
		}
		for _, r := range p.rules {
			if harmless[r.index] {
				shown[r.index]++
			}
		}
	}
	return shown
}

// problem is a task as the target understands it.
type problem struct {
	digest uint64
	kind   *kind
	plain  string  // the answer without any rule
	rules  []*rule // those that concern the task, in order
	noisy  bool    // can never be solved
}

// solve understands a task from its text. A text of no known kind gives nil; an
// error is a fault of the world file.
func (w *World) solve(text string) (*problem, error) { return w.solveSeen(text, "") }

// solveSeen solves a task as solve does, for a target that has seen what its actions gave. A target
// that has not seen enough is unsure.
func (w *World) solveSeen(text, seen string) (*problem, error) {
	for _, k := range w.kinds {
		m := k.match.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		p, all := &problem{digest: digest(text), kind: k, plain: w.unsure}, text
		if seen != "" {
			all += "\n" + seen
		}
		v, err := k.answer.eval(scope{names: k.names(all, m), tables: w.tables})
		switch {
		case err == nil:
			p.plain = v.text()
		case len(k.acts) == 0:
			return nil, fmt.Errorf("world %s: answer of kind %s: %w", w.name, k.taskType, err)
		}
		for _, r := range k.rules {
			if r.when == nil || r.when.MatchString(text) {
				p.rules = append(p.rules, r)
			}
		}
		p.noisy = w.chance(drawNoise, p.digest) < w.rates.Noise
		return p, nil
	}
	return nil, nil
}

// names returns what the expressions of a kind can refer to: groups of its match, and what its
// patterns find.
func (k *kind) names(text string, m []string) map[string]value {
	names := map[string]value{}
	for i, g := range k.match.SubexpNames() {
		if g != "" {
			names[g] = scalar(m[i])
		}
	}
	for list, re := range k.find {
		found := re.FindAllStringSubmatch(text, -1)
		for i, g := range re.SubexpNames() {
			if g == "" {
				continue
			}
			v := value{list: true}
			for _, m := range found {
				v.items = append(v.items, m[i])
			}
			names[list+"."+g] = v
		}
	}
	return names
}

// actions returns what the target does to a task before it answers: calls of the tools that it is offered.
func (p *problem) actions(tools []model.Tool) (acts []actFile) {
	if p == nil {
		return nil
	}
	for _, a := range p.kind.acts {
		if slices.ContainsFunc(tools, func(t model.Tool) bool { return t.Name == a.Tool }) {
			acts = append(acts, a)
		}
	}
	return acts
}

// commands returns what the target does to a task before it answers where it has a shell alone.
func (p *problem) commands(task string) (lines []string) {
	if p == nil {
		return nil
	}
	for _, a := range p.kind.acts {
		if a.Shell != "" {
			lines = append(lines, p.kind.fill(a.Shell, task))
		}
	}
	return lines
}

// fill puts the groups that a kind finds in a task into a template.
func (k *kind) fill(template, task string) string {
	m := k.match.FindStringSubmatch(task)
	for i, g := range k.match.SubexpNames() {
		if g != "" && i < len(m) {
			template = strings.ReplaceAll(template, "{{"+g+"}}", m[i])
		}
	}
	return template
}

// follow applies the rules of a task that are stated to an answer.
func (p *problem) follow(answer string, stated []bool) string {
	for _, r := range p.rules {
		if stated[r.index] {
			answer = r.apply(answer)
		}
	}
	return answer
}

// recall returns the answer of a target that thinks of the skill: what the skill says of
// this very task, or else what its rules make of it.
func (p *problem) recall(r *reading) string {
	if answer, ok := r.memories[p.digest]; ok {
		return answer
	}
	return p.follow(p.plain, r.stated)
}

// answer returns what the target replies to a task under a skill. seed is that of the request:
// another sample may forget the skill where this one kept to it.
func (w *World) answer(p *problem, r *reading, seed uint64) string {
	if p == nil || p.noisy {
		return w.before + w.unsure + w.after
	}
	if w.rates.Flip > 0 && w.chance(drawFlip, p.digest, r.digest, seed) < w.rates.Flip {
		return w.before + w.forget(p, r) + w.after
	}
	return w.before + p.recall(r) + w.after
}

// forget returns the answer of a target that does not think of the skill. Where that makes no
// difference, the target loses its way altogether.
func (w *World) forget(p *problem, r *reading) string {
	if p.recall(r) == p.plain {
		return w.unsure
	}
	return p.plain
}

// readSlot reads what is last in a reply template's slot from a text.
func (w *World) readSlot(text string) (string, bool) {
	before, after := strings.TrimSpace(lastLine(w.before)), strings.TrimSpace(firstLine(w.after))
	i := strings.LastIndex(text, before)
	if i < 0 {
		return "", false
	}
	rest := text[i+len(before):]
	if after == "" {
		rest = firstLine(rest)
	} else if j := strings.Index(rest, after); j >= 0 {
		rest = rest[:j]
	} else {
		return "", false
	}
	return strings.TrimSpace(rest), true
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

package check

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/task"
)

// errNoneApplies says that all checks are for other tasks.
var errNoneApplies = errors.New("no check that counts applies to this task: each has a when or an unless that leaves it out; give it a field that they name, or a check without either")

// field reads the name of a field of the task, "" when it is absent.
func (s *spec) field(key string) string {
	v, ok := s.get(key)
	if !ok {
		return ""
	}
	name, _ := v.(string)
	switch {
	case strings.TrimSpace(name) == "":
		s.fail(key, "the name of a field of the tasks expected, found %s", describe(v))
	case slices.Contains([]string{"gold", "answer", "answers", "hidden", "checks"}, name):
		s.fail(key, "%q is no field of this kind; those that templates may show are", name)
	}
	return name
}

func conditional(nodes []node) bool {
	return slices.ContainsFunc(nodes, func(n node) bool {
		return n.when != "" || n.unless != "" || n.members != nil && n.members.conditional
	})
}

// applies reports whether a check is for a task, by its own conditions.
func (n *node) applies(t task.Task) bool {
	if n.when != "" {
		if _, there := findField(t, n.when); !there {
			return false
		}
	}
	if n.unless != "" {
		if _, there := findField(t, n.unless); there {
			return false
		}
	}
	return true
}

// of returns the checks that apply to a task, with their places in the whole list. A group
// applies if a member does. What does not apply is no part of a score.
func (p *program) of(t task.Task) *program {
	if !p.conditional {
		return p
	}
	view := &program{doubts: p.doubts}
	for _, n := range p.nodes {
		if !n.applies(t) {
			continue
		}
		if n.members != nil && n.members.conditional {
			inner := n.members.of(t)
			if len(inner.nodes) == 0 || n.kind == "all" && !counts(inner.nodes) {
				continue
			}
			n.gather(inner)
		}
		view.nodes = append(view.nodes, n)
	}
	return view
}

// gather makes a group of its members.
func (n *node) gather(inner *program) {
	n.members = inner
	n.gold, n.fit, n.suits = inner.needsGold(), inner.fit, inner.lintTask
	n.needs, n.commands, n.judgeCalls = inner.needs(), inner.commands(), inner.judgeCallCount()
	n.inside = slices.ContainsFunc(inner.nodes, func(n node) bool { return n.inside })
	n.list = slices.ContainsFunc(inner.nodes, func(n node) bool { return n.list })
	n.holds, n.look = n.regroup(inner)
}

// conditionDoubts names the fields of conditions that a task does not have where it has one
// of nearly that name.
func (p *program) conditionDoubts(t task.Task) (doubts []string) {
	if !p.conditional {
		return nil
	}
	fields := slices.Collect(maps.Keys(t.Fields()))
	for _, n := range p.nodes {
		for key, name := range map[string]string{"when": n.when, "unless": n.unless} {
			head, _, _ := strings.Cut(name, ".")
			if near := suggestion(head, fields); name != "" && !slices.Contains(fields, head) && near != "" {
				doubts = append(doubts, fmt.Sprintf("check %s has %s: %s, which it has no field for%s", n.name, key, name, near))
			}
		}
		if n.members != nil {
			doubts = append(doubts, n.members.conditionDoubts(t)...)
		}
	}
	slices.Sort(doubts)
	return doubts
}

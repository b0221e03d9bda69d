package task

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Trigger says that a task measures whether an agent loads the skill by its description,
// and what would be right. Such a task has neither gold nor checks: whether the body of
// the skill was loaded is its outcome.
type Trigger string

// The triggers.
const (
	TriggerShould    Trigger = "should"     // an agent that is asked this should load the skill
	TriggerShouldNot Trigger = "should_not" // it should leave the skill alone
)

// Right reports whether that the skill was loaded, or was not, is what the task asks for.
func (t Trigger) Right(loaded bool) bool { return loaded == (t == TriggerShould) }

// The fields of an item of a trigger set, as skills bring them in evals/evals.json.
const (
	fieldQuery   = "query"
	fieldTrigger = "should_trigger"
)

// evalItem makes an item of a trigger set into fields of a trigger task.
func (f fields) evalItem() error {
	query, asks := f[fieldQuery].(string)
	value, says := f[fieldTrigger]
	if !asks || query == "" || !says || absent(value) || f["prompt"] != nil || f["trigger"] != nil {
		return nil
	}
	text, _ := scalar(value)
	should, err := strconv.ParseBool(strings.ToLower(text))
	if err != nil {
		return fmt.Errorf("field %q must be true or false, found %s", fieldTrigger, kind(value))
	}
	delete(f, fieldQuery)
	delete(f, fieldTrigger)
	f["prompt"], f["trigger"] = query, string(TriggerShouldNot)
	if should {
		f["trigger"] = string(TriggerShould)
	}
	return nil
}

func (f fields) trigger(to *Trigger) error {
	var text string
	if err := f.text(&text, "trigger"); err != nil {
		return err
	}
	switch t := Trigger(text); t {
	case "", TriggerShould, TriggerShouldNot:
		*to = t
		return nil
	}
	return fmt.Errorf("field %q is %q, allowed: %s (an agent should load the skill when it is asked this) and %s; rename it if it means something else",
		"trigger", text, TriggerShould, TriggerShouldNot)
}

// eachTask calls take with each item of a file of tasks, as eachItem does. A trigger set may be
// under any key of an object too.
func eachTask(data []byte, take func(Item)) error {
	keys := []string{"tasks", "data"}
	text, line := trim(data, 1)
	if list, ok := triggerSet(text, line, keys); ok {
		return decodeSpans(text, list, take)
	}
	return eachItem(data, take, keys...)
}

// triggerSet finds the items of the trigger sets in an object, unless it has a list under
// one of keys.
func triggerSet(data []byte, line int, keys []string) ([]span, bool) {
	if !bytes.Contains(data, []byte(`"`+fieldTrigger+`"`)) {
		return nil, false
	}
	p := newReader(data, line)
	if p.peek() != '{' {
		return nil, false
	}
	var all []span
	other := false
	err := p.object(func(key string) error {
		if p.peek() != '[' {
			_, err := p.pass(key)
			return err
		}
		other = other || slices.Contains(keys, key)
		list, err := p.elements()
		if err == nil && len(list) > 0 && isTriggerItem(data, list[0]) {
			all = append(all, list...)
		}
		return err
	})
	return all, err == nil && p.end() == nil && len(all) > 0 && !other
}

func isTriggerItem(data []byte, s span) bool {
	p := newReader(data, s.line)
	p.pos, p.counted = s.start, s.start
	v, err := p.value()
	m, ok := v.(map[string]any)
	return err == nil && ok && m[fieldQuery] != nil && m[fieldTrigger] != nil
}

// lintTrigger checks a trigger task: what scores others has no place in it.
func (l *linter) lintTrigger(t Task, ps *problems) {
	if l.rules.NoTriggers != "" {
		ps.about(t, "field %q: %s", "trigger", l.rules.NoTriggers)
	}
	if t.Trigger != TriggerShould && t.Trigger != TriggerShouldNot {
		ps.about(t, "trigger %q, allowed: %s, %s", t.Trigger, TriggerShould, TriggerShouldNot)
	}
	if len(t.Gold) > 0 {
		ps.about(t, "a trigger task with gold: whether the skill was loaded is all that it measures; take out the field gold (or answer, answers), or the field trigger")
	}
	if len(t.Checks) > 0 {
		ps.about(t, "a trigger task with checks: whether the skill was loaded is all that it measures; take out the field checks, or the field trigger")
	}
}

// lintTriggerPrompt checks the prompt of a trigger task, as lintPrompt does for other tasks. An agent
// gets the prompt of the task itself and no template. The prompt may ask what a task of the others asks.
func (l *linter) lintTriggerPrompt(t Task, ps *problems) {
	if t.Prompt == "" {
		ps.about(t, "no prompt: a trigger task needs one of its own, templates are not for it")
		l.shown.add(nothing)
		return
	}
	l.shown.add(sha256.Sum256(fmt.Appendf(nil, "trigger\x00%s\x00%q", t.Prompt, t.Data[FieldImages])))
}

// separateTriggers takes the trigger tasks out of a set, into one of their own: they are no part of
// what is trained on, and of what scores are made of.
func (s *Set) separateTriggers() {
	n := 0
	for _, t := range s.tasks {
		if t.Trigger != "" {
			n++
		}
	}
	if n == 0 {
		return
	}
	all := s.tasks
	s.tasks, s.triggers = make([]Task, 0, len(all)-n), make([]Task, 0, n)
	for _, t := range all {
		if t.Trigger != "" {
			s.triggers = append(s.triggers, t)
			continue
		}
		s.tasks = append(s.tasks, t)
	}
}

// Triggers returns the trigger tasks of what was read, with splits of their own. They are none of
// the set's tasks: they change neither their number nor their splits.
func (s Set) Triggers() Set { return Set{tasks: s.triggers, splits: s.triggerSplits} }

package sim

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// World is a compiled world file. It is immutable and safe for concurrent use.
type World struct {
	name   string
	seed   uint64
	print  uint64 // digest of the file
	before string // what is before the answer in a reply
	after  string
	unsure string
	loads  string // "": always; byDescription
	leaves string // the command by which an agent leaves its answer; "": it writes answerFile
	rates  rates
	limits Limits
	kinds  []*kind
	rules  []*rule
	tables map[string]map[string]string
	notes  []string
	drafts []string // templates of tasks

	triggers triggersFile // templates of trigger tasks
}

// Name returns the name that the world file gives, without "sim:".
func (w *World) Name() string { return w.name }

// kind is a kind of task: how it is recognised, and what its plain answer is.
type kind struct {
	taskType string
	match    *regexp.Regexp
	find     map[string]*regexp.Regexp
	answer   expression
	acts     []actFile // what the target does before it answers; patterns find in the results, too
	rules    []*rule   // those that apply, harmless ones first
}

// rule is a convention that the target keeps once the skill states it.
type rule struct {
	index   int // in World.rules
	id      string
	when    *regexp.Regexp // nil = always
	harmful bool
	states  []state
	say     []string
	apply   transform
}

// matches reports whether a folded statement states the rule.
func (r *rule) matches(folded string) bool {
	for _, s := range r.states {
		if s.holds(folded) {
			return true
		}
	}
	return false
}

// answerSlot is where a reply holds the answer.
const answerSlot = "{{answer}}"

// compiler turns a decoded file into a world and collects problems.
type compiler struct {
	name     string
	tree     yamlx.File
	file     worldFile
	problems []Problem
}

func (c *compiler) fail(key, format string, args ...any) {
	c.problems = append(c.problems, Problem{
		File: c.name, Line: findLine(c.tree, key), Key: key, Msg: fmt.Sprintf(format, args...),
	})
}

func (c *compiler) world() *World {
	f := c.file
	w := &World{
		name: f.Name, seed: f.Seed, unsure: f.Unsure, loads: f.Loads, leaves: f.Leaves, rates: f.Rates, tables: f.Tables, notes: f.Notes, drafts: f.Draft, triggers: f.Triggers,
	}
	if f.Name == "" || strings.ContainsAny(f.Name, " \t\r\n:") {
		c.fail("name", "found %q, a word is needed", f.Name)
	}
	if w.unsure == "" {
		w.unsure = "unknown"
	}
	if f.Loads != "" && f.Loads != byDescription {
		c.fail("loads", "found %q, allowed is %s, or nothing: the target always loads the skill", f.Loads, byDescription)
	}
	c.reply(w)
	c.rates()
	w.limits = c.limits()
	for i, k := range f.Kinds {
		w.kinds = append(w.kinds, c.kind(i, k))
	}
	if len(w.kinds) == 0 {
		c.fail("kinds", "a world needs at least one kind of task")
	}
	for i, r := range f.Rules {
		w.rules = append(w.rules, c.rule(i, r))
	}
	if len(c.problems) == 0 {
		c.bind(w)
		c.wordings(w)
		c.drafts(w)
		c.triggers(w)
	}
	return w
}

func (c *compiler) reply(w *World) {
	reply := c.file.Reply
	if reply == "" {
		reply = "<answer>" + answerSlot + "</answer>"
	}
	before, after, ok := strings.Cut(reply, answerSlot)
	if !ok || strings.Contains(after, answerSlot) {
		c.fail("reply", "found %q, it must hold %s once", reply, answerSlot)
	}
	w.before, w.after = before, after
}

func (c *compiler) rates() {
	r := c.file.Rates
	for _, p := range []struct {
		key   string
		value float64
	}{
		{"noise", r.Noise},
		{"flip", r.Flip},
		{"harm", r.Harm},
		{"fooled", r.Fooled},
		{"note", r.Note},
		{"malformed", r.Malformed},
		{"empty", r.Empty},
		{"errors", r.Errors},
		{"jitter", r.Jitter},
	} {
		if !(p.value >= 0 && p.value <= 1) {
			c.fail("rates."+p.key, "found %v, allowed is 0 to 1", p.value)
		}
	}
	if faults := r.Malformed + r.Empty + r.Errors; faults >= 1 {
		c.fail("rates", "malformed, empty and errors sum up to %v, which leaves no usable reply", faults)
	}
	if r.Examples < 0 || r.Examples > 1000 {
		c.fail("rates.examples", "found %d, allowed is 0 to 1000", r.Examples)
	}
	if !(r.LatencyMS >= 0 && r.LatencyMS <= 600_000) {
		c.fail("rates.latency_ms", "found %v, allowed is 0 to 600000", r.LatencyMS)
	}
}

func (c *compiler) kind(i int, f kindFile) *kind {
	key := fmt.Sprintf("kinds[%d]", i)
	k := &kind{taskType: f.Type, find: map[string]*regexp.Regexp{}, acts: f.Acts}
	for j, a := range f.Acts {
		if a.Tool == "" && a.Shell == "" {
			c.fail(fmt.Sprintf("%s.acts[%d]", key, j), "neither tool nor shell is named")
		}
	}
	if f.Type == "" {
		c.fail(key, "type is missing")
	}
	names := map[string]bool{}
	k.match = c.pattern(key+".match", f.Match)
	for _, g := range groups(k.match) {
		names[g] = true
	}
	for _, list := range slices.Sorted(maps.Keys(f.Find)) {
		re := c.pattern(key+".find."+list, f.Find[list])
		k.find[list] = re
		found := groups(re)
		if re != nil && len(found) == 0 {
			c.fail(key+".find."+list, "the pattern has no named group (?P<name>...)")
		}
		for _, g := range found {
			names[list+"."+g] = true
		}
	}
	var err error
	if k.answer, err = compile(f.Answer, func(name string) bool { return names[name] }); err != nil {
		c.fail(key+".answer", "%v", err)
	}
	return k
}

// pattern compiles a regular expression; "." matches line breaks only with (?s).
func (c *compiler) pattern(key, text string) *regexp.Regexp {
	if text == "" {
		c.fail(key, "a regular expression is needed")
		return nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		c.fail(key, "%v", err)
		return nil
	}
	return re
}

// groups returns the names of the named groups.
func groups(re *regexp.Regexp) []string {
	if re == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(re.SubexpNames()), func(n string) bool { return n == "" })
}

func (c *compiler) rule(i int, f ruleFile) *rule {
	key := fmt.Sprintf("rules[%d]", i)
	r := &rule{index: i, id: f.ID, harmful: f.Harmful, say: f.Say}
	for j := range i {
		if c.file.Rules[j].ID == f.ID {
			c.fail(key+".id", "%q is the id of an earlier rule", f.ID)
		}
	}
	if f.ID == "" {
		c.fail(key, "id is missing")
	}
	if f.When != "" {
		r.when = c.pattern(key+".when", f.When)
	}
	for j, s := range f.States {
		st, err := newState(s)
		if err != nil {
			c.fail(fmt.Sprintf("%s.states[%d]", key, j), "%v", err)
		}
		r.states = append(r.states, st)
	}
	if len(f.States) == 0 || len(f.Say) == 0 {
		c.fail(key, "states and say need at least one entry each")
	}
	c.taskTypes(key, f)
	t, at, err := newTransform(f.Transform, c.file.Tables)
	if err != nil {
		c.fail(key+".transform."+at, "%v", err)
	}
	r.apply = t
	return r
}

func (c *compiler) taskTypes(key string, f ruleFile) {
	if len(f.TaskTypes) == 0 {
		c.fail(key, "task_types is missing")
	}
	for j, name := range f.TaskTypes {
		if !slices.ContainsFunc(c.file.Kinds, func(k kindFile) bool { return k.Type == name }) {
			c.fail(fmt.Sprintf("%s.task_types[%d]", key, j), "there is no kind of type %q", name)
		}
	}
}

// bind gives each kind its rules: in the order of the file, harmful ones last,
// so that a harmful statement wins over a good one.
func (c *compiler) bind(w *World) {
	for _, harmful := range []bool{false, true} {
		for _, k := range w.kinds {
			for i, r := range w.rules {
				if r.harmful == harmful && slices.Contains(c.file.Rules[i].TaskTypes, k.taskType) {
					k.rules = append(k.rules, r)
				}
			}
		}
	}
}

// wordings checks that what the optimizer would say is understood by the
// target, and as one rule only.
func (c *compiler) wordings(w *World) {
	for i, r := range w.rules {
		for j, say := range r.say {
			key := fmt.Sprintf("rules[%d].say[%d]", i, j)
			text := fold(say)
			if len(statements(say)) != 1 {
				c.fail(key, "found %q, one line is needed", say)
			} else if !r.matches(text) {
				c.fail(key, "none of the states of rule %s recognises %q", r.id, say)
			}
			for _, other := range w.rules {
				if other != r && other.matches(text) {
					c.fail(key, "%q also states rule %s", say, other.id)
				}
			}
		}
	}
	for j, note := range w.notes {
		for _, r := range w.rules {
			if r.matches(fold(note)) {
				c.fail(fmt.Sprintf("notes[%d]", j), "%q states rule %s, a note must state none", note, r.id)
			}
		}
	}
}

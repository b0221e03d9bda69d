package importer

import (
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// Options say what to convert to.
type Options struct {
	Target Target
	Source string // name of the source for the first line of the YAML
	// Rebase turns a path of the source, relative to the working directory, into
	// one relative to where the result will be. Nil keeps paths.
	Rebase func(path string) string
}

// Import converts a configuration in either form. The rows of the report are
// named as cfg has the keys.
func Import(cfg map[string]any, o Options) ([]byte, Report, error) {
	cfg = moderniseConfig(cfg)
	if Structured(cfg) {
		nameEnv(cfg, map[string]any{"env": map[string]any{}})
	}
	c := newConverter(Flatten(cfg), o)
	c.written = func(flat string) string { return settingKey(cfg, flat) }
	if env, ok := cfg["env"].(map[string]any); ok {
		c.passed = sortedKeys(env)
	}
	c.all()
	for _, key := range Lost(cfg) {
		c.noteUnknown(key, at(cfg, key))
	}
	return c.finish()
}

// at returns the value of a section, or of a key of one.
func at(cfg map[string]any, key string) any {
	name, key, dotted := strings.Cut(key, ".")
	if section, ok := cfg[name].(map[string]any); ok && dotted {
		return section[key]
	}
	return cfg[name]
}

// settingKey returns how a configuration writes a setting.
func settingKey(cfg map[string]any, flat string) string {
	if s, ok := findSetting(flat); ok {
		section, _ := cfg[s.section].(map[string]any)
		if _, ok := section[s.key]; ok {
			return s.section + "." + s.key
		}
		return flat
	}
	if env, ok := cfg["env"].(map[string]any); ok {
		if _, ok := env[flat]; ok {
			return "env." + flat
		}
	}
	return flat
}

// converter collects what ours says and what happened to each key.
type converter struct {
	o       Options
	in      map[string]any
	written func(flat string) string
	passed  []string // keys that are in the section env
	redact  *redact.Redactor
	wrong   map[string]bool // keys whose value is of another kind than the key

	out    map[string]any // by our key
	extras map[string]any
	rows   map[string]Row // by flat key
	added  []Row
}

func newConverter(flat map[string]any, o Options) *converter {
	return &converter{
		o: o, in: maps.Clone(flat), written: func(flat string) string { return flat }, redact: redact.New(),
		wrong: map[string]bool{}, out: map[string]any{}, extras: map[string]any{}, rows: map[string]Row{},
	}
}

func (c *converter) all() {
	c.kinds()
	c.convertTraining()
	c.schedule()
	c.slowUpdate()
	c.gate()
	c.environment()
	c.data()
	c.concurrency()
	c.models()
	for _, key := range sortedKeys(c.in) {
		if _, done := c.rows[key]; !done {
			c.rest(key)
		}
	}
}

// set reports whether the source says something for a key: null and "" are
// nothing there, and nor is what cannot be read.
func (c *converter) set(flat string) bool {
	text, isText := c.in[flat].(string)
	return c.in[flat] != nil && !c.wrong[flat] && !(isText && strings.TrimFunc(text, isSpace) == "")
}

// text returns a value as text without white space around it, "" if it is none.
func (c *converter) text(flat string) string {
	text, _ := c.in[flat].(string)
	return strings.TrimFunc(text, isSpace)
}

// yes reads a truth value; def if the source has none.
func (c *converter) yes(flat string, def bool) bool {
	f := field{kinds: []string{"boolean"}}
	if v, ok := f.kind(c.in[flat]); ok && c.set(flat) {
		return v == true
	}
	return def
}

// note says what happened to a key. Nothing is said of a key that is not there.
func (c *converter) note(flat string, state State, note string, to ...string) {
	if _, there := c.in[flat]; !there {
		return
	}
	row := Row{Key: c.written(flat), State: state, Note: note, To: to}
	if before, ok := c.rows[flat]; ok {
		row = before.merge(row)
	}
	c.rows[flat] = row
}

// take gives one of our keys a value that comes from one of the source.
func (c *converter) take(flat, to string, v any, note string) bool {
	state, problem := c.put(to, v)
	switch {
	case hasVariable(v):
		state, problem = Unusable, "${NAME} is a variable in our configurations"
		delete(c.out, to)
	case state == Taken && hasControl(v):
		state, problem = Unusable, fmt.Sprintf("%s: found %s, allowed: text without control characters", to, c.show(v))
		delete(c.out, to)
	case state == Unusable && !reflect.DeepEqual(v, c.in[flat]):
		state = NoCounterpart // what we would write is not there yet
	}
	if state != Taken {
		c.note(flat, state, problem)
		return false
	}
	c.note(flat, Taken, note, to)
	return true
}

// add gives one of our keys a value that the source leaves to its default.
func (c *converter) add(to string, v any, note string) {
	if state, _ := c.put(to, v); state == Taken {
		c.added = append(c.added, Row{State: Taken, To: []string{to}, Note: note})
	}
}

// put sets one of our keys, or says why not.
func (c *converter) put(to string, v any) (State, string) {
	f := c.o.Target.at(to)
	if f == nil {
		return NoCounterpart, fmt.Sprintf("there is no %s yet", to)
	}
	value, allowed := f.fit(v)
	if allowed != "" {
		return Unusable, fmt.Sprintf("%s: found %s, allowed: %s", to, c.show(v), allowed)
	}
	if !reflect.DeepEqual(c.redact.Value(value), value) {
		return NoCounterpart, "it looks like a secret and is not copied"
	}
	c.out[to] = value
	return Taken, ""
}

// show returns a value for a message, without secrets.
func (c *converter) show(v any) string {
	switch v := c.redact.Value(v).(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("%.80q", v)
	case []any, map[string]any:
		return describe(v)
	default:
		return fmt.Sprint(v)
	}
}

// hasVariable reports whether a text in v has the form of a variable. What is
// copied must not read the environment of its user.
func hasVariable(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "${")
	case []any:
		return slices.ContainsFunc(v, hasVariable)
	case map[string]any:
		for key, inner := range v {
			if hasVariable(key) || hasVariable(inner) {
				return true
			}
		}
	}
	return false
}

// direct takes a key over as it is. Nothing to take is said as such.
func (c *converter) direct(flat, to, note string) bool {
	if !c.set(flat) {
		c.note(flat, NotNeeded, "not set")
		return false
	}
	return c.take(flat, to, c.in[flat], note)
}

// rest says what happens to a key that nothing above has used.
func (c *converter) rest(flat string) {
	if !c.set(flat) {
		c.note(flat, NotNeeded, "not set")
		return
	}
	if row, ok := explainKey(flat, c.in[flat]); ok {
		c.note(flat, row.State, row.Note)
		return
	}
	if _, ok := findSetting(flat); ok {
		c.note(flat, NoCounterpart, "nothing here does this")
		return
	}
	if slices.Contains(c.passed, flat) || slices.Contains(benchmarkKeys(), flat) {
		c.extra(flat)
		return
	}
	c.note(flat, Unknown, c.suggestKey(flat, flatNames()))
}

// extra keeps a key for an environment or a template of the user's: what is written here has none.
func (c *converter) extra(flat string) {
	note := "nothing here reads it until a template or a program of env.command does: kept as extras." + flat
	if !slices.Contains(benchmarkKeys(), flat) {
		if near, ok := wording.Suggest(flat, append(flatNames(), benchmarkKeys()...)); ok {
			note += "; did you mean " + near + "?"
		}
	}
	switch v := c.in[flat].(type) {
	case *big.Int:
		c.note(flat, Unusable, "the number is too large")
	default:
		if hasControl(v) || hasControl(flat) {
			c.note(flat, Unusable, "found a control character, allowed: text without any")
			return
		}
		if hasNaN(v) {
			c.note(flat, Unusable, "found .nan, allowed: any value that equals itself")
			return
		}
		masked := c.redact.Value(map[string]any{flat: v})
		if !reflect.DeepEqual(masked, map[string]any{flat: v}) {
			c.note(flat, NoCounterpart, "it looks like a secret and is not copied")
			return
		}
		if hasVariable(v) {
			c.note(flat, Unusable, "${NAME} is a variable in our configurations")
			return
		}
		c.extras[flat] = v
		c.note(flat, NoCounterpart, note)
	}
}

// noteUnknown notes what happens to a key that SkillOpt itself leaves out.
func (c *converter) noteUnknown(key string, value any) {
	section, name, dotted := strings.Cut(key, ".")
	row := Row{Key: key, State: Unknown, Note: "SkillOpt does not read it; " + c.suggestKey(name, sectionNames(section))}
	if !dotted {
		row.Note = "not a mapping: SkillOpt does not read it"
	}
	if known, ok := explainKey(name, value); ok && dotted {
		row.State, row.Note = known.State, known.Note
	}
	c.rows[key] = row
}

func (c *converter) suggestKey(name string, names []string) string {
	if near, ok := wording.Suggest(name, names); ok {
		return "did you mean " + near + "?"
	}
	return "no key that is known is like it"
}

func flatNames() []string {
	var names []string
	for _, s := range settings() {
		names = append(names, s.flat)
	}
	names = append(names, dataKeys()...)
	return sortStrings(names)
}

func sectionNames(section string) []string {
	var names []string
	for _, s := range settings() {
		if s.section == section {
			names = append(names, s.key)
		}
	}
	return sortStrings(names)
}

// finish writes our YAML.
func (c *converter) finish() ([]byte, Report, error) {
	report := Report{Rows: []Row{}, Added: append([]Row{}, byKey(c.added)...)}
	for _, row := range c.rows {
		report.Rows = append(report.Rows, row)
	}
	byKey(report.Rows)
	body := []byte{}
	if tree := c.tree("", c.o.Target.top); len(tree) > 0 {
		var err error
		if body, err = yamlx.Encode(tree); err != nil {
			return nil, Report{}, fmt.Errorf("write configuration: %w", err)
		}
	}
	return append([]byte(c.header(report)), body...), report, nil
}

// header names what is not in the file.
func (c *converter) header(r Report) string {
	var b strings.Builder
	source := strings.Map(func(r rune) rune {
		if r < ' ' {
			return -1
		}
		return r
	}, c.o.Source)
	fmt.Fprintf(&b, "# Imported from %s\n", source)
	for _, state := range []State{NoCounterpart, Unusable, Unknown} {
		for _, row := range r.Of(state) {
			fmt.Fprintf(&b, "# not taken over: %q (%s)\n", row.Key, strings.ReplaceAll(row.Note, "\n", " "))
		}
	}
	return strings.ReplaceAll(b.String(), `"`, "")
}

// tree puts our keys into the order of the schema.
func (c *converter) tree(prefix string, f *field) yamlx.Ordered {
	var out yamlx.Ordered
	for _, name := range f.names {
		key := prefix + name
		switch below := f.fields[name]; {
		case key == "extras" && len(c.extras) > 0:
			out = append(out, yamlx.Entry{Key: name, Value: orderMappings(c.extras)})
		case below.fields != nil:
			if inner := c.tree(key+".", below); len(inner) > 0 {
				out = append(out, yamlx.Entry{Key: name, Value: inner})
			}
		default:
			if v, ok := c.out[key]; ok {
				out = append(out, yamlx.Entry{Key: name, Value: v})
			}
		}
	}
	return out
}

// orderMappings returns a value whose mappings have a certain order.
func orderMappings(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := yamlx.Ordered{}
		for _, key := range sortedKeys(v) {
			out = append(out, yamlx.Entry{Key: key, Value: orderMappings(v[key])})
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = orderMappings(v[i])
		}
		return out
	}
	return v
}

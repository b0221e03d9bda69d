package task

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// usual finds the prompt and the gold of tasks under names that other programs give them, where
// the set does not say what they are called.
type usual struct {
	fields  []string // that may be found: prompt, gold
	keeps   []string // names that something reads, which stay fields as well
	files   []string // in the order of reading
	read    map[string]map[naming]bool
	ignored map[string][]string // names that nothing reads, by file
	context map[string]bool     // files whose questions are about a context
}

// naming says that a field has a name in a file.
type naming struct{ field, name string }

func newUsual(r Rules, used []string) *usual {
	u := &usual{keeps: slices.Concat(used, r.Reads), read: map[string]map[naming]bool{}, ignored: map[string][]string{}, context: map[string]bool{}}
	if r.Prompt == "" && !r.OwnScore {
		u.fields = append(u.fields, "prompt")
	}
	if !r.OwnScore && r.needGold() {
		u.fields = append(u.fields, "gold")
	}
	return u
}

// usualNames returns names that a field often has. If one of the first has it, the others mean
// something else.
func usualNames(field string) [2][]string {
	if field == "gold" {
		return [2][]string{
			{"gold", "answer", "answers", "expected", "expected answer", "expected output", "correct answer", "ground truth", "target", "label"},
			{"reference", "reference answer", "solution", "output", "completion", "response", "ideal"},
		}
	}
	return [2][]string{{"prompt", "question", "query", "input", "instruction"}, {"problem", "user", "request", "text", "message", "task"}}
}

// findField returns which of some names a field has: its own, or a usual one; "" if none has it, or several
// may. Trigger tasks and tasks with checks of their own need no gold.
func findField(field string, names []string) string {
	if slices.Contains(names, "trigger") || slices.Contains(names, fieldTrigger) {
		return ""
	}
	own := sameField(field)
	if i := slices.IndexFunc(names, func(n string) bool { return slices.Contains(own, n) }); i >= 0 {
		return names[i]
	}
	if field == "gold" && slices.Contains(names, "checks") {
		return ""
	}
	for _, some := range usualNames(field) {
		found := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !slices.Contains(some, plainName(n)) })
		if len(found) == 1 {
			return found[0]
		}
		if len(found) > 1 {
			return ""
		}
	}
	return ""
}

// item gives the fields of an item their own names.
func (u *usual) item(path string, it Item) Item {
	m, ok := it.Value.(map[string]any)
	if !ok {
		return it
	}
	var names []string
	for name, v := range m {
		if !absent(v) {
			names = append(names, name)
		}
	}
	for _, field := range u.fields {
		name := findField(field, names)
		if _, text := scalar(m[name]); field == "prompt" && !text {
			continue
		}
		if u.note(path, field, name) {
			m[field] = m[name]
			if !slices.Contains(u.keeps, name) {
				delete(m, name)
			}
		}
		if field == "prompt" && name == "question" {
			u.addContext(path, m)
		}
	}
	u.ignore(path, names)
	return it
}

// addContext puts the context that a question is about before it, unless a template says where it goes.
func (u *usual) addContext(path string, m map[string]any) {
	text, ok := m[fieldContext].(string)
	if !ok || strings.TrimSpace(text) == "" || slices.Contains(u.keeps, fieldContext) {
		return
	}
	m["prompt"] = text + "\n\n" + fmt.Sprint(m["prompt"])
	u.context[path] = true
}

// fieldContext is where data sets of questions keep what these are about.
const fieldContext = "context"

// columns gives the columns of a table the fields that they are by their usual names.
func (u *usual) columns(path string, cols []Column) {
	var names []string
	for _, c := range cols {
		names = append(names, c.Fields...)
	}
	for _, field := range u.fields {
		name := findField(field, names)
		if !u.note(path, field, name) {
			continue
		}
		for i, c := range cols {
			if at := slices.Index(c.Fields, name); at >= 0 && slices.Contains(u.keeps, name) {
				cols[i].Fields = append(c.Fields, field)
			} else if at >= 0 {
				c.Fields[at] = field
			}
		}
	}
	u.ignore(path, names)
}

// note counts that a field of a file has a name, and reports whether it is another one than its own.
func (u *usual) note(path, field, name string) bool {
	if name == "" || field == "gold" && slices.Contains(u.keeps, name) { // what a template shows is no gold
		return false
	}
	if slices.Contains(sameField(field), name) {
		name = field
	}
	if u.read[path] == nil {
		u.read[path], u.files = map[naming]bool{}, append(u.files, path)
	}
	u.read[path][naming{field, name}] = true
	return name != field
}

// ignore keeps the names of a file's first item that nothing reads.
func (u *usual) ignore(path string, names []string) {
	if _, known := u.ignored[path]; known {
		return
	}
	taken := slices.Concat(u.keeps, []string{"id", "type", "task_type", "hidden", "checks", "split", "reviewed", FieldImages})
	for _, field := range u.fields {
		taken = append(taken, findField(field, names))
	}
	if u.context[path] {
		taken = append(taken, fieldContext)
	}
	rest := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(taken, n) })
	slices.Sort(rest)
	u.ignored[path] = rest
}

// names returns the names that a field has in a file.
func (u *usual) names(path, field string) (out []string) {
	for n := range u.read[path] {
		if n.field == field {
			out = append(out, n.name)
		}
	}
	slices.Sort(out)
	return out
}

// report adds what is wrong to ps, and returns a line for each file with a field that was found by
// a usual name.
func (u *usual) report(ps *problems) (lines []string) {
	for _, path := range u.files {
		var found []string
		for _, field := range u.fields {
			switch names := u.names(path, field); {
			case len(names) > 1:
				ps.add(path, "", "%s of the tasks is called %s here: give it one name", field, quotedList(names))
			case len(names) == 1 && names[0] != field:
				found = append(found, fmt.Sprintf("%q is read as %s", short(names[0]), field))
				if field == "prompt" && u.context[path] {
					found = append(found, fmt.Sprintf("with %q before it", fieldContext))
				}
			}
		}
		if len(found) == 0 {
			continue
		}
		line := path + ": " + strings.Join(found, ", ")
		if rest := u.ignored[path]; len(rest) > 0 {
			line += fmt.Sprintf("; not read: %s (tasks.prompt can name it)", quotedList(rest[:min(len(rest), 5)]))
		}
		lines = append(lines, line)
	}
	return lines
}

func quotedList(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = fmt.Sprintf("%q", short(name))
	}
	return strings.Join(out, ", ")
}

// likelyPrompts names the fields of a task that may be its prompt, "" if there are none.
func likelyPrompts(t Task) string {
	usual := usualNames("prompt")
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(t.Data)), func(n string) bool { return !slices.Contains(slices.Concat(usual[:]...), plainName(n)) })
	if len(names) == 0 {
		return ""
	}
	return ": it may be in " + quotedList(names)
}

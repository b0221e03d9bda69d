package task

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Table is what was made of the columns of a table of tasks, a .csv or .tsv file.
type Table struct {
	Path      string   `json:"file"`
	Separator string   `json:"separator"` // what is between cells: one character
	Columns   []Column `json:"columns"`   // in their order
}

// Column is a column of a table.
type Column struct {
	Name   string   `json:"name"`             // in the header, without space around it; "" = it has none and is empty
	Fields []string `json:"fields,omitempty"` // of a task that its cells become; none: it is not read
	Used   bool     `json:"used"`             // something reads one of these fields
}

// Tables returns the tables that the set was read from, in the order of reading.
func (s Set) Tables() []Table { return s.tables }

// unread returns warnings of columns that nothing reads and whose names are those of fields but for
// case, white space, _ and -.
func (t Table) unread() []string {
	var out []string
	for _, c := range t.Columns {
		if c.Used || len(c.Fields) == 0 || slices.Contains(intendedFields(), plainName(c.Name)) { // slips reports these
			continue
		}
		for _, field := range []string{"id", "type", "task_type", "gold", "split", "trigger"} {
			if plainName(c.Name) == plainName(field) && !has(t.Columns, field) {
				out = append(out, fmt.Sprintf("%s: the column %q is read by nothing; as the field %s it is with tasks.columns: {%s: %s}", t.Path, short(c.Name), field, field, quotedName(c.Name)))
			}
		}
	}
	return out
}

// sameField returns the names that mean the same field of a task as name.
func sameField(name string) []string {
	for _, names := range [][]string{{"gold", "answer", "answers"}, {"type", "task_type"}} {
		if slices.Contains(names, name) {
			return names
		}
	}
	return []string{name}
}

// header is the first row of a table, on its way to columns.
type header struct {
	path  string
	line  int
	names []string
	rules Rules
	usual *usual
}

func (h header) fail(format string, args ...any) error {
	return &syntaxError{Line: h.line, Msg: fmt.Sprintf(format, args...)}
}

// columns gives each column the fields that its cells become. used are the fields that
// templates name.
func (h header) columns(used []string) ([]Column, error) {
	cols := make([]Column, len(h.names))
	if err := h.name(cols); err != nil {
		return nil, err
	}
	mapped, err := h.mapColumns(cols)
	if err != nil {
		return nil, err
	}
	for i := range cols {
		c := &cols[i]
		if c.Name != "" && len(c.Fields) == 0 && !mapped[c.Name] {
			c.Fields = []string{c.Name}
		}
	}
	h.usual.columns(h.path, cols)
	if err := h.checkRequired(cols); err != nil {
		return nil, err
	}
	for i := range cols {
		cols[i].Used = slices.ContainsFunc(cols[i].Fields, func(f string) bool { return h.reads(f, used, cols) })
	}
	return cols, nil
}

// name trims and checks the names.
func (h header) name(cols []Column) error {
	seen := map[string]int{}
	for i, name := range h.names {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		if first, twice := seen[name]; twice {
			return h.fail("the header names column %d like column %d, %q: rename one of them", i+1, first+1, short(name))
		}
		seen[name] = i
		cols[i].Name = name
	}
	if len(seen) == 0 {
		return h.fail("the header names no column: its cells are empty")
	}
	return nil
}

// mapColumns gives columns the fields that Rules.Columns says, and returns all names of these
// fields: a column that is called so is not read.
func (h header) mapColumns(cols []Column) (map[string]bool, error) {
	taken := map[string]bool{}
	for _, field := range slices.Sorted(maps.Keys(h.rules.Columns)) {
		if taken[field] {
			return nil, h.fail("tasks.columns names %s, which mean the same: keep one", strings.Join(sameField(field), ", "))
		}
		i, err := h.find(cols, field, h.rules.Columns[field])
		if err != nil {
			return nil, err
		}
		cols[i].Fields = append(cols[i].Fields, field)
		for _, name := range sameField(field) {
			taken[name] = true
		}
	}
	return taken, nil
}

// find returns the column with a name: as it is written, or else the only one that
// differs from it in case, white space, _ and - alone.
func (h header) find(cols []Column, field, name string) (int, error) {
	name = strings.TrimSpace(name)
	var similar []int
	for i, c := range cols {
		if c.Name == "" {
			continue
		}
		if c.Name == name {
			return i, nil
		}
		if plainName(c.Name) == plainName(name) {
			similar = append(similar, i)
		}
	}
	if len(similar) == 1 {
		return similar[0], nil
	}
	if len(similar) > 1 {
		return 0, h.fail("tasks.columns.%s is %q, which could be column %d, %q, or column %d, %q: write it as it is in the header",
			field, short(name), similar[0]+1, short(cols[similar[0]].Name), similar[1]+1, short(cols[similar[1]].Name))
	}
	hint := ""
	if near, ok := wording.Suggest(name, columnNames(cols)); ok {
		hint = fmt.Sprintf("; did you mean %q?", short(near))
	}
	return 0, h.fail("tasks.columns.%s is %q, and the header has no such column; there %s%s", field, short(name), describeColumns(cols), hint)
}

// checkRequired fails if no task of the table could have a field that each needs.
func (h header) checkRequired(cols []Column) error {
	if h.rules.OwnScore || has(cols, fieldQuery) && has(cols, fieldTrigger) {
		return nil
	}
	var missing []string
	if h.rules.Prompt == "" && !has(cols, "prompt") {
		missing = append(missing, "prompt")
	}
	scored := slices.ContainsFunc([]string{"gold", "answer", "answers", "checks", "trigger"}, func(f string) bool { return has(cols, f) })
	if !scored && h.rules.needGold() {
		missing = append(missing, "gold")
	}
	if len(missing) == 0 {
		return nil
	}
	or := ""
	if missing[0] == "prompt" {
		or = "; or give the set a template of its fields (tasks.prompt)"
	}
	return h.fail("no column for %s of the tasks; there %s; say which is which, such as %s%s",
		strings.Join(missing, " and "), describeColumns(cols), example(missing, cols), or)
}

// needGold reports whether a task without checks of its own is of no use without gold.
func (r Rules) needGold() bool {
	if r.Checker == nil {
		return true
	}
	t := Task{ID: "t", Prompt: "p"}
	without := r.Checker.Check(t)
	t.Gold = []string{"1"}
	return without != nil && r.Checker.Check(t) == nil
}

// example returns a map of columns that may be what was meant.
func example(missing []string, cols []Column) string {
	var parts []string
	taken := ""
	for _, field := range missing {
		name := probable(field, cols, taken)
		taken = name
		if name == "" {
			name = "NAME OF A COLUMN"
		}
		parts = append(parts, fmt.Sprintf("%s: %s", field, quotedName(name)))
	}
	return "tasks.columns: {" + strings.Join(parts, ", ") + "}"
}

// probable returns the column whose name is nearest to what a field is often called; ""
// if none is near.
func probable(field string, cols []Column, not string) string {
	names := slices.DeleteFunc(columnNames(cols), func(n string) bool { return n == not })
	usual := usualNames(field)
	for _, same := range []func(n, want string) bool{
		func(n, want string) bool { return plainName(n) == want },
		func(n, want string) bool { return slices.Contains(words(n), want) },
	} {
		for _, want := range slices.Concat(usual[:]...) {
			if i := slices.IndexFunc(names, func(n string) bool { return same(n, want) }); i >= 0 {
				return names[i]
			}
		}
	}
	near, _ := wording.Suggest(field, names)
	return near
}

// words returns the words of a name in lower case.
func words(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
}

// quotedName writes a name so that YAML reads it as text.
func quotedName(name string) string {
	plain := func(r rune) bool { return r == ' ' || r == '_' || unicode.IsLetter(r) }
	if strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return fmt.Sprintf("%q", name)
	}
	return name
}

// reads reports whether something reads a field of the tasks.
func (h header) reads(field string, used []string, cols []Column) bool {
	switch field {
	case "id", "type", "task_type", "prompt", "gold", "answer", "answers", "hidden", "checks", "split", "trigger", "reviewed", FieldImages:
		return true
	case fieldQuery, fieldTrigger:
		if has(cols, fieldQuery) && has(cols, fieldTrigger) {
			return true
		}
	}
	under := func(name string) bool { return name == field || strings.HasPrefix(name, field+".") }
	return h.rules.OwnScore || slices.Contains(h.rules.Reads, field) || slices.ContainsFunc(used, under)
}

func has(cols []Column, field string) bool {
	return slices.ContainsFunc(cols, func(c Column) bool { return slices.Contains(c.Fields, field) })
}

func columnNames(cols []Column) []string {
	var names []string
	for _, c := range cols {
		if c.Name != "" {
			names = append(names, c.Name)
		}
	}
	return names
}

// plainName returns a name without what people write differently: case, white space, _ and -.
func plainName(name string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || r == '_' || r == '-' }), " "))
}

// maxListed and maxNamed bound what a message repeats of a header.
const (
	maxListed = 20
	maxNamed  = 60
)

func describeColumns(cols []Column) string {
	names := columnNames(cols)
	var shown []string
	for _, n := range names[:min(len(names), maxListed)] {
		shown = append(shown, fmt.Sprintf("%q", short(n)))
	}
	text := wording.PluralWord(len(names), "is ", "are ") + strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func short(name string) string {
	if r := []rune(name); len(r) > maxNamed {
		return string(r[:maxNamed-3]) + "..."
	}
	return name
}

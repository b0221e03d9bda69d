// Package convert makes tasks of the rows of benchmarks whose rows are odd: answers that are
// literals of Python, choices in several shapes or within the question, pictures between the
// words.
//
// It gets one row and returns one task. It knows nothing about files, fetching and models. It
// is pure.
package convert

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/mcq"
	"github.com/seed-f4525e22/skillopt/internal/pytext"
)

// Row is one record of a source, as a decoder of JSON returns it that keeps numbers as
// json.Number. Binary columns are []byte; a picture of parquet is an object with bytes and
// path.
type Row = map[string]any

// Task is what a task file says of a task.
type Task struct {
	ID     string
	Type   string
	Gold   []string
	Hidden string // for analysts
	Images []Image
	// Fields are all others, for templates and checks: question, context, choices.
	Fields map[string]any
	Books  *Books // nil: it has no workbooks
	Game   string // the file of the game that it is, from the folder of games; "": it is none
}

// Image is a picture that a task shows. It has content, or lies at Path.
type Image struct {
	Name    string // a proposal for its file, with an ending
	Path    string // where the source says it lies
	Content []byte
}

// Options are about a source, and the place of a row in it.
type Options struct {
	Index int    // of the row in its file, from 0
	Seed  string // of the order of choices; "" leaves them as they are
	// Version picks the rows of MathVerse; "" takes all.
	Version string
	// MaxContext is how many characters of a context of SearchQA stay; 0 is 6000.
	MaxContext int
	// Reference follows the reference implementation where it does worse: answers that
	// are numbers lose their zeros, a cut context its marks.
	Reference bool
}

// Converter makes a task of a row. An error is a *SkipError for a row that the benchmark
// leaves out.
type Converter func(Row, Options) (Task, error)

// Named returns the converter of a benchmark, see Names.
func Named(name string) (Converter, bool) {
	c, ok := converters()[name]
	return c, ok
}

// Names lists the converters.
func Names() []string {
	return []string{"alfworld", "babyvision", "docvqa", "livemath", "mathverse", "mmrb", "officeqa", "sealqa", "searchqa", "spreadsheetbench"}
}

func converters() map[string]Converter {
	return map[string]Converter{
		"alfworld": ALFWorld, "babyvision": BabyVision, "docvqa": DocVQA, "livemath": LiveMathTask, "mathverse": MathVerse,
		"mmrb": MMRB, "officeqa": OfficeQA, "sealqa": Sealqa, "searchqa": SearchQA, "spreadsheetbench": Spreadsheet,
	}
}

// SkipError says why a row is no task of its benchmark.
type SkipError struct{ Why string }

func (e *SkipError) Error() string { return "the row is left out: " + e.Why }

func skip(format string, args ...any) error { return &SkipError{Why: fmt.Sprintf(format, args...)} }

// newMissingError returns the error of a row that lacks what no task can be without.
func newMissingError(names ...string) error {
	return errors.New("the row has no " + strings.Join(names, " or "))
}

// text returns the first value of these names that counts as true in Python, as text without white
// space around it.
func text(r Row, names ...string) string {
	return strings.TrimFunc(raw(r, names...), pytext.IsSpace)
}

func raw(r Row, names ...string) string {
	if v := first(r, names...); v != nil {
		return pytext.Text(v)
	}
	return ""
}

// first returns the first value of these names that counts as true, else nil.
func first(r Row, names ...string) any {
	for _, name := range names {
		if v := r[name]; pytext.Truthy(v) {
			return v
		}
	}
	return nil
}

func trim(s string) string { return strings.TrimFunc(s, pytext.IsSpace) }

// squeeze replaces each stretch of white space with one space.
func squeeze(s string) string { return strings.Join(strings.FieldsFunc(s, pytext.IsSpace), " ") }

// texts returns the members of a list as text, or the only one. Blank ones are left out.
func texts(v any) (all []string) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, item := range list {
		if item == nil && !ok {
			continue
		}
		if t := trim(pytext.Text(item)); t != "" {
			all = append(all, t)
		}
	}
	return all
}

// orElse returns s, or the other text if s is empty.
func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// picture reads a column that holds a picture: a path, bytes, or an object with both.
func picture(v any, name string) (Image, bool) {
	switch v := v.(type) {
	case string:
		if p := trim(v); p != "" {
			return Image{Name: orElse(name, path.Base(p)), Path: p}, true
		}
	case []byte:
		if len(v) > 0 {
			return Image{Name: name, Content: v}, true
		}
	case map[string]any:
		p, _ := v["path"].(string)
		if content, ok := v["bytes"].([]byte); ok && len(content) > 0 {
			return Image{Name: orElse(name, path.Base(orElse(p, "image"))), Path: p, Content: content}, true
		}
		if p != "" {
			return Image{Name: orElse(name, path.Base(p)), Path: p}, true
		}
	}
	return Image{}, false
}

// set puts the values that say something into fields.
func set(fields map[string]any, values map[string]string) {
	for name, v := range values {
		if v != "" {
			fields[name] = v
		}
	}
}

// choiceFields writes choices into fields as the check mcq reads them and as templates show them.
func choiceFields(fields map[string]any, choices []mcq.Choice) {
	if len(choices) == 0 {
		return
	}
	list := make([]any, len(choices))
	for i, c := range choices {
		list[i] = map[string]any{"label": c.Label, "text": c.Text}
	}
	fields["choices"], fields["choices_text"] = list, mcq.Lines(choices)
}

// itemName returns an id without what does not belong into the name of a file.
func itemName(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, id)
}

func place(o Options) string { return strconv.Itoa(o.Index + 1) }

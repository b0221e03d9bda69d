package benchmark

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/benchmark/convert"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/dataset"
	"github.com/seed-f4525e22/skillopt/internal/template"
	"github.com/seed-f4525e22/skillopt/task"
)

// item is a task that a row has become.
type item struct {
	id       string
	fields   map[string]any // of the task, its id too
	pictures []picture
	books    *convert.Books // nil: it has none
	game     string         // its file, from the folder of games; "": it is none
	split    task.Split     // "": by the splits of the benchmark
	file     string         // of its row
	row      int
}

// picture is one of a task, by its bytes or by the path of a file next to the rows.
type picture struct {
	name  string // below images/; an end such as .png is added where it has none
	field string // of the row, for messages
	bytes []byte
	path  string
}

// converter makes an item of a row; a reason instead of one says that the row is none of the
// benchmark.
type converter func(row dataset.Row) (it item, leftOut string, err error)

// rowError is what is wrong with a row.
type rowError struct {
	file string
	row  int
	key  string
	msg  string
}

func (e *rowError) Error() string {
	key := ""
	if e.key != "" {
		key = fmt.Sprintf(", %s", e.key)
	}
	return fmt.Sprintf("%s: row %d%s: %s", e.file, e.row, key, e.msg)
}

// described is the converter of a folder that says with templates what a row becomes.
type described struct {
	task      folder.Task
	templates map[string]*template.Template // by the key of the task
	images    []*template.Template
}

// newDescribed parses the templates.
func newDescribed(t folder.Task) (*described, error) {
	d := &described{task: t, templates: map[string]*template.Template{}}
	texts := map[string]string{"id": t.ID, "type": t.Type, "prompt": t.Prompt, "hidden": t.Hidden}
	for name, text := range t.Fields {
		if _, own := texts[name]; own || name == "gold" || name == task.FieldImages {
			return nil, fmt.Errorf("task.fields.%s: is a key of task itself", name)
		}
		texts[name] = text
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if texts[name] == "" {
			continue
		}
		parsed, err := template.Parse("task."+name, texts[name])
		if err != nil {
			return nil, err
		}
		d.templates[name] = parsed
	}
	for i, image := range t.Images {
		parsed, err := template.Parse(fmt.Sprintf("task.images[%d].name", i), image.Name)
		if err != nil {
			return nil, err
		}
		d.images = append(d.images, parsed)
	}
	return d, nil
}

// convert makes an item of a row, as a converter does.
func (d *described) convert(row dataset.Row) (item, string, error) {
	for _, name := range slices.Sorted(maps.Keys(d.task.Where)) {
		if want := d.task.Where[name]; fmt.Sprint(row.Fields[name]) != want {
			return item{}, fmt.Sprintf("%s is not %q", name, want), nil
		}
	}
	it := item{fields: map[string]any{}}
	fail := func(key string, err error) (item, string, error) {
		return item{}, "", &rowError{file: row.File, row: row.Number, key: key, msg: err.Error()}
	}
	values := shownFields(row.Fields)
	for _, name := range slices.Sorted(maps.Keys(d.templates)) {
		text, err := d.templates[name].Render(values)
		if err != nil {
			return fail("task."+name, err)
		}
		if text != "" {
			it.fields[name] = text
		}
	}
	for _, name := range d.task.Keep {
		v, ok := row.Fields[name]
		if !ok {
			return fail("task.keep", fmt.Errorf("the row has no field %q; it has %s", name, strings.Join(slices.Sorted(maps.Keys(row.Fields)), ", ")))
		}
		it.fields[name] = v
	}
	gold, err := readGold(d.task.Gold, row.Fields)
	if err != nil {
		return fail("task.gold", err)
	}
	if gold != nil {
		it.fields["gold"] = gold
	}
	for i, image := range d.task.Images {
		name, err := d.images[i].Render(values)
		if err != nil {
			return fail(fmt.Sprintf("task.images[%d].name", i), err)
		}
		found, err := parsePictures(row.Fields[image.Field], name, image.Field)
		if err != nil {
			return fail(image.Field, err)
		}
		it.pictures = append(it.pictures, found...)
	}
	it.id, _ = it.fields["id"].(string)
	if it.id == "" {
		it.id = cmp.Or(row.Key, fmt.Sprint(row.Number))
	}
	it.fields["id"] = it.id
	return it, "", nil
}

// shownFields returns the fields that a template can write. Pictures are not among them.
func shownFields(fields map[string]any) map[string]any {
	out := make(map[string]any, len(fields))
	for name, v := range fields {
		if _, binary := v.([]byte); !binary {
			out[name] = v
		}
	}
	return out
}

// readGold reads the accepted answers; nil: the benchmark names no field with any.
func readGold(g folder.Gold, fields map[string]any) (any, error) {
	if g.Field == "" {
		return nil, nil
	}
	v, ok := fields[g.Field]
	if !ok && g.Default == "" {
		return nil, fmt.Errorf("the row has no field %q", g.Field)
	}
	text, isText := v.(string)
	switch {
	case v == nil || isText && strings.TrimSpace(text) == "":
		if g.Default == "" {
			return nil, fmt.Errorf("the field %q is empty", g.Field)
		}
		return g.Default, nil
	case !isText || g.Split == "":
		return v, nil
	}
	return splitGold(g.Split, text)
}

// splitGold reads a text as several answers.
func splitGold(how, text string) (any, error) {
	switch how {
	case "json", "python":
		v, err := parseList(how, text)
		if err != nil {
			return nil, err
		}
		return v, nil
	case "lines":
		return trimParts(strings.Split(text, "\n")), nil
	}
	return trimParts(strings.Split(text, ",")), nil
}

func parseList(how, text string) (any, error) {
	if how == "python" {
		return convert.DocVQAAnswers(text, false), nil // bare text is one answer
	}
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil || d.More() {
		return nil, fmt.Errorf("%.80q is not JSON", text)
	}
	return v, nil
}

func trimParts(parts []string) []any {
	var out []any
	for _, part := range parts {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

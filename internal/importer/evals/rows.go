package evals

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/yamlx"
	"github.com/seed-f4525e22/skillopt/task"
)

// fields returns the names of the fields that columns of rows can be.
func fields() []string { return strings.Fields("id type prompt gold hidden images split") }

// usual returns the columns that a field is read from where nothing says otherwise.
func usual(field string) []string {
	switch field {
	case "prompt":
		return strings.Fields("prompt question input query problem instruction")
	case "gold":
		return strings.Fields("gold answer answers target label output solution ideal expected expected_output response")
	case "type":
		return strings.Fields("type task_type category topic subject")
	case "id":
		return strings.Fields("id qid question_id key uid")
	case "hidden":
		return strings.Fields("hidden explanation rationale")
	case "images":
		return strings.Fields("images image image_path")
	}
	return []string{field}
}

// rows imports rows of a data set: each column that --map names is a field of the task.
func (w *work) rows(file string) {
	at := place{file: file}
	for _, field := range slices.Sorted(maps.Keys(w.o.Map)) {
		if !slices.Contains(fields(), field) {
			w.fail(at.in("--map"), "write --map prompt=question --map gold=answer", "%q is no field of a task%s; %s are", field, suggestWord(field, fields()), strings.Join(fields(), ", "))
			return
		}
	}
	w.set.extract = "all"
	var columns map[string]string
	for row, err := range w.readRows(file) {
		if err != nil {
			if w.badRow(file, err) {
				continue
			}
			return
		}
		here := place{file: file, row: row.n}
		if columns == nil {
			if columns = w.columns(here, row.m); columns == nil {
				return
			}
		}
		w.attempt(func() {
			one := item{at: here}
			if w.fromRow(here, columns, row.m, &one) {
				w.add(one)
			}
		})
	}
}

// columns decides which column is which field, and says so.
func (w *work) columns(at place, first map[string]any) map[string]string {
	out := maps.Clone(w.o.Map)
	if out == nil {
		out = map[string]string{}
	}
	names := slices.Sorted(maps.Keys(first))
	for field, column := range out {
		if _, ok := findValue(first, column); !ok && !strings.Contains(column, "{{") {
			w.fail(at.in("--map"), "name one of "+strings.Join(names, ", "), "%s=%s: there is no column %q%s", field, column, column, suggestWord(column, names))
			return nil
		}
	}
	for _, field := range fields() {
		for _, column := range usual(field) {
			if _, given := first[column]; given && out[field] == "" {
				out[field] = column
			}
		}
	}
	for _, field := range []string{"prompt", "gold"} {
		if out[field] == "" {
			w.fail(at, "say which it is: --map "+field+"=COLUMN; there are "+strings.Join(names, ", "), "no column is the %s", field)
			return nil
		}
	}
	file := place{file: at.file}
	for _, field := range fields() {
		if out[field] != "" {
			w.note(file.in(out[field]), Taken, "it is the %s", field)
		}
	}
	used := strings.Join(slices.Collect(maps.Values(out)), " ")
	for _, name := range names {
		if !strings.Contains(used, name) {
			w.note(file.in(name), NoCounterpart, "no field is read from it: --map FIELD=%s, or --map 'prompt={{%s}}'", name, name)
		}
	}
	w.note(file, Added, "an answer is judged by the words that it shares with the gold: the default checks")
	return out
}

// findValue returns a value of a row by a path such as answers.text.
func findValue(row map[string]any, column string) (any, bool) {
	if v, ok := row[column]; ok {
		return v, true
	}
	name, rest, dotted := strings.Cut(column, ".")
	inner, ok := row[name].(map[string]any)
	if !dotted || !ok {
		return nil, false
	}
	return findValue(inner, rest)
}

func (w *work) fromRow(at place, columns map[string]string, row map[string]any, one *item) bool {
	value := func(field string) any {
		v, _ := findValue(row, columns[field])
		return v
	}
	text := value("prompt")
	if template := columns["prompt"]; strings.Contains(template, "{{") {
		filled, err := render(template, row)
		if err != nil {
			w.fail(at.in("--map"), "write columns in double braces", "%v", err)
			return false
		}
		text = filled
	}
	prompt, ok := w.input(at.in(columns["prompt"]), text, one)
	if !ok {
		return false
	}
	gold := value("gold")
	if label, isNumber := yamlx.Number(gold); isNumber { // a class label, or a number that is asked for
		gold = strconv.FormatFloat(label, 'f', -1, 64)
	}
	if one.gold, ok = w.golds(at.in(columns["gold"]), gold); !ok {
		return false
	}
	one.prompt, one.id, one.kind, one.hidden = prompt, formatValue(value("id")), formatValue(value("type")), formatValue(value("hidden"))
	if name := formatValue(value("split")); name != "" {
		split, ok := parseSplit(name)
		if !ok {
			w.fail(at.in(columns["split"]), "leave the column out: --map split= is not needed", "found the split %.40q, allowed: train, selection (validation, dev) and test", name)
			return false
		}
		one.split = split
	}
	return w.rowImages(at.in(columns["images"]), value("images"), one)
}

func parseSplit(name string) (string, bool) {
	switch strings.ToLower(name) {
	case "train", "training":
		return string(task.Train), true
	case "selection", "val", "valid", "validation", "dev":
		return string(task.Selection), true
	case "test":
		return string(task.Test), true
	}
	return "", false
}

// rowImages adds the pictures of a row: paths, or what a data set of Hugging Face has of one.
func (w *work) rowImages(at place, v any, one *item) bool {
	list, ok := v.([]any)
	if !ok && v != nil && v != "" {
		list = []any{v}
	}
	for i, raw := range list {
		if m, isMap := raw.(map[string]any); isMap {
			if data, isBytes := m["bytes"].([]byte); isBytes && len(data) > 0 && len(data) <= maxPicture {
				one.images = append(one.images, picture{data: data, ext: pictureKind(data)})
				continue
			}
			raw = m["path"]
		}
		address, isText := raw.(string)
		if !isText {
			w.fail(at.in("[%d]", i), "name a file below the folder", "found %s, allowed: the path of a picture", describe(raw))
			return false
		}
		if !w.picture(at, address, one) {
			return false
		}
	}
	return true
}

// pictureKind returns the kind of a picture by how it begins.
func pictureKind(data []byte) string {
	head := string(data[:min(len(data), 12)])
	switch {
	case strings.HasPrefix(head, "\x89PNG"):
		return ".png"
	case strings.HasPrefix(head, "\xff\xd8"):
		return ".jpg"
	case strings.HasPrefix(head, "GIF8"):
		return ".gif"
	case strings.HasPrefix(head, "RIFF") && strings.HasSuffix(head, "WEBP"):
		return ".webp"
	}
	return ".unknown"
}

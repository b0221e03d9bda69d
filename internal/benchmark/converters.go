package benchmark

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/benchmark/convert"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/dataset"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/task"
)

// newConverter returns what makes tasks of the rows of a benchmark.
func newConverter(f *folder.Folder) (converter, error) {
	if f.Task.Convert == "" {
		d, err := newDescribed(f.Task)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", f.Where, folder.FileAbout, err)
		}
		return d.convert, nil
	}
	c, ok := convert.Named(f.Task.Convert)
	if !ok {
		near, _ := wording.Suggest(f.Task.Convert, convert.Names())
		return nil, fmt.Errorf("%s, %s: task.convert: there is no converter %q (did you mean %q?); there are %s", f.Where, folder.FileAbout, f.Task.Convert, near, strings.Join(convert.Names(), ", "))
	}
	o, err := parseOptions(f.Task.With)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: task.with: %w", f.Where, folder.FileAbout, err)
	}
	return func(row dataset.Row) (item, string, error) {
		o.Index = row.Number - 1
		t, err := c(row.Fields, o)
		var skip *convert.SkipError
		switch {
		case errors.As(err, &skip):
			return item{}, skip.Why, nil
		case err != nil:
			return item{}, "", &rowError{file: row.File, row: row.Number, msg: err.Error()}
		}
		return newItem(t), "", nil
	}, nil
}

// parseOptions reads the settings of a converter.
func parseOptions(with map[string]string) (o convert.Options, err error) {
	known := []string{folder.WithSeed, "version", "max_context", "reference"}
	for key, text := range with {
		switch key {
		case folder.WithSeed:
			o.Seed = text
		case "version":
			o.Version = text
		case "max_context":
			o.MaxContext, err = strconv.Atoi(text)
		case "reference":
			o.Reference, err = strconv.ParseBool(text)
		default:
			near, _ := wording.Suggest(key, known)
			return o, fmt.Errorf("unknown key %q (did you mean %q?); there are %s", key, near, strings.Join(known, ", "))
		}
		if err != nil {
			return o, fmt.Errorf("%s: found %q: %w", key, text, err)
		}
	}
	return o, nil
}

// newItem returns a task as an item. Its prompt has the parts that it has, each under a heading.
func newItem(t convert.Task) item {
	it := item{id: t.ID, fields: map[string]any{"id": t.ID}, books: t.Books, game: t.Game}
	for name, v := range t.Fields {
		if !slices.Contains(inPrompt(), name) {
			it.fields[name] = v
		}
	}
	for name, text := range map[string]string{"type": t.Type, "hidden": t.Hidden, "prompt": formatPrompt(t.Fields)} {
		if text != "" {
			it.fields[name] = text
		}
	}
	switch len(t.Gold) {
	case 0:
	case 1:
		it.fields["gold"] = t.Gold[0]
	default:
		it.fields["gold"] = t.Gold
	}
	for _, image := range t.Images {
		it.pictures = append(it.pictures, picture{name: image.Name, field: task.FieldImages, bytes: image.Content, path: image.Path})
	}
	return it
}

// inPrompt returns the names of the long fields that a task has in its prompt alone.
func inPrompt() []string {
	return []string{"context", "choices_text", "search_results", "stem", "instruction"}
}

// formatPrompt puts what a task asks and shows under headings, in a fixed order.
func formatPrompt(fields map[string]any) string {
	question := "question"
	if _, cut := fields["stem"]; cut {
		question = "stem" // the question without its choices
	}
	var parts []string
	for _, part := range []struct{ field, heading string }{
		{"context", "Passages"},
		{question, "Question"},
		{"choices_text", "Choices"},
		{"search_results", "Search results"},
		{"urls", "Addresses"},
		{"freshness", "Freshness"},
		{"question_types", "Kinds of question"},
		{"instruction", "Instruction"},
		{"instruction_type", "Kind of change"},
		{"answer_position", "Cells that are looked at"},
	} {
		text := plainText(fields[part.field])
		if text == "" && part.field == "stem" {
			text = "The question stands in the picture."
		}
		if text != "" {
			parts = append(parts, "## "+part.heading+"\n"+text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// plainText returns a field as a text. A list has an entry a line.
func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case []any:
		lines := []string{}
		for _, entry := range v {
			lines = append(lines, plainText(entry))
		}
		return strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
	case nil:
		return ""
	}
	return fmt.Sprint(v)
}

package convert

import (
	"encoding/json"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pytext"
)

// OfficeQA makes a task of a row of OfficeQA. The files and addresses of the bulletins that its answer
// is in are fields of the task.
func OfficeQA(r Row, _ Options) (Task, error) {
	t := Task{
		ID: text(r, "uid", "id"), Type: orElse(text(r, "category", "difficulty"), "officeqa"),
		Fields: map[string]any{"question": text(r, "question"), "source_files": anyList(ListField(r["source_files"])), "source_docs": anyList(ListField(r["source_docs"]))},
	}
	set(t.Fields, map[string]string{"source_split": text(r, "split")})
	if gold := text(r, "ground_truth", "answer"); gold != "" {
		t.Gold = []string{gold}
	}
	return t, nil
}

// ListField reads a list as tables write it: as JSON, one entry a line, or with commas between entries,
// unless it ends as the name of a text file.
func ListField(v any) []string {
	if _, many := v.([]any); many || v == nil {
		return texts(v)
	}
	s := trim(pytext.Text(v))
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var list []any
	if dec.Decode(&list) == nil && list != nil && strings.TrimSpace(s[dec.InputOffset():]) == "" {
		return texts(list)
	}
	parts := []string{s}
	switch {
	case strings.Contains(s, "\n"):
		parts = strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r) })
	case strings.Contains(s, ",") && !strings.HasSuffix(strings.ToLower(s), ".txt"):
		parts = strings.Split(s, ",")
	}
	return texts(anyList(parts))
}

func anyList(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

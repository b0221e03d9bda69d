package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
)

// isConfig reports whether a file has keys of a config and no others.
func isConfig(w Written) bool {
	known := map[string]bool{}
	for _, k := range Default().Keys() {
		known[k.Path] = true
	}
	for key := range w.Values {
		if !known[key] && key != "extends" && key != "prices.file" {
			return false
		}
	}
	return true
}

// Each config of the repository can be read, each of its keys can be set, and what is not set stays as it is written.
func TestEditKeepsConfigs(t *testing.T) {
	t.Parallel()
	read := 0
	for name, text := range treetest.Configs(t, "..") {
		w, err := ReadWritten([]byte(text))
		if err != nil || len(w.Values) == 0 || !isConfig(w) || strings.Contains(text, ".nan") { // no number, which is refused
			continue
		}
		read++
		for key, value := range w.Values {
			if value == nil { // which takes the key out
				continue
			}
			out, err := Edit([]byte(text), map[string]any{key: value})
			if err != nil {
				t.Errorf("%s: %s: %v", name, key, err)
				continue
			}
			again, err := ReadWritten(out)
			if diff := cmp.Diff(asJSON(t, w.Values), asJSON(t, again.Values)); diff != "" || err != nil {
				t.Errorf("%s: %s: %v\n%s", name, key, err, diff)
			}
			if a, b := strings.Count(text, "#"), strings.Count(string(out), "#"); a != b && reflect.TypeOf(value).Kind() != reflect.Slice && reflect.TypeOf(value).Kind() != reflect.Map {
				t.Errorf("%s: %s: %d and %d comments\n%s", name, key, a, b, out)
			}
		}
		if _, set := w.Values["train.curriculum.strategy"]; set {
			continue
		}
		out, err := Edit([]byte(text), map[string]any{"train.curriculum.strategy": "uniform"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if out, err = Edit(out, map[string]any{"train.curriculum.strategy": nil}); err != nil || strings.TrimRight(string(out), "\n") != strings.TrimRight(text, "\n") {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, cmp.Diff(text, string(out)))
		}
	}
	if read < 50 {
		t.Errorf("%d configs", read)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The short form of a key is kept, or becomes the long one where that is needed.
func TestEditShortForms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, key string
		value     any
		want      string
	}{
		{"tasks: a.csv # mine\n", "tasks.path", "b.csv", "tasks: b.csv # mine\n"},
		{"tasks: a.csv\nskill: s\n", "tasks.limit", 3.0, "tasks:\n  path: a.csv\n  limit: 3\nskill: s\n"},
		{"tasks: a.csv\n", "tasks.limit", nil, "tasks: a.csv\n"},
		{"tasks: a.csv\nskill: s\n", "tasks.path", nil, "skill: s\n"},
		{"tasks: {path: a.csv}\n", "tasks.path", "b", "tasks: {path: b}\n"},
		{"", "tasks.columns", map[string]any{"prompt": "Question"}, "tasks:\n  columns:\n    prompt: Question\n"},
		{"models:\n  target: {provider: sim}\n", "models.target.temperature", 0.0, "models:\n  target: {provider: sim, temperature: 0}\n"},
	} {
		got, err := Edit([]byte(tt.text), map[string]any{tt.key: tt.value})
		if diff := cmp.Diff(tt.want, string(got)); diff != "" || err != nil {
			t.Errorf("%s of %q: %v\n%s", tt.key, tt.text, err, diff)
		}
	}
}

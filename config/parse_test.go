package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParse: values, the lines of their keys, and numbers as they are written where the
// configuration holds text.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text  string
		tree  map[string]any
		lines map[string]int
	}{
		{"", map[string]any{}, map[string]int{}},
		{"# nothing\n---\n# nothing\n", map[string]any{}, map[string]int{}},
		{
			"run:\n  # says\n  name: 0123\ntrain: {epochs: 0x10,\n  seed: 1_0}\n",
			map[string]any{"run": map[string]any{"name": "0123"}, "train": map[string]any{"epochs": uint64(16), "seed": uint64(10)}},
			map[string]int{"run": 1, "run.name": 3, "train": 4, "train.epochs": 4, "train.seed": 5},
		},
		{
			"env:\n  command: [a, 2.50]\n  extras: {a: 1.50}\nmodels: &m\n  target: {model: 1.10}\n",
			map[string]any{
				"env":    map[string]any{"command": []any{"a", "2.50"}, "extras": map[string]any{"a": 1.5}},
				"models": map[string]any{"target": map[string]any{"model": 1.1}},
			},
			map[string]int{"env": 1, "env.command": 2, "env.extras": 3, "env.extras.a": 3, "models": 4},
		},
		{
			"\"a b\": &x {p: 1}\nc:\n  <<: *x\n? d\n: e\n",
			map[string]any{"a b": map[string]any{"p": uint64(1)}, "c": map[string]any{"p": uint64(1)}, "d": "e"},
			map[string]int{"a b": 1, "c": 2, "c.<<": 3, "?": 4},
		},
	} {
		tree, lines, err := parse("f.yaml", []byte(tt.text))
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if diff := cmp.Diff(tt.tree, tree); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
		if diff := cmp.Diff(tt.lines, lines); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: 1\n---\nb: 2\n":  "f.yaml:3: found a second YAML document, allowed: one YAML mapping",
		"a:\n  b: 1\n  b: 2": "f.yaml:3: found YAML that cannot be read: mapping key already defined at [2:3] (column 3), allowed: one YAML mapping",
		"a: [1\nb: 2\n":      "f.yaml:2: found YAML that cannot be read: ',' or ']' must be specified (column 1), allowed: one YAML mapping",
		"a: *x\n":            "f.yaml:1: found YAML that cannot be read: could not find alias (column 5), allowed: one YAML mapping",
		"- a\n":              "f.yaml:1: found YAML that cannot be read: sequence was used where mapping is expected (column 1), allowed: one YAML mapping",
		"a: &a [*a]\n":       "f.yaml:1: found YAML that cannot be read: an alias within its own value, allowed: one YAML mapping",
	} {
		_, _, err := parse("f.yaml", []byte(text))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestSetKeys(t *testing.T) {
	t.Parallel()
	kept, err := Default().YAML(false)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		string(kept): {},
		"train: {epochs: 2, seed: 42}\nmodels: {target: {provider: sim}}\nlimits: {calls: 9}\n": {"models.target.provider", "train.epochs", "limits.calls"},
		"train: {epochs: 2, unknown: 1, seed: x}\n":                                             {"train.epochs"},
		"train: [": {}, "": {},
	} {
		if diff := cmp.Diff(want, SetKeys([]byte(text))); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

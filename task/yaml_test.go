package task

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestYAML: values as JSON has them, with numbers as they are written, and the line at
// which each item begins.
func TestYAML(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want []Item
	}{
		{"~\n", nil},
		{"# nothing\n", nil},
		{
			"- 1.50\n- 0x1F\n- 1_0\n- 1_0.50\n- 0o17\n- .inf\n- .nan\n- yes\n- true\n- 'it''s'\n- !!str 1.50\n- !!int '3'\n-\n",
			[]Item{
				{Value: json.Number("1.50"), Line: 1},
				{Value: json.Number("31"), Line: 2},
				{Value: json.Number("10"), Line: 3},
				{Value: json.Number("10.5"), Line: 4},
				{Value: json.Number("15"), Line: 5},
				{Value: math.Inf(1), Line: 6},
				{Value: math.NaN(), Line: 7},
				{Value: "yes", Line: 8},
				{Value: true, Line: 9},
				{Value: "it's", Line: 10},
				{Value: "1.50", Line: 11},
				{Value: "3", Line: 12},
				{Line: 13},
			},
		},
		{
			"about: us\ntasks:\n# first\n- &x\n  a: |\n    two\n    lines\n- <<: *x\n  b: 1\n- {c: d}\n-\n  - e\n",
			[]Item{
				{Value: map[string]any{"a": "two\nlines\n"}, Line: 4},
				{Value: map[string]any{"a": "two\nlines\n", "b": json.Number("1")}, Line: 8},
				{Value: map[string]any{"c": "d"}, Line: 10},
				{Value: []any{"e"}, Line: 12},
			},
		},
		{"a: 1\n---\n\n? b\n: 2\n", []Item{{Value: map[string]any{"a": json.Number("1")}, Line: 1}, {Value: map[string]any{"?": json.Number("2")}, Line: 4}}},
	} {
		got, err := yamlItemsOf([]byte(tt.text))
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(Item{}), cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestYAMLErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"- a\n- b: 1\n  b: 2\n":  "line 3: mapping key already defined at [2:3]",
		"- a\n- *x\n":            "line 2: alias *x names no anchor before it",
		"- a: 1\n\n- <<: 3\n":    "line 3: << must name an object, found the number 3",
		"- a\n- &x [*x]\n":       "line 2: an alias within its own value",
		"%YAML 1.2\n---\na: 1\n": "line 1: Directive is not supported in a task file; plain values, lists and objects are",
		"- a\n- {? <<: 1}\n":     "line 2: << must name an object, found the number 1",
		"tasks: [\n":             "line 1: sequence end token ']' not found",
		"- a\n- 'b\n":            "line 2: could not find end character of single-quoted text",
	} {
		_, err := yamlItemsOf([]byte(text))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// FuzzYAML goes past the file's kind and the lint, for speed: no crash, and
// every item has a line.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{
		"tasks:\n- &x {prompt: p, gold: g}\n- <<: *x\n  id: !!str 1\n", "- prompt: |\n    a\n  gold: 0x1F\n  n: .inf\n", "? a\n: b\n",
		"%YAML 1.2\n---\na: >-\n  x\n...\n", "[a, {b: c}, \"d\\n\", 'e']", "!!binary x", "a: !<tag:x> {}\n- b", " - \t\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		items, err := yamlItemsOf(data)
		if err != nil {
			return
		}
		for _, it := range items {
			if it.Line < 1 {
				t.Fatalf("line %d", it.Line)
			}
		}
	})
}

func yamlItemsOf(data []byte) (list []Item, err error) {
	err = eachYAML(context.Background(), data, func(it Item) { list = append(list, it) })
	return list, err
}

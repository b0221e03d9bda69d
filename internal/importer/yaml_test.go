package importer_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/importer"
)

// TestScalars holds what PyYAML makes of them.
func TestScalars(t *testing.T) {
	t.Parallel()
	huge, _ := new(big.Int).SetString("99999999999999999999", 10)
	tests := []struct {
		text string
		want any
	}{
		{"", nil},
		{"~", nil},
		{"Null", nil},
		{"on", true},
		{"Off", false},
		{"yes", true},
		{"y", "y"},
		{"tRUE", "tRUE"},
		{"'yes'", "yes"},
		{`"012"`, "012"},
		{"012", int64(10)},
		{"08", "08"},
		{"0o14", "0o14"},
		{"-0x1f", int64(-31)},
		{"0b11", int64(3)},
		{"1_000", int64(1000)},
		{"99999999999999999999", huge},
		{"1:30", int64(90)},
		{"-1:30", int64(-90)},
		{"2:1:7", int64(7267)},
		{"1:30.5", 90.5},
		{"1e3", "1e3"},
		{"1.5e3", "1.5e3"},
		{"1.5e+3", 1500.0},
		{"1e-3", "1e-3"},
		{".5", 0.5},
		{"-.5", "-.5"},
		{"5.", 5.0},
		{"08.5", 8.5},
		{"685_230.15", 685230.15},
		{"2001-12-14", "2001-12-14"},
		{"1.2.3", "1.2.3"},
		{"http://x/y#z", "http://x/y#z"},
		{"a # note", "a"},
		{"!!str 012", "012"},
		{"!!str", ""},
		{"!!int \"3\"", int64(3)},
		{"|\n  a\n  b", "a\nb"},
		{">-\n  a\n  b", "a b"},
		{"[1, two, {x: no}]", []any{int64(1), "two", map[string]any{"x": false}}},
	}
	for _, tt := range tests {
		got, err := importer.Parse("f", []byte("k: "+tt.text+"\n"))
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		value := got["k"]
		if s, ok := value.(string); ok {
			value = strings.TrimSuffix(s, "\n")
		}
		if want := fmt.Sprintf("%T %v", tt.want, tt.want); want != fmt.Sprintf("%T %v", value, value) {
			t.Errorf("%q: got %T %v, want %s", tt.text, value, value, want)
		}
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want map[string]any
	}{
		{"", map[string]any{}},
		{"# only a note\n", map[string]any{}},
		{"a: [" + strings.Repeat("[1],", 300) + "]\n", map[string]any{"a": slices.Repeat([]any{[]any{int64(1)}}, 300)}},
		{"[]", map[string]any{}},
		{"0", map[string]any{}},
		{"---\na: 1\n...\n", map[string]any{"a": int64(1)}},
		{"%YAML 1.1\n---\na: on\n", map[string]any{"a": true}},
		{"\ufeffa: 1\r\nb: 2\r\n", map[string]any{"a": int64(1), "b": int64(2)}},
		{"a: 1\na: 2\n", map[string]any{"a": int64(2)}},
		{"on: 1\n2: x\n? c\n: d\n", map[string]any{"on": int64(1), "2": "x", "c": "d"}},
		{
			"a: &x {p: 1, q: 1}\nb: &y {p: 2, r: 3}\nc:\n  <<: [*x, *y]\n  q: 4\n",
			map[string]any{
				"a": map[string]any{"p": int64(1), "q": int64(1)}, "b": map[string]any{"p": int64(2), "r": int64(3)},
				"c": map[string]any{"p": int64(1), "q": int64(4), "r": int64(3)},
			},
		},
	}
	for _, tt := range tests {
		got, err := importer.Parse("f", []byte(tt.text))
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	for _, tt := range []struct{ text, want string }{
		{"- a\n", "f: found a list, want a mapping"},
		{"text", "f: found text, want a mapping"},
		{"a: 1\n---\nb: 2\n", "a second YAML document"},
		{"a: 1\nb: *nothing\n", "f:2: an alias without its anchor"},
		{"a: 1\nb: !!binary aGk=\n", "f:2: a tag that no configuration has"},
		{"a: {<<: 3}\n", "<< merges mappings, found a number"},
		{"azure_openai_api_key: 'sesame\n", "YAML that cannot be read"},
		{bomb, "f:5: YAML that cannot be read: more values than are read of YAML"},
		{strings.Repeat("#", importer.MaxFile+1), "f: larger than a configuration is (64 KB at most)"},
		{"a:\n  - " + strings.Repeat("[", importer.MaxFile-10), "f:2: YAML that cannot be read: nested deeper than 100 levels"},
		{strings.Repeat("{a:\n", 5000), "nested deeper"},
		{strings.Repeat("- ", importer.MaxFile/2), "f:1: YAML that cannot be read: nested deeper"},
		{strings.Repeat("? ", importer.MaxFile/2), "f:1: YAML that cannot be read: nested deeper"},
		{"a: 1\nb: caf\xe9\n", "f:2: found a byte that is not UTF-8"},
		{"\xff\xfea\x00:\x00", "f:1: found a byte that is not UTF-8"},
		{"a: 1\r\nb: x\x00y\r\n", "f:2: found the control character U+0000"},
		{"a: \x1b[2J\n", "f:1: found the control character U+001B"},
		{"train:\n\tnum_epochs: 3\n", "f:2: YAML that cannot be read: found character '\t' that cannot start any token"},
		{"a: [1, 2\n", "YAML that cannot be read: "},
		{"a: &a [*a]\n", "f:1: YAML that cannot be read: an alias within its own value"},
		{"a: &a {<<: *a}\n", "f:1: YAML that cannot be read: an alias within its own value"},
	} {
		_, err := importer.Parse("f", []byte(tt.text))
		var parse *importer.ParseError
		if !errors.As(err, &parse) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60q: got %v, want %s", tt.text, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "sesame") {
			t.Errorf("the error quotes the file: %v", err)
		}
	}
}

// TestParseErrorLines: what is said of a file, with the line.
func TestParseErrorLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: 1\n---\nb: 2\n":     "f:3: a second YAML document",
		"a:\n  - 1\n  - *b\n":   "f:3: an alias without its anchor before it",
		"a:\n  <<: 3\n":         "f:2: << merges mappings, found a number",
		"a: 1\nb:\n  c: !x 1\n": "f:3: a tag that no configuration has",
		"a: 1\n? [b]\n: c\n":    "f:3: YAML that cannot be read: found an invalid key for this map",
		"a: 1\n? {b: c}\n: d\n": "f:3: YAML that cannot be read: found an invalid key for this map",
		"a: &x\n  - *x\n":       "f:2: YAML that cannot be read: an alias within its own value",
		"a: {b: 1\n":            "f:1: YAML that cannot be read: could not find flow mapping end token '}'",
	} {
		_, err := importer.Parse("f", []byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// FuzzImport holds that no file makes the importer fail in another way than by
// an error, and that what it writes is named.
func FuzzImport(f *testing.F) {
	for _, text := range []string{
		"train: {num_epochs: 2}\nenv: {name: searchqa, workers: 3}\n", "a: &x [1]\nb: *x\n", "env: alfworld\nmodel: {sandbox: x}\n",
		"? [a]\n: b\n", "k: !!int x\n", "<<: {a: 1}\n", "extras: 1\nenv: {extras: {a: .nan}}\n", "a: |\n  x\n", "- {}\n", "model: {backend: codex}\n",
	} {
		f.Add(text)
	}
	to := target(f)
	f.Fuzz(func(t *testing.T, text string) {
		cfg, err := importer.Parse("f", []byte(text))
		if err != nil {
			return
		}
		out, report, err := importer.Import(cfg, importer.Options{Target: to, Source: "f"})
		if err != nil {
			t.Fatalf("import: %v", err)
		}
		if _, err := importer.Parse("out", out); err != nil {
			t.Fatalf("the result cannot be read: %v\n%s", err, out)
		}
		if len(importer.Flatten(cfg)) > len(report.Rows) {
			t.Fatalf("%d rows for %v", len(report.Rows), cfg)
		}
	})
}

package sim

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const small = `name: small
kinds:
  - type: sum
    match: 'Add (?P<a>\d+) and (?P<b>\d+)'
    answer: a + b
rules:
  - id: words
    task_types: [sum]
    states: [[number, prefix]]
    say: [Give each number a prefix.]
    transform: {kind: prefix, text: 'no. '}
`

func TestWorldFilesAreReadStrictly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		old, new string // change of the small world
		line     string
		want     string // part of the message
	}{
		{"unknown key", "say:", "says:", ":10", "says"},
		{"not YAML", "name: small", "name: [small", "", ""},
		{"wrong type", "name: small", "name: {a: b}", ":1", ""},
		{"name with a space", "name: small", "name: s mall", ":1", "name: found"},
		{"rate above one", "name: small", "name: small\nrates: {noise: 2}", ":2", "rates.noise: found 2, allowed is 0 to 1"},
		{"rate that is no number", "name: small", "name: small\nrates: {noise: .nan}", ":2", "rates.noise"},
		{"only faults", "name: small", "name: small\nrates: {empty: 0.5, errors: 0.5}", ":2", "no usable reply"},
		{"latency", "name: small", "name: small\nrates: {latency_ms: -1}", ":2", "rates.latency_ms"},
		{"reply without answer", "name: small", "name: small\nreply: hello", ":2", "{{answer}}"},
		{"bad pattern", `Add (?P<a>`, `Add ((?P<a>`, ":4", "kinds[0].match"},
		{"no pattern", `'Add (?P<a>\d+) and (?P<b>\d+)'`, `''`, ":4", "a regular expression is needed"},
		{"unknown name", "answer: a + b", "answer: a + c", ":5", "the name c is unknown"},
		{"unknown function", "answer: a + b", "answer: add(a)", ":5", "there is no function add: allowed are cat, count"},
		{"find without group", "    answer: a + b", "    find: {rows: 'x'}\n    answer: a + b", ":5", "kinds[0].find.rows"},
		{"no type", "type: sum", "type: ''", ":3", "type is missing"},
		{"unknown type", "task_types: [sum]", "task_types: [sun]", ":8", `there is no kind of type "sun"`},
		{"no types", "task_types: [sum]", "task_types: []", ":7", "task_types is missing"},
		{"no id", "id: words", "id: ''", ":7", "id is missing"},
		{"bad when", "id: words", "id: words\n    when: '('", ":8", "rules[0].when"},
		{"state of nothing", "[[number, prefix]]", "['**']", ":9", "rules[0].states[0]"},
		{"state without a word", "[[number, prefix]]", "[['!number']]", ":9", "without !"},
		{"state of a map", "[[number, prefix]]", "[{a: b}]", ":9", "a phrase or a list"},
		{"bad state", "[[number, prefix]]", "['/(/']", ":9", "regular expression"},
		{"no states", "[[number, prefix]]", "[]", ":7", "at least one entry"},
		{"transform", "kind: prefix", "kind: prefax", ":11", "rules[0].transform.kind: found \"prefax\", allowed are constant"},
		{"transform without text", "text: 'no. '", "text: ''", ":11", "rules[0].transform.text"},
		{"not understood", "Give each number a prefix.", "Be nice.", ":10", "none of the states of rule words recognises"},
		{"two lines", "[Give each number a prefix.]", `["Give each number a\n\nprefix."]`, ":10", "one line is needed"},
		{"note that is a rule", "name: small", "name: small\nnotes: [Each number has a prefix.]", ":2", "a note must state none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(small, tt.old, tt.new, 1)
			if text == small {
				t.Fatal("the test changes nothing")
			}
			_, err := Parse("world.yaml", []byte(text))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if msg := err.Error(); !strings.Contains(msg, "world.yaml"+tt.line) || !strings.Contains(msg, tt.want) {
				t.Errorf("got %q, want it to hold %q and %q", msg, "world.yaml"+tt.line, tt.want)
			}
		})
	}
}

func TestWorldWithoutKinds(t *testing.T) {
	t.Parallel()
	_, err := Parse("w", []byte("name: x\n"))
	if err == nil || !strings.Contains(err.Error(), "at least one kind") {
		t.Errorf("got %v", err)
	}
}

func TestRulesMustNotOverlap(t *testing.T) {
	t.Parallel()
	text := small + `  - id: words
    task_types: [sum]
    states: [number]
    say: [Say the number.]
    transform: {kind: upper}
`
	_, err := Parse("w", []byte(text))
	if err == nil || !strings.Contains(err.Error(), "is the id of an earlier rule") {
		t.Errorf("got %v, want the repeated id", err)
	}
	text = strings.Replace(text, "  - id: words\n    task_types: [sum]\n    states: [number]", "  - id: other\n    task_types: [sum]\n    states: [number]", 1)
	_, err = Parse("w", []byte(text))
	if err == nil || !strings.Contains(err.Error(), "also states rule other") {
		t.Errorf("got %v, want the overlap", err)
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	t.Parallel()
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want a missing file", err)
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("a directory was read")
	}
	large := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(large, make([]byte, MaxBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(large); err == nil || !strings.Contains(err.Error(), "larger than 1 MB") {
		t.Errorf("got %v, want the limit", err)
	}
	w, err := Load("testdata/incidents.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if w.Name() != "incidents" {
		t.Errorf("name %q", w.Name())
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	data, err := os.ReadFile("testdata/incidents.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("name: x\nrules: [{states: [{}], transform: {kind: round, digits: 99}}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := Parse("w", data)
		if err != nil {
			return
		}
		for _, text := range []string{"", "Add 1 and 2", "Which services failed?"} {
			if p, err := w.solve(text); err == nil && p != nil {
				w.answer(p, w.read("Give each number a prefix."), 1)
			}
		}
	})
}

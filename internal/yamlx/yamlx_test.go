package yamlx_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

func TestDecodeAsTheLibrary(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "a", "a: 1\n", "a: &x {p: 1}\nb: *x\nc:\n  <<: *x\n  q: 2\n", "- a\n- {b: [1, 2.5, true, null]}\n", "a: |\n  one\n\n\n  two\n\nb: >-\n  x\n  y\n",
		"---\na: 1\n...\n", "? a\n: b\n", "'it''s': \"a\\tb\"\n", "a: !!str 1\n", "# only a comment\n", "a: # comment\n  - b\n", "a: é\r\nb: 2\r\n",
		strings.Repeat("[", 9) + strings.Repeat("]", 9), "a:\n" + strings.Repeat("- x\n", 20_000),
	}
	for _, path := range []string{"../../examples/quickstart/config.yaml", "../../examples/quickstart/world.yaml"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for _, text := range texts {
		var want, got any
		if err := yaml.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("%.40q: %v", text, err)
		}
		if _, err := yamlx.Decode([]byte(text), &got); err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.40q: %s", text, diff)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{strings.Repeat(" ", yamlx.MaxBytes+1), "larger than 1024 KB, which is the most that is read of YAML"},
		{"a: 1\nb: " + strings.Repeat("[", 101), "line 2: nested deeper than 100 levels"},
		{strings.Repeat("[", yamlx.MaxBytes), "line 1: nested deeper than 100 levels"},
		{strings.Repeat("- ", 101) + "x", "line 1: nested deeper than 100 levels"},
		{strings.Repeat("- ", 60) + strings.Repeat("{a: ", 60), "line 1: nested deeper than 100 levels"},
		{strings.Repeat("a,\n", yamlx.MaxBytes/3), "line 30001: more lists, keys and values than are read of YAML (about 60000)"},
		{"a: &x [*x]\n", "line 1: an alias within its own value"},
		{"a: &x [&x 1, *x]\n", ""},
		{"a: |\n  text\n" + strings.Repeat("\n", 100), ""},
	} {
		var v any
		_, err := yamlx.Decode([]byte(tt.text), &v)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%.40q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestErrorsQuoteNothing: what is named by mistake may be a file of keys.
func TestErrorsQuoteNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"sesame:\n\tsesame: [", "sesame: 1\nsesame: 2\n", "a: *sesame\n", "<<: *sesame\n", "a: !!int sesame\n", "a: !!bool sesame\n", "a: !!timestamp sesame\n",
		"%YAML sesame\n---\n", "a: |sesame\n", "a: !!sesame\n", "a: \"sesame\n", "a: 'sesame\n", "a: \"\\xsesame\"\n", "sesame\nsesame: a: b\n", "@sesame", "sesame: [sesame\nsesame}", "&sesame", "{sesame", "a: !!binary sesame!\n",
		"a: [sesame]]\n", "- sesame\nb: sesame\n", "sesame: - sesame\n", "--- sesame: |\n", "a: 1\n  sesame: 2\n", "sesame\x00\x01: [", "a: &sesame &sesame x\n", "? sesame ? sesame\n: : sesame",
	} {
		var v map[string]int
		_, err := yamlx.Decode([]byte(text), &v)
		if err == nil {
			t.Errorf("%q was read", text)
			continue
		}
		if strings.Contains(err.Error(), "sesame") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range hostile(300) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 16<<10 {
			t.Skip()
		}
		var v any
		_, err := yamlx.Decode([]byte(text), &v)
		var own *yamlx.Error
		if err != nil && !errors.As(err, &own) {
			t.Errorf("%T: %v", err, err)
		}
		file, err := yamlx.ParseRepeated([]byte(text))
		if err != nil {
			return
		}
		var b strings.Builder // no node panics
		for doc := range file.Documents() {
			outline(&b, 0, doc)
		}
	})
}

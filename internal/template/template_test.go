package template

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestRender(t *testing.T) {
	t.Parallel()
	values := map[string]any{
		"name": "Ada", "empty": "", "nil": nil, "n": 3, "f": 0.5, "num": json.Number("1.50"), "yes": true,
		"multi": "a\n{{b}}\n", "list": []any{"<x>", 1}, "a.b": "whole", "größe": "weit",
		"task": map[string]any{"id": "q1", "deep": map[string]any{"x": "y"}}, "head": map[string]string{"k": "v"},
	}
	tests := []struct{ name, text, want string }{
		{"plain", "no names { } }}", "no names { } }}"},
		{"empty text", "", ""},
		{"name", "Hi {{name}}{{ name }}!", "Hi AdaAda!"},
		{"nothing", "[{{empty}}{{nil}}]", "[]"},
		{"numbers", "{{n}} {{f}} {{num}} {{yes}}", "3 0.5 1.50 true"},
		{"verbatim", "x {{multi}} y", "x a\n{{b}}\n y"},
		{"list", "{{list}}", `["<x>",1]`},
		{"nested", "{{task.id}} {{task.deep.x}} {{head.k}} {{task.deep}}", `q1 y v {"x":"y"}`},
		{"whole name first", "{{a.b}}", "whole"},
		{"letters", "{{größe}}", "weit"},
		{"escape", "{{{{name}} {{{{{{name}}", "{{name}} {{Ada"},
		{"escape at the end", "{{{{", "{{"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tmpl, err := Parse("t", tt.text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tmpl.Render(values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	values := map[string]any{"question": "q", "task": map[string]any{"context": "c"}, "head": map[string]string{"a": "b"}, "bad": func() {}}
	tests := []struct{ name, text, want string }{
		{"unknown", "a\nb {{questoin}}", "t:2: unknown name {{questoin}} (known: bad, head, head.a, question, task, task.context); did you mean {{question}}?"},
		{"nothing near", "{{zzz}}", "t:1: unknown name {{zzz}} (known: bad, head, head.a, question, task, task.context)"},
		{"nested", "\n\n{{task.contxt}}", "did you mean {{task.context}}?"},
		{"under a text", "{{question.x}}", "unknown name {{question.x}}"},
		{"not closed", "x\n{{a", "t:2: {{ without }}"},
		{"expression", "{{if x}}", "t:1: {{if x}} is not a name"},
		{"empty", "{{}}", "{{}} is not a name"},
		{"empty word", "{{a..b}}", "is not a name"},
		{"three braces", "{{{question}}}", "is not a name"},
		{"over lines", "{{a\nb}}", "{{a...}} is not a name"},
		{"long", "{{" + strings.Repeat("é!", 60) + "}}", "...}} is not a name"},
		{"unprintable value", "{{bad}}", "t:1: {{bad}}: a value of type func() has no text form"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tmpl, err := Parse("t", tt.text)
			if err == nil {
				_, err = tmpl.Render(values)
			}
			var fault *Error
			if !errors.As(err, &fault) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestManyKnownNamesAreNotListed(t *testing.T) {
	t.Parallel()
	values := map[string]any{}
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		values[strings.Repeat(string(c), 5)] = ""
	}
	tmpl, err := Parse("t", "{{aaaab}}")
	if err != nil {
		t.Fatal(err)
	}
	_, err = tmpl.Render(values)
	if want := "t:1: unknown name {{aaaab}}; did you mean {{aaaaa}}?"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestNamesAndCheck(t *testing.T) {
	t.Parallel()
	tmpl, err := ParseAt("prompts/x.md", 7, "{{b.c}}\n{{a}} {{b.c}}")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b.c"}, tmpl.Names()); diff != "" {
		t.Error(diff)
	}
	if err := tmpl.Check("a", "b"); err != nil {
		t.Error(err)
	}
	err = tmpl.Check("b")
	if want := "prompts/x.md:8: unknown name {{a}} (known: b)"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := tmpl.Check("a", "bc"); err == nil {
		t.Error("bc does not cover b.c")
	}
}

func TestEscapedTextRendersAsItself(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([{}a\n]|[^{}])*`).Draw(t, "text")
		tmpl, err := Parse("t", strings.ReplaceAll(text, "{{", "{{{{"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tmpl.Render(nil); err != nil || got != text {
			t.Fatalf("got %q, %v; want %q", got, err, text)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"{{a}}", "{{{{a}}", "{{ a.b }}\n{{c", "{{{a}}}", "}}{{", "{{a\n}}", "\xff{{é}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tmpl, err := Parse("t", text)
		if err != nil {
			var fault *Error
			if !errors.As(err, &fault) || fault.Line < 1 || fault.Line > 1+strings.Count(text, "\n") {
				t.Fatalf("Parse(%q): %v", text, err)
			}
			return
		}
		values := map[string]any{}
		for _, name := range tmpl.Names() {
			values[name] = "x"
		}
		if _, err := tmpl.Render(values); err != nil {
			t.Fatalf("Parse(%q): %v", text, err)
		}
	})
}

func BenchmarkRender(b *testing.B) {
	tmpl, err := Parse("t", "Context:\n{{context}}\n\nQuestion: {{question}}\n")
	if err != nil {
		b.Fatal(err)
	}
	values := map[string]any{"context": strings.Repeat("x", 900), "question": "What?"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tmpl.Render(values); err != nil {
			b.Fatal(err)
		}
	}
}

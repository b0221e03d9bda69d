package latex

import (
	"slices"
	"strings"
	"testing"
)

func TestBoxes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string
	}{
		{"none", nil},
		{`so \boxed{B}.`, []string{"B"}},
		{`\boxed{1} then \boxed{\frac{1}{2}}`, []string{"1", `\frac{1}{2}`}},
		{`\boxed{a{b{c{d}}}}`, []string{"a{b{c{d}}}"}},
		{`\boxed{a \boxed{b}}`, []string{`a \boxed{b}`}},
		{`\boxed{never closed \boxed{b}`, []string{"b"}},
		{`\boxed{never closed`, nil},
		{`\boxed{\{1, 2\}}`, []string{`\{1, 2\}`}},
		{`\boxed{\left\{ x \right.}`, []string{`\left\{ x \right.`}},
		{`} \boxed{}`, []string{""}},
	}
	for _, tt := range tests {
		if got := Boxes(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestUnwrap(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		` $\boxed{\text{B}}$ `: "B", `$$x$$`: "x", `\(x\)`: "x", `\[ \mathbf{x} \]`: "x",
		`$a$ and $b$`: `$a$ and $b$`, `\text{a}\text{b}`: `\text{a}\text{b}`, `\boxed{x`: `\boxed{x`, "": "", "$": "$", "$$": "$$",
	} {
		if got := Unwrap(in); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

func FuzzBoxes(f *testing.F) {
	f.Add(`\boxed{a{b}} \boxed{`)
	f.Add(`\\boxed{\}}`)
	f.Add(`\bm{`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, b := range Boxes(text) {
			if !strings.Contains(text, box+b+"}") {
				t.Fatalf("%q is not in %q", b, text)
			}
		}
		Unwrap(text)
	})
}

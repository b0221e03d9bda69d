package skill

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       Document
	}{
		{"empty", "", Document{}},
		{"no front matter", "# T\n", Document{Body: "# T\n"}},
		{
			"front matter", "---\nname: sums\ndescription: Adds up.\nlicense: MIT\n---\n# T\n",
			Document{Head: "---\nname: sums\ndescription: Adds up.\nlicense: MIT\n---\n", Body: "# T\n", Name: "sums", Description: "Adds up."},
		},
		{
			"CRLF and byte order mark", "\ufeff---\r\nname: sums\r\n---\r\n# T\r\n",
			Document{Head: "\ufeff---\r\nname: sums\r\n---\r\n", Body: "# T\r\n", Name: "sums"},
		},
		{
			"folded description", "---\ndescription: >-\n  Adds\n  up.\n---", Document{
				Head: "---\ndescription: >-\n  Adds\n  up.\n---", Description: "Adds up.",
			},
		},
		{"empty front matter", "---\n---\nx", Document{Head: "---\n---\n", Body: "x"}},
		{"thematic break", "---\n# T\n", Document{Body: "---\n# T\n"}},
		{"break before a region", "---\n" + SlowStart + "\n---\n" + SlowEnd, Document{Body: "---\n" + SlowStart + "\n---\n" + SlowEnd}},
		{"longer rule", "----\nname: x\n----\n", Document{Body: "----\nname: x\n----\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("document (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseBadFrontMatter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		line int
		want string
	}{
		{"---\nname: [a\n---\nbody\n", 2, "line 2"},
		{"---\nname: x\ndescription: Use this: when asked.\n---\nbody\n", 3, "the value of description is no YAML (mapping value is not allowed in this context): put it in quotes"},
		{"---\nname: x\ndescription: Use it\n  when: asked.\n---\nbody\n", 3, "the value of description is no YAML"},
		{"---\nname: x\ndescription: @all of it\n---\nbody\n", 3, "put it in quotes"},
		{"---\nname: x\ndescription: {a: b}\n---\nbody\n", 3, "line 3"},
		{"---\nname: x\nname: y\n---\nbody\n", 3, "line 3"},
		{"---\njust text\n---\nbody\n", 2, "front matter"},
	}
	for _, tt := range tests {
		doc, err := Parse(tt.text)
		var bad *FrontMatterError
		if !errors.As(err, &bad) {
			t.Errorf("Parse(%q): error %v, want a *FrontMatterError", tt.text, err)
			continue
		}
		if bad.Line != tt.line || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), lf) {
			t.Errorf("Parse(%q): line %d, error %q", tt.text, bad.Line, err)
		}
		if errors.Unwrap(err) == nil {
			t.Errorf("Parse(%q): nothing wrapped", tt.text)
		}
		if doc.Text() != tt.text || doc.Body != "body\n" {
			t.Errorf("Parse(%q): document %+v", tt.text, doc)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "---\nname: x\n---\n# T\n", "---\r\nname: x\r\n---\r\n", "---\n- &a [*a]\n---\n", "---\na: !!binary x\n---\n",
		"---\n? [\n---\n", "---\nname: |\n  a\n---", "\ufeff---\n---", "---\nname: \"\\ud800\"\n---\n", withRegions,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := Parse(text)
		if doc.Text() != text {
			t.Fatalf("%q became %q", text, doc.Text())
		}
		if err == nil && doc.Head == "" && doc.Name+doc.Description != "" {
			t.Fatalf("name without front matter: %+v", doc)
		}
		if !RegionsEqual(text, text) {
			t.Fatal("a text is not equal to itself")
		}
		StripMarkers(WithoutRegions(text))
	})
}

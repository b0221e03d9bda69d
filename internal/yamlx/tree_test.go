package yamlx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// outline writes a node and what it holds, a line each: its place, its kind, how it is
// written, and what scalars stand for by both versions of YAML.
func outline(b *strings.Builder, depth int, n yamlx.Node) {
	fmt.Fprintf(b, "%s%d:%d %v", strings.Repeat("  ", depth), n.Line(), n.Column(), n.Kind())
	switch n.Kind() {
	case yamlx.List, yamlx.Mapping:
		fmt.Fprintf(b, " of %d from %d:%d", n.Len(), n.Start().Line(), n.Start().Column())
	case yamlx.Tagged, yamlx.ExplicitKey:
		fmt.Fprintf(b, " %s", n.TokenText())
	case yamlx.Anchored, yamlx.Alias:
		fmt.Fprintf(b, " %s", n.Name())
	default:
		fmt.Fprintf(b, " %q %q %#v %#v", n.TokenText(), n.Text(), n.Value(), n.Value11())
	}
	b.WriteString("\n")
	for _, item := range n.Items() {
		outline(b, depth+1, item)
	}
	for key, value := range n.Pairs() {
		outline(b, depth+1, key)
		outline(b, depth+2, value)
	}
	if inner := n.Inner(); inner.Kind() != yamlx.None {
		outline(b, depth+1, inner)
	}
}

func TestNodes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"# only a comment\n", `0:0 None "" "" <nil> <nil>`},
		{"b: 010\na: [0x1F, 1_0, 1.50, on, true, ~]\n", `
1:2 Mapping of 2 from 1:1
  1:1 String "b" "b" "b" "b"
    1:4 Integer "010" "010" 0x8 8
  2:1 String "a" "a" "a" "a"
    2:4 Sequence of 6 from 2:4
      2:5 Integer "0x1F" "0x1F" 0x1f 31
      2:11 Integer "1_0" "1_0" 0xa 10
      2:16 Float "1.50" "1.50" 1.5 1.5
      2:22 String "on" "on" "on" true
      2:26 Bool "true" "true" true true
      2:32 Null "~" "~" <nil> <nil>
`},
		{"- 'on'\n- \"a\\tb\"\n- |\n  two\n  lines\n-\n", `
1:1 Sequence of 4 from 1:1
  1:3 String "on" "on" "on" "on"
  2:3 String "a\tb" "a\tb" "a\tb" "a\tb"
  3:3 Literal "|" "two\nlines\n" "two\nlines\n" "two\nlines\n"
  6:3 Null "null" "" <nil> <nil>
`},
		{"a: &x {p: 1}\nb:\n  <<: *x\n? !!str 7\n: .inf\n&k k: .NaN\n", `
1:2 Mapping of 4 from 1:1
  1:1 String "a" "a" "a" "a"
    1:4 Anchor x
      1:7 Mapping of 1 from 1:8
        1:8 String "p" "p" "p" "p"
          1:11 Integer "1" "1" 0x1 1
  2:1 String "b" "b" "b" "b"
    3:5 Mapping of 1 from 3:3
      3:3 MergeKey "<<" "<<" "<<" "<<"
        3:7 Alias x
  4:1 MappingKey ?
    4:3 Tag !!str
      4:8 Integer "7" "7" 0x7 7
    5:3 Infinity ".inf" ".inf" +Inf +Inf
  6:1 Anchor k
    6:4 String "k" "k" "k" "k"
    6:7 Nan ".NaN" ".NaN" NaN NaN
`},
		{"%YAML 1.1\n---\na\n---\nb: 1\n", `
1:1 Directive "%" "%" <nil> "%"
3:1 String "a" "a" "a" "a"
5:2 Mapping of 1 from 5:1
  5:1 String "b" "b" "b" "b"
    5:4 Integer "1" "1" 0x1 1
`},
	} {
		file, err := yamlx.Parse([]byte(tt.text))
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		var b strings.Builder
		for doc := range file.Documents() {
			outline(&b, 0, doc)
		}
		if diff := cmp.Diff(strings.TrimSpace(tt.want), strings.TrimSpace(b.String())); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	file, err := yamlx.Parse([]byte("rules:\n- id: a\n- id: b\n  by:\n    text: x\n"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"rules": 2, "rules[1].by.text": 5, "rules[2]": 0, "none": 0, "rules[": 0} {
		n, ok := file.At(path)
		if n.Line() != want || ok != (want > 0) {
			t.Errorf("%s: line %d, found %v, want line %d", path, n.Line(), ok, want)
		}
	}
}

// TestKeysThatStandTwice: they are an error where nobody asks for them.
func TestKeysThatStandTwice(t *testing.T) {
	t.Parallel()
	const text = "a: 1\na: 2\n"
	if _, err := yamlx.Parse([]byte(text)); err == nil || err.Error() != "line 2, column 1: mapping key already defined at [1:1]" {
		t.Errorf("Parse: %v", err)
	}
	file, err := yamlx.ParseRepeated([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for doc := range file.Documents() {
		if doc.Len() != 2 {
			t.Errorf("%d pairs, want both", doc.Len())
		}
	}
}

func TestStrict(t *testing.T) {
	t.Parallel()
	var v struct{ A int }
	if _, err := yamlx.Decode([]byte("a: 1\nb: 2\n"), &v); err != nil || v.A != 1 {
		t.Errorf("Decode: %v, %+v", err, v)
	}
	if _, err := yamlx.DecodeStrict([]byte("a: 1\nb: 2\n"), &v); err == nil || err.Error() != `line 2, column 1: unknown field "b"` {
		t.Errorf("DecodeStrict: %v", err)
	}
	if err := yamlx.Fill(&v, map[string]any{"a": 3}); err != nil || v.A != 3 {
		t.Errorf("Fill: %v, %+v", err, v)
	}
	if err := yamlx.Fill(&v, map[string]any{"c": 3}); err == nil || !strings.Contains(err.Error(), `unknown field "c"`) {
		t.Errorf("Fill: %v", err)
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	got, err := yamlx.Encode(yamlx.Ordered{{Key: "z", Value: "two\nlines\n"}, {Key: "a", Value: yamlx.Ordered{{Key: "n", Value: []int{1}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("z: |\n  two\n  lines\na:\n  \"n\":\n  - 1\n", string(got)); diff != "" {
		t.Error(diff)
	}
}

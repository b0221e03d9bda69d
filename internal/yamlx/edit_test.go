package yamlx

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A key is set, added or taken out, and all else stays as it is written.
func TestSet(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, keys string
		value            any
		want             string // "": it fails
	}{
		{"a number", "# head\na: 1   # why\nb: 2\n", "a", 3.0, "# head\na: 3   # why\nb: 2\n"},
		{"numbers with an exponent", "a: 1\nb: {c: 1}\n", "a", []any{1e-9, 1e300, 2.5, 1.5e-7}, "a:\n- 1.0e-09\n- 1.0e+300\n- 2.5\n- 1.5e-07\nb: {c: 1}\n"},
		{"numbers with an exponent between braces", "b: {c: 1}\n", "b.c", []any{1e-9, "x"}, "b: {c: [1.0e-09, x]}\n"},
		{"no end of line", "a: 1", "a", 2.5, "a: 2.5"},
		{"added", "a: 1\n\n# end\n", "b", "x", "a: 1\nb: x\n\n# end\n"},
		{"added to nothing", "", "a.b", true, "a:\n  b: true\n"},
		{"added to a comment", "# nothing yet\n", "a.b", true, "# nothing yet\na:\n  b: true\n"},
		{"added to a block", "a:\n    # first\n    b: 1 # one\n# about c\nc: 2\n", "a.d", "e", "a:\n    # first\n    b: 1 # one\n    d: e\n# about c\nc: 2\n"},
		{"a block without values", "a: # empty\nc: 2\n", "a.d", 1.0, "a: # empty\n  d: 1\nc: 2\n"},
		{"taken out", "a:\n  b: 1\n  # about c\n  c: 2\n", "a.b", nil, "a:\n  # about c\n  c: 2\n"},
		{"taken out with its block", "x: 1\na:\n  b:\n    c: 1\n", "a.b.c", nil, "x: 1\n"},
		{"taken out what is not there", "a: 1\n", "b.c", nil, "a: 1\n"},
		{"text", "a: |\n  one\n\n  # two\n\nb: 1\n", "a", "x", "a: x\n\nb: 1\n"},
		{"text of several lines", "m:\n  a: x # why\n  b: 1\n", "m.a", "one\n\ntwo\n", "m:\n  a: | # why\n    one\n\n    two\n  b: 1\n"},
		{"text that looks like something else", "a: 1\n", "a", "yes: #no", "a: \"yes: #no\"\n"},
		{"a hash in quotes", "a: 'x # y' # z\n", "a", "k", "a: k # z\n"},
		{"a list at the column of its key", "a:\n- 1\n- 2\nb: 1\n", "a", []any{"x"}, "a:\n- x\nb: 1\n"},
		{"a mapping", "a: {x: 1}\n", "a", map[string]any{"z": 1.0}, "a:\n  z: 1\n"},
		{"between braces", "a: {b: 'ö, }', c: [1, {d: 2}], e: 3} # z\n", "a.c", 4.0, "a: {b: 'ö, }', c: 4, e: 3} # z\n"},
		{"added between braces", "a: {b: 1} # z\n", "a.c.d", "x y", "a: {b: 1, c: {d: x y}} # z\n"},
		{"added to empty braces", "a: {}\n", "a.b", "1", "a: {b: \"1\"}\n"},
		{"deep between braces", "a: {b: {c: ü, d: 2}}\n", "a.b.d", []any{"x", 1.0}, "a: {b: {c: ü, d: [x, 1]}}\n"},
		{"first taken out of braces", "a: {b: 1, c: 2}\n", "a.b", nil, "a: {c: 2}\n"},
		{"last taken out of braces", "a: {b: 1, c: 2}\n", "a.c", nil, "a: {b: 1}\n"},
		{"braces of several lines", "a: {b: 1,\n    c: 2}\nd: 1\n", "a.c", 3.0, "a: {b: 1,\n    c: 3}\nd: 1\n"},
		{"a key in quotes", "'a b': 1\n", "a b", 2.0, "a b: 2\n"},
		{"Windows", "a: 1\r\nb: 2\r\n", "b", 3.0, "a: 1\r\nb: 3\r\n"},
		{"more documents of comments", "---\na: 1\n...\n", "b", 2.0, "---\na: 1\nb: 2\n...\n"},
		{"an alias", "a: &x {b: 1}\nc: *x\n", "c.b", 2.0, ""},
		{"what an alias represents", "a: &x\n  b: 1\nc: *x\n", "a.b", 2.0, ""},
		{"a value in the way", "a: 1\n", "a.b", 2.0, ""},
		{"no mapping", "- 1\n", "a", 2.0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Set([]byte(tt.text), strings.Split(tt.keys, "."), tt.value)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" || (err != nil) != (tt.want == "") {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Whatever a text is: what is set is there, and all else represents what it did.
func FuzzSet(f *testing.F) {
	for _, text := range []string{"", "a: 1\n", "a: {b: [1, {c: d}], e: 'x'} # y\nf:\n- 1\n", "a: |\n  x\n\nb: &y\n  c: 1\nd: *y\n", "? a\n: 1\n", "--- {a: 1}\n...\n", "a:\tb\n"} {
		f.Add([]byte(text), "a", "b")
		f.Add([]byte(text), "new", "x: y")
	}
	f.Fuzz(func(t *testing.T, text []byte, key, value string) {
		var before map[string]any
		if _, err := Decode(text, &before); err != nil {
			return
		}
		out, err := Set(text, []string{key, "inner"}, value)
		if err != nil {
			return
		}
		var after map[string]any
		if _, err := Decode(out, &after); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		inner, _ := after[key].(map[string]any)
		if inner["inner"] != value {
			t.Errorf("%q: %v", out, after)
		}
		delete(before, key)
		delete(after, key)
		a, errA := json.Marshal(before)
		b, errB := json.Marshal(after)
		if errA != nil || errB != nil || len(before)+len(after) > 0 && string(a) != string(b) {
			t.Errorf("%q became %q", text, out)
		}
	})
}

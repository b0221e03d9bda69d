package jsonx

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRepeated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in     string
		folded int
		want   string // "" for none
	}{
		{`{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}`, 9, ""},
		{`{"hard":1,"hard":0}`, 0, `the key "hard" is there twice`},
		{`{"hard":1,"h\u0061rd":0}`, 0, `the key "hard" is there twice`},
		{`{"hard":1,"Hard":0}`, 0, ""},
		{`{"hard":1,"Hard":0}`, 1, `the keys "hard" and "Hard" mean the same`},
		{`{"task":1,"ta` + "\u017f" + `k":0}`, 1, `the keys "task" and "taſk" mean the same`},
		{`{"k":1,"` + "\u212a" + `":0}`, 1, "the keys \"k\" and \"\u212a\" mean the same"},
		{`{"usage":{"input":1,"INPUT":2}}`, 1, ""},
		{`{"usage":{"input":1,"INPUT":2}}`, 2, `the keys "input" and "INPUT" in usage mean the same`},
		{`{"t":[1,{"x":[{"k":1,"k":1}]}]}`, 2, `the key "k" is there twice in t[1].x[0]`},
		{`[{"a":1},{"a":1,"a":1}]`, 0, `the key "a" is there twice in [1]`},
		{`{"":1,"":2}`, 0, `the key "" is there twice`},
		{`{"a":{},"b":[],"a":null}`, 0, `the key "a" is there twice`},
		{`{"a":1,"a":2`, 0, `the key "a" is there twice`},
		{`{"a":1,}`, 0, ""},
		{`nonsense`, 0, ""},
		{``, 0, ""},
		{`3`, 0, ""},
	} {
		got := ""
		if r := FindRepeat([]byte(c.in), c.folded); r != nil {
			got = r.String()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestUnique(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		`{"score":1,"score":0}`, "```json\n{\"score\":1,\"score\":0}\n```", `I say {"score": 1, "score": 0,} .`,
		`{"1":{"score":1,"score":1}}`, `{"a":[{"b":1,"b":2}]}`,
	} {
		if v, err := UniqueObject(in); err == nil || !strings.Contains(err.Error(), "is there twice in one object") {
			t.Errorf("%s: %v, %v", in, v, err)
		}
		if _, err := Object(in); err != nil {
			t.Errorf("%s: Object says %v", in, err)
		}
	}
	for _, in := range []string{`{"score":1,"Score":0}`, `{"1":{"score":1},"2":{"score":1}}`, `broken {"a":1,"a":2 and then {"a":1}`} {
		_, plain := Object(in)
		if _, err := UniqueObject(in); (err == nil) != (plain == nil) {
			t.Errorf("%s: %v, Object says %v", in, err, plain)
		}
	}
}

// Two readers of the same text agree about which texts have repeated keys.
func FuzzRepeated(f *testing.F) {
	for _, s := range []string{`{"a":1,"a":2}`, `{"a":{"b":[{"c":1,"c":2}]}}`, `[1,{"\u0061":1,"a":2}]`, `{"a":1,"A":2}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		found := FindRepeat([]byte(s), 0)
		if FindRepeat([]byte(s), 3) == nil && found != nil {
			t.Errorf("%q: folding loses %v", s, found)
		}
		if !json.Valid([]byte(s)) {
			return
		}
		p := &parser{s: strings.ToValidUTF8(s, "\ufffd")}
		if _, err := parseDocument(p); err != nil {
			return // deeper than this parser goes
		}
		if (p.repeated != nil) != (found != nil) {
			t.Errorf("%q: %v, the parser of replies says %v", s, found, p.repeated)
		}
	})
}

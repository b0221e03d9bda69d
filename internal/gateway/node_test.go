package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree turns a tree into what encoding/json makes of the same text.
func tree(n node) any {
	switch n.kind {
	case '{':
		m := map[string]any{}
		for _, k := range n.kids {
			m[k.key] = tree(k)
		}
		return m
	case '[':
		l := make([]any, len(n.kids))
		for i, k := range n.kids {
			l[i] = tree(k)
		}
		return l
	case '"':
		return n.text()
	case '0':
		return json.Number(n.raw)
	case 't', 'f':
		return n.isTrue()
	}
	return nil
}

// FuzzNode holds the tree against encoding/json.
func FuzzNode(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-2.5e+3,"x\n\u00e9\ud83d\ude00\ud83d",true,false,null,{}],"a":2}`, `[]`, ` "" `, `0`, `-`, `01`, `1.`, `"\x"`, "\"\x01\"", "\"\xff\"",
		`{"a" : }`, `{"a":1,}`, `[1 2]`, `tru`, `"\u12g4"`, `{"a":{"b":[[["c"]]]}}`, "\"a\xc3\\n\xa9\"", `nulll`, `{1:2}`, `"\ud800\u0041"`, `""""`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := parseJSON(b)
		var want any
		dec := json.NewDecoder(strings.NewReader(string(b)))
		dec.UseNumber()
		valid := json.Valid(b)
		if valid {
			if err := dec.Decode(&want); err != nil {
				t.Skipf("it is valid, and encoding/json itself cannot decode it to compare: %v", err)
			}
		}
		if valid != (err == nil) && !strings.Contains(string(b), strings.Repeat("[", 50)) && !strings.Contains(string(b), strings.Repeat(`{"`, 50)) {
			t.Fatalf("valid = %v, but the tree says %v", valid, err)
		}
		if err != nil {
			return
		}
		if diff := cmp.Diff(want, tree(n)); diff != "" {
			t.Errorf("(-encoding/json +tree):\n%s", diff)
		}
	})
}

func TestNodeNumbers(t *testing.T) {
	t.Parallel()
	n, err := parseJSON([]byte(`{"int":7,"exp":1e3,"frac":1.5,"big":1e400,"huge":12345678901234567890,"text":"7","null":null,"neg":-3}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"int": int64(7), "exp": int64(1000), "neg": int64(-3)}
	for _, key := range []string{"int", "exp", "frac", "big", "huge", "text", "null", "absent", "neg"} {
		got := n.get(key).integer()
		if w, ok := want[key]; ok != (got != nil) || ok && *got != w {
			t.Errorf("integer(%s) = %v, want %v", key, got, want[key])
		}
	}
	if n.get("big").float() != nil || *n.get("frac").float() != 1.5 {
		t.Error("floats")
	}
	if _, err := parseJSON([]byte(strings.Repeat("[", 10_000))); err == nil {
		t.Error("deep nesting is accepted")
	}
	many := "[" + strings.Repeat("1,", maxValues) + "1]"
	if _, err := parseJSON([]byte(many)); err == nil || !strings.Contains(err.Error(), "more than 1048576 values") {
		t.Errorf("a body of nothing but values: %v", err)
	}
}

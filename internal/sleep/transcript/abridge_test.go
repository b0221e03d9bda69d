package transcript

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

// What is valid JSON stays it, with the same names and values but for the middle of long texts.
func TestAbridgingIsALaw(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{`"`, `\`, "\n", "\u2028", "é", "🙂", `\"`, `"tool_result"`, "word ", "\x01", "{", "]"})
	rapid.Check(t, func(r *rapid.T) {
		text := func(name string) string {
			unit := strings.Join(rapid.SliceOfN(piece, 1, 8).Draw(r, name), "")
			return strings.Repeat(unit, rapid.SampledFrom([]int{1, 3, 700, 3000}).Draw(r, name+" times")) + strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(r, name+" end"), "")
		}
		want := map[string]any{"a": text("a"), "n": 7.5, "list": []any{text("b"), true, nil}, "z": "z"}
		line, err := json.Marshal(want)
		if err != nil {
			r.Fatal(err)
		}
		short := abridgeLine(line)
		if !gjson.ValidBytes(short) {
			r.Fatalf("not valid any more: %s", short)
		}
		var got map[string]any
		if err := json.Unmarshal(short, &got); err != nil {
			r.Fatal(err)
		}
		if got["n"] != 7.5 || got["z"] != "z" || len(got) != len(want) {
			r.Fatalf("got %s", short)
		}
		for _, pair := range [][2]string{{got["a"].(string), want["a"].(string)}, {got["list"].([]any)[0].(string), want["list"].([]any)[0].(string)}} {
			equalEnds(r, pair[0], pair[1])
		}
		if cut := abridgeLine(line[:len(line)-1-len(line)/3]); len(cut) > 0 && gjson.ValidBytes(cut) {
			r.Fatalf("a part of a line has become whole: %s", cut)
		}
	})
}

// equalEnds fails unless got is want, or its ends.
func equalEnds(r *rapid.T, got, want string) {
	if got == want {
		return
	}
	begin, end, cut := strings.Cut(got, "…")
	quoted, err := json.Marshal(want)
	if err != nil {
		r.Fatal(err)
	}
	const apart = 20 // bytes around the cut that an escape may have taken, or left as letters
	if !cut || len(quoted) <= longText || !strings.HasPrefix(want, begin) || len(end) > apart && !strings.HasSuffix(want, end[apart:]) {
		r.Fatalf("%d bytes became %d: %q and %q", len(want), len(got), begin, end)
	}
}

func FuzzAbridged(f *testing.F) {
	f.Add([]byte(`{"type":"tool_result","content":"` + strings.Repeat(`\"x\\`, 900) + `"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if gjson.ValidBytes(line) && !gjson.ValidBytes(abridgeLine(line)) {
			t.Errorf("%q", line)
		}
	})
}

package jsonx

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type obj = map[string]any

func TestObject(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       obj
	}{
		{"bare", `{"a": 1}`, obj{"a": json.Number("1")}},
		{"prose around", "Sure:\n{\"a\": [true, null]}\nHope it helps", obj{"a": []any{true, nil}}},
		{"fence", "x {y}\n```json\n{\"a\": \"b\"}\n```\n{z}", obj{"a": "b"}},
		{"plain fence", "```\n{\"a\": {}}\n```", obj{"a": obj{}}},
		{"fence inside a string", "{\"a\": \"```json\"}", obj{"a": "```json"}},
		{"newline escapes", `{"a": "x\ny\\nz\tw"}`, obj{"a": "x\ny\\nz\tw"}},
		{"surrogates", `{"a": "\u00e9\ud83d\ude00\ud800x\ude00"}`, obj{"a": "é😀\ufffdx\ufffd"}},
		{"high surrogate, then a plain escape", `{"a": "\ud800\u0041"}`, obj{"a": "\ufffdA"}},
		{"invalid UTF-8", "{\"a\": \"x\xffy\"}", obj{"a": "x\ufffdy"}},
		{"last of equal keys", `{"a": 1, "a": 2}`, obj{"a": json.Number("2")}},
		{"numbers as written", `{"a": [1.50, -0, 1E+5, 12345678901234567890]}`, obj{"a": []any{json.Number("1.50"), json.Number("-0"), json.Number("1E+5"), json.Number("12345678901234567890")}}},
		{"infinities", `{"a": [Infinity, -Infinity]}`, obj{"a": []any{math.Inf(1), math.Inf(-1)}}},
		{"every escape", `{"a": "\"\\\/\b\f\n\r\t\u0041\uABcd"}`, obj{"a": "\"\\/\b\f\n\r\tA\uabcd"}},

		{"mended: trailing commas", `{"a": [1, 2,], "b": 3,}`, obj{"a": []any{json.Number("1"), json.Number("2")}, "b": json.Number("3")}},
		{"mended: Python literals", `{"a": True, "b": False, "c": None}`, obj{"a": true, "b": false, "c": nil}},
		{"mended: raw control characters", "{\"a\": \"line\nline\ttab\"}", obj{"a": "line\nline\ttab"}},
		{"mended: comments", "{\"a\": /* one */ 1 // two\n /**/ }", obj{"a": json.Number("1")}},
		{"mended: comment marks in a string", `{"a": "http://x /* y */",}`, obj{"a": "http://x /* y */"}},
		{"mended: a brace too many", "Here: {\"a\": 1}} done", obj{"a": json.Number("1")}},
		{"mended: a brace too many in the fence", "```json\n{\"a\": {\"b\": 1,}}}\n```", obj{"a": obj{"b": json.Number("1")}}},
		{"mended: stray brace in prose", `{"a": "b",} and "quoted } brace"`, obj{"a": "b"}},
		{"mended: escapes survive", "{\"a\": \"- one\\n- two\\\\n\",}", obj{"a": "- one\n- two\\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Object(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestObjectNaN(t *testing.T) {
	t.Parallel()
	got, err := Object(`{"a": NaN}`)
	if f, ok := got["a"].(float64); err != nil || !ok || !math.IsNaN(f) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestObjectRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"empty", " \n", "the reply is empty"},
		{"prose", "I have no idea.", "there is no JSON object in the reply"},
		{"cut off", `{"a": {"b": 1}, "c": [`, "there is end of the text at byte 14"},
		{"cut off at the start", `ok {"a": "b`, "never closed: the reply may have been cut off; it begins at byte 3"},
		{"cut off in a fence", "```json\n{\"patch\": {\"edits\": [{\"op\": \"append\"}, {\"op\"\n```", "at byte"},
		{"fenced list", "```json\n[1]\n```", "holds an array, not an object"},
		{"fenced number", "```json\n1\n```", "holds a number, not an object"},
		{"fenced null", "```json\nnull\n```", "holds null, not an object"},
		{"fenced text", "```json\n\"s\"\n```", "holds a string, not an object"},
		{"fenced boolean", "```json\ntrue\n```", "holds a boolean, not an object"},
		{"two objects", `{"a": 1} {"b": 2}`, "unexpected '{' after the JSON value at byte 9"},
		{"draft and broken object", "<think>{\"draft\": 1}</think> {“a\": 2}", "after the JSON value"},
		{"draft before a broken fence", "{\"draft\": 1}\n```json\n{“a\": 2}\n```", "after the JSON value"},
		{"object of a broken list", `} [{"a": 1,}, oops`, "key in double quotes"},
		{"single quotes", `{'a': 1}`, "a key in double quotes"},
		{"bare keys", `{a: 1}`, "a key in double quotes"},
		{"missing comma", `{"a": 1 "b": 2}`, "',' or '}' is expected where there is '\"'"},
		{"missing colon", `{"a" 1}`, "':' is expected"},
		{"leading zero", `{"a": 01}`, "is expected"},
		{"bare fraction", `{"a": .5}`, "a JSON value is expected"},
		{"empty fraction", `{"a": 1.}`, "',' or '}'"},
		{"empty exponent", `{"a": 1e}`, "',' or '}'"},
		{"signed exponent without digits", `{"a": 1e+}`, "',' or '}'"},
		{"lone minus", `{"a": -}`, "'-' without a number"},
		{"unknown escape", `{"a": "\d"}`, `\d is no escape sequence`},
		{"short unicode escape", `{"a": "\u12g4"}`, "four hexadecimal digits"},
		{"unclosed comment", `{"a": 1 /* }`, "is expected"},
		{"double comma", `{"a": [1,,2]}`, "is expected where there is ','"},
		{"too deep", `{"a":` + strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1) + `}`, "nested deeper"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Object(tt.text)
			var e *Error
			if !errors.As(err, &e) || got != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestArray(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []any
		fault      string
	}{
		{"bare", ` ["a", 1] `, []any{"a", json.Number("1")}, ""},
		{"empty", "none: []", []any{}, ""},
		{"fence", "[9]\n```json\n[1]\n```", []any{json.Number("1")}, ""},
		{"the only valid one", "[x] ['y'] [true]", []any{true}, ""},
		{"in a string", `"[1]" [2]`, []any{json.Number("2")}, ""},
		{"list in an object does not count", `{"a": [1]} [2]`, []any{json.Number("2")}, ""},
		{"after a brace that is never closed", `{ [{"a": [1]}]`, []any{obj{"a": []any{json.Number("1")}}}, ""},
		{"pair after an open brace", `{ {"a": [1]} [2]`, []any{json.Number("2")}, ""},
		{"stray closing brace", `} [2]`, []any{json.Number("2")}, ""},
		{"two", "[1] [2]", nil, "2 JSON arrays to choose from"},
		{"nothing is mended", "[1,]", nil, "is expected where there is ']' at byte 3"},
		{"cut off", "[1, [2]", nil, "never closed"},
		{"none", "1, 2", nil, "there is no JSON array"},
		{"fenced object", "```json\n{}\n```", nil, "holds an object, not an array"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Array(tt.text)
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Errorf("got %v, %v; want %q", got, err, tt.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestExactRepairsNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a": 1,}`, "```json\n{\"a\": 1,}\n```", "x", "```json\n[1]\n```"} {
		if got, err := Exact(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
	for _, text := range []string{`so {"a": "b"} it is`, "{x} ```json\n{\"a\": \"b\"}\n```"} {
		got, err := Exact(text)
		if diff := cmp.Diff(obj{"a": "b"}, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
}

func TestFencedObject(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       obj
	}{
		{"unmarked fence", "{x} ```\n{\"a\": 1}\n```", obj{"a": json.Number("1")}},
		{"any case", "{x} ```JSON {\"a\": 1}```", obj{"a": json.Number("1")}},
		{"another shape is final", "```\n[1]\n```\n{\"a\": 1}", nil},
		{"broken fence", "```js\nx\n``` {\"a\": 1}", obj{"a": json.Number("1")}},
		{"nothing mended", `{"a": 1,}`, nil},
		{"none", "x", nil},
	}
	for _, tt := range tests {
		got, err := FencedObject(tt.text)
		if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != (tt.want != nil) {
			t.Errorf("%s: %v\n%s", tt.name, err, diff)
		}
	}
}

// anyValue draws JSON values with texts that resemble prose, fences and JSON.
func anyValue(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.SampledFrom([]string{"```json", "{", "}", `"`, "\\n", "\n", "[x]", ",}"}), func(s string) any { return s }),
		rapid.Map(rapid.IntRange(-1000, 1000), func(i int) any { return i }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Just[any](nil),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	return rapid.OneOf(append(leaves,
		rapid.Map(rapid.SliceOfN(anyValue(depth-1), 0, 3), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(rapid.String(), anyValue(depth-1), 0, 3), func(m map[string]any) any { return m }),
	)...)
}

func drawDocument(t *rapid.T) string {
	m := rapid.MapOfN(rapid.String(), anyValue(3), 0, 4).Draw(t, "object")
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func decoded(t *rapid.T, text string) obj {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var m obj
	if err := dec.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

// Marks of a block may stand in the texts of an object, with something between them that
// can be read.
func TestMarksInsideOfTexts(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{"{\"\":[\"```json\",\"```json\"]}", "Sure!\n{\"\":[\"```json\",\"```json\"]}\nDone."} {
		got, err := Object(reply)
		if err != nil || got[""] == nil {
			t.Errorf("%q: %v, %v", reply, got, err)
		}
	}
}

func TestObjectReadsWhatEncodingJSONWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawDocument(t)
		around := rapid.SampledFrom([]string{"%", "Sure!\n%\nDone.", "```json\n%\n```", "```\n%\n```", "%\n```"}).Draw(t, "around")
		reply := strings.Replace(around, "%", text, 1)
		got, err := Object(reply)
		if err != nil {
			t.Fatalf("%q: %v", reply, err)
		}
		// A fence mark inside a string may end a block early; the whole
		// object is found all the same.
		if diff := cmp.Diff(decoded(t, text), got); diff != "" {
			t.Fatalf("%q:\n%s", reply, diff)
		}
	})
}

func TestTruncatedReplyIsNeverRepaired(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawDocument(t)
		cut := text[:rapid.IntRange(0, len(text)-1).Draw(t, "cut")]
		lead := rapid.SampledFrom([]string{"", "Sure: ", "```json\n"}).Draw(t, "lead")
		if got, err := Object(lead + cut); err == nil {
			t.Fatalf("%q of %q was read as %v", cut, text, got)
		}
	})
}

func TestMendingDoesNotChangeTheMeaning(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawDocument(t)
		broken := text[:len(text)-1] + rapid.SampledFrom([]string{"/* c */}", " // }\n}", "}}"}).Draw(t, "flaw")
		got, err := Object(broken)
		if err != nil {
			return // not sure enough to repair
		}
		if diff := cmp.Diff(decoded(t, text), got); diff != "" {
			t.Fatalf("%q:\n%s", broken, diff)
		}
	})
}

func FuzzObject(f *testing.F) {
	for _, s := range []string{
		`{"a": [1, 2.5e-3, "x\ny"]}`, "```json\n{\"a\":1,}\n```", "x } {\"a\":1}", `{"a":"\ud800"}`, "{'a':1}",
		"{ // c\n}", "[[1],[2]] {", "``````", "```json", `{"a":NaN}`, "{\"a\":\"\n\"}", "\ufeff{}", `{"a":-}`, `{"\`, `{"\u12`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Object(text)
		if (got == nil) == (err == nil) {
			t.Fatalf("Object(%q) = %v, %v", text, got, err)
		}
		list, err := Array(text)
		if (list == nil) == (err == nil) {
			t.Fatalf("Array(%q) = %v, %v", text, list, err)
		}
		for _, want := range []Shape{Objects, Arrays} {
			for _, s := range Spans(text, want) {
				if s[0] != byte(want) || s[len(s)-1] != want.closingBracket() {
					t.Fatalf("span %q of %q", s, text)
				}
			}
		}
		if whole := strings.TrimSpace(text); json.Valid([]byte(whole)) && strings.HasPrefix(whole, "{") && got == nil && !tooDeep(whole) && !strings.Contains(text, "```") {
			t.Fatalf("valid JSON %q refused", text)
		}
	})
}

func tooDeep(s string) bool { return strings.Count(s, "[")+strings.Count(s, "{") > maxDepth }

func BenchmarkObjectHostile(b *testing.B) {
	text := strings.Repeat("{", 200_000)
	for b.Loop() {
		if _, err := Object(text); err == nil {
			b.Fatal("no error")
		}
	}
}

package check

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/testing/race"
	"github.com/seed-f4525e22/skillopt/task"
)

// passesAlone scores an answer by one check.
func passesAlone(t *testing.T, spec map[string]any, answer string) bool {
	t.Helper()
	s, err := Compile([]any{spec}, Options{})
	if err != nil {
		t.Fatalf("%v: %v", spec, err)
	}
	return s.Score(answer, task.Task{}).Hard == 1
}

// Where checks that judge like promptfoo and those that do not differ.
func TestLikePromptfoo(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	for _, tt := range []struct {
		spec       m
		answer     string
		like, ours bool
	}{
		{m{"type": "equals", "value": "a"}, " a ", false, true},
		{m{"type": "icontains", "value": "STRASSE"}, "Straße", false, true},
		{m{"type": "icontains", "value": "hello world"}, "HELLO\tWORLD", false, true},
		{m{"type": "starts-with", "value": "a"}, " ab", false, true},
		{m{"type": "is-json"}, "```json\n{}\n```", false, true},
		{m{"type": "contains-json"}, "it is {a: 1}", true, false},
		{m{"type": "contains-json"}, `cut short: {"a": 1`, true, false},
		{m{"type": "contains-json"}, "a list: [1, 2]", false, true},
		{m{"type": "contains-json"}, `so {"a": 1} it is`, true, true},
		{m{"type": "contains-json", "schema": m{"required": []any{"b"}}}, `{"a": 1} {"b": 1}`, true, true},
		{m{"type": "contains-json", "schema": m{"required": []any{"c"}}}, `{"a": 1} {"b": 1}`, false, false},
		{m{"type": "regex", "value": "a$"}, "a\n", false, true},
		{m{"type": "regex", "value": `^\d$`}, "٣", false, true},
		{m{"type": "regex", "value": `^..$`}, "😀", true, false},
		{m{"type": "word-count", "max": 1}, "a\u0085b", true, false},
		{m{"type": "levenshtein", "value": "abc", "max": 1}, "abd", true, true},
		{m{"type": "levenshtein", "value": "abc", "max": 1}, "add", false, false},
		{m{"type": "not-levenshtein", "value": "abc", "max": 1}, "add", true, true},
		{m{"type": "levenshtein", "value": "", "max": 1}, "😀", false, true},
	} {
		like := m{"like": "promptfoo"}
		for key, v := range tt.spec {
			like[key] = v
		}
		if got := passesAlone(t, like, tt.answer); got != tt.like {
			t.Errorf("%v of %q: %v", like, tt.answer, got)
		}
		if _, schema := tt.spec["schema"]; schema || tt.spec["type"] != "is-json" {
			if got := passesAlone(t, tt.spec, tt.answer); got != tt.ours {
				t.Errorf("%v of %q: %v", tt.spec, tt.answer, got)
			}
		}
	}
}

func TestLikePromptfooErrors(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	for _, tt := range []struct {
		spec m
		want string
	}{
		{m{"type": "equals", "value": "a", "like": "inspect"}, "like: \"inspect\" is not allowed; promptfoo is"},
		{m{"type": "f1", "like": "promptfoo"}, "f1 cannot judge like promptfoo"},
		{m{"type": "equals", "like": "promptfoo"}, "value: is missing"},
		{m{"type": "contains", "value": true, "like": "promptfoo"}, "text or a number expected"},
		{m{"type": "contains-any", "value": "a", "like": "promptfoo"}, "values: a list expected"},
		{m{"type": "word-count", "like": "promptfoo"}, "min: is missing"},
		{m{"type": "levenshtein", "value": "a"}, "either max"},
		{m{"type": "levenshtein", "value": "a", "max": 1, "ratio": 0.5}, "either max"},
		{m{"type": "levenshtein", "value": strings.Repeat("a", maxCompared+1), "max": 1}, "is longer than"},
		{m{"type": "equals", "value": "a", "empty": "yes"}, "empty: \"yes\" is not allowed"},
	} {
		_, err := Compile([]any{tt.spec}, Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %s", tt.spec, err, tt.want)
		}
	}
}

// A task whose checks an empty answer passes is refused unless they say that it may.
func TestEmptyMayPass(t *testing.T) {
	t.Parallel()
	for _, empty := range []any{nil, "pass"} {
		spec := map[string]any{"type": "not-contains", "value": "x", "empty": empty}
		s, err := Compile([]any{spec}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(task.Task{Prompt: "p"}); (err == nil) != (empty == "pass") {
			t.Errorf("%v: %v", empty, err)
		}
	}
}

func TestVerbatim(t *testing.T) {
	t.Parallel()
	for _, v := range []any{"verbatim", map[string]any{"tag": "answer", "fallback": "verbatim"}} {
		e, err := ParseExtract(v)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.Answer(" a \n"); got != " a \n" || err != nil {
			t.Errorf("%v: %q, %v", v, got, err)
		}
	}
}

// Patterns of JavaScript, with what matches them there and what does not.
func TestPatternsOfJavaScript(t *testing.T) {
	t.Parallel()
	for pattern, tt := range map[string]struct{ yes, no string }{
		`^a.b$`: {"axb", "a\nb"}, `[^]`: {"\n", ""}, `a{,2}`: {"a{,2}", "aa"}, `(?<y>.)\k<y>`: {"xx", "xy"}, `(a)?b\1c`: {"bc", "bac"}, `\1(a)`: {"a", "b"},
		`\0`: {"\x00", "0"}, `[\d-x]`: {"-", "y"}, `[\b]`: {"\b", "b"}, `\cJ`: {"\n", "cJ"}, `\u{2}`: {"uu", "\u0002"}, `(?=a)*b`: {"b", "a"}, `\8`: {"8", "7"}, `]}`: {"]}", "]"},
		`[^\s\S]|x`: {"x", "y"}, `\x4`: {"x4", "4"}, `^😀$`: {"😀", "😁"}, `^[😀]{2}$`: {"😀", "😁"}, `^\ud83d[\ude00-\ude01]$`: {"😁", "😂"}, `\s`: {"\ufeff", "\u0085"},
	} {
		for answer, want := range map[string]bool{tt.yes: true, tt.no: false} {
			if got := passesAlone(t, map[string]any{"type": "regex", "value": pattern, "like": "promptfoo"}, answer); got != want {
				t.Errorf("/%s/ of %q: %v", pattern, answer, got)
			}
		}
	}
	for _, pattern := range []string{"(", ")", "[", "a**", "*", `\`, "x{2,1}", "[z-a]", `(?<a>x)\k<b>`} {
		for _, kind := range []string{"regex", "not-regex"} { // there they fail either way
			if passesAlone(t, map[string]any{"type": kind, "value": pattern, "like": "promptfoo"}, "a") {
				t.Errorf("%s /%s/ passes", kind, pattern)
			}
		}
	}
}

// Where a pattern differs from JavaScript: there says what it finds, and here the opposite
// holds. Those that are none there find nothing.
func TestPatternsThatDifferFromJavaScript(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, answer string
		there           bool
	}{
		{`^a.b$`, "a\u2028b", false}, // a dot takes the line ends U+2028 and U+2029
		{`\bé`, "é", false},          // all letters make a word
		{`\bé`, "aé", true},
		{`(?<a>.)(.)\1`, "aba", true}, // groups with a name are numbered after the others
		{`(?<a>x)(?<a>y)`, "xy", false},
		{`(?<1>a)`, "a", false},
		{`(?<$>a)`, "a", true},
		{`(?i)a`, "A", false}, // none there: flags, comments, atomic groups, repeated assertions
		{`a(?#b)`, "a", false},
		{`(?>a)`, "a", false},
		{`^*`, "a", false},
		{`(?<=a)*`, "a", false},
		{`^\p{L}`, "a", false}, // plain letters there
		{`\Aa`, "a", false},
		{`\e`, "e", true},
		{`\c`, "c", false},
		{`[a-z-[aeiou]]`, "b", false}, // a set without another; there a set, then ]
		{`[a-\w]`, "-", true},         // none here
		{`a{0,4294967296}`, "a", true},
		{`\😀`, "😀", true},
	} {
		if here := passesAlone(t, map[string]any{"type": "regex", "value": tt.pattern, "like": "promptfoo"}, tt.answer); here == tt.there {
			t.Errorf("/%s/ of %q: %v, which is no difference", tt.pattern, tt.answer, here)
		}
	}
}

// Hostile answers take no longer than others.
func TestSearchForJSONIsBounded(t *testing.T) {
	t.Parallel()
	n := 1 << 13
	if race.Enabled { // the detector makes each step dearer by a factor
		n /= 16
	}
	for _, answer := range []string{
		strings.Repeat("{", 2*n), strings.Repeat("[", 2*n), strings.Repeat(`{"a":`, n), strings.Repeat("{a: ", n), strings.Repeat(`["x`, 2*n), strings.Repeat("{}", n),
	} {
		for _, like := range []any{nil, "promptfoo"} {
			spec := map[string]any{"type": "contains-json", "schema": map[string]any{"type": "object", "required": []any{"never"}}, "like": like}
			if like == nil {
				delete(spec, "like")
			}
			began := time.Now()
			if passesAlone(t, spec, answer) {
				t.Errorf("%.10s passes", answer)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%.10s: %v", answer, took)
			}
		}
	}
}

// FuzzContainsJSON: JSON that is whole is found wherever it stands.
func FuzzContainsJSON(f *testing.F) {
	f.Add("so ", ` {"a": [1]}`, " it is")
	f.Add("{", "[]", "}")
	f.Fuzz(func(t *testing.T, before, value, after string) {
		if len(before)+len(value)+len(after) > 4096 {
			t.Skip()
		}
		v, err := decodeJSON(value)
		_, isObject := v.(map[string]any)
		found := false
		for range jsonValues(before + value + after) {
			found = true
		}
		for range looseObjects(before + value + after) {
			break
		}
		if err == nil && isObject && !strings.ContainsAny(before, "{[\"") && !found {
			t.Errorf("%q is not found", value)
		}
	})
}

package check

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// suite compiles checks written in YAML.
func suite(t *testing.T, text string, o Options) *Suite {
	t.Helper()
	s, err := Compile(fromYAML(t, text), o)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

func fromYAML(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestTypes holds every check against answers that pass and that fail it, and
// its negation against the opposite.
func TestTypes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		check string
		gold  []string
		pass  []string
		fail  []string
	}{
		{"{type: equals}", []string{"Paris", "Paname"}, []string{"Paris", " Paris\n", "Paname"}, []string{"paris", "Paris.", "in Paris", ""}},
		{"{type: equals, value: x, normalize: none}", nil, []string{"x"}, []string{" x", "X"}},
		{"{type: equals, value: Straße, normalize: casefold}", nil, []string{"STRASSE", " straße "}, []string{"strase"}},
		{"{type: equals, value: The U.S., normalize: squad}", nil, []string{"us", "U.S", "a us"}, []string{"usa"}},
		{"{type: equals, value: 3.5, normalize: squad}", nil, []string{"35"}, []string{"3"}},
		{"{type: equals, value: -3.5, normalize: text}", nil, []string{"-3.5", "-3.5."}, []string{"35", "3.5", "-35"}},
		{"{type: equals, normalize: text}", []string{"A"}, []string{"A", "(a)", "a."}, []string{"B", "", "the A B"}},
		{"{type: equals, normalize: text}", []string{"Vitamin A"}, []string{"the vitamin A"}, []string{"vitamin", "vitamin b"}},
		{"{type: equals, normalize: text}", []string{"%"}, []string{"%"}, []string{"$", ""}},
		{"{type: equals, normalize: text}", []string{"1,250"}, []string{"1250", "1,250!"}, []string{"1.250"}},
		{"{type: equals, normalize: number}", []string{"1,250.50"}, []string{"1250.5", "$1,250.50"}, []string{"1250.6", "none"}},
		{"{type: equals, values: [yes, 2, true]}", nil, []string{"yes", "2", "true"}, []string{"no", "1"}},
		{"{type: one-of, values: [Low, High]}", nil, []string{"low", "HIGH "}, []string{"medium", "low high"}},
		{"{type: contains, value: bc}", nil, []string{"abcd"}, []string{"aBCd", "b c"}},
		{"{type: contains}", []string{"x", "y"}, []string{"a x", "a y"}, []string{"a z"}},
		{"{type: icontains, value: Bc D}", nil, []string{"abc  d"}, []string{"abcd"}},
		{"{type: contains-all, values: [a, b]}", nil, []string{"ba"}, []string{"a", "c"}},
		{"{type: contains-any, values: [a, b]}", nil, []string{"b"}, []string{"c"}},
		{"{type: icontains-all, values: [a, b]}", nil, []string{"AB"}, []string{"A"}},
		{"{type: icontains_any, values: [a, b]}", nil, []string{"B"}, []string{"C"}},
		{"{type: starts-with, value: Dear}", nil, []string{" Dear Ann"}, []string{"dear Ann", "My Dear"}},
		{"{type: istarts-with, value: Dear}", nil, []string{"dear Ann"}, []string{"My dear"}},
		{`{type: regex, value: '^\d{4}-\d\d$'}`, nil, []string{"2024-05"}, []string{"2024-5", "x2024-05"}},
		{`{type: regex, value: 'a(?=b)(?P<c>b)(?P=c)'}`, nil, []string{"abb"}, []string{"abc"}},
		{`{type: regex, value: 'A.B', flags: is}`, nil, []string{"a\nb"}, []string{"ab"}},
		{`{type: regex, value: '^b$', flags: m}`, nil, []string{"a\nb\nc"}, []string{"ab"}},
		{"{type: number, value: 42}", nil, []string{"42", "42.0", "The answer is 42.", "42 km", "+42"}, []string{"41", "-42", "42 or 43", "none"}},
		{"{type: number, value: 100, abs: 2}", nil, []string{"98", "102"}, []string{"97.9", "102.1"}},
		{"{type: number, value: 100, rel: 0.05}", nil, []string{"95", "105"}, []string{"94.9"}},
		{"{type: number}", []string{"3 million"}, []string{"3,000,000", "3e6", "3M", "3 million"}, []string{"3", "3 billion"}},
		{"{type: number}", []string{"12.5 kg"}, []string{"12.50 kg", "It weighs 12.5 KG."}, []string{"12.5", "12.5 g"}},
		{"{type: number}", []string{"$5"}, []string{"$5.00", "It costs $5"}, []string{"5", "5 EUR"}},
		{"{type: number, unit: ignore}", []string{"$5"}, []string{"5", "5 EUR", "5%"}, []string{"6"}},
		{"{type: number}", []string{"1/2"}, []string{"1/2", "0.5", "it is 1/2."}, []string{"1/2/1", "2", "1/0"}},
		{"{type: number}", []string{"5"}, []string{"5"}, []string{"1e400", "-1e400", "10/2/1"}},
		{"{type: number, value: 5, rel: 1000, abs: 1.0e+308}", nil, []string{"6"}, []string{"1e400"}},
		{"{type: number, unit: strict}", []string{"5"}, []string{"5"}, []string{"5 km"}},
		{"{type: number}", []string{"12%"}, []string{"0.12", "12 %"}, []string{"12"}},
		{"{type: number}", []string{"12"}, []string{"12%", "12"}, []string{"0.12"}},
		{"{type: number}", []string{"1/4"}, []string{"0.25", "2/8"}, []string{"4"}},
		{"{type: number}", []string{"(1,200)"}, []string{"-1200", "\u22121 200"}, []string{"1200"}},
		{"{type: f1, value: a big red dog}", nil, []string{"big red dog", "the big dog", "red"}, []string{"cat", "dogs are animals", ""}},
		{"{type: f1, threshold: 0.9}", []string{"x y", "z"}, []string{"y x", "z"}, []string{"x"}},
		{"is-json", nil, []string{"{}", " [1] ", "```json\n{\"a\":1}\n```", "1"}, []string{"{} {}", "{a:1}", "hello", "", "```\n{}\n``` and ```\n{}\n```"}},
		{"{type: json-schema, schema: {type: object, required: [n], properties: {n: {type: integer, minimum: 2}}}}", nil, []string{`{"n":2}`, `{"n":3.0,"m":1}`}, []string{`{"n":1}`, `{}`, `{"n":"2"}`, "no"}},
		{"{type: json-equals, value: {a: 1, b: [x, {c: null}]}}", nil, []string{`{"b":["x",{"c":null}],"a":1.0}`}, []string{`{"a":1}`, `{"a":1,"b":["x"]}`, `{"a":1,"b":[{"c":null},"x"]}`, `{"a":1,"b":["x",{"c":null}],"d":0}`, "x"}},
		{"{type: json-equals, order: ignore, extra: ignore}", []string{`{"l":[1,{"k":2},3]}`}, []string{`{"l":[3,1,{"k":2,"z":1}],"more":true}`}, []string{`{"l":[3,1]}`, `{"l":[1,{"k":3},3]}`, `[]`}},
		{"{type: json-equals, value: '[1,2]'}", nil, []string{"[1, 2]"}, []string{"[2,1]", `"[1,2]"`}},
		{"{type: json-equals, value: {a: 2}}", nil, []string{`{"a":1,"a":2}`}, []string{`{"a":2,"a":1}`}},
		{"{type: json-equals, value: abc}", nil, []string{`"abc"`}, []string{"abc"}},
		{"{type: word-count, min: 2, max: 3}", nil, []string{"a b", "a b c"}, []string{"a", "a b c d"}},
		{"{type: char-count, max: 3, min: 1}", nil, []string{"äöü", " x "}, []string{"", "abcd"}},
		{"{type: char-count, min: 2}", nil, []string{"äö"}, []string{"ä"}},
		{"{any: [{type: equals, value: a}, {type: equals, value: b}]}", nil, []string{"a", "b"}, []string{"c"}},
		{"{all: [{type: contains, value: a}, {type: contains, value: b}]}", nil, []string{"ab"}, []string{"a"}},
		{"{all: [{type: contains, value: a}, {type: contains, value: b}], threshold: 0.5}", nil, []string{"ab", "a"}, []string{"c"}},
		{"{all: [{type: contains, value: a, required: true}, {type: contains, value: b}], threshold: 0.5}", nil, []string{"a"}, []string{"b"}},
		{"{any: [{type: f1, value: x y z w}, {type: equals, value: q}], threshold: 0.8}", nil, []string{"x y z w", "q"}, []string{"x"}},
	}
	for _, tt := range tests {
		t.Run(tt.check, func(t *testing.T) {
			t.Parallel()
			s := suite(t, tt.check, Options{})
			spec := fromYAML(t, tt.check)
			var negated *Suite
			if m, ok := spec.(map[string]any); ok && m["type"] != nil {
				m["type"] = "not-" + m["type"].(string)
				var err error
				if negated, err = Compile(spec, Options{}); err != nil {
					t.Fatal(err)
				}
			}
			expect := func(answer string, want float64) {
				got := s.Score(answer, task.Task{Gold: tt.gold})
				if got.Hard != want || (got.Reason == "") != (want == 1) || got.Soft < 0 || got.Soft > 1 {
					t.Errorf("answer %q: got %+v, want hard %v", answer, got, want)
				}
				if negated == nil {
					return
				}
				if not := negated.Score(answer, task.Task{Gold: tt.gold}); not.Hard != 1-want || not.Soft != 1-got.Soft {
					t.Errorf("answer %q, negated: got %+v", answer, not)
				}
			}
			for _, answer := range tt.pass {
				expect(answer, 1)
			}
			for _, answer := range tt.fail {
				expect(answer, 0)
			}
		})
	}
}

func TestDefault(t *testing.T) {
	t.Parallel()
	s, err := Compile(nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	gold := task.Task{Gold: []string{"New York City", "NYC"}}
	tests := []struct {
		answer     string
		hard, soft float64
	}{
		{"the new york city.", 1, 1},
		{"nyc", 1, 1},
		{"New York", 0, 0.8},
		{"Boston", 0, 0},
	}
	for _, tt := range tests {
		got := s.Score(tt.answer, gold)
		if got.Hard != tt.hard || diff(got.Soft, tt.soft) > 1e-12 {
			t.Errorf("%s: got %+v", tt.answer, got)
		}
	}
	got := s.Score("New York", gold)
	want := `equals: got "New York", expected "New York City" or "NYC": it is only a part of what is expected`
	if got.Reason != want || got.Feedback != want {
		t.Errorf("got reason %q, feedback %q", got.Reason, got.Feedback)
	}
}

func diff(a, b float64) float64 { return max(a-b, b-a) }

func TestWeightsAndThreshold(t *testing.T) {
	t.Parallel()
	text := `
- {type: contains, value: a, weight: 3, name: has-a}
- {type: contains, value: b, required: false}
- {type: contains, value: c, weight: 0}`
	tests := []struct {
		answer    string
		threshold float64
		hard      float64
		soft      float64
		reason    string
	}{
		{"ab", 0, 1, 1, ""},
		{"a", 0, 1, 0.75, ""},
		{"b", 0, 0, 0.25, "has-a: does not contain"},
		{"a", 0.8, 0, 0.75, "threshold: the weighted score is 0.75, 0.8 is needed"},
		{"ab", 0.8, 1, 1, ""},
	}
	for _, tt := range tests {
		got := suite(t, text, Options{Threshold: tt.threshold}).Score(tt.answer, task.Task{})
		if got.Hard != tt.hard || got.Soft != tt.soft || !strings.HasPrefix(got.Reason, tt.reason) || (got.Reason == "") != (tt.reason == "") {
			t.Errorf("%s at %v: got %+v", tt.answer, tt.threshold, got)
		}
	}
	parts := suite(t, text, Options{}).Score("ac", task.Task{}).Components
	want := []score.Component{
		{Check: "has-a", Type: "contains", Score: 1, Weight: 3, Required: true, Pass: true},
		{Check: "contains", Type: "contains", Score: 0, Weight: 1, Reason: `does not contain "b"; got "ac"`},
		{Check: "contains", Type: "contains", Score: 1, Pass: true},
	}
	if d := cmp.Diff(want, parts); d != "" {
		t.Error(d)
	}
}

func TestCompileErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"[]", "the list is empty"},
		{"3", "checks[0]: a check is an object with a type, found the number 3"},
		{"{}", "exactly one of type, any and all"},
		{"{type: equals, any: []}", "exactly one of type"},
		{"{type: equal, value: x}", `unknown check "equal" (did you mean "equals"?)`},
		{"{type: 3}", "unknown check"},
		{"{type: equals, valeu: x}", `unknown key "valeu" (did you mean "value"?)`},
		{"{type: equals, value: x, values: [y]}", "value and values are given"},
		{"{type: equals, value: [x]}", "checks[0].value: entry 1: text, a number, true or false expected, found a list"},
		{"{type: equals, values: x}", "a list expected"},
		{"{type: equals, values: []}", "the list is empty"},
		{"{type: equals, normalize: fold}", `"fold" is not allowed; one of trim, none, casefold, text, squad, number`},
		{"{type: equals, normalize: 1}", "text expected"},
		{"{type: equals, weight: 1.7e+308}", "checks[0].weight: 1.7e+308 is out of range; 0 to 1e+09 is allowed"},
		{"{type: number, value: 1e400}", `checks[0].value: "1e400" is too large a number to compare with`},
		{"{type: equals, weight: -1}", "-1 is out of range; 0 to 1e+09 is allowed"},
		{"{type: equals, weight: heavy}", `a number expected, found the text "heavy"`},
		{"{type: equals, required: 1}", "true or false expected"},
		{"{type: equals, weight: 0}", "every weight is 0"},
		{"{type: contains, values: [a]}", "contains takes one value"},
		{"{type: contains, value: ''}", "is empty"},
		{"{type: starts-with, value: ' '}", "is empty"},
		{"{type: regex}", "a pattern expected, found nothing"},
		{"{type: regex, value: '(a'}", "checks[0].value:"},
		{"{type: regex, value: a, flags: q}", "'q' is not a flag"},
		{"{type: number, value: many}", `"many" is not a number`},
		{"{type: number, abs: -1}", "out of range"},
		{"{type: number, unit: maybe}", "one of match, strict, ignore"},
		{"{type: f1, threshold: 2}", "0 to 1 is allowed"},
		{"{type: json-schema}", "is missing"},
		{"{type: json-schema, schema: {type: 3}}", "not a JSON Schema"},
		{"{type: json-schema, schema: {$ref: 'http://example.com/x'}}", "not a JSON Schema that can be used"},
		{"{type: json-equals, order: any}", "one of strict, ignore"},
		{"{type: json-equals, value: {a: .inf}}", "not a JSON value"},
		{"{type: word-count}", "needs min or max"},
		{"{type: word-count, min: 3, max: 2}", "min: 3 is above max 2"},
		{"{type: word-count, min: 1.5}", "a whole number expected"},
		{"{any: []}", "a list of checks expected"},
		{"{any: [{type: equls}]}", "checks[0].any[0].type: unknown check"},
		{"{all: [{type: is-json, weight: 0}]}", "every weight is 0"},
		{"[{type: equls}, {type: regx, value: a}]", "checks[1].type"},
		{strings.Repeat("{any: [", 20) + "is-json" + strings.Repeat("]}", 20), "nested deeper than 16"},
	}
	for _, tt := range tests {
		_, err := Compile(fromYAML(t, tt.text), Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", tt.text, err, tt.want)
		}
	}
	if _, err := Compile(nil, Options{Threshold: 1.5}); err == nil {
		t.Error("threshold 1.5: no error")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		set  string // "" for the default
		task task.Task
		want string // "" for no fault
	}{
		{"", task.Task{Gold: []string{"x"}}, ""},
		{"", task.Task{}, "no gold answer, which the checks compare with"},
		{"", task.Task{Data: map[string]any{"golden": "x", "a": 1}}, `its field "golden" is not read as one: was gold meant?`},
		{"", task.Task{Data: map[string]any{"Expected": "x"}}, `its field "Expected" is not read as one`},
		{"", task.Task{Checks: json.RawMessage(`[{"type":"is-json"}]`)}, ""},
		{"", task.Task{Checks: json.RawMessage(`{"type":"equals"}`)}, "its checks compare with gold, but it has none"},
		{"", task.Task{Checks: json.RawMessage(`[{"type":"equls"}]`)}, "did you mean"},
		{"", task.Task{Checks: json.RawMessage(`{"type":`)}, "ends too early"},
		{"", task.Task{Checks: json.RawMessage(`[{"type":"regex","value":"x*"}]`)}, "cannot fail: an empty answer passes regex"},
		{"", task.Task{Checks: json.RawMessage(`[{"type":"not-contains","value":"x"}]`)}, "cannot fail"},
		{"", task.Task{Checks: json.RawMessage(`[{"type":"not-contains","value":"x"},{"type":"char-count","min":1}]`)}, ""},
		{"{type: word-count, max: 5}", task.Task{}, "cannot fail"},
		{"{type: number}", task.Task{Gold: []string{"5", "many"}}, `gold does not suit check number: "many" is not a number`},
		{"{any: [{type: number}, {type: equals}]}", task.Task{Gold: []string{"many"}}, "gold does not suit check any"},
		{"{type: json-equals}", task.Task{Gold: []string{"{"}}, "is not JSON"},
		{"{type: f1, threshold: 0}", task.Task{Gold: []string{"x"}}, "cannot fail"},
		{"{any: [{type: equals}, is-json]}", task.Task{}, "no gold answer"},
	}
	for _, tt := range tests {
		var specs any
		if tt.set != "" {
			specs = fromYAML(t, tt.set)
		}
		s, err := Compile(specs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Check(tt.task)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s, %s: got %v, want %q", tt.set, tt.task.Checks, err, tt.want)
		}
	}
}

func TestOwnChecks(t *testing.T) {
	t.Parallel()
	s := suite(t, "{type: equals, value: set}", Options{})
	own := task.Task{Checks: json.RawMessage(`[{"type":"equals","value":"own"}]`)}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if s.Score("own", own).Hard != 1 || s.Score("set", own).Hard != 0 || s.Score("set", task.Task{}).Hard != 1 {
					t.Error("wrong checks")
				}
			}
		})
	}
	wg.Wait()
	broken := s.Score("x", task.Task{Checks: json.RawMessage(`[{"type":"equls"}]`)})
	if broken.Hard != 0 || !strings.HasPrefix(broken.Reason, "broken checks: ") {
		t.Errorf("got %+v", broken)
	}
}

// TestRegexTimeout: a pattern that runs out of time gives no score, whichever way
// it is asked, and all its matches share one limit.
func TestRegexTimeout(t *testing.T) {
	t.Parallel()
	answer := strings.Repeat("a", 40) + "!"
	slow := strings.Repeat(strings.Repeat("a", 15)+"!b", 5000) // some milliseconds a match
	dir := folder(t, map[string]string{"all": answer, "many": slow})
	var calls []trajectory.Turn
	for range 5000 {
		calls = append(calls, trajectory.Turn{Kind: trajectory.ToolCall, Action: "grep " + slow[:17]})
	}
	for _, text := range []string{
		"{type: regex, value: '^(a+)+$'}",
		"{type: not-regex, value: '^(a+)+$'}",
		"{any: [{type: equals, value: x}, {type: regex, value: '^(a+)+$'}]}",
		"{type: file-contains, path: all, regex: '^(a+)+$'}",
		"{type: not-file-contains, path: all, regex: '^(a+)+$'}",
		"{type: file-contains, path: many, regex: '(a+)+$|b', min: 5000}",
		"{type: tool-called, tool: grep, args: '(a+)+$'}",
	} {
		s := suite(t, text, Options{MatchTimeout: 20 * time.Millisecond})
		got, err := s.Assess(t.Context(), Evidence{Answer: answer, Dir: dir, Turns: calls}, task.Task{}, Means{})
		if err == nil || got.Components != nil || !strings.Contains(err.Error(), "not decided within 20ms, which measures nothing: simplify it") {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
		if s.Needs(task.Task{}) != (Needs{}) {
			continue
		}
		if got := s.Score(answer, task.Task{}); got.Hard != 0 || got.Soft != 0 || !strings.Contains(got.Reason, "not decided within 20ms") {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}

// TestExtractTimeout: how far a pattern came before it ran out of time depends on
// the machine, and is neither an answer nor a cause to take the fallback.
func TestExtractTimeout(t *testing.T) {
	t.Parallel()
	e, err := ParseExtract(map[string]any{"regex": `b(\d)|(?:a|aa)+$`, "fallback": "none"})
	must(t, err)
	reply := "b1 b2 " + strings.Repeat("a", 60) + "! b3"
	if got, err := e.Answer(reply); got != "" || err == nil || !strings.Contains(err.Error(), "tasks.extract: the pattern /b(\\d)|(?:a|aa)+$/ was not decided within") {
		t.Errorf("got %q, %v", got, err)
	}
	first, err := ParseExtract(map[string]any{"regex": `b(\d)|(?:a|aa)+$`, "which": "first", "fallback": "none"})
	must(t, err)
	if got, err := first.Answer(reply); got != "1" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestFeedback(t *testing.T) {
	t.Parallel()
	s := suite(t, `
- {type: contains, value: alpha, feedback: name the plan}
- {type: contains, value: beta, required: false}
- {type: contains, value: gamma, weight: 0}
- {type: not-contains, value: as an AI}`, Options{})
	got := s.Score("as an AI I cannot", task.Task{}).Feedback
	want := `contains: does not contain "alpha"; got "as an AI I cannot" - name the plan
contains: does not contain "beta"; got "as an AI I cannot"
not-contains: must not be so: the answer contains "as an AI"`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := s.Score("alpha", task.Task{}).Feedback; got != "" {
		t.Errorf("a hard score of 1 with feedback %q", got)
	}
	long := strings.Repeat("ü", 3000)
	var many []any
	for i := range 60 {
		many = append(many, map[string]any{"type": "equals", "value": fmt.Sprint(i, long)})
	}
	s, err := Compile(many, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Score(long, task.Task{}).Feedback; len(got) > score.MaxFeedback || !strings.HasSuffix(got, "...") {
		t.Errorf("%d bytes of feedback", len(got))
	}
}

func TestMismatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		answer string
		gold   []string
		want   string
	}{
		{"", []string{"x"}, `the answer is empty, expected "x"`},
		{"x", nil, "no gold answer"},
		{"a  b", []string{"a b"}, "only white space differs"},
		{"paris", []string{"Paris"}, "only letter case differs"},
		{"newyork", []string{"New York"}, "only white space and letter case differ"},
		{"Paris!", []string{"Paris"}, "only punctuation differs"},
		{"1250.5 kg", []string{"1,250.50 kg"}, "the same number, written differently"},
		{"It is Paris", []string{"Paris"}, "stands inside a longer answer"},
		{"York", []string{"New York"}, "only a part"},
		{"b, a", []string{"a, b"}, "the same words in another order"},
		{"Rome", []string{"a", "b", "c", "d"}, `expected "a" or "b" or "c" or one of 1 more`},
		{"35", []string{"3.5"}, `got "35", expected "3.5"`},
	}
	for _, tt := range tests {
		if got := mismatch(tt.answer, tt.gold); !strings.HasSuffix(got, tt.want) && !strings.Contains(got, tt.want) {
			t.Errorf("%q for %q: got %s", tt.answer, tt.gold, got)
		}
	}
	if got := mismatch("35", []string{"3.5"}); strings.Contains(got, "punctuation") {
		t.Error(got)
	}
	if got := mismatch(strings.Repeat("x", 1000), []string{"y"}); len(got) > 300 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestGroupReasons(t *testing.T) {
	t.Parallel()
	s := suite(t, "{all: [{type: contains, value: a}, {type: contains, value: b}, {type: contains, value: c}, {type: contains, value: d}]}", Options{})
	if got := s.Score("x", task.Task{}).Reason; !strings.Contains(got, `"a"`) || !strings.Contains(got, "and 1 more") {
		t.Error(got)
	}
	s = suite(t, "{any: [{type: contains, value: a}, {type: contains, value: b}]}", Options{})
	if got := s.Score("x", task.Task{}).Reason; !strings.Contains(got, "none of its members holds") {
		t.Error(got)
	}
}

func BenchmarkScore(b *testing.B) {
	s, err := Compile([]any{
		map[string]any{"type": "equals", "normalize": "squad"},
		map[string]any{"type": "f1", "required": false},
		map[string]any{"type": "regex", "value": `^\w+ \w+$`},
	}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	t := task.Task{Gold: []string{"code amber1234"}}
	for b.Loop() {
		if s.Score("code amber1234", t).Hard != 1 {
			b.Fatal("wrong")
		}
	}
}

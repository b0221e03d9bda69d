package draft

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/task"
)

// one reads a reply with a single task.
func one(t *testing.T, text string) proposal {
	t.Helper()
	list, err := readReply(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 {
		t.Fatalf("%d tasks, want 1", len(list))
	}
	return list[0]
}

func TestReadTask(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       candidate
	}{
		{
			"in the form of the schema",
			`{"tasks":[{"line":3,"prompt":" p ","gold":["g","h","g"],"checks":[{"type":"equals","values":[],"normalize":"trim","abs":null,"min":null,"max":null,"feedback":"say it"}]}]}`,
			candidate{line: 3, prompt: "p", gold: []string{"g", "h"}, checks: []map[string]any{{"type": "equals", "normalize": "trim", "feedback": "say it"}}},
		},
		{
			"in the form of a task file",
			`Here you are: {"tasks":[{"line":"3","prompt":"p","gold":7.50,"checks":[{"type":"number","value":"$gold","abs":0.01}]}]}`,
			candidate{line: 3, prompt: "p", gold: []string{"7.50"}, checks: []map[string]any{{"type": "number", "value": "$gold", "abs": json.Number("0.01")}}},
		},
		{
			"characters that steer are left out",
			`{"tasks":[{"line":3,"prompt":"p\u001b[2J\u202eq\u2028r","gold":["g\u009b","g"],"checks":[{"type":"contains-any","values":["a\u0007","b"],"feedback":"say\u200b it"}]}]}`,
			candidate{line: 3, prompt: "p[2Jq\nr", gold: []string{"g"}, checks: []map[string]any{{"type": "contains-any", "values": []any{"a", "b"}, "feedback": "say it"}}},
		},
		{
			"without checks",
			`{"tasks":[{"line":3,"prompt":"p","gold":["g"],"checks":[]}]}`,
			candidate{line: 3, prompt: "p", gold: []string{"g"}, checks: []map[string]any{{"type": "equals", "normalize": "casefold"}}},
		},
		{
			"keys that a check has no use for are filled in all the same",
			`{"tasks":[{"line":3,"prompt":"p","gold":["g"],"checks":[{"type":"icontains_all","values":["g"],"normalize":"trim","abs":0,"min":0,"max":0,"feedback":""},` +
				`{"type":"word-count","values":["x"],"normalize":"trim","abs":0,"min":1,"max":5,"feedback":""}]}]}`,
			candidate{line: 3, prompt: "p", gold: []string{"g"}, checks: []map[string]any{
				{"type": "icontains-all", "value": "g"},
				{"type": "word-count", "min": json.Number("1"), "max": json.Number("5")},
			}},
		},
	}
	for _, tt := range tests {
		got := one(t, tt.text)
		if got.err != nil {
			t.Errorf("%s: %v", tt.name, got.err)
			continue
		}
		if diff := cmp.Diff(tt.want, got.candidate, cmp.AllowUnexported(candidate{})); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}

func TestTasksThatAreNone(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`"x"`:                                   "it is no object",
		`{"line":3,"prompt":"  ","gold":["g"]}`: "it has no prompt",
		`{"line":3,"prompt":"` + strings.Repeat("x", maxPrompt+1) + `","gold":["g"]}`:                                                   "its prompt has 20481 bytes",
		`{"line":3,"prompt":"a\u0000b","gold":["g"]}`:                                                                                   "zero byte",
		`{"line":3.5,"prompt":"p","gold":["g"]}`:                                                                                        "it names no line",
		`{"prompt":"p","gold":["g"]}`:                                                                                                   "it names no line",
		`{"line":1e99,"prompt":"p","gold":["g"]}`:                                                                                       "it names no line",
		`{"line":3,"prompt":"p","gold":["", " "]}`:                                                                                      "no expected answer",
		`{"line":3,"prompt":"p","gold":{"a":1}}`:                                                                                        "no expected answer",
		`{"line":3,"prompt":"p","gold":[1,2,3,4,5,6,7,8,9,10,11]}`:                                                                      "11 expected answers",
		`{"line":3,"prompt":"p","gold":["` + strings.Repeat("x", maxGoldSize+1) + `"]}`:                                                 "longer than",
		`{"line":3,"prompt":"p","gold":["g"],"checks":"equals"}`:                                                                        "checks are no list",
		`{"line":3,"prompt":"p","gold":["g"],"checks":["equals"]}`:                                                                      "is no object",
		`{"line":3,"prompt":"p","gold":["g"],"checks":[` + strings.Repeat(`{"type":"equals"},`, 8) + `{"type":"equals"}]}`:              "9 checks",
		`{"line":3,"prompt":"p","gold":["g"],"checks":[{"type":"equals","feedback":"` + strings.Repeat("x", maxSpec) + `"}]}`:           "a check of it has",
		`{"line":3,"prompt":"p","gold":["g"],"checks":[{"type":"command","argv":["rm","-rf","/"]}]}`:                                    `may not have the check "command"`,
		`{"line":3,"prompt":"p","gold":["g"],"checks":[{"type":"not-file-exists","path":"x"}]}`:                                         `may not have the check "not-file-exists"`,
		`{"line":3,"prompt":"p","gold":["g"],"checks":[{"type":"llm-rubric","criteria":"good"}]}`:                                       "may not have the check",
		`{"line":3,"prompt":"p","gold":["g"],"checks":[{"any":[{"type":"command","argv":["sh"]}]}]}`:                                    `may not have the check ""`,
		`{"line":3,"prompt":"p","gold":["g"],"checks":[{"type":"json-schema","schema":{"$ref":"http://example.invalid/schema.json"}}]}`: "may not have the check",
	}
	for text, want := range tests {
		if got := one(t, `{"tasks":[`+text+`]}`); got.err == nil || !strings.Contains(got.err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", text, got.err, want)
		}
	}
}

func TestRepliesThatAreNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                     "the reply is empty",
		"I cannot do that.":    "there is no JSON object",
		`{"tasks": [{"line":1`: "never closed",
		`{"task": []}`:         `the field "tasks", a list, is missing`,
		`{"tasks": []}`:        `the list "tasks" is empty`,
	} {
		if _, err := readReply(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestCheckTypesAreKnown holds the list against package check: a name that it
// does not know would make every task with it fall.
func TestCheckTypesAreKnown(t *testing.T) {
	t.Parallel()
	suite, err := check.Compile(nil, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range CheckTypes() {
		text, err := encode([]map[string]any{{"type": kind}})
		if err != nil {
			t.Fatal(err)
		}
		if err := suite.Check(task.Task{Gold: []string{"1"}, Checks: text}); err != nil && strings.Contains(err.Error(), "unknown check") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestSchemaIsStrict(t *testing.T) {
	t.Parallel()
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(path, e)
			}
		case map[string]any:
			if props, ok := v["properties"].(map[string]any); ok {
				required, _ := v["required"].([]any)
				if len(required) != len(props) || v["additionalProperties"] != false {
					t.Errorf("%s: servers with strict schemas want every property required and none beside them", path)
				}
			}
			for name, e := range v {
				walk(path+"."+name, e)
			}
		}
	}
	var schema any
	if err := json.Unmarshal(replySchema().JSON, &schema); err != nil {
		t.Fatal(err)
	}
	walk("schema", schema)
}

// FuzzReadReply holds what is read to its bounds, and to being a task that can be
// linted without harm.
func FuzzReadReply(f *testing.F) {
	for _, seed := range []string{
		`{"tasks":[{"line":8,"prompt":"p","gold":["g"],"checks":[{"type":"equals"}]}]}`,
		"```json\n{\"tasks\":[{\"line\":9,\"prompt\":\"p\",\"gold\":\"g\",\"checks\":[{\"type\":\"regex\",\"values\":[\"(a+)+$\"]}]}]}\n```",
		`{"tasks":[{"line":8,"prompt":"p","gold":[1],"checks":[{"type":"number","abs":1e309}]}]}`,
		`{"tasks":[{"line":8,"prompt":"p","gold":["g"],"checks":[{"type":"command","argv":["x"]}]}, 1, null]}`,
		`{"tasks":[{"line":-1,"prompt":"\ud800","gold":["<b>"],"checks":null}]}`,
	} {
		f.Add(seed)
	}
	m := material(sample)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := readReply(text)
		if err != nil {
			return
		}
		l, err := newLinter(m, Sections(m))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			if p.err != nil {
				continue
			}
			if len(p.prompt) == 0 || len(p.prompt) > maxPrompt || len(p.gold) == 0 || len(p.gold) > maxGold || len(p.checks) == 0 || len(p.checks) > maxChecks {
				t.Fatalf("beyond the bounds: %+v", p.candidate)
			}
			c := p.candidate
			if why, _ := l.lint(&c, 0); why != "" {
				continue
			}
			line, err := Encode([]Task{{ID: "x", Prompt: c.prompt, Gold: c.gold, Checks: c.checks}})
			if err != nil || !json.Valid(line) {
				t.Fatalf("%s: %v", line, err)
			}
		}
	})
}

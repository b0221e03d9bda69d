package check

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestExtract(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rule, reply, want string
	}{
		{"null", " all of it \n", "all of it"},
		{"all", " all of it \n", "all of it"},
		{"last_line", "a\nb \n\n", "b"},
		{"last-line", "one", "one"},
		{"last_line", "  ", ""},
		{"tag:answer", "x <answer>a</answer> <Answer> B </ANSWER> y", "B"},
		{"{tag: answer}", "<answer>open", "<answer>open"},
		{"{tag: <answer>}", "<answer>a</answer>", "a"},
		{"{tag: answer, which: first}", "<answer>a</answer><answer>b</answer>", "a"},
		{"{tag: answer}", "<answer></answer>", ""},
		{"{tag: answer}", "İ<answer>İ</answer>", "İ"},
		{"{tag: answer, fallback: last_line}", "so\nParis", "Paris"},
		{"{tag: answer, fallback: none}", "so\nParis", ""},
		{"{tag: answer, fallback: {regex: 'is (\\w+)', fallback: none}}", "it is Paris", "Paris"},
		{"{tag: answer, fallback: {regex: 'is (\\w+)', fallback: none}}", "Paris", ""},
		{"{regex: '^Answer: (.*)$'}", "Answer: a\nAnswer: b\nbye", "b"},
		{"{regex: '^Answer: (.*)$', which: first}", "Answer: a\nAnswer: b\nbye", "a"},
		{"{regex: '\\d+'}", "1 and 22", "22"},
		{"{regex: 'x(?=y)', flags: i}", "Xy", "X"},
		{"regex:\\d+", "a 7", "7"},
		{"{json_path: 'a.b[0]'}", `{"a":{"b":["x"]}}`, "x"},
		{"{json_path: '$.a'}", "Sure:\n```json\n{\"a\": 1.50}\n```", "1.50"},
		{"{json_path: 'a'}", `My answer is {"a": {"k": [1]}} as asked.`, `{"k":[1]}`},
		{"{json_path: '[-1].v'}", `[{"v":1},{"v":true}]`, "true"},
		{"{json_path: '[0]'}", `these: ["x","y"]`, "x"},
		{"{json_path: a, fallback: none}", `{"b":1}`, ""},
		{"{json_path: a, fallback: none}", `{"a":null}`, ""},
		{"{json_path: 'a[2]', fallback: none}", `{"a":[1]}`, ""},
		{"{json_path: 'a.b', fallback: none}", `{"a":[1]}`, ""},
		{"{json_path: 'a', fallback: none}", `nothing here`, ""},
	}
	for _, tt := range tests {
		e, err := ParseExtract(fromYAML(t, tt.rule))
		if err != nil {
			t.Errorf("%s: %v", tt.rule, err)
			continue
		}
		if got, err := e.Answer(tt.reply); got != tt.want || err != nil {
			t.Errorf("%s of %q: got %q, %v, want %q", tt.rule, tt.reply, got, err, tt.want)
		}
	}
	if got, err := (&Extractor{}).Answer(" x "); got != "x" || err != nil {
		t.Errorf("zero value: %q, %v", got, err)
	}
}

func TestExtractErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ rule, want string }{
		{"7", "text or an object expected, found the number 7"},
		{"last_lin", `(did you mean "last_line"?)`},
		{"{}", "one of all, verbatim, last_line, tag, regex, json_path, boxed, choice is needed"},
		{"none", "says nothing of where"},
		{"{tag: 3}", "extract.tag: text expected"},
		{"{tag: ''}", "text expected"},
		{"{tag: a, regex: b}", `unknown key "regex"`},
		{"{tag: a, witch: first}", `(did you mean "which"?)`},
		{"{tag: a, which: middle}", "one of last, first"},
		{"last_line:x", "takes no argument"},
		{"{regex: '('}", "extract.regex:"},
		{"{regex: a, flags: z}", "is not a flag"},
		{"{json_path: 'a[x]'}", "must be a whole number"},
		{"{json_path: 'a[1'}", "must be a whole number"},
		{"{json_path: '..a'}", "a name is missing"},
		{"{tag: a, fallback: {tga: b}}", "extract.fallback: "},
	}
	for _, tt := range tests {
		_, err := ParseExtract(fromYAML(t, tt.rule))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.rule, err, tt.want)
		}
	}
	deep := any("all")
	for range 30 {
		deep = map[string]any{"tag": "a", "fallback": deep}
	}
	if _, err := ParseExtract(deep); err == nil {
		t.Error("30 fallbacks: no error")
	}
}

func TestTaggedFindsWhatWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		answer := rapid.StringMatching(`[a-zA-Z0-9 äß.,]{0,20}`).Draw(t, "answer")
		before := rapid.StringMatching(`[a-z <>/\n]{0,20}`).Draw(t, "before")
		reply := before + "<answer>" + answer + "</answer>" + rapid.StringMatching(`[a-z\n ]{0,20}`).Draw(t, "after")
		e, err := ParseExtract("tag:answer")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.Answer(reply); got != strings.TrimSpace(answer) || err != nil {
			t.Fatalf("got %q, %v from %q", got, err, reply)
		}
	})
}

func FuzzExtract(f *testing.F) {
	f.Add("a.b[0]", `{"a":{"b":[1]}}`, "answer")
	f.Add("[0]", "text [1,2] text", "x")
	f.Add("$", "<x>1</X>", "X")
	f.Fuzz(func(t *testing.T, path, reply, tag string) {
		for _, rule := range []map[string]any{{"json_path": path}, {"tag": tag}, {"tag": tag, "which": "first", "fallback": "last_line"}} {
			e, err := ParseExtract(rule)
			if err != nil {
				continue
			}
			if got, err := e.Answer(reply); err != nil || utf8.ValidString(reply) && !utf8.ValidString(got) {
				t.Fatalf("%v of %q: %q, %v", rule, reply, got, err)
			}
		}
	})
}

// Which rule found an answer is told; that none did is told too, whatever stands for the
// answer then.
func TestWhatFoundTheAnswer(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rules           any
		reply, want, by string
	}{
		"no rules":      {nil, " a ", "a", ""},
		"tag":           {"tag:answer", "x <answer>a</answer>", "a", "tag:answer"},
		"nothing found": {"tag:answer", " a ", "a", NothingFound},
		"fallback":      {map[string]any{"tag": "answer", "fallback": "last_line"}, "x\na", "a", "last_line"},
		"none":          {map[string]any{"tag": "answer", "fallback": "none"}, "x", "", NothingFound},
		"all":           {"all", "x", "x", "all"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := ParseExtract(tt.rules)
			if err != nil {
				t.Fatal(err)
			}
			answer, by, err := e.Extract(tt.reply)
			if err != nil || answer != tt.want || by != tt.by {
				t.Errorf("%q by %q, %v; want %q by %q", answer, by, err, tt.want, tt.by)
			}
		})
	}
}

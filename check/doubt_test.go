package check

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/task"
)

// A check that no right answer passes is doubted, with the check and the answer; one
// that a right answer may pass is not.
func TestDoubts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, checks, extract string
		gold                  []string
		want                  string // in the doubt; "" = there is none
	}{
		{"gold equals itself", `[{type: equals, value: $gold}]`, "", []string{"Paris", "paris, France"}, ""},
		{"the usual checks", ``, "", []string{"The Hague", "42"}, ""},
		{"a misspelt reference", `[{type: equals, value: $golden}]`, "", []string{"Paris"}, `checks[0].value: "$golden" is compared as it is`},
		{"another case", `[{type: one-of, value: $Gold}]`, "", []string{"Paris"}, `"$Gold"`},
		{"a template where there is none", `[{type: contains, value: "{{ expected }}"}]`, "", []string{"Paris"}, `"{{ expected }}"`},
		{"a reference in a list", `[{type: contains-any, values: [$gold, x]}]`, "", []string{"Paris"}, `checks[0].values: "$gold"`},
		{"a reference in a group", `[{any: [{type: equals, value: $answer}, {type: equals, value: $gold}]}]`, "", []string{"Paris"}, `checks[0].any[0].value: "$answer"`},
		{"a pattern that is a name", `[{type: regex, value: $gold_answer}]`, "", []string{"Paris"}, `"$gold_answer"`},
		{"prices", `[{type: one-of, values: ["$5", "5 $"]}]`, "", []string{"$5"}, ""},
		{"a pattern", `[{type: regex, value: '^\d+$'}]`, "", []string{"42"}, ""},
		{"two signs", `[{type: equals, value: $$name}]`, "", []string{"$$name"}, ""},
		{"braces in a text", `[{type: contains, value: "{{name}} is"}]`, "", []string{"{{name}} is filled in"}, ""},
		{"too few words", `[{type: equals}, {type: word-count, min: 50}]`, "", []string{"Paris"}, `its own gold "Paris" does not pass word-count`},
		{"too few words, nothing else", `[{type: word-count, min: 50}]`, "", []string{"Paris"}, "does not pass word-count"},
		{"gold within a long answer", `[{type: contains, value: $gold}, {type: word-count, min: 50}]`, "", []string{"Paris"}, ""},
		{"a long answer that begins with gold", `[{type: starts-with, value: $gold}, {type: char-count, min: 50}]`, "", []string{"Paris"}, ""},
		{"a judge knows gold", `[{type: llm-equivalent}, {type: word-count, min: 50}]`, "", []string{"Paris"}, ""},
		{"one of several", `[{type: equals}, {type: char-count, max: 8}]`, "", []string{"Paris", "Paris in France"}, `"Paris in France" does not pass char-count`},
		{"a list wants them all", `[{type: contains-all, value: $gold}]`, "", []string{"salt", "pepper"}, ""},
		{"gold is another thing", `[{type: one-of, values: [yes, no]}]`, "", []string{"maybe"}, `"maybe" does not pass one-of`},
		{"labels", `[{type: one-of, values: ["yes", "no"]}]`, "", []string{"yes"}, ""},
		{"gold is forbidden", `[{type: not-contains, value: $gold}, {type: char-count, min: 1}]`, "", []string{"Paris"}, "does not pass not-contains"},
		{"only merely reported", `[{type: equals}, {type: word-count, min: 50, required: false, weight: 0}]`, "", []string{"Paris"}, ""},
		{"the last line of several", `[{type: equals}]`, "last_line", []string{"one\ntwo"}, `tasks.extract would take "two" of it`},
		{"the only line", `[{type: equals}]`, "last_line", []string{" one "}, ""},
		{"within a tag", `[{type: equals}]`, "tag:answer", []string{"one\ntwo"}, ""},
		{"a tag within the tag", `[{type: equals}]`, "tag:b", []string{"x</b>y"}, `tasks.extract would take "x" of it`},
		{"by a pattern", `[{type: equals}]`, "regex:Answer: (.*)", []string{"one"}, ""},
		{"a number", `[{type: number, value: $gold}]`, "", []string{"1,024"}, ""},
		{"no gold", `[{type: is-json}]`, "", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var place any
			if tt.extract != "" {
				place = tt.extract
			}
			extract, err := ParseExtract(place)
			must(t, err)
			for _, own := range []bool{false, true} {
				what := task.Task{ID: "t", Prompt: "q", Gold: tt.gold}
				checks := tt.checks
				if own && checks != "" {
					text, err := json.Marshal(fromYAML(t, checks))
					must(t, err)
					what.Checks, checks = text, ""
				}
				s := suite(t, checks, Options{Extract: extract, Judge: true})
				got := ""
				for _, err := range []error{s.SetDoubts(), s.Doubts(what)} {
					if err != nil {
						got += err.Error()
					}
				}
				if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
					t.Errorf("own %v: %q, want %q", own, got, tt.want)
				}
			}
		})
	}
}

// A threshold that gold itself does not reach is doubted.
func TestDoubtsOfTheThreshold(t *testing.T) {
	t.Parallel()
	s := suite(t, `[{type: equals}, {type: word-count, min: 3, required: false}]`, Options{Threshold: 0.8})
	if err := s.Doubts(task.Task{ID: "t", Gold: []string{"Paris"}}); err == nil || !strings.Contains(err.Error(), "0.8 is needed") {
		t.Errorf("%v", err)
	}
	if err := s.Doubts(task.Task{ID: "t", Gold: []string{"Paris in France"}}); err != nil {
		t.Errorf("%v", err)
	}
}

// A pattern that takes forever on gold is not tried on each of a thousand tasks.
func TestDoubtsGiveUpOnEndlessPatterns(t *testing.T) {
	t.Parallel()
	s := suite(t, `[{type: regex, value: "^(a+)+$"}]`, Options{MatchTimeout: time.Millisecond})
	for i := range 1000 {
		if err := s.Doubts(task.Task{ID: "t", Gold: []string{strings.Repeat("a", 100) + "!"}}); err != nil {
			t.Fatalf("task %d: what was not decided is doubted: %v", i, err)
		}
	}
	if n := s.late.Load(); n != maxLate {
		t.Errorf("%d tasks were tried, want %d", n, maxLate)
	}
}

package check

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// A score that is no number is an error of the check that names what it was, and no score.
func TestTrap8ARewardThatIsNoNumber(t *testing.T) {
	t.Parallel()
	for _, reward := range []string{"high", "", " ", "true", "null", "[0.5]", "{}", "0,5", "1/2", "50%", "NaN", "inf", "-Inf", "1e400", "-0.1", "1.0001", "0.5 0.6", "\u0661"} {
		by := Means{Command: func(context.Context, string, Command) (CommandResult, error) {
			return CommandResult{End: EndExit, Reward: reward}, nil
		}}
		got, err := suite(t, "{type: command, run: x, reward: r.txt, threshold: 0.5}", Options{}).Assess(t.Context(), Evidence{Dir: t.TempDir()}, task.Task{}, by)
		if err == nil || !strings.Contains(err.Error(), "command") || !strings.Contains(err.Error(), "r.txt") || strings.TrimSpace(reward) != "" && !strings.Contains(err.Error(), "a number from 0 to 1") || got.Components != nil {
			t.Errorf("%q: %+v, %v", reward, got, err)
		}
	}
}

// A pattern that is none is refused with it when the checks are read.
func TestTrap22PatternThatIsNone(t *testing.T) {
	t.Parallel()
	for _, check := range []string{"{type: regex, value: PATTERN}", "{type: not-regex, value: PATTERN}", "{type: file-contains, path: a, regex: PATTERN}", "{type: tool-called, tool: PATTERN}", "{any: [{type: contains, value: a}, {type: regex, value: PATTERN}]}"} {
		for _, pattern := range []string{"(", "[a", "a)(", "(?<n"} {
			_, err := Compile(fromYAML(t, strings.ReplaceAll(check, "PATTERN", "'"+pattern+"'")), Options{})
			if err == nil || !strings.Contains(err.Error(), pattern) || !strings.Contains(err.Error(), "checks[0]") {
				t.Errorf("%s with %s: %v", check, pattern, err)
			}
		}
	}
}

func TestTrap23BoundsOfCharacters(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		max  any
		says string // "": it is one
	}{
		"true": {true, "a number expected, found true"}, "1.5": {1.5, "a whole number expected, found 1.5"}, "inf": {math.Inf(1), "out of range"}, "-inf": {math.Inf(-1), "out of range"},
		"NaN": {math.NaN(), "a number expected"}, "-1": {-1, "out of range"}, "a list": {[]any{1}, "a number expected, found a list"}, "an object": {map[string]any{}, "a number expected, found an object"},
		`"1.5"`: {"1.5", "a number expected, found the text"}, `"-1"`: {"-1", "a number expected"}, `"1e3"`: {"1e3", "a number expected"}, `"twelve"`: {"twelve", "a number expected"}, `""`: {"", "a number expected"},
		"null": {nil, "needs min or max"}, "too many": {math.Pow(2, 40), "out of range"}, `"99999999999"`: {"99999999999", "a number expected"},
		`"12"`: {"12", ""}, "12.0": {12.0, ""}, "12": {12, ""},
	} {
		for _, kind := range []string{"char-count", "word-count"} {
			s, err := Compile(map[string]any{"type": kind, "max": tt.max}, Options{})
			if tt.says != "" {
				if err == nil || !strings.Contains(err.Error(), "checks[0].m") || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%s, max %s: %v", kind, name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s, max %s: %v", kind, name, err)
				continue
			}
			fits, longer := strings.Repeat("a ", 6), strings.Repeat("a ", 13)
			if s.Score(fits, task.Task{}).Hard != 1 || s.Score(longer, task.Task{}).Hard != 0 {
				t.Errorf("%s, max %s does not mean 12", kind, name)
			}
		}
	}
}

// Words about a call of a tool are no call, whoever says them and however they look.
func TestTrap33WordsAreNoCall(t *testing.T) {
	t.Parallel()
	says := func(role, content string) trajectory.Turn { return trajectory.Turn{Role: role, Content: content} }
	turns := []trajectory.Turn{
		says("user", "Call the tool search."), says("assistant", "I called the tool search."), says("assistant", "TOOL_CALL: search"), says("assistant", `<tool_call>{"name": "search", "arguments": {"q": "x"}}</tool_call>`),
		says("tool_call", `search {"q": "x"}`), says("assistant", "search {\"q\": \"x\"}"),
		{Kind: trajectory.EnvStep, Step: "search", Action: `search {"q": "x"}`, Observation: "TOOL_CALL: search"},
		{Kind: trajectory.ToolCall, Action: `write {"text": "TOOL_CALL: search"}`, Observation: "search was called"},
	}
	ev := Evidence{Answer: `TOOL_CALL: search {"q": "x"}`, Turns: turns}
	for check, want := range map[string]float64{
		"{type: tool-called, tool: search}": 0, "{type: not-tool-called, tool: search}": 1, `{type: tool-called, args: '"q"'}`: 0,
		"{type: tool-called, tool: search, max: 0}": 1, "{type: tool-called, tool: '.*', min: 1, max: 1}": 1, "{type: tool-called, tool: write}": 1,
	} {
		if got := assess(t, check, ev, task.Task{}, Means{}); got.Hard != want {
			t.Errorf("%s: %+v, want %v", check, got, want)
		}
	}
}

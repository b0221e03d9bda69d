package trajectory

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	turns := []Turn{
		{Role: "user", Content: "two\nlines"},
		{Role: "assistant", Content: "thinking"},
		{Kind: ToolCall, Action: "ls", Observation: "a.txt"},
		{Kind: EnvStep, Step: "3", Content: "why", Action: "go north", Observation: "a wall"},
		{Kind: EnvStep, Action: "look"},
		{Role: "system", Content: "failed"},
	}
	want := strings.Join([]string{
		"[user] two\nlines",
		"[agent] thinking",
		"[action] ls",
		"[obs]    a.txt",
		"[step 3 think] why",
		"[step 3 action] go north",
		"[step 3 obs]    a wall",
		"[step ? action] look",
		"[step ? obs]    ",
		"[verification] failed",
	}, "\n")
	if diff := cmp.Diff(want, Format(turns)); diff != "" {
		t.Error(diff)
	}
	if got := Format(nil); got != "" {
		t.Errorf("no turns give %q", got)
	}
}

func TestParseTurns(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   any
		want []Turn
	}{
		{"null", nil, nil},
		{"empty", []any{}, []Turn{}},
		{"one object", map[string]any{"role": "user", "content": "hi"}, []Turn{{Role: "user", Content: "hi"}}},
		{"text", "hi", []Turn{{Content: "hi"}}},
		{"odd items", []any{json.Number("5"), 1.5, true, false, nil, []any{"x"}, math.Inf(1), map[string]any{}}, []Turn{
			{Content: "5"}, {Content: "1.5"}, {Content: "True"}, {Content: "False"}, {}, {Content: `["x"]`}, {Content: "+Inf"}, {},
		}},
		{"not JSON", []any{[]any{math.NaN()}}, []Turn{{Content: "[NaN]"}}},
		{"tool call", []any{map[string]any{"type": "tool_call", "cmd": "ls", "obs": nil}}, []Turn{{Kind: ToolCall, Action: "ls"}}},
		{"step", []any{map[string]any{"step": json.Number("2"), "reasoning": "r", "action": "a", "env_feedback": "f"}}, []Turn{
			{Kind: EnvStep, Step: "2", Content: "r", Action: "a", Observation: "f"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, ParseTurns(tt.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseReadsOwnForm(t *testing.T) {
	t.Parallel()
	turn := rapid.Custom(func(t *rapid.T) Turn {
		text := rapid.StringMatching(`[a-zé\n]{0,8}`)
		switch rapid.SampledFrom([]Kind{Message, ToolCall, EnvStep}).Draw(t, "kind") {
		case ToolCall:
			return Turn{Kind: ToolCall, Action: text.Draw(t, "action"), Observation: text.Draw(t, "observation")}
		case EnvStep:
			return Turn{Kind: EnvStep, Step: text.Draw(t, "step"), Content: text.Draw(t, "content"), Action: text.Draw(t, "action"), Observation: text.Draw(t, "observation")}
		}
		return Turn{Role: text.Draw(t, "role"), Content: text.Draw(t, "content")}
	})
	rapid.Check(t, func(t *rapid.T) {
		turns := rapid.SliceOfN(turn, 1, 5).Draw(t, "turns")
		b, err := json.Marshal(turns)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(turns, ParseTurns(v)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestUsageAdd(t *testing.T) {
	t.Parallel()
	a, b := Usage{1, 2, 3, 4, 5}, Usage{10, 20, 30, 40, 50}
	if got, want := a.Add(b), (Usage{11, 22, 33, 44, 55}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

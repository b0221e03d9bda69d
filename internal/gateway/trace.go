package gateway

import (
	"slices"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// trace is what was said in a session. Each request repeats the conversation so
// far; what is new follows the last answer in it.
type trace struct {
	turns []trajectory.Turn
	users map[string]struct{}
	calls map[string]int // turn by the id of a call
}

// addRequest adds what is new in a request.
func (t *trace) addRequest(messages []model.Message) {
	last := len(messages)
	for last > 0 && messages[last-1].Role != model.Assistant {
		last--
	}
	for _, m := range messages[last:] {
		switch m.Role {
		case model.User:
			t.user(m.Text())
		case model.ToolRole:
			for _, p := range m.Parts {
				if p.Result != nil {
					t.result(p.Result)
				}
			}
		}
	}
}

func (t *trace) user(s string) {
	if _, told := t.users[s]; told || s == "" {
		return
	}
	if t.users == nil {
		t.users = map[string]struct{}{}
	}
	t.users[s] = struct{}{}
	t.turns = append(t.turns, trajectory.Turn{Role: model.User, Content: s})
}

func (t *trace) result(r *model.ToolResult) {
	if i, ok := t.calls[r.CallID]; ok && t.turns[i].Observation == "" {
		t.turns[i].Observation = r.Content
	}
}

// addResponse adds what the model said.
func (t *trace) addResponse(r model.Response) {
	for _, p := range pieces(r) {
		switch {
		case p.Call != nil:
			if t.calls == nil {
				t.calls = map[string]int{}
			}
			t.calls[p.Call.ID] = len(t.turns)
			t.turns = append(t.turns, trajectory.Turn{Kind: trajectory.ToolCall, Action: p.Call.Name + " " + string(p.Call.Arguments)})
		case p.Text != "":
			t.turns = append(t.turns, trajectory.Turn{Role: model.Assistant, Content: p.Text})
		}
	}
}

func (t *trace) list() []trajectory.Turn { return slices.Clone(t.turns) }

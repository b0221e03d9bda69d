package trajectory

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// ParseTurns reads turns from decoded JSON that an environment or another
// trainer wrote: a list of objects, either in the form of Turn or as SkillOpt
// records them (messages {role, content}, tool calls {type: tool_call, cmd,
// obs}, steps {step, reasoning, action, env_feedback}). Whatever is not
// understood becomes a message of the agent, so that nothing is lost. A value
// that is no list is one turn; null is none.
func ParseTurns(v any) []Turn {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		turns := make([]Turn, len(v))
		for i, item := range v {
			turns[i] = parseTurn(item)
		}
		return turns
	}
	return []Turn{parseTurn(v)}
}

func parseTurn(v any) Turn {
	m, ok := v.(map[string]any)
	if !ok {
		return Turn{Content: formatValue(v)}
	}
	if m["type"] == string(ToolCall) || m["kind"] == string(ToolCall) {
		return Turn{Kind: ToolCall, Action: first(m, "cmd", "action"), Observation: first(m, "obs", "observation")}
	}
	if _, ok := m["action"]; ok || m["kind"] == string(EnvStep) {
		return Turn{
			Kind: EnvStep, Step: formatValue(m["step"]), Content: first(m, "reasoning", "content"),
			Action: formatValue(m["action"]), Observation: first(m, "env_feedback", "observation"),
		}
	}
	return Turn{Role: formatValue(m["role"]), Content: formatValue(m["content"])}
}

// first returns the text of the first key that the object has.
func first(m map[string]any, keys ...string) string {
	for _, key := range keys {
		if v, ok := m[key]; ok {
			return formatValue(v)
		}
	}
	return ""
}

// formatValue writes a value as Python's str does where that is plain, else as JSON.
func formatValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		if v {
			return "True"
		}
		return "False"
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case json.Number:
		return v.String()
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

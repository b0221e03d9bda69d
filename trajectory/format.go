package trajectory

import "strings"

// Format writes turns as the lines that analysts read: [user], [agent] and
// [verification] (a system message inside a conversation) before a message,
// [action] and [obs] for a tool call, [step N think], [step N action] and
// [step N obs] for an environment's step. Turns are divided by a line break;
// texts of several lines are left as they are.
func Format(turns []Turn) string {
	var b strings.Builder
	for i, t := range turns {
		if i > 0 {
			b.WriteByte('\n')
		}
		t.format(&b)
	}
	return b.String()
}

func (t Turn) format(b *strings.Builder) {
	write := func(parts ...string) {
		for _, p := range parts {
			b.WriteString(p)
		}
	}
	switch t.Kind {
	case ToolCall:
		write("[action] ", t.Action, "\n[obs]    ", t.Observation)
	case EnvStep:
		label := t.Step
		if label == "" {
			label = "?"
		}
		if t.Content != "" {
			write("[step ", label, " think] ", t.Content, "\n")
		}
		write("[step ", label, " action] ", t.Action, "\n[step ", label, " obs]    ", t.Observation)
	default:
		write("[", speaker(t.Role), "] ", t.Content)
	}
}

// speaker returns who a message is from, as analysts see it. A system message in the middle of a
// conversation is the verification of an environment; the system prompt itself is no turn.
func speaker(role string) string {
	switch role {
	case "user":
		return "user"
	case "system":
		return "verification"
	}
	return "agent"
}

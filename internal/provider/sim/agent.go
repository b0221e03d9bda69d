package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// The simulated target also plays the model inside a coding agent. It has one
// way to work: it reads the skill files with the agent's shell, writes its reply
// into answerFile, and then says it.
const (
	answerFile = "answer.txt"
	readSkills = "cat .agents/skills/*/SKILL.md .claude/skills/*/SKILL.md 2>/dev/null; true"
)

// shellTools are the names under which agents offer a shell.
func shellTools() []string {
	return []string{"bash", "shell", "exec_command", "run_shell_command", "local_shell", "run_terminal_cmd"}
}

// shell is the tool that runs a command line.
type shell struct {
	name     string
	argument string // that takes the command line
}

// shellOf finds the shell among the tools of a request.
func shellOf(tools []model.Tool) (shell, bool) {
	for _, t := range tools {
		if !slices.Contains(shellTools(), strings.ToLower(t.Name)) {
			continue
		}
		var schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(t.Parameters, &schema); err != nil {
			continue
		}
		for _, argument := range []string{"command", "cmd", "script"} {
			if _, ok := schema.Properties[argument]; ok {
				return shell{t.Name, argument}, true
			}
		}
	}
	return shell{}, false
}

// call returns the parts of an answer that runs a command line. n makes the id
// of the call unique in its conversation.
func (s shell) call(n int, command string) ([]model.Part, error) {
	arguments, err := json.Marshal(map[string]string{s.argument: command})
	if err != nil {
		return nil, fmt.Errorf("encode a call: %w", err)
	}
	return []model.Part{{Call: &model.ToolCall{ID: fmt.Sprintf("call_%d", n+1), Name: s.name, Arguments: arguments}}}, nil
}

// work answers as the model inside an agent; ok is false when the request is not
// that of one. Either parts or text is the answer.
func (c *Client) work(req model.Request) (parts []model.Part, text string, ok bool, err error) {
	sh, ok := shellOf(req.Tools)
	if !ok || len(req.Messages) == 0 {
		return nil, "", false, nil
	}
	task, results := conversation(req.Messages)
	if len(results) == 0 {
		parts, err = sh.call(0, readSkills)
		return parts, "", true, err
	}
	text, err = c.rollout(results[0], task, seedOf(req))
	if err != nil || len(results) > 1 {
		return nil, text, true, err
	}
	parts, err = sh.call(1, "printf '%s\\n' "+quoted(text)+" > "+answerFile)
	return parts, "", true, err
}

// quoted is text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// conversation returns what the user said, and the results of calls since the
// user spoke last.
func conversation(messages []model.Message) (user string, results []string) {
	for _, m := range messages {
		switch m.Role {
		case model.User:
			if text := m.Text(); strings.TrimSpace(text) != "" {
				user, results = joined(user, text), nil
			}
		case model.ToolRole:
			for _, p := range m.Parts {
				if p.Result != nil {
					results = append(results, p.Result.Content)
				}
			}
		}
	}
	return user, results
}

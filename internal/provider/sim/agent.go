package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/model"
)

// The simulated target also plays the model inside a coding agent. It has one
// way to work: it reads the skill files with the agent's shell, if it loads skills
// whatever it is asked or is tempted by their description, and the references if those
// name any, writes its reply into answerFile, and then says it.
const (
	answerFile     = "answer.txt"
	readSkills     = "cat .agents/skills/*/SKILL.md .claude/skills/*/SKILL.md 2>/dev/null; true"
	referencesIn   = "references/"
	readReferences = "cat .agents/skills/*/references/*.md 2>/dev/null; true"
)

// shellTools are the names under which agents offer a shell.
func shellTools() []string {
	return []string{"bash", "shell", "exec_command", "run_shell_command", "local_shell", "run_terminal_cmd"}
}

// inCode is how a tool that takes a program in JavaScript says that commands are run
// from there.
const inCode = "tools.exec_command("

// shell is the tool that runs a command line.
type shell struct {
	name     string
	argument string // that takes the command line
	code     bool   // the command line is run by a program in JavaScript
}

// shellOf finds the shell among the tools of a request.
func shellOf(tools []model.Tool) (shell, bool) {
	for _, t := range tools {
		code := strings.Contains(t.Description, inCode)
		if !code && !slices.Contains(shellTools(), strings.ToLower(t.Name)) {
			continue
		}
		var schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(t.Parameters, &schema); err != nil {
			continue
		}
		arguments := []string{"command", "cmd", "script"}
		if code {
			arguments = []string{"input", "code"}
		}
		for _, argument := range arguments {
			if _, ok := schema.Properties[argument]; ok {
				return shell{t.Name, argument, code}, true
			}
		}
	}
	return shell{}, false
}

// call returns the parts of an answer that runs a command line. n makes the id
// of the call unique in its conversation.
func (s shell) call(n int, command string) ([]model.Part, error) {
	if s.code {
		cmd, err := json.Marshal(map[string]string{"cmd": command})
		if err != nil {
			return nil, fmt.Errorf("encode a call: %w", err)
		}
		command = "const done = await " + inCode + string(cmd) + ");\ntext(done.output ?? JSON.stringify(done));\n"
	}
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
	said, results := conversation(req.Messages)
	asked := ""
	if len(said) > 0 {
		asked = said[len(said)-1]
	}
	var reads []string // commands before the answer is written
	if c.world.tempted(req, asked, seedOf(req)) {
		reads = append(reads, readSkills)
		if len(results) > 0 && strings.Contains(results[0], referencesIn) {
			reads = append(reads, readReferences)
		}
	}
	before := len(reads)
	if len(results) < before {
		parts, err = sh.call(len(results), reads[len(results)])
		return parts, "", true, err
	}
	task, err := c.task(said)
	if err != nil {
		return nil, "", true, err
	}
	skill := strings.Join(append(told(req.Messages, task), results[:before]...), "\n")
	text, err = c.rollout(skill, task, seedOf(req))
	if err != nil || len(results) > before {
		return nil, text, true, err
	}
	parts, err = sh.call(before, "printf '%s\\n' "+quoted(text)+" > "+answerFile)
	return parts, "", true, err
}

// told is what a conversation holds apart from the task: documents of the workspace that the
// agent reads by itself, among much that is no rule of any world. Some agents put them
// before the task, in one text.
func told(messages []model.Message, task string) []string {
	var out []string
	for _, m := range messages {
		if m.Role != model.System && m.Role != model.User {
			continue
		}
		for _, text := range append([]string{m.Content}, textsOf(m.Parts)...) {
			if text = strings.ReplaceAll(text, task, ""); text != "" {
				out = append(out, text)
			}
		}
	}
	return out
}

func textsOf(parts []model.Part) (out []string) {
	for _, p := range parts {
		out = append(out, p.Text)
	}
	return out
}

// reminder is what claude puts before the words of its user, in one text with them.
var reminder = pattern.New(`(?s)<system-reminder>.*?</system-reminder>`)

// quoted is text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// task returns what the user said last that is a task of this world. Agents put
// much around it that is not: where they are, what the rules of the house are. So
// a piece counts as a whole, or one of its paragraphs does; without what an agent has put
// between marks of its own.
func (c *Client) task(said []string) (string, error) {
	for _, piece := range slices.Backward(said) {
		piece = reminder.ReplaceAllString(piece, "")
		paragraphs := strings.Split(piece, "\n\n")
		for _, text := range slices.Backward(append(paragraphs, piece)) {
			text = strings.TrimSpace(text)
			p, err := c.problems.get(text, c.world.solve)
			if p != nil || err != nil {
				return text, err
			}
		}
	}
	return strings.Join(said, "\n\n"), nil
}

// conversation returns what the user said, piece by piece, and the results of
// calls since the user spoke last.
func conversation(messages []model.Message) (said, results []string) {
	for _, m := range messages {
		switch m.Role {
		case model.User:
			if text := m.Text(); strings.TrimSpace(text) == "" {
				continue
			}
			results = nil
			if len(m.Parts) == 0 {
				said = append(said, m.Text())
			}
			for _, p := range m.Parts {
				said = append(said, p.Text)
			}
		case model.ToolRole:
			for _, p := range m.Parts {
				if p.Result != nil {
					results = append(results, p.Result.Content)
				}
			}
		}
	}
	return said, results
}

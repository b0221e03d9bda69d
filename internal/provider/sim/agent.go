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

// shellTools returns the names under which agents offer a shell.
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

// findShell finds the shell among the tools of a request.
func findShell(tools []model.Tool) (shell, bool) {
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
	return newCall(n, s.name, map[string]string{s.argument: command})
}

// newCall returns the parts of an answer that calls a tool.
func newCall(n int, tool string, arguments map[string]string) ([]model.Part, error) {
	encoded, err := json.Marshal(arguments)
	if err != nil {
		return nil, fmt.Errorf("encode a call: %w", err)
	}
	return []model.Part{{Call: &model.ToolCall{ID: fmt.Sprintf("call_%d", n+1), Name: tool, Arguments: encoded}}}, nil
}

// work answers as a model that acts before it answers: inside an agent, or in a world; ok is
// false when the request is not that of one. Either parts or text is the answer.
func (c *Client) work(req model.Request) (parts []model.Part, text string, ok bool, err error) {
	if parts, text, ok, err = c.workByCommands(req); ok {
		return parts, text, ok, err
	}
	if len(req.Tools) == 0 || len(req.Messages) == 0 {
		return nil, "", false, nil
	}
	if sh, ok := findShell(req.Tools); ok {
		parts, text, err = c.workInShell(req, sh)
		return parts, text, true, err
	}
	return c.workWithTools(req)
}

// workWithTools answers in a world: it calls the tools that the kind of its task names, and answers then.
func (c *Client) workWithTools(req model.Request) (parts []model.Part, text string, ok bool, err error) {
	said, results := conversation(req.Messages)
	task, err := c.task(said)
	if err != nil {
		return nil, "", true, err
	}
	p, err := c.problem(task, "")
	if err != nil {
		return nil, "", true, err
	}
	acts := p.actions(req.Tools)
	switch n := len(results); {
	case len(acts) == 0:
		return nil, "", false, nil
	case n < len(acts):
		filled := make(map[string]string, len(acts[n].Arguments))
		for name, value := range acts[n].Arguments {
			filled[name] = p.kind.fill(value, task)
		}
		parts, err = newCall(n, acts[n].Tool, filled)
		return parts, "", true, err
	}
	system, _ := texts(req.Messages)
	text, err = c.rolloutSeen(system, task, strings.Join(results, "\n"), requestSeed(req))
	return nil, text, true, err
}

// workInShell answers inside an agent: it reads the skill, does what the kind of its task names, leaves
// its answer in the workspace, and says it.
func (c *Client) workInShell(req model.Request, sh shell) (parts []model.Part, text string, err error) {
	said, results := conversation(req.Messages)
	asked := ""
	if len(said) > 0 {
		asked = said[len(said)-1]
	}
	var lines []string // commands before the answer is left
	if c.world.loadsSkill(req, asked, requestSeed(req)) {
		lines = append(lines, readSkills)
		if len(results) > 0 && strings.Contains(results[0], referencesIn) {
			lines = append(lines, readReferences)
		}
	}
	reads := len(lines)
	if len(results) < reads {
		parts, err = sh.call(len(results), lines[len(results)])
		return parts, "", err
	}
	task, err := c.task(said)
	if err != nil {
		return nil, "", err
	}
	p, err := c.problem(task, "")
	if err != nil {
		return nil, "", err
	}
	lines = append(lines, p.commands(task)...)
	n := len(results)
	if n < len(lines) {
		parts, err = sh.call(n, lines[n])
		return parts, "", err
	}
	skill := strings.Join(append(contextTexts(req.Messages, task), results[:reads]...), "\n")
	text, err = c.rolloutSeen(skill, task, strings.Join(results[reads:len(lines)], "\n"), requestSeed(req))
	if err != nil || n > len(lines) {
		return nil, text, err
	}
	parts, err = sh.call(n, c.world.leave(text))
	return parts, "", err
}

// leave returns the command by which an agent leaves its answer in its workspace.
func (w *World) leave(text string) string {
	if w.leaves == "" {
		return "printf '%s\\n' " + quoteWord(text) + " > " + answerFile
	}
	answer, ok := w.readSlot(text)
	if !ok {
		answer = text
	}
	return strings.ReplaceAll(w.leaves, answerSlot, quoteWord(answer))
}

// contextTexts returns what a conversation holds apart from the task: documents of the workspace
// that the agent reads by itself, among much that is no rule of any world. Some agents put them
// before the task, in one text.
func contextTexts(messages []model.Message, task string) []string {
	var out []string
	for _, m := range messages {
		if m.Role != model.System && m.Role != model.User {
			continue
		}
		for _, text := range append([]string{m.Content}, partTexts(m.Parts)...) {
			if text = strings.ReplaceAll(text, task, ""); text != "" {
				out = append(out, text)
			}
		}
	}
	return out
}

func partTexts(parts []model.Part) (out []string) {
	for _, p := range parts {
		out = append(out, p.Text)
	}
	return out
}

// reminder is what claude puts before the words of its user, in one text with them.
var reminder = pattern.New(`(?s)<system-reminder>.*?</system-reminder>`)

// quoteWord returns text as one word of a shell.
func quoteWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

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

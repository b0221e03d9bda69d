package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
	"github.com/seed-f4525e22/skillopt/world"
)

// Form is how a target gives a command.
type Form string

// The forms.
const (
	FormTag  Form = "tag"  // between <action> and </action>
	FormTool Form = "tool" // by a call of the tool act
)

// ToolAct is the name of the tool by which commands are given.
const ToolAct = "act"

// tools returns the tools by which commands are given.
func (f Form) tools() []model.Tool {
	if f != FormTool {
		return nil
	}
	return []model.Tool{{
		Name: ToolAct, Description: "Carries out one command and returns what is seen then.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string","description":"the command"}},"required":["command"],"additionalProperties":false}`),
	}}
}

// rule returns what the target reads about the form.
func (f Form) rule() string {
	if f == FormTool {
		return "Give one command a turn by the tool act. You may think first."
	}
	return "Give one command a turn, written as <action>" + anyCommand + "</action>. You may think first."
}

// anyCommand represents a command where the form is explained. A reply that repeats it has given none.
const anyCommand = "…"

// show returns a command as the target has given it.
func (f Form) show(command string) string {
	if f == FormTool {
		return "act: " + command
	}
	return "<action>" + command + "</action>"
}

// command returns the command of a reply, or what the target is answered where there is none.
func (f Form) command(resp model.Response) (command, missing string) {
	if f != FormTool {
		_, rest, opened := strings.Cut(resp.Text, "<action>")
		command, _, closed := strings.Cut(rest, "</action>")
		if command = strings.TrimSpace(command); !opened || !closed || command == "" || command == anyCommand {
			return "", "The reply has no command. Write one as <action>" + anyCommand + "</action>."
		}
		return command, ""
	}
	calls := resp.Calls()
	if len(calls) == 0 {
		return "", "The reply does not call the tool act."
	}
	var args struct {
		Command string `json:"command"`
	}
	if calls[0].Name != ToolAct {
		return "", fmt.Sprintf("There is no tool %s, only act.", calls[0].Name)
	}
	if err := json.Unmarshal(calls[0].Arguments, &args); err != nil || strings.TrimSpace(args.Command) == "" {
		return "", `The tool act takes {"command": "…"}, a text.`
	}
	return strings.TrimSpace(args.Command), ""
}

// maxChoices is how many bytes of possible commands a target is shown.
const maxChoices = 16 << 10

// listChoices returns the commands that are possible now, as the target reads them.
func listChoices(choices []string) string {
	if len(choices) == 0 {
		return ""
	}
	return wording.Middle("Possible commands:\n- "+strings.Join(choices, "\n- "), maxChoices)
}

// joinTexts returns the texts that say something, with blank lines between them.
func joinTexts(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "\n\n")
}

// command has the world carry out the command of a reply; done says that the dialogue has ended.
func (d *dialogue) command(ctx context.Context, act world.Action, resp model.Response) (done bool, err error) {
	command, missing := d.Form.command(resp)
	seen := world.Observation{Text: missing, Failed: true, Choices: d.scene.Choices}
	if missing == "" {
		act.Text = command
		if seen, err = d.episode.Act(ctx, act); err != nil {
			return true, err
		}
		d.scene.Choices = seen.Choices
	}
	d.did.Turns = append(d.did.Turns, trajectory.Turn{
		Kind: trajectory.ToolCall, Action: wording.Middle(strings.TrimSpace(ToolAct+" "+command), maxSaid), Observation: wording.Middle(seen.Text, maxObserved),
	})
	if missing == "" {
		d.commands = append(d.commands, command)
	}
	d.did.Answer = wording.Middle(strings.Join(d.commands, "; "), maxSaid)
	if d.end(seen) {
		return true, nil
	}
	d.remember(command, resp, seen)
	return false, nil
}

// remember keeps a turn for the next request.
func (d *dialogue) remember(command string, resp model.Response, seen world.Observation) {
	text := joinTexts(seen.Text, listChoices(seen.Choices))
	switch {
	case d.History > 0:
		if command != "" {
			command = d.Form.show(command) + "\n"
		}
		d.played = append(d.played, command+seen.Text)
	case len(resp.Calls()) == 0:
		d.messages = append(slices.Clip(d.messages), resp.Message(), model.Message{Role: model.User, Content: text})
	default:
		results := model.Message{Role: model.ToolRole}
		for i, c := range resp.Calls() {
			if i > 0 {
				text = "Only one command a turn is carried out, and this was not the first."
			}
			results.Parts = append(results.Parts, model.Part{Result: &model.ToolResult{CallID: c.ID, Name: c.Name, Content: text, IsError: seen.Failed || i > 0}})
		}
		d.messages = append(slices.Clip(d.messages), resp.Message(), results)
	}
}

// request returns what the target is asked in its next turn: the conversation, or the first message with the last turns.
func (d *dialogue) request() []model.Message {
	if d.History == 0 || !d.scene.Acts {
		return d.messages
	}
	text := joinTexts(listChoices(d.scene.Choices), d.Form.rule())
	if n := len(d.played); n > 0 {
		last := strings.Join(d.played[max(0, n-d.History):], "\n\n")
		text = joinTexts(fmt.Sprintf("You have played %s. The last of them, and what was seen then:", wording.Plural(n, "turn", "turns")), last, text)
	}
	out := slices.Clone(d.messages)
	out[len(out)-1] = addText(out[len(out)-1], text)
	return out
}

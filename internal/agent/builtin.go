package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
)

// DefaultTurns is how many answers of the model the builtin agent gets unless a
// job says otherwise.
const DefaultTurns = 40

// builtin is our own agent at work: a model that is asked again with the
// results of its calls until it makes none.
type builtin struct {
	job   Job
	tools *toolbox
	r     *record
}

func (a *Agent) runBuiltin(ctx context.Context, j Job, prompt string, rep *Report) error {
	tools, err := newToolbox(j, a)
	if err != nil {
		return err
	}
	wait := sandbox.BeginWait()
	b := &builtin{job: j, tools: tools, r: &record{known: true}}
	// The task's deadline ends the loop; that of ctx, or its end, is the caller's.
	limited, cancel := context.WithTimeoutCause(ctx, j.Timeout, errDeadline)
	defer cancel()
	failure := b.loop(limited, prompt)
	err = errors.Join(err, tools.close())
	rep.fill(b.r)
	if err != nil || failure != nil && ctx.Err() != nil {
		return err
	}
	late := errors.Is(context.Cause(limited), errDeadline)
	rep.Starved = late && isStarved(wait.Measure(0), j)
	a.conclude(rep, b.r, j, failure, late)
	return nil
}

var errDeadline = errors.New("the deadline of the task has passed")

// conclude decides what a run amounts to, as judge does, for an agent whose calls we made ourselves.
func (a *Agent) conclude(rep *Report, r *record, j Job, failure error, late bool) {
	var e *model.Error
	switch {
	case failure == nil && r.own != "":
		class, detail, _ := strings.Cut(r.own, ": ")
		rep.agentError(class, detail)
	case late && r.heard:
		rep.agentError("deadline", fmt.Sprintf("not done after %v", j.Timeout))
	case errors.As(failure, &e) && (e.Code == model.ContextLength || e.Code == model.ContentFilter):
		rep.agentError(string(e.Code), e.Err.Error())
	case errors.As(failure, &e):
		rep.Status, rep.Failure, rep.Reason = score.Unmeasured, e, string(e.Code)+": "+e.Err.Error()
	case failure != nil:
		a.faulty(rep, &fault{code: model.Server, text: failure.Error()}, j)
	case isGone(j.Workspace):
		rep.agentError("workspace", "the agent deleted its workspace")
	case rep.Answer == "":
		rep.agentError("empty", "it ended without a word")
	default:
		rep.Status = score.OK
	}
}

func (b *builtin) loop(ctx context.Context, prompt string) error {
	messages := []model.Message{{Role: model.System, Content: b.system()}, b.task(prompt)}
	for range cmp.Or(b.job.MaxTurns, DefaultTurns) {
		resp, err := b.job.Client.Generate(ctx, model.Request{Model: b.job.Model, Messages: messages, Tools: tools(), Tags: model.Tags{Stage: model.StageRollout, Role: model.Target}})
		if err != nil {
			return err
		}
		calls := b.hear(resp)
		switch {
		case resp.Finish == model.FinishRefusal:
			b.r.own = "refusal: the model declined"
			return nil
		case resp.Finish == model.FinishFilter:
			b.r.own = "content_filter: the provider stopped the answer"
			return nil
		case resp.Finish == model.FinishLength:
			b.r.own = "length: the answer was cut at the model's output limit"
			return nil
		case len(calls) == 0:
			return nil
		}
		results, err := b.work(ctx, calls)
		if err != nil {
			return err
		}
		messages = append(messages, resp.Message(), results)
	}
	b.r.own = fmt.Sprintf("turns: not done after %d answers of the model", cmp.Or(b.job.MaxTurns, DefaultTurns))
	return nil
}

// hear records an answer and returns its calls.
func (b *builtin) hear(resp model.Response) []model.ToolCall {
	r := b.r
	r.heard, r.ended = true, true
	r.calls++
	r.usage, r.model, r.answer = r.usage.Add(resp.Usage), resp.Model, resp.Text
	for _, p := range resp.Parts {
		if p.Reasoning != nil {
			r.think(p.Reasoning.Text)
		}
	}
	r.say(resp.Text)
	return resp.Calls()
}

// work carries out calls, in order: one may need what the one before it did.
func (b *builtin) work(ctx context.Context, calls []model.ToolCall) (model.Message, error) {
	var parts []model.Part
	for _, c := range calls {
		b.r.call(c.ID, c.Name, c.Arguments)
		text, err := b.tools.call(ctx, c)
		if ctx.Err() != nil {
			return model.Message{}, context.Cause(ctx)
		}
		var starved *starvedError
		if errors.As(err, &starved) {
			return model.Message{}, starved
		}
		failed := err != nil
		if failed {
			text = strings.TrimSpace(text + "\n" + err.Error())
		}
		b.r.result(c.ID, text, failed)
		parts = append(parts, model.Part{Result: &model.ToolResult{CallID: c.ID, Name: c.Name, Content: text, IsError: failed}})
	}
	return model.Message{Role: model.ToolRole, Parts: parts}, nil
}

// system says to the model what it is, and of the skill what an agent would find
// in its list of skills.
func (b *builtin) system() string {
	text := "You are an agent that works in a folder of files. Solve the task that the user gives you with the tools read, write, edit and bash. " +
		"Paths are relative to the folder, and bash starts in it. Nobody can answer questions while you work: decide for yourself. " +
		"Look at what is there before you change it, and check what you did. " +
		"When you are done, answer without calling a tool: that message is your result, so it must hold whatever the task asks you to say."
	text += b.otherDocuments()
	if strings.TrimSpace(b.job.Skill.Text()) == "" || b.job.Mode == Read {
		return text
	}
	if b.job.Mode == File {
		return text + fmt.Sprintf("\n\nThis is %s of the folder. It says how work is done here: do as it says.\n\n%s", b.job.File, b.job.Skill.Text())
	}
	doc, _ := skill.Parse(b.job.Skill.Text()) // no load lets one through that cannot be read
	about := strings.TrimSpace(doc.Description)
	if about == "" {
		about = defaultDescription
	}
	return text + fmt.Sprintf("\n\nThere is a skill, a document of instructions. When it fits the task, read it before you begin and do as it says.\n- %s: %s (in %s)",
		b.job.SkillName, about, SkillPath(b.job.SkillName))
}

// otherDocuments informs the model of what lies next to the trained document: documents as they are,
// and of skills what an agent would find in its list of them.
func (b *builtin) otherDocuments() string {
	var text strings.Builder
	for _, o := range b.job.Documents {
		if o.Path != "" {
			fmt.Fprintf(&text, "\n\nThis is %s of the folder:\n\n%s", o.Path, o.Skill.Text())
			continue
		}
		doc, _ := skill.Parse(o.Skill.Text())
		about := strings.TrimSpace(doc.Description)
		if about == "" {
			about = defaultDescription
		}
		fmt.Fprintf(&text, "\n\nThere is a skill. When it fits the task, read it before you begin and do as it says.\n- %s: %s (in %s)", o.Name, about, SkillPath(o.Name))
	}
	return text.String()
}

// ToldBuiltin returns what the builtin agent gives its model with any task: its system message and its tools,
// one a line, with their parameters. The only part of the job that counts is what it is given to read.
func ToldBuiltin(j Job) (system, list string) {
	if j.SkillName == "" {
		j.SkillName = skillName(j.Skill)
	}
	b := &builtin{job: j}
	var lines []string
	for _, t := range tools() {
		lines = append(lines, fmt.Sprintf("%s: %s %s", t.Name, t.Description, t.Parameters))
	}
	return b.system(), strings.Join(lines, "\n")
}

func (b *builtin) task(prompt string) model.Message {
	if len(b.job.Images) == 0 {
		return model.Message{Role: model.User, Content: prompt}
	}
	parts := []model.Part{{Text: prompt}}
	for i := range b.job.Images {
		parts = append(parts, model.Part{Image: &b.job.Images[i]})
	}
	return model.Message{Role: model.User, Parts: parts}
}

// tools returns the tools that the model may call.
func tools() []model.Tool {
	tool := func(name, description string, required ...string) model.Tool {
		properties := map[string]any{}
		for _, p := range required {
			properties[p] = map[string]string{"type": "string"}
		}
		if name == "read" {
			properties["offset"] = map[string]string{"type": "integer", "description": "first line, from 1"}
			properties["limit"] = map[string]string{"type": "integer", "description": "number of lines"}
		}
		if name == "bash" {
			properties["timeout"] = map[string]string{"type": "integer", "description": "seconds, at most 600"}
		}
		// A map of texts, numbers and lists always has a JSON form.
		schema, _ := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required})
		return model.Tool{Name: name, Description: description, Parameters: schema}
	}
	return []model.Tool{
		tool("read", "Returns a text file, or a part of it by lines.", "path"),
		tool("write", "Writes a file whole; folders on the way are made.", "path", "content"),
		tool("edit", "Replaces a text that occurs exactly once in a file.", "path", "old", "new"),
		tool("bash", "Runs a command in a shell and returns what it printed and its exit code.", "command"),
	}
}

// Package seat makes a plain model of a coding agent's program, so that a
// subscription is enough to train: Claude Code, Codex, Copilot or pi answer one
// request each, with their tools taken away, in an empty folder and with no
// instructions but the request's.
//
// A program is not a model server: what a request says of temperature, top-p,
// seed and length of the answer cannot be passed on and is left out, and tools
// cannot be offered. It knows nothing about retries, limits, prices or records,
// and nothing about the environment.
package seat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
)

// DefaultTimeout bounds one answer when the context of the call does not.
const DefaultTimeout = 10 * time.Minute

// Options say which program answers, and as whom.
type Options struct {
	Agent   string // one of Names
	Path    string // folders with programs, as in the variable PATH
	Program string // the program, a name or an absolute path; "" = the agent's own
	// Home is the home folder of the user whose login is used. What the program
	// keeps there, such as a token that it renews, is its own affair. "": no login is
	// used, and none can be found: a variable of Env, or Endpoint, replaces it.
	Home     string
	Endpoint *agent.Endpoint // a model server instead of a login; nil is normal
	Env      []string        // further variables, "NAME=value", such as a token
	Timeout  time.Duration   // of one answer; 0 = DefaultTimeout
}

// Client is one program as a model. It is safe for concurrent use: each answer
// has a process and folders of its own.
type Client struct {
	agent *agent.Agent
	opts  Options
}

var _ model.Client = (*Client)(nil)

// Names returns the agents that can be used so, sorted.
func Names() []string {
	var names []string
	for _, name := range agent.Names() {
		if a, err := agent.New(name, agent.Options{}); err == nil && a.Abilities().Chat {
			names = append(names, name)
		}
	}
	return names
}

// New checks o and returns a client. It starts nothing.
func New(o Options) (*Client, error) {
	if !slices.Contains(Names(), o.Agent) {
		return nil, fmt.Errorf("agent %q cannot be used as a model: allowed are %s", o.Agent, strings.Join(Names(), ", "))
	}
	if o.Endpoint == nil && !filepath.IsAbs(o.Home) && (o.Home != "" || len(o.Env) == 0) {
		return nil, fmt.Errorf("agent %s: the home folder of its login is missing", o.Agent)
	}
	a, err := agent.New(o.Agent, agent.Options{Path: o.Path, Program: o.Program})
	if err != nil {
		return nil, err
	}
	return &Client{agent: a, opts: o}, nil
}

// Detect looks for the program and asks for its version, as agent.Agent does.
func (c *Client) Detect(ctx context.Context) (agent.Info, error) { return c.agent.Detect(ctx) }

// TellsUsage reports whether the program says how many tokens an answer took. The
// zero Usage of one that does not means unknown, and not that it took none.
func (c *Client) TellsUsage() bool { return c.agent.Abilities().Usage }

// Generate implements model.Client. A program that is missing or cannot be
// started is NotFound.
func (c *Client) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if err := model.Interrupted(ctx, c.opts.Agent); err != nil {
		return model.Response{}, err
	}
	if err := c.check(req); err != nil {
		return model.Response{}, c.fault(model.BadRequest, err)
	}
	dir, err := os.MkdirTemp("", disk.Seat)
	if err != nil {
		return model.Response{}, c.fault(model.Server, err)
	}
	rep, err := c.ask(ctx, dir, req)
	// A program that ended late may still have held a file: the folder is in the
	// way of no one.
	_ = os.RemoveAll(dir)
	if over := model.Interrupted(ctx, c.opts.Agent); err != nil && over != nil {
		return model.Response{}, over
	}
	if err != nil {
		return model.Response{}, c.fault(model.NotFound, err)
	}
	return c.answer(rep)
}

func (c *Client) check(req model.Request) error {
	if len(req.Tools) > 0 {
		return errors.New("a program as a model cannot offer tools")
	}
	if !c.agent.Abilities().Images && slices.ContainsFunc(req.Messages, hasImage) {
		return fmt.Errorf("%s takes no images", c.opts.Agent)
	}
	return nil
}

func hasImage(m model.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p model.Part) bool { return p.Image != nil })
}

func (c *Client) ask(ctx context.Context, dir string, req model.Request) (agent.Report, error) {
	job := agent.Job{
		Workspace: filepath.Join(dir, "empty"), Home: filepath.Join(dir, "home"), Model: req.Model, Endpoint: c.opts.Endpoint,
		LoginHome: c.opts.Home, Timeout: cmp.Or(c.opts.Timeout, DefaultTimeout), Env: c.opts.Env,
		Chat: &agent.Chat{Effort: c.effort(req.ReasoningEffort)},
	}
	if req.Schema != nil {
		job.Chat.Schema = req.Schema.JSON
	}
	job.Chat.System, job.Prompt, job.Images = conversation(req.Messages)
	for _, folder := range []string{job.Workspace, job.Home} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return agent.Report{}, err
		}
	}
	return c.agent.Run(ctx, job)
}

// effort names a reasoning effort as the program does. An unknown one is left
// to the program.
func (c *Client) effort(effort string) string {
	switch {
	case effort == "none" || c.opts.Agent == "copilot":
		return ""
	case effort == "minimal" && c.opts.Agent == "claude":
		return "low"
	}
	return effort
}

// answer makes a response of a report. The limits of an agent are those of an
// answer here.
func (c *Client) answer(rep agent.Report) (model.Response, error) {
	resp := model.Response{Text: rep.Answer, Finish: model.FinishStop, Model: rep.Model}
	if rep.UsageKnown {
		resp.Usage = rep.Usage
	}
	if rep.Status == score.OK {
		return resp, nil
	}
	if rep.Failure != nil {
		return model.Response{}, rep.Failure
	}
	class, detail, _ := strings.Cut(rep.Reason, ": ")
	switch class {
	case "empty":
		resp.Text = ""
		return resp, nil
	case "length":
		resp.Finish = model.FinishLength
		return resp, nil
	case "refusal":
		resp.Finish = model.FinishRefusal
		return resp, nil
	case "deadline":
		return model.Response{}, c.fault(model.Timeout, errors.New(detail))
	case string(model.ContextLength), string(model.ContentFilter):
		return model.Response{}, c.fault(model.Code(class), errors.New(detail))
	}
	return model.Response{}, c.fault(model.Malformed, errors.New(rep.Reason))
}

func (c *Client) fault(code model.Code, err error) *model.Error {
	return &model.Error{Code: code, Endpoint: c.opts.Agent, Err: err}
}

// conversation makes one prompt of messages. More than one message is written
// down as a conversation to be continued, since a program takes one prompt.
func conversation(messages []model.Message) (system, prompt string, images []model.Image) {
	var instructions []string
	var talk []model.Message
	for _, m := range messages {
		if m.Role == model.System && len(talk) == 0 {
			instructions = append(instructions, m.Text())
			continue
		}
		talk = append(talk, m)
		for _, p := range m.Parts {
			if p.Image != nil {
				images = append(images, *p.Image)
			}
		}
	}
	system = strings.Join(instructions, "\n\n")
	if len(talk) == 1 {
		return system, talk[0].Text(), images
	}
	var b strings.Builder
	b.WriteString("Below is a conversation. Give the assistant's next message, and nothing else.\n")
	for _, m := range talk {
		fmt.Fprintf(&b, "\n<message from=%q>\n%s\n</message>\n", m.Role, messageText(m))
	}
	return system, b.String(), images
}

// messageText returns what a message reads like, with the results of tools.
func messageText(m model.Message) string {
	text := m.Text()
	for _, p := range m.Parts {
		if p.Result != nil {
			text += p.Result.Content
		}
	}
	return text
}

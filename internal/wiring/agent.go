package wiring

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/gateway"
	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

// AgentRunner has a coding agent carry out the jobs of rollouts.
type AgentRunner struct {
	agent     *agent.Agent
	gateway   *gateway.Gateway // nil: the agent has a model of its own
	config    config.Agent
	target    config.Model
	env       []string
	hide      *redact.Exact // of what is in env, and of what the target is asked with
	documents []agent.Document
	login     string // home folder of the user whose login the agent uses, without a gateway

	isolated bool // agents see their folders at the same place in each episode
}

var _ rollout.CodingAgent = (*AgentRunner)(nil)

// An AgentError says that the agent of a config, or the program of one that is a
// model, cannot be used.
type AgentError struct {
	Key  string
	Err  error
	Help string
}

func (e *AgentError) Error() string {
	if e.Help == "" {
		return fmt.Sprintf("%s: %v", e.Key, e.Err)
	}
	return fmt.Sprintf("%s: %v; %s", e.Key, e.Err, e.Help)
}

func (e *AgentError) Unwrap() error { return e.Err }

// CheckAgent returns the version of the agent of a config, "" where it names none,
// or reports why it cannot run here: an *AgentError.
func CheckAgent(ctx context.Context, c config.Agent, lookup func(string) (string, bool)) (version string, err error) {
	a, err := NewAgent(c, reach.Guard{}, lookup)
	if err != nil {
		return "", err
	}
	info, err := a.Detect(ctx)
	if err != nil {
		return "", fmt.Errorf("look for the agent %s: %w", c.Name, err)
	}
	if info.Problem != "" {
		return "", &AgentError{Key: "agent.name", Err: errors.New(info.Problem), Help: info.Help}
	}
	return info.Version, surroundings(c, lookup)
}

// surroundings reports what an agent needs apart from its program.
func surroundings(c config.Agent, lookup func(string) (string, bool)) error {
	if s := sandbox.Supports(); c.Sandbox == "auto" && s.Kind == "" {
		return &AgentError{Key: "agent.sandbox", Err: fmt.Errorf("agents cannot be confined here: %s", s.Why), Help: "agent.sandbox=off runs them unconfined"}
	}
	for _, name := range c.PassEnv {
		if _, ok := lookup(name); !ok {
			return &AgentError{Key: "agent.pass_env", Err: fmt.Errorf("the variable %s is not set", name), Help: "export it or take it off the list"}
		}
	}
	return nil
}

// Agent builds the agent of a config, which CheckAgent has found fit, and starts
// its gateway. Close ends that. guard says what the agent must not read, in addition to what
// lies next to the trained document; lookup reads the environment.
func Agent(c config.Agent, documents []agent.Document, guard reach.Guard, target config.Model, lookup func(string) (string, bool)) (*AgentRunner, error) {
	a, err := NewAgent(c, guard, lookup)
	if err != nil {
		return nil, err
	}
	r := &AgentRunner{agent: a, config: c, documents: documents, target: target, isolated: c.Sandbox == "auto" && sandbox.Probe().Isolated}
	r.login, _ = lookup("HOME")
	if !c.Gateway && c.Name != agent.BuiltinName {
		r.env = surround(agent.Surround(c.Name, "").Open, lookup) // who it is stays with the user: see agent.pass_env
	}
	r.hide = redact.NewExact(append(secretValues(c.PassEnv, lookup), credentials(target, lookup)...)...)
	for _, name := range c.PassEnv {
		v, _ := lookup(name)
		r.env = append(r.env, name+"="+v)
	}
	if c.Gateway && c.Name != agent.BuiltinName {
		if r.gateway, err = gateway.New(gateway.Options{}); err != nil {
			return nil, fmt.Errorf("start the gateway: %w", err)
		}
	}
	return r, nil
}

// Use adds variables of the environment that agents get, NAME=value.
func (r *AgentRunner) Use(env []string) { r.env = append(r.env, env...) }

// AgentTells reports whether AgentTold knows what an agent gives its model. Of one that is
// a program of somebody else only its requests show it.
func AgentTells(c config.Agent) bool { return c.Name == agent.BuiltinName }

// AgentTold returns what an agent gives its model apart from the task: its system message and its
// tools, one a line. It returns "" for both if that is not known.
func AgentTold(c config.Agent, documents []agent.Document, s skill.Skill) (system, tools string) {
	if !AgentTells(c) {
		return "", ""
	}
	return agent.ToldBuiltin(agent.Job{Skill: s, SkillName: c.SkillName, Mode: agent.Mode(c.Mode), File: c.File, Documents: documents})
}

// NewAgent builds the agent of a config and starts nothing.
func NewAgent(c config.Agent, guard reach.Guard, lookup func(string) (string, bool)) (*agent.Agent, error) {
	o := agent.Options{Program: c.Command, Read: c.Read, Guard: guard, Login: !c.Gateway}
	if strings.ContainsRune(o.Program, filepath.Separator) && !filepath.IsAbs(o.Program) {
		abs, err := filepath.Abs(o.Program)
		if err != nil {
			return nil, fmt.Errorf("find agent.command: %w", err)
		}
		o.Program = abs
	}
	for _, name := range c.PassEnv {
		if file, ok := lookup(name); ok && slices.Contains(agent.FileVariables(), name) {
			o.Files = append(o.Files, file)
		}
	}
	o.Path, _ = lookup("PATH")
	if !c.Gateway {
		o.LoginHome, _ = lookup("HOME")
	}
	if c.Name == agent.CustomName {
		var err error
		if o.Custom, err = custom(c.Custom); err != nil {
			return nil, &AgentError{Key: "agent.custom", Err: err}
		}
	}
	a, err := agent.New(c.Name, o)
	if err != nil {
		return nil, &AgentError{Key: "agent", Err: err}
	}
	if c.Mode == string(agent.File) {
		if err := a.CheckReads(c.File); err != nil {
			return nil, &AgentError{Key: "agent.file", Err: err}
		}
	}
	return a, nil
}

// custom reads the description of an agent strictly.
func custom(m map[string]any) (*agent.Custom, error) {
	var c agent.Custom
	if err := yamlx.Fill(&c, m); err != nil {
		return nil, err
	}
	return &c, c.Validate()
}

// Places returns where a program in namespaces of its own sees its workspace and its home: the same
// in each episode, with names that say nothing. It returns none where a machine has no namespaces,
// or folders of all these names.
func Places(isolated bool, workspace, home string) sandbox.Places {
	at, own := sandbox.Vacant("/workspace", "/project", "/checkout"), sandbox.Vacant("/agent", "/user", "/account")
	if !isolated || at == "" || own == "" {
		return nil
	}
	return sandbox.Places{{Dir: workspace, As: at}, {Dir: home, As: own}}
}

// Limits returns the limits of a config as the sandbox takes them.
func Limits(c config.AgentLimits) sandbox.Limits {
	return sandbox.Limits{Memory: c.Memory.Bytes(), Processes: c.Processes, Written: c.Written.Bytes(), CPU: c.CPU.Std()}
}

// Close ends the gateway.
func (r *AgentRunner) Close() error {
	if r.gateway == nil {
		return nil
	}
	return r.gateway.Close()
}

// Work implements rollout.CodingAgent.
func (r *AgentRunner) Work(ctx context.Context, job rollout.AgentJob) (rollout.AgentReport, error) {
	own := &metered{Client: job.Client, timeout: r.config.Timeout.Std(), marks: job.Marks}
	j := r.job(job, own)
	var session *gateway.Handle
	if r.gateway != nil {
		var err error
		if session, err = r.open(&j, gateway.Session{Client: own, Hosted: r.config.HostedTools, Retried: true}); err != nil {
			return rollout.AgentReport{}, err
		}
		defer session.Close()
		job.Given(session.Key())
		own.gateway, own.strangers = r.gateway, r.gateway.Strangers()
	}
	if job.Tools != nil {
		j.Tools = &agent.Endpoint{URL: job.Tools.URL, Key: job.Tools.Key}
	}
	rep, err := r.agent.Run(ctx, j)
	if err != nil {
		return rollout.AgentReport{}, err
	}
	out, err := own.judge(rep, session)
	if !job.Marks.Empty() {
		out.Load = r.load(own, rep, job)
	}
	return out, err
}

// job returns what an agent is to do, as its config says. client is for an agent that calls its
// model without a gateway.
func (r *AgentRunner) job(job rollout.AgentJob, client model.Client) agent.Job {
	return agent.Job{
		Prompt: job.Prompt, Images: job.Images, Workspace: job.Dir, Home: job.Home, Skill: job.Skill, SkillName: r.config.SkillName,
		Mode: agent.Mode(r.config.Mode), File: r.config.File, Documents: r.documents, Model: r.target.Model, Context: r.target.Context, Client: client, LoginHome: r.login, Env: r.env,
		Timeout: r.config.Timeout.Std(), Confine: r.config.Sandbox == "auto", Network: r.config.Network,
		WorkspaceTools: r.config.WorkspaceTools,
		Show:           Places(r.isolated, job.Dir, job.Home), Limits: Limits(r.config.Limits), Hide: r.hide,
	}
}

// open begins a session of the gateway for a job, and leads the job to it.
func (r *AgentRunner) open(j *agent.Job, s gateway.Session) (*gateway.Handle, error) {
	s.Model, s.Sampling = r.target.Model, Sampling(r.target)
	session, err := r.gateway.Open(s)
	if err != nil {
		return nil, fmt.Errorf("open the gateway: %w", err)
	}
	j.Endpoint = &agent.Endpoint{URL: r.gateway.URL(), Key: session.Key()}
	return session, nil
}

// SkillFolders returns where agents are given a skill in their workspace, slash-separated; name is
// agent.skill_name.
func SkillFolders(s skill.Skill, name string) []string { return agent.SkillFolders(s, name) }

// CheckAgentFile reports why the document of agent.file cannot be in a workspace: what is there
// under its name, or because of which the agent does not read it.
func CheckAgentFile(workspace fs.FS, c config.Agent) error {
	if over := agent.Hidden(workspace, c.Name, c.File); over != "" {
		return fmt.Errorf("the workspace brings %s, with which %s does not read %s: take it out of the workspace", over, c.Name, c.File)
	}
	return agent.CheckDocumentPath(workspace, c.File)
}

// SameSkill returns the folder of a skill that a workspace brings under the name of s, "" if it
// brings none; name is agent.skill_name.
func SameSkill(workspace fs.FS, s skill.Skill, name string) string {
	return agent.SameSkill(workspace, s, name)
}

package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

// Agents says which coding agents are installed here, and whether programs
// can be confined. One that is not there is no failure.
func Agents(ctx context.Context, o session.Options) result.Examination {
	e := &examiner{}
	in, err := session.NewInputs(config.Default(), o)
	if err != nil {
		e.add("agents", "", err, "")
		return result.Examination{Rows: e.rows}
	}
	e.session = &session.Session{Inputs: in}
	for _, name := range agent.Names() {
		if name != agent.CustomName { // it is described in a config
			e.examineAgent(ctx, name)
		}
	}
	support := sandbox.Probe()
	f := result.Finding{Name: "sandbox", OK: support.Kind != "", Skipped: support.Kind == "", Detail: confinement(support)}
	if f.Skipped {
		f.Fix = "agent.sandbox=off runs agents unconfined"
	}
	return result.Examination{Rows: append(e.rows, f)}
}

// examineAgent examines whether an agent that is known by name is installed.
func (e *examiner) examineAgent(ctx context.Context, name string) {
	c := e.session.Config.Agent
	c.Name = name
	info, err := e.detect(ctx, c)
	var missing *missingError
	if errors.As(err, &missing) && info.Path == "" {
		e.rows = append(e.rows, result.Finding{Name: "agent " + name, Skipped: true, Detail: joinParts("not installed", info.Help)})
		return
	}
	e.add("agent "+name, describeAgent(info), err, info.Help)
}

// worker examines what carries out tasks and checks other than a model.
func (e *examiner) worker(ctx context.Context) {
	if len(e.session.Config.Env.Command) > 0 && e.session.Env == nil {
		e.environment(ctx)
	}
	if e.session.Config.Agent.Name != "" {
		info, err := e.detect(ctx, e.session.Config.Agent)
		e.add("agent "+e.session.Config.Agent.Name, joinParts(describeAgent(info), e.describeAccess()), err, cmp.Or(info.Help, "check agent in the config"))
		if err == nil {
			e.addLogin()
			e.prove(ctx, info)
		}
	}
	if c := e.session.Config.Env; e.session.InWorld() && e.session.World == nil {
		err := e.session.RequireWorld(ctx)
		name := cmp.Or(c.World, "env.url")
		if len(c.MCP) > 0 {
			name = "env.mcp"
		}
		e.add("world "+name, e.session.DescribeWorld(), err, "")
	}
	commands := e.session.Needs().Command
	if e.session.Config.Agent.Name == "" && !commands {
		return
	}
	if e.session.Config.Agent.Sandbox == "off" {
		e.add("sandbox", "off: agents and commands of checks can reach everything that you can (agent.sandbox)", nil, "")
		return
	}
	support := sandbox.Probe()
	var err error
	if support.Kind == "" && (commands || e.session.Config.Agent.Name != agent.BuiltinName) {
		err = fault.Input(fmt.Errorf("programs cannot be confined here: %s", support.Why))
	}
	e.add("sandbox", confinement(support), err, "agent.sandbox=off runs agents and commands of checks unconfined")
	e.reach()
}

// addLogin names what an agent with its user's login shows its model in addition to the task:
// scores are with that, and another user's are not.
func (e *examiner) addLogin() {
	c := e.session.Config.Agent
	home, _ := e.session.Loaded.Lookup("HOME")
	a, err := wiring.NewAgent(c, reach.Guard{}, e.session.Loaded.Lookup)
	if c.Gateway || home == "" || err != nil {
		return
	}
	if all := a.Shows(home); len(all) > 0 {
		e.rows = append(e.rows, result.Finding{
			Name: "own login", OK: true, Warning: true, Detail: c.Name + " shows its model " + strings.Join(all, ", "),
			Fix: "agent.gateway=true measures without them",
		})
	}
}

// reach reports what confined programs may read apart from the system, and what they lack.
func (e *examiner) reach() {
	plan, err := e.session.Commands().Reach()
	detail := "nothing but the system and what they work on"
	if len(plan.Read) > 0 {
		detail = strings.Join(plan.Read, ", ")
	}
	e.add("readable", detail, err, "confined programs read nothing that holds answers, keys or records")
	for _, n := range plan.Narrowed {
		e.rows = append(e.rows, result.Finding{Name: "not readable", OK: true, Warning: true, Detail: n.String()})
	}
}

// describeAccess describes how the agent gets at its model.
func (e *examiner) describeAccess() string {
	switch {
	case e.session.Config.Agent.Name == agent.BuiltinName:
		return "calls models.target itself"
	case e.session.Config.Agent.Gateway:
		return "calls models.target through the gateway"
	}
	return "calls its own model, with your login or key"
}

// confinement says how programs are confined here, and what is not prevented.
func confinement(s sandbox.Support) string {
	switch {
	case s.Kind == "":
		return "programs cannot be confined here: " + s.Why
	case s.Isolated:
		return s.Kind + " and namespaces: folders, own processes and memory, connections to single ports of this machine, limits"
	case !s.Network:
		return s.Kind + ": folders, no network; " + strings.Join(s.Lacks, ", ")
	}
	return s.Kind + ": folders, limits; " + strings.Join(s.Lacks, ", ")
}

// missingError is an agent that cannot be used.
type missingError struct{ problem string }

func (e *missingError) Error() string { return e.problem }

// detect looks for the agent of a config.
func (e *examiner) detect(ctx context.Context, c config.Agent) (agent.Info, error) {
	a, err := wiring.NewAgent(c, reach.Guard{}, e.session.Loaded.Lookup)
	if err != nil {
		return agent.Info{}, fault.Input(err)
	}
	info, err := a.Detect(ctx)
	if err != nil {
		return info, fmt.Errorf("look for the agent %s: %w", c.Name, err)
	}
	if info.Problem != "" {
		return info, fault.Input(&missingError{info.Problem})
	}
	return info, nil
}

// describeAgent describes an agent that is installed.
func describeAgent(info agent.Info) string {
	version := info.Version
	switch {
	case info.Name == agent.BuiltinName:
		version = "part of this program"
	case version == "":
		version = "version unknown"
	case info.Tested != "" && info.Version != info.Tested:
		version += " (tested with " + info.Tested + ")"
	}
	can := []string{}
	for _, a := range []struct {
		is   bool
		text string
	}{
		{info.Abilities.Skills, "finds skills"},
		{info.Abilities.Images, "sees images"},
		{info.Abilities.Usage, "counts tokens"},
		{info.Abilities.Chat, "can be a plain model"},
	} {
		if a.is {
			can = append(can, a.text)
		}
	}
	speaks := ""
	if info.Abilities.Wire != "" {
		speaks = "speaks " + info.Abilities.Wire
	}
	return joinParts(version, info.Path, speaks, strings.Join(can, ", "))
}

// joinParts joins the parts that are not empty.
func joinParts(parts ...string) string {
	var there []string
	for _, p := range parts {
		if p != "" {
			there = append(there, p)
		}
	}
	return strings.Join(there, "; ")
}

// environment examines what an environment is started with. Whether it carries out tasks
// the trial shows.
func (e *examiner) environment(ctx context.Context) {
	c := e.session.Config
	detail := strings.Join(c.Env.Command, " ")
	if c.Env.Protocol == config.ProtocolEpisode {
		err := e.session.RequireWorld(ctx)
		e.add("environment", joinParts(detail, e.session.DescribeWorld()), err, "skillopt env check sends tasks to the program and shows its answers")
		return
	}
	_, err := e.session.Environment()
	if set := c.Models.Target.Provider != "" || e.session.Clients[model.Target] != nil; set && c.Env.Gateway {
		detail += "; finds models.target through a gateway"
	}
	e.add("environment", detail, err, "check env.command; it is started in the folder of the config, and reads one JSON line a task")
}

// Program tries out the program of env.command, as its author does: a row for each thing that a run relies on. It is given the
// first task of the configuration, if that names tasks.
func Program(ctx context.Context, cfg config.Config, o session.Options) (result.Examination, error) {
	var report result.Examination
	in, err := session.NewInputs(cfg, o)
	if err != nil {
		return report, err
	}
	options, err := in.Environment()
	if err != nil {
		return report, err
	}
	var first *task.Task
	if path := cfg.Tasks.Path; path != "" {
		set, err := task.LoadContext(ctx, path, task.Rules{OwnScore: true})
		if err != nil {
			return report, fault.Input(err)
		}
		if tasks := set.Tasks(); len(tasks) > 0 {
			first = &tasks[0]
		}
	}
	found, err := env.CheckProgram(ctx, options, first)
	for _, f := range found {
		row := result.Finding{Name: f.Name, OK: f.Seen == "", Detail: f.Wanted}
		if !row.OK {
			row.Detail, row.Fix = "seen: "+f.Seen, "wanted is "+f.Wanted
			row.Err = fmt.Errorf("%s: %s", f.Name, f.Seen)
		}
		report.Rows = append(report.Rows, row)
	}
	return report, err
}

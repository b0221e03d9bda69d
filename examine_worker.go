package skillopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/wire"
)

// ExamineAgents says which coding agents are installed here, and whether programs
// can be confined. One that is not there is no failure.
func ExamineAgents(ctx context.Context, opts ...Option) Examination {
	var e Examination
	s := &setup{cfg: config.Default(), contents: map[string]string{}}
	if err := s.begin(ctx, opts); err != nil {
		e.add("agents", "", err, "")
		return e
	}
	for _, name := range agent.Names() {
		if name == agent.CustomName {
			continue // it is described in a config
		}
		c := s.cfg.Agent
		c.Name = name
		info, err := s.detect(ctx, c)
		var missing *missingError
		if errors.As(err, &missing) && info.Path == "" {
			e.Rows = append(e.Rows, Finding{Name: "agent " + name, Skipped: true, Detail: joined("not installed", info.Help)})
			continue
		}
		e.add("agent "+name, installed(info), err, info.Help)
	}
	support := sandbox.Probe()
	f := Finding{Name: "sandbox", OK: support.Kind != "", Skipped: support.Kind == "", Detail: confinement(support)}
	if f.Skipped {
		f.Mend = "agent.sandbox=off runs agents unconfined"
	}
	e.Rows = append(e.Rows, f)
	return e
}

// worker examines what carries out tasks and checks other than a model.
func (e *Examination) worker(ctx context.Context, s *setup) {
	if len(s.cfg.Env.Command) > 0 && s.env == nil {
		e.environment(s)
	}
	if s.cfg.Agent.Name != "" {
		info, err := s.detect(ctx, s.cfg.Agent)
		e.add("agent "+s.cfg.Agent.Name, joined(installed(info), s.reached()), err, cmp.Or(info.Help, "check agent in the config"))
		if err == nil {
			e.prove(ctx, s, info)
		}
	}
	commands := s.needs().Command
	if s.cfg.Agent.Name == "" && !commands {
		return
	}
	if s.cfg.Agent.Sandbox == "off" {
		e.add("sandbox", "off: agents and commands of checks can reach everything that you can (agent.sandbox)", nil, "")
		return
	}
	support := sandbox.Probe()
	var err error
	if support.Kind == "" && (commands || s.cfg.Agent.Name != agent.BuiltinName) {
		err = &inputError{fmt.Errorf("programs cannot be confined here: %s", support.Why)}
	}
	e.add("sandbox", confinement(support), err, "agent.sandbox=off runs agents and commands of checks unconfined")
	e.reach(s)
}

// reach tells what confined programs may read besides the system, and what they lack.
func (e *Examination) reach(s *setup) {
	plan, err := s.reach()
	detail := "nothing but the system and what they work on"
	if len(plan.Read) > 0 {
		detail = strings.Join(plan.Read, ", ")
	}
	e.add("readable", detail, err, "confined programs read nothing that holds answers, keys or records")
	for _, n := range plan.Narrowed {
		e.Rows = append(e.Rows, Finding{Name: "not readable", OK: true, Warning: true, Detail: n.String()})
	}
}

// reached says how the agent gets at its model.
func (s *setup) reached() string {
	switch {
	case s.cfg.Agent.Name == agent.BuiltinName:
		return "calls models.target itself"
	case s.cfg.Agent.Gateway:
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
func (s *setup) detect(ctx context.Context, c config.Agent) (agent.Info, error) {
	a, err := wire.NewAgent(c, reach.Guard{}, s.loaded.Lookup)
	if err != nil {
		return agent.Info{}, &inputError{err}
	}
	info, err := a.Detect(ctx)
	if err != nil {
		return info, fmt.Errorf("look for the agent %s: %w", c.Name, err)
	}
	if info.Problem != "" {
		return info, &inputError{&missingError{info.Problem}}
	}
	return info, nil
}

// installed describes an agent that is there.
func installed(info agent.Info) string {
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
	return joined(version, info.Path, speaks, strings.Join(can, ", "))
}

// joined puts what is there behind each other.
func joined(parts ...string) string {
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
func (e *Examination) environment(s *setup) {
	p, _, err := s.environment()
	if err == nil {
		err = p.Close()
	}
	e.add("environment", strings.Join(s.cfg.Env.Command, " "), err, "check env.command; it is started in the folder of the config, and reads one JSON line a task")
}

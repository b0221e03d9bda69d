package wiring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/gateway"
	"github.com/seed-f4525e22/skillopt/internal/proof"
	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// proofTime bounds a proof. Some agents unpack themselves when they are first called.
const proofTime = 2 * time.Minute

// ProveAgent has the agent of a config work once against a scripted model, confined as
// in an episode and through a gateway. It calls no other model. The error says that the
// agent could not be started, or is that of ctx; what it did wrong is in the result.
func ProveAgent(ctx context.Context, c config.Agent, guard reach.Guard, target config.Model, lookup func(string) (string, bool)) (res proof.Result, err error) {
	own := !c.Gateway
	c.Gateway = true
	if own {
		c.PassEnv = nil // it would lead the agent to its own model
	}
	target.Model = cmp.Or(target.Model, "model") // one with a login has its own, which is not known
	r, err := Agent(c, nil, guard, target, lookup)
	if err != nil {
		return proof.Result{}, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	r.config.Timeout = config.Duration(proofTime)
	root, err := os.MkdirTemp("", disk.Proof)
	if err != nil {
		return proof.Result{}, fmt.Errorf("make a folder for the proof: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	job := rollout.AgentJob{Prompt: proof.Prompt, Skill: proof.Skill(), Dir: filepath.Join(root, "work"), Home: filepath.Join(root, "home")}
	if err := errors.Join(os.Mkdir(job.Dir, 0o700), os.Mkdir(job.Home, 0o700)); err != nil {
		return proof.Result{}, fmt.Errorf("make a folder for the proof: %w", err)
	}
	path, _ := lookup("PATH")
	if c.Mode == string(agent.File) {
		job.Skill = proof.Document()
	}
	return r.prove(ctx, job, path)
}

// prove runs the agent and compares.
func (r *AgentRunner) prove(ctx context.Context, job rollout.AgentJob, path string) (proof.Result, error) {
	abilities := r.agent.Abilities()
	expect := proof.Expect{Path: path, Skills: abilities.Skills && r.config.Mode == string(agent.Native), Usage: abilities.Usage, Own: r.config.Name == agent.CustomName}
	if r.config.Mode == string(agent.File) {
		expect.File = r.config.File
	}
	if r.config.Name != agent.BuiltinName {
		expect.Folder = Places(r.isolated, job.Dir, job.Home).Seen(job.Dir)
	}
	script := proof.NewScript(expect)
	j := r.job(job, script)
	j.SkillName = ""
	left := func() []gateway.LeftOut { return nil }
	if r.gateway != nil {
		session, err := r.open(&j, gateway.Session{Client: script})
		if err != nil {
			return proof.Result{}, err
		}
		defer session.Close()
		left = session.LeftOut
	}
	rep, err := r.agent.Run(ctx, j)
	if errors.Is(err, agent.ErrNoEndpoint) {
		return proof.Result{Unprovable: agent.ErrNoEndpoint.Error()}, nil
	}
	if err != nil {
		return proof.Result{}, err
	}
	return script.Judge(newSeen(rep, job.Dir, gateway.Whats(left()))), nil
}

// newSeen returns a report as a proof reads it.
func newSeen(rep agent.Report, dir string, left []string) proof.Seen {
	s := proof.Seen{Answer: rep.Answer, LeftOut: left, Files: func(name string) (string, bool) { return small(dir, name) }}
	if rep.Status != score.OK {
		s.Failure = rep.Reason
	}
	if rep.UsageKnown {
		s.Usage = new(trajectory.Usage)
		*s.Usage = rep.Usage
	}
	return s
}

// small reads a file that an agent left, unless it leads elsewhere or is too large to
// be what was asked for.
func small(dir, name string) (string, bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", false
	}
	defer func() { _ = root.Close() }() // it was only read
	const most = 64 << 10
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return "", false
	}
	data, err := fs.ReadFile(root.FS(), name)
	return string(data), err == nil
}

package skillopt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/wire"
	"github.com/seed-f4525e22/skillopt/task"
)

// RunHelper is to be called first in the main function of a program that trains
// with agents or command checks. On Linux such programs are confined by a copy
// of this one that gives up its rights before it becomes them: RunHelper does not
// return when it finds itself to be that copy, and does nothing otherwise. args
// is os.Args.
func RunHelper(args []string) { sandbox.Main(args) }

// requireAgent fails when the agent of the config cannot run here, before
// anything is begun. A replayed run needs none.
func (s *setup) requireAgent(ctx context.Context) error {
	if s.cfg.Agent.Name == "" || s.replay != nil {
		return nil
	}
	version, err := wire.CheckAgent(ctx, s.cfg.Agent, s.loaded.Lookup)
	s.runs("agent", version)
	return unfit(err)
}

// requireModels fails when a model that is a program cannot run here, before
// another one is paid for.
func (s *setup) requireModels(ctx context.Context) error {
	for _, role := range slices.Sorted(maps.Keys(s.models)) {
		if ready := s.models[role].Ready; ready != nil {
			version, err := ready(ctx)
			if err != nil {
				return unfit(err)
			}
			s.runs("models."+role, version)
		}
	}
	return nil
}

// runs notes the version of a program that the run uses, for the manifest: two
// sessions of a run may have different ones.
func (s *setup) runs(what, version string) {
	if version == "" {
		return
	}
	if s.versions == nil {
		s.versions = map[string]string{}
	}
	s.versions[what+".version"] = strconv.Quote(version)
}

// unfit makes what the user has to mend bad input.
func unfit(err error) error {
	var agent *wire.AgentError
	if errors.As(err, &agent) {
		return &inputError{err}
	}
	return err
}

// episodes reports whether a rollout is more than one call of a model.
func (s *setup) episodes() bool { return s.ownEnv() || s.cfg.Agent.Name != "" }

// workspaces is the folder of a run in which agents work.
const workspaces = "workspaces"

// agent has a coding agent carry out the tasks.
func (w *world) agent() (rollout.Episode, error) {
	s := w.setup
	c := s.cfg.Agent
	c.Read = s.readable()
	guard, err := s.guard()
	if err != nil {
		return nil, err
	}
	runner, err := w.worker(c, guard)
	if err != nil {
		return nil, err
	}
	var scorers []string
	if s.needs().Judge { // what another judge said of an episode is no score of this run
		scorers = []string{"models.judge"}
	}
	outcomeContext, err := s.outcomeContext(scorers...)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Join(w.run.Dir, workspaces))
	if err != nil {
		return nil, fmt.Errorf("find the run directory: %w", err)
	}
	places := &rollout.Workspaces{Dir: dir, Template: s.cfg.Agent.Workspace, TasksDir: s.tasksDir()}
	if err := places.Open(); err != nil {
		return nil, err
	}
	w.closers = append(w.closers, places.Close)
	a := &rollout.Agent{
		Agent: runner, Record: w.caller, Prompt: s.user, Images: s.images, Extras: s.cfg.Extras, RunSeed: s.cfg.Train.Seed, Context: outcomeContext,
		Workspaces: places, Assess: w.assess, Keep: rollout.Keep(s.cfg.Agent.Keep),
		Slots: make(chan struct{}, cmp.Or(s.cfg.Agent.Slots, runtime.GOMAXPROCS(0))),
		Hide:  w.hide,
		Warn:  func(err error) { w.events(event.Warning{Text: w.hide.Text(err.Error())}) },
		Tell:  s.command == "" && s.cfg.Reflect.View == config.ViewAgent && !wire.AgentTells(c),
	}
	if s.needs().Snapshot {
		a.Snapshot = snapshot
	}
	w.carrier = a
	if s.scorer == nil {
		a.Looks = func(t task.Task) bool { return s.suite.Needs(t).Workspace }
	}
	return a, nil
}

// worker builds the agent of the config. In a replay there is none.
func (w *world) worker(c config.Agent, guard reach.Guard) (rollout.CodingAgent, error) {
	if w.setup.replay != nil {
		return sealedAgent{}, nil
	}
	runner, err := wire.Agent(c, guard, w.setup.cfg.Models.Target, w.setup.loaded.Lookup)
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, runner.Close)
	return runner, nil
}

// readable returns the folders of agent.read as absolute paths. ~ is the user's home
// folder, as in a shell.
func (s *setup) readable() []string {
	home, _ := s.loaded.Lookup("HOME")
	var out []string
	for _, dir := range s.cfg.Agent.Read {
		if rest, ok := strings.CutPrefix(dir, "~"); ok && filepath.IsAbs(home) && (rest == "" || rest[0] == '/') {
			dir = filepath.Join(home, rest)
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.loaded.Dir, dir)
		}
		out = append(out, dir)
	}
	return out
}

func snapshot(dir string) (json.RawMessage, error) {
	m, err := check.Snapshot(dir)
	if err != nil {
		return nil, err
	}
	return json.Marshal(m)
}

// tasksDir is what paths in tasks are relative to.
func (s *setup) tasksDir() string {
	path := s.cfg.Tasks.Path
	if path == "" {
		return s.loaded.Dir
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return path
	}
	return filepath.Dir(path)
}

// loadImages looks at the pictures of the tasks. What an environment makes of that
// field is its own affair.
func (s *setup) loadImages(ctx context.Context) (err error) {
	if s.ownEnv() {
		return nil
	}
	if s.images, err = rollout.NewImages(ctx, s.tasksDir(), s.set.Tasks()); err != nil {
		return &inputError{err}
	}
	var sums []string
	for _, t := range s.set.Tasks() {
		if sum := s.images.Digest(t); sum != "" {
			sums = append(sums, sum)
		}
	}
	if len(sums) > 0 {
		s.contents["tasks.path"] = digest([]byte(s.contents["tasks.path"] + strings.Join(sums, "")))
	}
	return nil
}

// needs says what the checks of the tasks need, all together.
func (s *setup) needs() check.Needs {
	var all check.Needs
	if s.scorer != nil || s.suite == nil {
		return all
	}
	for _, t := range s.set.Tasks() {
		n := s.suite.Needs(t)
		all.Workspace, all.Snapshot, all.Turns = all.Workspace || n.Workspace, all.Snapshot || n.Snapshot, all.Turns || n.Turns
		all.Command, all.Judge = all.Command || n.Command, all.Judge || n.Judge
	}
	return all
}

// requireMeans fails when checks need what this machine or config has not.
func (s *setup) requireMeans() error {
	n := s.needs()
	switch {
	case s.env != nil && (n.Judge || n.Command):
		return &inputError{errors.New("tasks.checks: an environment in Go scores by itself, without judges and commands; score there what these checks look at")}
	case s.ownEnv() && n.Workspace:
		return &inputError{errors.New("tasks.checks: they look at the files of a workspace, and env.command has none that is known here; score them in the environment")}
	}
	if len(s.cfg.Env.Command) > 0 && s.env == nil && s.replay == nil {
		p, _, err := s.environment() // before a run is begun for it
		if err != nil {
			return err
		}
		if err := p.Close(); err != nil {
			return fmt.Errorf("env.command: %w", err)
		}
	}
	if support := sandbox.Supports(); n.Command && s.replay == nil && s.cfg.Agent.Sandbox == "auto" && support.Kind == "" {
		return &inputError{fmt.Errorf("the checks run commands, which cannot be confined here: %s; agent.sandbox=off runs them unconfined", support.Why)}
	}
	if err := s.requireReach(); err != nil {
		return err
	}
	if n.Judge && s.models["judge"].Client == nil {
		return s.loadModel("judge")
	}
	return nil
}

// workspaceDigests sums up the folders that tasks and config name for agents.
func (s *setup) workspaceDigests(context.Context) error {
	if s.cfg.Agent.Name == "" {
		return nil
	}
	folders := []string{}
	if s.cfg.Agent.Workspace != "" {
		folders = append(folders, s.cfg.Agent.Workspace)
	}
	for _, t := range s.set.Tasks() {
		if name, ok := t.Data[rollout.FieldWorkspace].(string); ok && filepath.IsLocal(name) {
			folders = append(folders, filepath.Join(s.tasksDir(), name))
		}
	}
	sums := map[string]string{}
	for _, dir := range folders {
		if _, done := sums[dir]; done {
			continue
		}
		m, err := check.Snapshot(dir)
		if err != nil {
			return s.fileError("agent.workspace", dir, "a folder", err)
		}
		text, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("digest %s: %w", dir, err)
		}
		sums[dir] = digest(text)
	}
	var all []string
	for _, dir := range folders {
		all = append(all, sums[dir])
	}
	s.contents["agent.workspace"] = digest([]byte(fmt.Sprint(all)))
	return nil
}

package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/offer"
	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/spreadsheet"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// episodes makes what carries out tasks.
type episodes struct {
	*Session
	scorer *scorer
}

// episode chooses what carries out a task.
func (s *episodes) episode(ctx context.Context) (rollout.Episode, error) {
	switch {
	case s.Answers != nil:
		return s.bind(&rollout.Env{Program: s.Answers, Assess: s.scorer.assessAnswer})
	case s.Config.Agent.Name != "":
		return s.newAgent()
	case s.InWorld():
		return s.inWorld(ctx)
	case s.Env != nil:
		return s.bind(&rollout.Env{Env: s.Env, Timeout: s.Config.Env.Timeout.Std()})
	case len(s.Config.Env.Command) > 0:
		return s.process()
	}
	return &rollout.Chat{
		Model: s.Caller, Assess: s.scorer.assess, RunSeed: s.Config.Train.Seed, Prompt: s.ChatPrompt(s.Images), Pages: newChatPages(s.Session),
	}, nil
}

func (s *episodes) process() (rollout.Episode, error) {
	if s.Replay != nil {
		return s.bind(&rollout.Env{Program: replayEnv{}, Assess: s.scorer.assessAnswer, Hide: s.hide})
	}
	o, err := s.Environment()
	if err != nil {
		return nil, err
	}
	p, err := wiring.NewEnvRunner(o, s.Config, ProgramAsks(s.Session))
	if err != nil {
		return nil, commandError(err)
	}
	s.closers = append(s.closers, p.Close)
	e := &rollout.Env{
		Program: p, Assess: s.scorer.assessAnswer, Hide: s.hide, Slots: rollout.NewSlots(s.Config.Limits.Concurrency),
		Warn: func(err error) { s.Emit(event.Warning{Text: s.hide.Text(err.Error())}) },
	}
	s.left = e.LeftOut
	return s.bind(e)
}

// ProgramAsks reports whether the program of env.command is led to the target of the
// session.
func ProgramAsks(s *Session) bool {
	return s.Env == nil && len(s.Config.Env.Command) > 0 && s.Config.Env.Gateway && s.Replay == nil &&
		s.Models.Has(model.Target) && s.Models.Of(model.Target).Kind != wiring.None
}

// Environment returns what the processes of env.command are started with, except for where they
// find a model. It fails when the program is not there.
func (s *Inputs) Environment() (env.Options, error) {
	environ := env.AllowedVariables(s.Loaded.Lookup)
	for _, name := range s.Config.Env.PassEnv {
		v, ok := s.Loaded.Lookup(name)
		if !ok {
			return env.Options{}, fault.Input(fmt.Errorf("env.pass_env: the variable %s is not set; export it or take it off the list", name))
		}
		environ = append(environ, name+"="+v)
	}
	o := env.Options{
		Command: s.Config.Env.Command, Dir: s.Loaded.Dir, Environ: environ, Slots: s.Config.Limits.Concurrency,
		Timeout: s.Config.Env.Timeout.Std(), Extras: s.Config.Extras, Hide: s.Hidden(),
	}
	p, err := env.New(o) // which starts nothing
	if err != nil {
		return o, commandError(err)
	}
	return o, p.Close()
}

func commandError(err error) error { return fault.Input(fmt.Errorf("env.command: %w", err)) }

// bind ties an environment to the record.
func (s *episodes) bind(e *rollout.Env) (rollout.Episode, error) {
	outcomeContext, err := s.OutcomeContext()
	if err != nil {
		return nil, err
	}
	e.Record, e.RunSeed, e.Context = s.Caller, s.Config.Train.Seed, outcomeContext
	e.Patience, e.RawGold = s.Config.Limits.Patience.Std(), s.RawGold()
	return e, nil
}

// workspaces is the folder of a run in which agents work.
const workspaces = "workspaces"

// newAgent has a coding agent carry out the tasks.
func (s *episodes) newAgent() (rollout.Episode, error) {
	c := s.Config.Agent
	programs := s.Commands()
	c.Read = programs.Readable()
	guard, err := programs.Guard()
	if err != nil {
		return nil, err
	}
	runner, err := s.worker(c, guard)
	if err != nil {
		return nil, err
	}
	if n := runtime.GOMAXPROCS(0); c.Slots > n && s.Replay == nil {
		s.Emit(event.Warning{Text: fmt.Sprintf("agent.slots is %d and this machine has %s: agents that wait for a processor are not done in time", c.Slots, wording.Plural(n, "processor", "processors"))})
	}
	slots := cmp.Or(c.Slots, runtime.GOMAXPROCS(0))
	if s.plays() {
		if s.program != nil {
			slots = min(slots, s.program.Concurrent())
		}
		door, err := offer.Open()
		if err != nil {
			return nil, err
		}
		s.closers = append(s.closers, door.Close)
		runner = rollout.Acting{CodingAgent: runner, World: s.acts, Turns: s.Config.Env.Turns, Door: door}
	}
	a, err := s.inFolders(runner, slots)
	if err != nil {
		return nil, err
	}
	a.Tell = s.Kind == result.Train && s.Config.Reflect.View == config.ViewAgent && !wiring.AgentTells(c)
	return a, nil
}

// inFolders has tasks carried out in folders of the run, some of them at a time.
func (s *episodes) inFolders(runner rollout.CodingAgent, slots int) (*rollout.Agent, error) {
	var scorers []string
	if s.Needs().Judge || s.program != nil && s.namesJudge() { // what another judge said of an episode is no score of this run
		scorers = []string{"models.judge"}
	}
	outcomeContext, err := s.OutcomeContext(scorers...)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Join(s.Run.Dir, workspaces))
	if err != nil {
		return nil, fmt.Errorf("find the run directory: %w", err)
	}
	places := &rollout.Workspaces{Dir: dir, Template: s.Config.Agent.Workspace, TasksDir: workspacesDir(s.Inputs)}
	if err := places.Open(); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, places.Close)
	a := &rollout.Agent{
		Agent: runner, Record: s.Caller, Prompt: s.user, Images: s.Images, Extras: s.Config.Extras, RunSeed: s.Config.Train.Seed, Context: outcomeContext,
		Workspaces: places, Assess: s.scorer.assess, Keep: rollout.Keep(s.Config.Agent.Keep),
		Slots: rollout.NewSlots(slots),
		Hide:  s.hide,
		Warn:  func(err error) { s.Emit(event.Warning{Text: s.hide.Text(err.Error())}) },
	}
	if s.Needs().Snapshot {
		a.Snapshot = snapshot
	}
	if agent := s.Config.Agent.Name != ""; agent && s.docs != nil {
		places.Lay = func(ctx context.Context, root *os.Root, _ string, t task.Task) error {
			return s.docs.CopyTo(ctx, root, t)
		}
		a.Brief = s.docs.Brief
	} else if agent && s.Config.Env.World == spreadsheetWorld {
		a.Brief = spreadsheet.Brief
	}
	if s.repository != nil {
		places.Lay = s.layRepository
	}
	if s.office != nil {
		a.Finish = s.office.RunIn
	}
	s.left = a.LeftOut
	if s.Scorer == nil {
		a.Looks = func(t task.Task) bool { return s.Suite.Needs(t).Workspace }
	}
	return a, nil
}

// worker builds the agent of the config. In a replay there is none.
func (s *episodes) worker(c config.Agent, guard reach.Guard) (rollout.CodingAgent, error) {
	if s.Replay != nil {
		return replayAgent{}, nil
	}
	runner, err := wiring.Agent(c, s.Documents, guard, s.Config.Models.Target, s.Loaded.Lookup)
	if err != nil {
		return nil, err
	}
	if s.repository != nil {
		path, _ := s.Loaded.Lookup("PATH")
		runner.Use(s.repository.Suite().Environ([]string{"PATH=" + path}))
	}
	s.closers = append(s.closers, runner.Close)
	return runner, nil
}

func snapshot(dir string) (json.RawMessage, error) {
	m, err := check.Snapshot(dir)
	if err != nil {
		return nil, err
	}
	return json.Marshal(m)
}

// replayAgent represents the agent of a replay, which does not run it.
type replayAgent struct{}

// replayEnv represents the environment of a replay.
type replayEnv struct{}

var errReplay = errors.New("a replay runs no agents and environments")

// Answer implements rollout.Program.
func (replayEnv) Answer(context.Context, task.Task, skill.Skill, model.Client) (trajectory.Outcome, bool, error) {
	return trajectory.Outcome{}, false, errReplay
}

func (replayAgent) Work(context.Context, rollout.AgentJob) (rollout.AgentReport, error) {
	return rollout.AgentReport{}, errReplay
}

// Package session is a prepared configuration, its open run and its connected models: one
// owner of all that a command opens, with one Close.
//
// Prepare loads and checks what a configuration names. Do opens the run, asks for
// consent, wires models, environment and record, has the operation work, and closes
// everything, whatever fails. Operations (internal/op) get values and functions from it.
// It knows configurations, runs and how calls are made. It knows nothing of what an
// operation does with the answers.
package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/corpus"
	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/eventlog"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/trajectory"
	"github.com/seed-f4525e22/skillopt/world"
)

// Session is a prepared configuration and what it has open. Run, Caller and Runner are
// there while the work of Do is at work. Its methods may be called concurrently then,
// but for Close.
type Session struct {
	*Inputs
	Models *Models
	Run    *run.Run
	Caller *caller.Caller
	Runner *rollout.Runner
	Emit   event.Sink // takes events, one at a time; never nil while work is at work

	Recorded int  // calls that the record held at the beginning
	Measured bool // what is measured has been measured before: doubts about gold are warnings

	known      map[caller.Asked][]byte     // what another run has recorded
	left       func() []trajectory.LeftOut // of the requests of episodes; nil: nothing is
	telemetry  telemetryOf
	log        *eventlog.Writer // of events; nil: there is none
	logging    *logging         // into it; nil as it is
	waits      *waits           // what is being waited for; nil: no one asks
	landed     func()           // reports the last of it; nil: nothing is reported
	hide       *redact.Exact
	began      time.Time
	noticed    noticed
	stopWatch  func()
	steering   *steering               // what is asked of the run from outside; nil: no one listens
	hard       context.CancelCauseFunc // ends the work at once
	acts       world.World             // what the target acts in; nil: nothing, or it is not needed
	program    *env.Program            // acts, where it is a program
	concurrent int                     // episodes that acts allows at a time; 0: unknown
	docs       *corpus.Corpus          // the documents of acts; nil: it has none
	closers    []func() error
	borrowed   bool // run and models belong to another session
	counted    bool // what was used is reported

	usedBefore caller.StageStats // what the record held at the beginning

	announced bool // the record says who is asked: it may answer other runs
	unindexed bool // the index of answers cannot be used
}

// noticed is what a session has found out on its way.
type noticed struct {
	late     atomic.Bool // limits.time is reached
	refusals atomic.Bool // and was warned of
}

// Prepare loads and checks what cfg names, and the models of the roles. On an error
// nothing stays open.
func Prepare(ctx context.Context, cfg config.Config, o Options, roles ...string) (*Session, error) {
	in, err := Load(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	s, err := Over(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := s.prepareModels(roles); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Over returns a session over inputs, whose roles have no models yet.
func Over(ctx context.Context, in *Inputs) (*Session, error) {
	models, err := newModels(ctx, in)
	if err != nil {
		return nil, err
	}
	return &Session{Inputs: in, Models: models}, nil
}

func (s *Session) prepareModels(roles []string) error {
	for _, role := range roles {
		if role == model.Optimizer && s.examplesAlone() {
			s.Warn("models.optimizer is not set: training tries worked examples alone, and writes no rules")
			continue
		}
		if err := s.Models.Load(role); err != nil {
			return err
		}
	}
	if err := requireAnswers(s.Inputs); err != nil {
		return err
	}
	s.Models.warnOfStalePrices()
	s.undeclaredClusters()
	if err := requirePages(s.Inputs); err != nil {
		return err
	}
	if len(roles) == 0 {
		return nil
	}
	return s.requireMeans()
}

// examplesAlone reports whether training has no optimizer, and worked examples to try.
func (s *Session) examplesAlone() bool {
	named := s.Config.Models.Optimizer.Provider != "" || s.Clients[model.Optimizer] != nil
	return !named && s.Kind == result.Train && s.Config.Edits.Examples != 0 && s.Data.Example != nil && !s.Data.InFolds()
}

// requireMeans fails when checks need what this machine or config has not.
func (s *Session) requireMeans() error {
	n := s.Needs()
	switch {
	case s.Env != nil && (n.Judge || n.Command):
		return fault.Input(errors.New("tasks.checks: an environment in Go scores by itself, without judges and commands; score there what these checks look at"))
	case s.Answers != nil && (n.Workspace || n.Turns):
		return fault.Input(errors.New("tasks.checks: they look at more than an answer, and answers are all that there is; leave those tasks out"))
	case s.OwnEnv() && n.Workspace:
		return fault.Input(errors.New("tasks.checks: they look at the files of a workspace, and env.command has none that is known here; score them in the environment"))
	}
	if len(s.Config.Env.Command) > 0 && s.Env == nil && s.Replay == nil {
		if _, err := s.Environment(); err != nil { // before a run is begun for it
			return err
		}
	}
	if verified := len(s.Config.Edits.Verify.Command) > 0 && s.Kind == result.Train; verified {
		n.Command = true
	}
	if support := sandbox.Supports(); n.Command && s.Replay == nil && s.Config.Agent.Sandbox == "auto" && support.Kind == "" {
		return fault.Input(fmt.Errorf("checks or edits.verify run commands, which cannot be confined here: %s; agent.sandbox=off runs them unconfined", support.Why))
	}
	if err := s.requireReach(n.Command); err != nil {
		return err
	}
	n.Judge = n.Judge || s.inProgram() && s.namesJudge()
	if n.Judge && s.Models.Of(model.Judge).Client == nil {
		return s.Models.Load(model.Judge)
	}
	return nil
}

// namesJudge reports whether the configuration names a judge.
func (s *Inputs) namesJudge() bool {
	return s.Config.Models.Judge.Provider != "" || s.Clients[model.Judge] != nil
}

// requireReach fails when a confined program could read what is kept from it, before
// anything is begun. It warns of what the agent probably needs and may not read.
func (s *Session) requireReach(checksRun bool) error {
	if s.Replay != nil || s.Config.Agent.Sandbox != "auto" || s.Config.Agent.Name == "" && !checksRun {
		return nil
	}
	plan, err := s.Commands().Reach()
	if err != nil {
		return err
	}
	for _, n := range plan.Narrowed {
		if n.Own && n.Vital {
			s.Warn(fmt.Sprintf("%s; install it elsewhere, or name that folder in agent.read if nothing else is in it", n))
		}
	}
	return nil
}

// requireAgent fails when the agent of the config cannot run here, before
// anything is begun. A replayed run needs none.
func (s *Session) requireAgent(ctx context.Context) error {
	if s.Config.Agent.Name == "" || s.Replay != nil {
		return nil
	}
	version, err := wiring.CheckAgent(ctx, s.Config.Agent, s.Loaded.Lookup)
	s.uses("agent", version)
	return Unfit(err)
}

// Doubt refuses tasks and checks that would measure nothing, with an error that names
// them. Where something was measured before, the run continues and they are warnings.
func (s *Inputs) Doubt(before bool) error {
	err := s.Doubts()
	if err != nil && before {
		s.Warn(err.Error())
		return nil
	}
	return err
}

// EmitWarnings emits what the configuration and the tasks were warned of.
func (s *Session) EmitWarnings() {
	for _, text := range s.Warnings {
		s.Emit(event.Warning{Text: text})
	}
}

// Simulated reports whether a model of the session is a simulation.
func (s *Session) Simulated() bool { return s.Models.Simulated() }

// AsRecorded returns a session over the same run to look at what is recorded: without ceilings,
// since nothing is spent. Its Close leaves run and models open.
func (s *Session) AsRecorded(r *run.Run) *Session {
	in := *s.Inputs
	l := &in.Config.Limits
	l.USD, l.Tokens, l.Calls, l.Time = nil, nil, nil, nil
	in.Config.Telemetry = config.Telemetry{} // it happened once
	models := *s.Models
	models.in = &in
	return &Session{Inputs: &in, Models: &models, Run: r, known: s.known, acts: s.acts, program: s.program, docs: s.docs, borrowed: true}
}

// Close ends what is wired, and closes the models and the run. It may be called again,
// and does nothing then.
func (s *Session) Close() error {
	s.unwire()
	s.reportUse()
	if s.borrowed {
		return nil
	}
	var errs []error
	for _, err := range s.Models.close() {
		errs = append(errs, s.tell(err))
	}
	s.closeTelemetry()
	closeLog(s)
	if s.Run != nil {
		_ = os.Remove(filepath.Join(s.Run.Dir, workspaces)) // unless some are kept, or there are none
		errs = append(errs, closeRun(s))
	}
	return errors.Join(errs...)
}

// tell makes the failure to close something a warning, where there is somebody to take
// it: what was measured remains valid.
func (s *Session) tell(err error) error {
	if err == nil || s.Emit == nil {
		return err
	}
	s.Emit(event.Warning{Text: err.Error()})
	return nil
}

// unwire ends the watch and closes what was opened for calls, the last first.
func (s *Session) unwire() {
	if s.stopWatch != nil {
		s.stopWatch()
		s.stopWatch = nil
	}
	if s.landed != nil {
		s.landed()
	}
	for _, c := range slices.Backward(s.closers) {
		_ = s.tell(c())
	}
	s.closers = nil
	if s.borrowed {
		s.closeTelemetry()
	}
}

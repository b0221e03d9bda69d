package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// Op is one operation on a run: what it is, and its work.
type Op struct {
	Kind   result.Kind
	Suffix string            // of the run's name: "-eval"; "": none
	About  map[string]string // entries of the identity, without "library."

	// Check is what has to hold before a run is opened. Nil: nothing.
	Check func() error
	// Ask returns what a new run will take, before anything is spent. It is called with
	// the run open, or without one where nothing but the plan is wanted. Nil: no one is asked.
	Ask func(ctx context.Context) (result.Plan, error)
	// Begin writes what belongs into the run in addition to its configuration, before anything is
	// asked. Nil: nothing.
	Begin func(ctx context.Context) error
	// Steps is how many steps a run of this configuration has. Nil: none.
	Steps func() int
	// Work does it, with everything wired. It returns how the run ended, "" with an
	// error that says it, and "" with nil if it has written that already.
	Work func(ctx context.Context) (result.Status, error)
	Ends bool // Work has written how the run ended, whatever it returns
}

// Do carries out an operation and closes the session, whatever fails. The error is that
// of the operation, or of what kept it from being begun; fault.Of reports its kind, and
// fault.RunDir in which run it happened.
func (s *Session) Do(ctx context.Context, op Op) (err error) {
	ctx, s.hard = context.WithCancelCause(ctx)
	defer s.hard(nil)
	dir := ""
	defer func() {
		if cerr := s.Close(); err == nil {
			err = cerr
		}
		if dir != "" {
			err = fault.InRun(dir, err)
		}
	}()
	s.Kind = op.Kind
	if s.Answers != nil && op.Kind != result.Evaluate {
		return fault.Input(errors.New("answers are given, and only an evaluation scores answers"))
	}
	for key, name := range op.About {
		s.Identify(key, name)
	}
	if op.Suffix != "" {
		s.Config.Run.Name = s.RunName() + op.Suffix
	}
	if op.Check != nil {
		if err := op.Check(); err != nil {
			return err
		}
	}
	if s.Plan != nil && op.Ask != nil {
		*s.Plan, err = op.Ask(ctx)
		return err
	}
	if err := s.Open(ctx); err != nil {
		return err
	}
	dir = s.Run.Dir
	asked, err := s.ask(ctx, op)
	if err != nil {
		return err
	}
	if err := s.WriteConfig(); err != nil {
		return err
	}
	if err := s.Run.SetPlan(op.plan(s, asked)); err != nil {
		return err
	}
	if op.Begin != nil {
		if err := op.Begin(ctx); err != nil {
			return err
		}
	}
	if err := s.Connect(ctx); err != nil {
		return err
	}
	return s.work(ctx, op)
}

// plan returns what a run of the operation has before it.
func (op Op) plan(s *Session, asked result.Plan) run.Plan {
	p := run.Plan{Expected: run.NewExpected(asked.Forecast), Train: len(s.Data.Train), Selection: len(s.Data.Selection), Test: len(s.Data.Test), Folds: s.Data.NumFolds()}
	if op.Steps != nil {
		p.Steps = op.Steps()
	}
	return p
}

// ask asks before anything is paid for, and returns what the run will take. A run that no one
// wants leaves nothing.
func (s *Session) ask(ctx context.Context, op Op) (result.Plan, error) {
	if op.Ask == nil {
		return result.Plan{}, nil
	}
	plan, err := op.Ask(ctx)
	if err != nil || s.Confirm == nil || s.Run.Resumed {
		return plan, err
	}
	if err := s.Confirm(plan); err != nil {
		return plan, errors.Join(fault.Input(err), s.Run.Discard())
	}
	return plan, nil
}

// work does the work and notes in the manifest how the run ended.
func (s *Session) work(ctx context.Context, op Op) error {
	status, err := op.Work(ctx)
	if op.Ends {
		return err
	}
	if err != nil && status == "" {
		err = s.Cause(ctx, err)
		status = RunStatus(err)
	}
	serr := s.Run.SetStatus(status)
	if err != nil && serr != nil {
		return fmt.Errorf("%w; and %w", err, serr)
	}
	return cmp.Or(err, serr)
}

// WriteConfig writes the configuration in full, secrets masked.
func (s *Session) WriteConfig() error {
	text, err := s.Config.Redacted(s.Loaded.Redactor()).YAML(false)
	if err != nil {
		return err
	}
	return s.Run.WriteFile(run.ConfigFile, text)
}

// RunStatus returns how a run ended that ended with err.
func RunStatus(err error) result.Status {
	if err == nil {
		return result.Completed
	}
	switch fault.Of(err) {
	case fault.Stopped:
		return result.Stopped
	case fault.Waiting:
		return result.Waiting
	case fault.OverBudget:
		return result.OverBudget
	}
	return result.Failed
}

package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/provider/handoff"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Cause prefers the reason for which the run was stopped to what followed from
// it.
func (s *Session) Cause(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if s.noticed.late.Load() && errors.Is(err, caller.ErrStopping) {
		limit := InForce(s).Time.Std()
		return &TimeError{Used: s.Now().Sub(s.began), Limit: limit}
	}
	// Which call met the end first is chance and says nothing.
	var (
		budget  *caller.BudgetError
		stopped *caller.StoppedError
		waiting *caller.WaitingError
	)
	switch {
	case errors.As(err, &budget):
		return budget
	case errors.As(err, &stopped):
		return s.addHelp(stopped)
	case errors.As(err, &waiting):
		if folders := s.Models.countQuestions(); len(folders) > 0 { // counted, instead of naming one of many
			return &waitingError{folders: folders, err: waiting}
		}
		return waiting
	case errors.Is(err, caller.ErrStopping), errors.Is(err, context.Canceled), ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return &stopError{err}
	}
	return s.addHelp(err)
}

// addHelp adds what shows the cause to the error of an environment that measures nothing.
func (s *Session) addHelp(err error) error {
	var (
		stopped *caller.StoppedError
		nothing *train.NothingMeasuredError
	)
	own := s.Env == nil && len(s.Config.Env.Command) > 0
	if !own || !errors.As(err, &nothing) && !(errors.As(err, &stopped) && stopped.Model == "") {
		return err
	}
	return fmt.Errorf("%w\nmend what it says; `skillopt doctor` puts three tasks to env.command and shows them", err)
}

// stopError says that the user, or the program around, ended the run.
type stopError struct{ err error }

func (e *stopError) Error() string { return "the run was stopped before its end" }

func (e *stopError) Unwrap() error { return e.err }

// TimeError says that limits.time is reached.
type TimeError struct{ Used, Limit time.Duration }

func (e *TimeError) Error() string {
	return fmt.Sprintf("limits.time is reached: %s of %s used in this session; run the same command again to continue with a session of the same length, or raise it",
		e.Used.Round(time.Millisecond), e.Limit)
}

// waitingError says how many questions wait for an answer, and where.
type waitingError struct {
	folders []folder
	err     *caller.WaitingError
}

type folder struct {
	path      string
	questions int
}

func (e *waitingError) Error() string {
	var lines []string
	for _, f := range e.folders {
		what := wording.Plural(f.questions, "question waits for its answer", "questions wait for answers")
		lines = append(lines, fmt.Sprintf("%s in %s, as %s there says", what, f.path, handoff.Readme))
	}
	return strings.Join(lines, "\n")
}

func (e *waitingError) Unwrap() error { return e.err }

// Unheld distinguishes ceilings that cannot be held, which are bad input, from what else keeps
// calls from being made.
func Unheld(err error) error {
	var (
		open      *caller.UnboundedError
		uncounted *caller.UncountedError
	)
	if errors.As(err, &open) || errors.As(err, &uncounted) {
		return fault.Input(err)
	}
	return fmt.Errorf("set up calls: %w", err)
}

// A run with a larger share of cut or refused answers than maxShare measures the limit, or the
// provider, and not the skill; of fewer answers than minReplies no share is known. From
// warnShare on refusals are a warning.
const (
	maxShare   = 0.20
	minReplies = 20
	warnShare  = 0.05
)

// lengthError says that too many answers were cut.
type lengthError struct {
	share   float64
	replies int
}

func (e *lengthError) Error() string {
	return fmt.Sprintf("%.0f %% of %d answers of the target were cut at the output limit: the scores would measure the limit; raise models.target.max_tokens", 100*e.share, e.replies)
}

// ChangesIdentity says that what helps makes another run of it.
func (e *lengthError) ChangesIdentity() bool { return true }

// ErrorKind says whose business the error is.
// refusedError says that too many requests were refused.
type refusedError struct {
	share   float64
	replies int
	words   string // how many, by cause
}

// says returns how many requests were refused.
func (e *refusedError) says() string {
	return fmt.Sprintf("%.0f %% of %d replies of the target are refusals of its provider or model: %s", 100*e.share, e.replies, e.words)
}

func (e *refusedError) Error() string {
	return e.says() + "; the scores would measure the refusals. Look at what is refused (skillopt runs calls RUN), or continue with --accept-seed if a skill can cure it: what was asked is not paid for again"
}

func (*refusedError) ErrorKind() string { return string(fault.Unmeasurable) }

func (*stopError) ErrorKind() string { return string(fault.Stopped) }

// ErrorKind says whose business the error is.
func (*TimeError) ErrorKind() string { return string(fault.OverBudget) }

// ErrorKind says whose business the error is.
func (*lengthError) ErrorKind() string { return string(fault.Unmeasurable) }

// shownText is how many characters of a text are shown in a message.
const shownText = 400

// Excerpt returns the beginning of a text, for a message.
func Excerpt(s string) string {
	if utf8.RuneCountInString(s) <= shownText {
		return s
	}
	return string([]rune(s)[:shownText]) + "..."
}

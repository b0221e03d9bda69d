package caller

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/world"
)

// ErrLost matches every *LostError, and ErrUnmeasured every *UnmeasuredError.
var (
	ErrLost       = errors.New("no usable reply")
	ErrUnmeasured = errors.New("not measured")
)

// LostError says that a model other than the target gave no usable reply after
// all re-asks. The stage continues with its fallback.
type LostError struct {
	Key     string
	Replies int    // how many were refused
	Err     error  // why the last one was
	Text    string // of the last one, "" if there was none

	Inherited bool // all of them were taken over from another run
}

func (e *LostError) Error() string {
	return fmt.Sprintf("no usable reply for %s after %d asked: %v", e.Key, e.Replies, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// Is matches ErrLost.
func (e *LostError) Is(target error) bool { return target == ErrLost }

// UnmeasuredError says that infrastructure, and not the model, kept an answer
// away. It is never a score. Nothing was recorded but the attempts: a later try
// measures it.
type UnmeasuredError struct {
	Key string // "" when made by Unmeasurable
	Err error
}

func (e *UnmeasuredError) Error() string {
	if e.Key == "" {
		return "not measured: " + e.Err.Error()
	}
	return fmt.Sprintf("%s was not measured: %v", e.Key, e.Err)
}

func (e *UnmeasuredError) Unwrap() error { return e.Err }

// Is matches ErrUnmeasured.
func (e *UnmeasuredError) Is(target error) bool { return target == ErrUnmeasured }

// Unmeasurable marks err, a failure of an environment for instance, as one that
// kept an outcome from being measured. An error that ends the run stays what it
// is, and nil stays nil.
func Unmeasurable(err error) error {
	if err == nil || endsRun(err) || errors.Is(err, ErrUnmeasured) {
		return err
	}
	return &UnmeasuredError{Err: err}
}

// TimeoutError says that a Divisible call was not answered within the timeout of its role.
type TimeoutError struct {
	Role    string
	Timeout time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("no reply within models.%s.timeout (%s)", e.Role, e.Timeout)
}

// TaskLimitError says that the target ran into a limit of the task itself: the
// prompt was too long, or refused by a filter. It is an answer, recorded as
// such, and counts as a failure of the agent.
type TaskLimitError struct {
	Key  string
	Code model.Code // model.ContextLength or model.ContentFilter
	Err  error
}

func (e *TaskLimitError) Error() string { return e.Err.Error() }

func (e *TaskLimitError) Unwrap() error { return e.Err }

// StoppedError says that an endpoint makes it pointless to continue: it refused a
// request for good, or gave nothing but failures for longer than the patience.
// It ends the run; what was recorded is safe.
type StoppedError struct {
	Useless  string // what it does instead of answering, where that needs no patience; "" = see the others
	Endpoint string
	Model    string        // "" when it is no model that fails
	Key      string        // the call that found out
	Failing  time.Duration // how long there were only failures; 0 = refused for good
	Patience time.Duration
	Wait     time.Duration // the server asks to wait for so long, which is beyond Patience; 0 = it does not
	Until    time.Time     // when that is over
	Err      error         // the last failure
}

func (e *StoppedError) Error() string {
	if e.Useless != "" {
		return fmt.Sprintf("%s %s, last: %v", e.Endpoint, e.Useless, e.Err)
	}
	if e.Wait > 0 {
		return e.asksToWait()
	}
	if e.Failing > 0 {
		who := e.Endpoint
		if e.Model != "" {
			who += fmt.Sprintf(" (model %s)", e.Model)
		}
		help := ""
		if model.CodeOf(e.Err) == model.Timeout {
			help = "; a longer models.*.timeout gives each request more time"
		}
		part := ""
		if e.Failing < e.Patience {
			part = ", a quarter of it for a server that has never answered"
		}
		return fmt.Sprintf("%s has given nothing but failures for %s (limits.patience is %s%s), last: %v%s",
			who, e.Failing.Round(time.Second), e.Patience, part, e.Err, help)
	}
	verb, code := "refuses the request", model.CodeOf(e.Err)
	switch code {
	case model.Certificate:
		verb = "cannot be asked"
	case model.Redirect:
		verb = "is somewhere else"
	}
	return fmt.Sprintf("%s (model %s) %s: %v; %s", e.Endpoint, e.Model, verb, e.Err, advice(code))
}

func (e *StoppedError) Unwrap() error { return e.Err }

// WaitingError says that the request is written down and its answer comes from somebody
// who takes their time. Nothing is recorded; asking again later finds the answer.
type WaitingError struct {
	Key string
	Err error // says where the request is
}

func (e *WaitingError) Error() string { return fmt.Sprintf("%s waits for an answer: %v", e.Key, e.Err) }

func (e *WaitingError) Unwrap() error { return e.Err }

// ComesLater marks it as an error that does not keep other requests from being sent.
func (e *WaitingError) ComesLater() {}

// advice says what helps against a refusal that retries do not help against.
func advice(code model.Code) string {
	switch code {
	case model.Auth:
		return "check the key (models.*.api_key_env) and its rights"
	case model.Credit:
		return "check the plan, the credit and the billing of the account that the key belongs to"
	case model.Certificate, model.Redirect:
		return "then run the same command again"
	case model.NotFound:
		return "check models.*.model and models.*.base_url"
	default:
		return "check the model's settings (models.*), such as sampling options that it does not know"
	}
}

// BudgetError says that a hard ceiling of the user is reached, or that what comes
// next would pass it. Amounts are dollars, tokens, calls or seconds.
type BudgetError struct {
	Limit string // the config key: "limits.calls", "limits.usd", ...
	Used  float64
	Of    float64
	Kept  float64 // for the final evaluation; 0 = nothing
	Need  float64 // what the next part of the run is expected to take; 0 = the ceiling itself is reached

	InFlight int64 // of the calls used, those that are not answered yet

	Call bool // Need is the most that a single call can take
}

func (e *BudgetError) Error() string {
	says, need := "is reached", ", about %s needed"
	switch {
	case e.Call:
		says, need = "has no room for another call", ", up to %s needed (models.*.max_tokens bounds it)"
	case e.Need > 0:
		says = "has no room for the next step"
	}
	text := fmt.Sprintf("%s %s: %s of %s used", e.Limit, says, e.amount(e.Used), e.amount(e.Of))
	if e.InFlight > 0 {
		text += fmt.Sprintf(", %d of them in flight", e.InFlight)
	}
	if e.Kept > 0 {
		text += fmt.Sprintf(", %s kept for the final evaluation", e.amount(e.Kept))
	}
	if e.Need > 0 {
		text += fmt.Sprintf(need, e.amount(e.Need))
	}
	return text + "; raise it and run the same command again to continue"
}

// amount writes an amount in the unit of the ceiling.
func (e *BudgetError) amount(v float64) string {
	switch {
	case strings.HasSuffix(e.Limit, ".usd"):
		return fmt.Sprintf("$%.4f", v)
	case strings.HasSuffix(e.Limit, ".time"):
		return time.Duration(v * float64(time.Second)).Round(time.Millisecond).String()
	}
	return fmt.Sprintf("%.0f", v)
}

// UnboundedError says that a ceiling of money or tokens is set, and that no one can
// say before a call of a role is sent what it may take at most.
type UnboundedError struct {
	Limit string // the config key
	Role  string
	Model string
	Price bool // what is not known is the price; else how long a reply can be
}

func (e *UnboundedError) Error() string {
	if e.Price {
		return fmt.Sprintf("%s is set, but the price of models.%s (%s) is not known: set prices.%s.input and .output, name a file with it in price_file, or limit tokens",
			e.Limit, e.Role, e.Model, e.Model)
	}
	return fmt.Sprintf("%s is set, but nothing says how long a reply of models.%s (%s) can be, so that a call could pass it: set models.%s.max_tokens, or prices.%s.max_output, the limit of the model",
		e.Limit, e.Role, e.Model, e.Role, e.Model)
}

// UncountedError says that a ceiling is set for a run some of whose recorded calls
// did not say what they used: no one knows what is left of it.
type UncountedError struct {
	Limit string
	Calls int64
}

func (e *UncountedError) Error() string {
	return fmt.Sprintf("%s is set, but %s of this run did not say what they used, and nothing bounds it: limit calls instead, or begin another run",
		e.Limit, wording.Plural(int(e.Calls), "recorded call", "recorded calls"))
}

// DivergedError says that a step is recorded with another input than it has
// now. The run's settings or files have changed, or the program has; the record
// is never used for another request.
type DivergedError struct {
	Key      string
	Part     string // the first part that differs: "model", "message 1 (system)", "temperature", ...
	Recorded string // excerpts of both sides, from where they differ
	Now      string
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("the step %s is recorded with another input: %s was %s and is %s now; start a new run, or take over what still fits with --fork",
		e.Key, e.Part, e.Recorded, e.Now)
}

// endsRun reports whether err ends the run rather than one call.
func endsRun(err error) bool {
	var (
		stopped  *StoppedError
		budget   *BudgetError
		diverged *DivergedError
		waiting  *WaitingError
		replay   *ReplayError
		changed  *world.ChangedError
	)
	return errors.As(err, &changed) || errors.As(err, &waiting) || errors.As(err, &replay) || errors.As(err, &stopped) || errors.As(err, &budget) || errors.As(err, &diverged) || errors.Is(err, ErrStopping)
}

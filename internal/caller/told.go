package caller

import (
	"fmt"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// What a server says of a wait that is longer than the patience, and of another
// address. Either may concern one request alone, or the whole run.

const (
	// probeAfter is after how long an endpoint that has not answered yet is asked
	// again though it wants a longer wait: a single hint proves nothing.
	probeAfter = 5 * time.Second

	// barredProves is how many calls must be asked to wait beyond the patience, with
	// no answer between them, where the endpoint has answered shortly before.
	barredProves = 3

	// barredEnough is how many such calls prove it whatever the others learn that
	// wait for their turn.
	barredEnough = 16

	// redirectsProve is how often an endpoint that has never answered must fail with
	// a redirect to pass for one that is somewhere else.
	redirectsProve = 3
)

// hints counts what an endpoint says of waits beyond the patience. It belongs to
// the endpoint and needs its lock.
type hints struct {
	answeredAt time.Time // the last answer; zero = none yet
	since      int       // such hints since then
	calls      int       // those under way that got such a hint last
}

// noteAnswer forgets all hints.
func (h *hints) noteAnswer(at time.Time) { *h = hints{answeredAt: at} }

// bar notes that the server asked a call to wait for longer than there is
// patience, and reports whether that holds for the whole endpoint: every call
// under way was asked that, and more than once, and nothing was answered meanwhile.
// Where there was an answer within the patience it takes several calls.
func (e *endpoint) bar(at time.Time, a *attempts) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.isBarred(a) {
		a.barred = e.answers + 1
		e.hints.calls++
	}
	e.hints.since++
	if e.hints.since < 2 || e.hints.calls < min(e.active, barredEnough) {
		return false
	}
	return e.quiet(at) || e.hints.calls >= barredProves
}

// isBarred reports whether bar has noted a call since the last answer. It needs the lock.
func (e *endpoint) isBarred(a *attempts) bool { return a.barred == e.answers+1 }

// unbar forgets the hint that a call got. It needs the lock.
func (e *endpoint) unbar(a *attempts) {
	if e.isBarred(a) {
		a.barred = 0
		e.hints.calls--
	}
}

// quiet reports whether nothing was answered within the patience. It needs the
// lock.
func (e *endpoint) quiet(at time.Time) bool {
	return e.hints.answeredAt.IsZero() || at.Sub(e.hints.answeredAt) >= e.patience
}

// probe returns after how long a call is sent again that the server asked to wait for
// longer than there is patience.
func (e *endpoint) probe(at time.Time) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.quiet(at) {
		return min(probeAfter, e.patience)
	}
	return min(maxBackoff, e.patience)
}

// elsewhere reports whether an endpoint has never answered a call that it
// redirects again and again.
func (e *endpoint) elsewhere(a *attempts) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.answers == 0 && a.failures >= redirectsProve
}

// checkHint returns the wait that the next try has to obey after what the server said to a call that
// failed, 0 for none, or the error that ends the run. A wait within the patience is obeyed as it
// is. A longer one is no reason to be idle for it: it ends the run as soon as it is certain that it
// holds for all calls, and until then the call asks again.
func (s *sender) checkHint(f retrying) (time.Duration, error) {
	end, now := f.role.end, time.Now()
	stop := &StoppedError{Endpoint: end.name, Model: end.model, Key: f.request.key, Patience: s.patience, Err: f.failure}
	hint := f.failure.RetryAfter
	switch {
	case f.failure.Code == model.Redirect && end.elsewhere(f.tries):
	case hint <= s.patience:
		end.mu.Lock()
		end.unbar(f.tries)
		end.mu.Unlock()
		return hint, nil
	case !end.bar(now, f.tries):
		return end.probe(now), nil
	default:
		stop.Wait, stop.Until = hint, now.Add(hint)
	}
	s.halted.set(stop)
	return 0, s.halted.err()
}

// asksToWait returns the message of a StoppedError with a Wait.
func (e *StoppedError) asksToWait() string {
	who := e.Endpoint
	if e.Model != "" {
		who += fmt.Sprintf(" (model %s)", e.Model)
	}
	const longest = 24 * time.Hour // that a hint is read as
	least := ""
	if e.Wait >= longest {
		least = "at least "
	}
	return fmt.Sprintf("%s asks to wait for %s%s, until %s, and answers nothing meanwhile; limits.patience is %s: "+
		"run the same command again then, or now with a longer limits.patience, another key or another model; it says: %v",
		who, least, e.Wait.Round(time.Second), e.Until.UTC().Format("2006-01-02 15:04 UTC"), e.Patience, e.Err)
}

package caller

import (
	"time"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
)

// Activity is something that the record does not answer: a request that is sent
// until it is answered, or an episode.
type Activity struct {
	At      time.Time // when the first try was sent, or the episode began
	Key     string    // of the ledger; those of the calls of an episode are its own
	Stage   string
	Role    string
	Try     int  // of the episode under Key
	Episode bool // an episode, not a request
	Request model.Request
}

// Ended says how an Activity ended.
type Ended struct {
	At       time.Time
	Took     time.Duration  // of the try that was answered, or of the episode
	Response model.Response // without an answer: the zero value
	Usage    journal.Usage  // of an episode: what it reported in addition to its requests
	Cost     *int64         // billionths of a US dollar; nil = not known, or none
	Limit    model.Code     // the limit of the task that was in the way of an answer
	Err      error          // nil = it was answered
}

// Observation follows one Activity. Its methods are called one after the other.
type Observation interface {
	// Failed reports that a try has failed, and is made again unless Ended follows.
	Failed(at time.Time, code model.Code)
	// Ended is called once, last.
	Ended(Ended)
}

// watch follows one activity for the observer of the Caller. All its methods do
// nothing when there is none; a request that is never sent is not reported.
type watch struct {
	observe func(Activity) Observation
	what    Activity
	seen    Observation
}

func (s *sender) watch(r *role, e *request) *watch {
	return &watch{observe: s.observe, what: Activity{Key: e.key, Stage: e.stage, Role: r.name, Try: e.try, Request: e.req}}
}

func (w *watch) begin(at time.Time) {
	if w.observe != nil && w.seen == nil {
		w.what.At = at
		w.seen = w.observe(w.what)
	}
}

func (w *watch) reportFailure(at time.Time, code model.Code) {
	if w.seen != nil {
		w.seen.Failed(at, code)
	}
}

// reportEnd reports how a request ended.
func (w *watch) reportEnd(at time.Time, got *answer, err error) {
	if w.seen == nil {
		return
	}
	e := Ended{At: at, Err: err}
	if got.received {
		e.Took, e.Response, e.Limit, e.Cost = got.spend.Took, got.reply.Response, got.reply.Limit, got.spend.Cost
		if got.spend.Estimate {
			e.Cost = nil // what is reported is what is known
		}
	}
	w.seen.Ended(e)
}

// episode reports how an episode ended.
func (w *watch) episode(at time.Time, spend journal.Spend, err error) {
	if w.seen != nil {
		w.seen.Ended(Ended{At: at, Took: at.Sub(w.what.At), Usage: spend.Usage, Cost: spend.Cost, Err: err})
	}
}

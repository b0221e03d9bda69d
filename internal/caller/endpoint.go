package caller

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// maxFailures is after how many failures a call is given up whose endpoint
// answers others between them.
const maxFailures = 20

// endpoint is what is known of one server, key and model.
type endpoint struct {
	name     string
	model    string
	patience time.Duration
	local    bool
	slots    *slots

	began  time.Time
	spoke  atomic.Bool  // it has asked a request to wait
	paused atomic.Int64 // until when the server grants nothing, as time since began: no wall clock, which may be set back

	mu        sync.Mutex
	limiter   *limiter
	newest    time.Time       // when the newest request that is answered was sent
	latencies []time.Duration // of the last answers, a ring
	oldest    int
	answers   int64
	active    int       // calls that are sent or wait to be sent again
	failing   time.Time // when the first failure after the last answer came; zero = answers
	failer    *attempts // the only call that failed since then; nil = several
	waits     bool      // nothing failed since then: calls wait as the server asked
	told      bool      // that it is failing
	strays    strays
	hints     hints
}

// attempts is what one call has been through at its endpoint.
type attempts struct {
	failures int
	finals   int   // failures that no retry is known to help against
	answers  int64 // of the endpoint at the last look
	others   int   // failures between which the endpoint answered another call
	barred   int64 // see endpoint.isBarred
	overdue  bool  // the last one is that its time was over
}

func newEndpoint(r Role, opts Options) *endpoint {
	first := opts.Concurrency
	if r.Local {
		first = min(first, firstLocal)
	}
	s := newSlots(first)
	s.grouped = r.Local
	return &endpoint{
		name: r.Endpoint, model: r.Model, patience: opts.Patience, local: r.Local, slots: s, limiter: newLimiter(s, opts.Concurrency), began: time.Now(),
	}
}

// begin registers a call.
func (e *endpoint) begin() *attempts {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.active++
	return &attempts{answers: e.answers}
}

// end forgets a call. An endpoint that no one asks is not failing: its patience
// must not run out while the run is busy elsewhere.
func (e *endpoint) end(a *attempts) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unbar(a)
	if e.active--; e.active == 0 {
		e.failing, e.failer, e.told = time.Time{}, nil, false
	}
}

// excuse forgets for how long the endpoint has been failing.
func (e *endpoint) excuse() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failing, e.failer, e.told = time.Time{}, nil, false
}

// pause notes that the server's bucket is empty. A hint is obeyed up to a minute:
// after that one request asks again.
func (e *endpoint) pause(now time.Time, d time.Duration) {
	if d <= 0 {
		return
	}
	until := int64(now.Sub(e.began) + min(d, maxBackoff))
	for {
		old := e.paused.Load()
		if old >= until || e.paused.CompareAndSwap(old, until) {
			return
		}
	}
}

// pausedFor returns how long requests have to wait for the server's bucket.
func (e *endpoint) pausedFor(now time.Time) time.Duration {
	until := e.paused.Load()
	if until == 0 {
		return 0
	}
	return time.Duration(until) - now.Sub(e.began)
}

// latencyWindow is how many latencies the median is taken of.
const latencyWindow = 64

func (e *endpoint) noteAnswer(at time.Time, took time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answers++
	e.strays.noteAnswer()
	e.hints.noteAnswer(at)
	e.failing, e.failer, e.told = time.Time{}, nil, false
	if sent := at.Add(-took); sent.After(e.newest) {
		e.newest = sent
	}
	if len(e.latencies) < latencyWindow {
		e.latencies = append(e.latencies, took)
	} else {
		e.latencies[e.oldest] = took
		e.oldest = (e.oldest + 1) % latencyWindow
	}
	e.limiter.observe(outcome{at: at, answered: true, latency: took})
}

// overtakenBy is how much later the answered request was sent that shows a server which
// serves others first: a request that it overtakes has not waited for its turn.
const overtakenBy = time.Second

// relieve halves how many requests may be in flight if one failed for the others: its time
// was over before its turn, or a server on this machine broke it off. It is called before
// anybody gets the slot.
func (e *endpoint) relieve(now, sent time.Time, code model.Code) {
	e.mu.Lock()
	defer e.mu.Unlock()
	waited := code == model.Timeout && !e.newest.After(sent.Add(overtakenBy))
	if waited || code == model.Truncated && e.local {
		e.limiter.halve(now, sent)
	}
}

// maxStrays is how many different items in a row may end without an answer because an endpoint
// that answered before refuses them.
const maxStrays = 3

// strays are items that an endpoint refuses though it has answered.
type strays struct {
	row map[string]bool // since its last answer
	odd map[string]bool // those before which it answered others: they say nothing more of it
}

func (s *strays) noteAnswer() {
	if len(s.row) == 0 {
		return
	}
	if s.odd == nil {
		s.odd = map[string]bool{}
	}
	maps.Copy(s.odd, s.row)
	clear(s.row)
}

// noteStray notes an item that the endpoint refuses, and reports whether it is no use to continue.
func (e *endpoint) noteStray(item string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := &e.strays
	if s.odd[item] {
		return false
	}
	if s.row == nil {
		s.row = map[string]bool{}
	}
	s.row[item] = true
	return len(s.row) >= maxStrays
}

func (e *endpoint) hasAnswered() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.answers > 0
}

// verdict is what a failed call is to do.
type verdict int

const (
	tryAgain verdict = iota
	giveUp           // the call alone is hopeless
	stopRun          // the endpoint is
)

// judgement is a verdict with what leads to it and on.
type judgement struct {
	verdict verdict
	failing time.Duration // how long the endpoint gives only failures
	left    time.Duration // of its patience
	median  time.Duration // latency, 0 if there was no answer yet
}

// noteFailure notes a failure that may pass.
func (e *endpoint) noteFailure(at time.Time, a *attempts) judgement {
	e.mu.Lock()
	defer e.mu.Unlock()
	a.failures++
	if e.answers != a.answers {
		a.answers = e.answers
		a.others++
	}
	e.noteUnanswered(at, a, false)
	median := e.median()
	e.limiter.observe(outcome{at: at, latency: median})
	j := e.judge(at, a)
	j.median = median
	return j
}

// quietFor is how long an endpoint may fail before it is reported.
const quietFor = 5 * time.Second

// tells reports whether it is time to say that the endpoint is failing: before a
// wait in which it will have failed for a while, and once until it answers. Of one that has
// never answered the last of the requests under way says it, since it has the patience that
// holds then.
func (e *endpoint) tells(j judgement, delay time.Duration) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.told || e.failing.IsZero() || j.failing+delay < quietFor {
		return false
	}
	if e.mayBeAbsent() && j.failing < e.patience/4 && j.failing+j.left > e.patience/4 {
		return false
	}
	e.told = true
	return true
}

// noteUnanswered notes that a call is without an answer, because it failed or because
// it waits. It needs the lock.
func (e *endpoint) noteUnanswered(at time.Time, a *attempts, waits bool) {
	if e.failing.IsZero() {
		e.failing, e.failer, e.waits = at, a, waits
	} else if e.failer != a {
		e.failer = nil
	}
	e.waits = e.waits && waits
}

// judgeAgain judges again, after a wait and without a new failure. Calls that the
// server asked to wait for longer keep the clock running: when all do, there will
// be no failure that could start it. A single one obeys, since the server has
// answered the others.
func (e *endpoint) judgeAgain(at time.Time, a *attempts) judgement {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.noteUnanswered(at, a, true)
	if e.waits && e.failer == a {
		return judgement{left: e.patience}
	}
	return e.judge(at, a)
}

// judge needs the lock. One call that keeps failing at the end of a phase, when
// no other is under way, must not pass for a dead endpoint.
func (e *endpoint) judge(at time.Time, a *attempts) judgement {
	patience := e.patienceNow()
	j := judgement{left: patience}
	if a.failures >= maxFailures && a.others >= maxFailures-1 {
		j.verdict = giveUp
		return j
	}
	if e.failing.IsZero() {
		return j
	}
	j.failing = at.Sub(e.failing)
	j.left = patience - j.failing
	if j.left > 0 {
		return j
	}
	j.verdict = stopRun
	// A call that failed once proves nothing about itself: after its failure it, and
	// the others, may have waited for the server.
	if e.failer == a && a.others > 0 && a.failures > 1 {
		j.verdict = giveUp
	}
	return j
}

// patienceNow returns for how long the endpoint may give nothing but failures. One that has only
// failed or refused connections, and keeps no request waiting for a reply, gets a quarter: it
// is not there. It needs the lock.
func (e *endpoint) patienceNow() time.Duration {
	if e.mayBeAbsent() && e.slots.inFlight() == 0 {
		return e.patience / 4
	}
	return e.patience
}

// mayBeAbsent reports whether the endpoint has never answered and never asked to wait.
func (e *endpoint) mayBeAbsent() bool { return e.answers == 0 && !e.spoke.Load() }

func (e *endpoint) median() time.Duration {
	if len(e.latencies) == 0 {
		return 0
	}
	sorted := slices.Clone(e.latencies)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

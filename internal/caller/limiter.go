package caller

import "time"

// limiter finds out how many requests in flight an endpoint can use. Failures
// alone prove nothing: a server may refuse one request in five and still answer
// most of them only when it is kept busy. So the limiter compares goodput,
// answers per second, between neighbouring limits, and only when there is a
// cause: a window of answers in which many failed starts a trial of a lower
// limit, which stays if more gets through with it; a limit below the ceiling
// that serves well starts a trial of a higher one, which stays if more is
// answered with it. A request that the others in flight kept waiting until its
// time was over halves the limit at once.
//
// Its methods are called with the endpoint's lock held.
type limiter struct {
	slots   *slots
	ceiling int
	limit   int
	doubles bool // the next higher limit is twice as high: none has failed yet
	halved  time.Time

	began     time.Time // of the window
	answers   int
	failures  int
	settling  int // outcomes of requests from before the last change
	trial     *trial
	pause     int // windows until the next trial
	nextPause int
}

// trial is a limit on probation.
type trial struct {
	from    int
	goodput float64 // at the limit from
}

// Parameters of the limiter.
const (
	windowOutcomes = 32                    // a window has at least that many outcomes, or eight per slot if that is less, and two per slot
	windowTime     = 50 * time.Millisecond // and lasts at least so long, and two latencies
	troubled       = 0.3                   // share of failures that starts a trial of a lower limit
	healthy        = 0.1                   // share below which a higher limit may be tried
	betterBy       = 1.1                   // a lower limit stays if goodput grows by this
	worthIt        = 0.5                   // a higher limit stays if goodput grows by that part of what the limit grew by
	firstLocal     = 2                     // limit at a server on this machine, which may answer one at a time
	maxPause       = 64
)

// newLimiter begins with the limit of the slots.
func newLimiter(s *slots, ceiling int) *limiter {
	return &limiter{slots: s, ceiling: ceiling, limit: s.limit, doubles: s.limit < ceiling, nextPause: 1}
}

// outcome is how one attempt ended.
type outcome struct {
	at       time.Time
	answered bool
	latency  time.Duration // typical latency of the endpoint, 0 if unknown
}

func (l *limiter) observe(o outcome) {
	if l.settling > 0 {
		l.settling--
		return
	}
	if l.began.IsZero() {
		l.began = o.at
	}
	if o.answered {
		l.answers++
	} else {
		l.failures++
	}
	elapsed := o.at.Sub(l.began)
	if l.answers+l.failures >= max(min(windowOutcomes, 8*l.limit), 2*l.limit) && elapsed >= max(windowTime, 2*o.latency) {
		l.judge(elapsed)
	}
}

// judge ends a window.
func (l *limiter) judge(elapsed time.Duration) {
	goodput := float64(l.answers) / elapsed.Seconds()
	share := float64(l.failures) / float64(l.answers+l.failures)
	waited, _ := l.slots.look()
	full := waited >= (l.answers+l.failures)/4 // the limit, and not the demand, bounded the window
	l.began, l.answers, l.failures = time.Time{}, 0, 0
	switch {
	case l.trial != nil:
		l.conclude(goodput, full)
	case l.pause > 0:
		l.pause--
	case full && share >= troubled && l.limit > 1:
		l.try(max(1, l.limit*3/5), goodput)
	case full && share < healthy && l.limit < l.ceiling:
		step := l.limit/4 + 1
		if l.doubles {
			step = l.limit
		}
		l.try(min(l.ceiling, l.limit+step), goodput)
	}
}

func (l *limiter) try(limit int, goodput float64) {
	l.trial = &trial{from: l.limit, goodput: goodput}
	l.set(limit)
}

// conclude keeps the limit on probation or goes back. A window that was short of
// requests says nothing about the limit.
func (l *limiter) conclude(goodput float64, full bool) {
	t := l.trial
	l.trial = nil
	least := betterBy
	if l.limit > t.from {
		least = 1 + worthIt*float64(l.limit-t.from)/float64(t.from)
	}
	if full && goodput >= t.goodput*least {
		l.pause, l.nextPause = 0, 1
		return
	}
	if full && l.limit > t.from {
		l.doubles = false
	}
	l.set(t.from)
	l.rest()
}

// rest puts the next trial off, each time for longer.
func (l *limiter) rest() {
	l.pause = l.nextPause
	l.nextPause = min(2*l.nextPause, maxPause)
}

// halve halves the limit for a request that was sent at a time and waited for others.
// Those that were sent before the limit was halved last say nothing of the half.
func (l *limiter) halve(at, sent time.Time) {
	if _, used := l.slots.look(); used < 2 || l.limit < 2 || sent.Before(l.halved) {
		return
	}
	l.halved, l.doubles, l.trial = at, false, nil
	l.began, l.answers, l.failures = time.Time{}, 0, 0
	l.set(l.limit / 2)
	l.rest()
}

func (l *limiter) set(limit int) {
	_, l.settling = l.slots.look()
	l.limit = limit
	l.slots.resize(limit)
}

package gateway

import (
	"sync"
	"time"
)

// watch rings alarms that are due, all with one timer. A request sets about nine
// deadlines and takes them back; the runtime wakes a thread for nearly every timer
// that is set anew, which at 200 requests a second took more than one percent of a
// core. The price is that an alarm rings late, by at most the time between two
// looks.
type watch struct {
	every time.Duration

	mu      sync.Mutex
	alarms  map[*alarm]struct{}
	looking bool // the timer is set
}

// alarm calls ring, which must not block, when it is due. It is guarded by the
// mutex of its watch.
type alarm struct {
	due  time.Time // zero if it is not set
	ring func()
}

// newWatch looks at its alarms every so often, for as long as it has any.
func newWatch(every time.Duration) *watch {
	return &watch{every: every, alarms: map[*alarm]struct{}{}}
}

// add begins to watch alarms.
func (w *watch) add(alarms ...*alarm) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range alarms {
		w.alarms[a] = struct{}{}
	}
	if !w.looking {
		w.looking = true
		time.AfterFunc(w.every, w.look)
	}
}

// remove ends it. The alarms do not ring any more when it returns.
func (w *watch) remove(alarms ...*alarm) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range alarms {
		delete(w.alarms, a)
	}
}

func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for a := range w.alarms {
		if !a.due.IsZero() && !now.Before(a.due) {
			a.due = time.Time{}
			a.ring()
		}
	}
	if w.looking = len(w.alarms) > 0; w.looking {
		time.AfterFunc(w.every, w.look)
	}
}

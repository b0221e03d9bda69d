package gateway

import (
	"sync"
	"time"
)

// pulse does something again and again until it is stopped, in goroutines of its
// own, one at a time.
type pulse struct {
	beat  func()
	every time.Duration
	watch *watch
	alarm alarm
	due   sync.WaitGroup // a beat that is at work
}

// newPulse has beat called after a while, and then each time that every has
// passed since it returned.
func newPulse(w *watch, after, every time.Duration, beat func()) *pulse {
	p := &pulse{beat: beat, every: every, watch: w}
	p.alarm = alarm{due: time.Now().Add(after), ring: func() { p.due.Go(p.run) }}
	w.add(&p.alarm)
	return p
}

func (p *pulse) run() {
	p.beat()
	p.watch.mu.Lock()
	defer p.watch.mu.Unlock()
	p.alarm.due = time.Now().Add(p.every)
}

// stop returns when beat is not at work and will not be called again.
func (p *pulse) stop() {
	p.watch.remove(&p.alarm)
	p.due.Wait()
}

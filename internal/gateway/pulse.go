package gateway

import (
	"sync"
	"time"
)

// pulse does something again and again until it is stopped.
type pulse struct {
	once       sync.Once
	quit, gone chan struct{}
}

// newPulse has beat called after a while, and then each time that every has
// passed since it returned.
func newPulse(after, every time.Duration, beat func()) *pulse {
	p := &pulse{quit: make(chan struct{}), gone: make(chan struct{})}
	go p.run(after, every, beat)
	return p
}

func (p *pulse) run(after, every time.Duration, beat func()) {
	defer close(p.gone)
	timer := time.NewTimer(after)
	defer timer.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-timer.C:
			beat()
			timer.Reset(every)
		}
	}
}

// stop returns when beat is not at work and will not be called again. It may be
// called again.
func (p *pulse) stop() {
	p.once.Do(func() { close(p.quit) })
	<-p.gone
}

package session

import (
	"context"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
)

// steerEvery is how often it is looked whether something is asked of the run.
const steerEvery = 300 * time.Millisecond

// Listener is what is done when the user, the clock, or somebody outside of the process wants
// the run to end. Its functions are called one at a time.
type Listener struct {
	Stop    func() // what is in flight is finished and recorded
	StopNow func() // at once
	Late    func() // limits.time is reached
}

// Listen has a session that is connected obey Stop of its options, limits.time, and what is
// asked of its run from outside, until it is closed. What was asked before is answered when
// it returns. The function that it returns ends it before the session does.
func Listen(s *Session, l Listener) (end func()) {
	st := s.steering
	if st != nil {
		st.tell(s)
		st.look(s, l)
	}
	ended := make(chan struct{})
	var listening sync.WaitGroup
	listening.Go(func() { listen(s, l, ended) })
	s.stopWatch = sync.OnceFunc(func() {
		close(ended)
		listening.Wait()
	})
	return s.stopWatch
}

func listen(s *Session, l Listener, ended <-chan struct{}) {
	clock := alarm{began: time.Now()}
	defer clock.stop()
	stop, look := s.Stop, (<-chan time.Time)(nil)
	if s.steering != nil {
		tick := time.NewTicker(steerEvery)
		defer tick.Stop()
		look = tick.C
	}
	for {
		clock.set(InForce(s).Time)
		select {
		case <-ended:
			return
		case <-stop:
			stop = nil
			l.Stop()
		case <-clock.rings:
			clock.rings = nil
			s.noticed.late.Store(true)
			l.Late()
		case <-look:
			s.steering.look(s, l)
		}
	}
}

// watch has the work of the session end softly or at once when somebody wants it to.
func (s *Session) watch() {
	Listen(s, Listener{
		Stop: s.Caller.Stop, Late: s.Caller.Stop,
		StopNow: func() { s.Caller.Stop(); s.hard(context.Canceled) },
	})
}

// alarm rings once when a time has passed since it began, which may change until then.
type alarm struct {
	began time.Time
	after time.Duration // 0: never
	timer *time.Timer
	rings <-chan time.Time
}

func (a *alarm) set(limit *config.Duration) {
	after := time.Duration(0)
	if limit != nil {
		after = limit.Std()
	}
	if after == a.after {
		return
	}
	a.stop()
	if a.after = after; after > 0 {
		a.timer = time.NewTimer(after - time.Since(a.began))
		a.rings = a.timer.C
	}
}

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
	a.timer, a.rings = nil, nil
}

package caller

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Bounds of the waiting time before a request is tried again.
const (
	minBackoff = 5 * time.Millisecond
	maxBackoff = time.Minute

	atOnce = 3 // failures of a call with a cut body that are tried again without a wait

	unknownLatency = 200 * time.Millisecond // taken for an endpoint that has not answered yet
)

// jitter spreads waiting times.
type jitter struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func newJitter(seed uint64) *jitter {
	return &jitter{rng: rand.New(rand.NewPCG(seed, 0x5eed))}
}

// backoff returns how long to wait after failure number n (from 1) of a call:
// full jitter below a bound that starts at a quarter of the latency which the
// model is known for and doubles with every failure. Most failures are alone:
// where one request in five fails, a call that waits a whole latency after the first
// of them makes its phase last twice as long. A hint of the server is obeyed, with up to
// a latency more so that those it was given to do not come back together.
func (j *jitter) backoff(n int, latency, hint time.Duration) time.Duration {
	base := min(max(latency, minBackoff), maxBackoff)
	j.mu.Lock()
	defer j.mu.Unlock()
	if hint > 0 {
		return hint + time.Duration(j.rng.Int64N(int64(base)))
	}
	bound := max(minBackoff, min((base/4)<<min(n-1, 18), maxBackoff))
	return time.Duration(j.rng.Int64N(int64(bound)) + 1)
}

// wait pauses for d, or returns why it was cut short.
func (s *sender) wait(ctx context.Context, d time.Duration, begun bool) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	stopping := s.stopping.ch
	if begun {
		stopping = nil
	}
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
	case <-s.halted.ch:
	case <-stopping:
	}
	return s.admit(ctx, begun)
}

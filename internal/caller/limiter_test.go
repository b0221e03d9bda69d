package caller

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
)

// load is a server whose answers depend on how many requests it has at once. It
// takes 50 to 150 ms over each: were all to end in the same instant, how many of
// the next wave it finds there would be up to the scheduler.
type load struct {
	answers func(inFlight int) float64 // probability of an answer

	mu       sync.Mutex
	inFlight int
	rng      *rand.Rand
}

func (l *load) Generate(context.Context, model.Request) (model.Response, error) {
	l.mu.Lock()
	l.inFlight++
	ok := l.rng.Float64() < l.answers(l.inFlight)
	took := 50*time.Millisecond + time.Duration(l.rng.Int64N(int64(100*time.Millisecond)))
	l.mu.Unlock()
	<-time.After(took)
	l.mu.Lock()
	l.inFlight--
	l.mu.Unlock()
	if !ok {
		return model.Response{}, &model.Error{Code: model.Overloaded, Err: errors.New("busy")}
	}
	return model.Response{Text: "a", Finish: model.FinishStop}, nil
}

func TestLimiter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		answers  func(inFlight int) float64
		low, top int // where the limit of 64 may end
	}{
		{"always serves", func(int) float64 { return 1 }, 64, 64},
		{"refuses one in five", func(int) float64 { return 0.8 }, 64, 64},
		{"refuses every other, however few there are", func(int) float64 { return 0.5 }, 38, 64},
		{"serves ever fewer when there are more than 8", func(n int) float64 { return min(1, 64/float64(n*n)) }, 4, 24},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := withServer(t, &load{answers: tt.answers, rng: rand.New(rand.NewPCG(1, 1))})
				var wg sync.WaitGroup
				for i := range 3000 {
					wg.Go(func() {
						_, err := c.Do(t.Context(), Call{Key: fmt.Sprint(i), Role: model.Target, Messages: []model.Message{{Role: "user", Content: fmt.Sprint(i)}}})
						if err != nil && !errors.Is(err, ErrUnmeasured) {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				got := c.roles[model.Target].end.limiter.limit
				if got < tt.low || got > tt.top {
					t.Errorf("the limit ended at %d, want %d to %d", got, tt.low, tt.top)
				}
			})
		})
	}
}

func withServer(t *testing.T, client model.Client) *Caller {
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "run.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := New(Options{
		Journal: j, Concurrency: 64, Patience: time.Hour,
		Roles: map[string]Role{model.Target: {Client: client, Endpoint: "server", Model: "m"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A limit that was lowered comes back when the endpoint serves well again.
func TestLimiterGrowsBack(t *testing.T) {
	t.Parallel()
	s := newSlots(64)
	l := newLimiter(s, 64)
	l.set(8)
	now := time.Unix(0, 0)
	for range 2000 {
		now = now.Add(100 * time.Millisecond / time.Duration(l.limit))
		s.mu.Lock()
		s.waited++
		s.mu.Unlock()
		l.observe(outcome{at: now, answered: true, latency: time.Millisecond})
	}
	if l.limit != 64 {
		t.Errorf("the limit is %d, want 64", l.limit)
	}
}

// A trial says nothing when there was too little to do.
func TestLimiterDiscardsATrialWithoutDemand(t *testing.T) {
	t.Parallel()
	l := newLimiter(newSlots(64), 64)
	l.try(32, 1)
	l.settling = 0
	now := time.Unix(0, 0)
	for range 200 {
		now = now.Add(10 * time.Millisecond)
		l.observe(outcome{at: now, answered: true})
	}
	if l.limit != 64 {
		t.Errorf("the limit is %d, want 64", l.limit)
	}
}

// At a server that keeps the beginning of one prompt, requests with the same skill are sent
// one after the other.
func TestSlotsGroupPromptsWithTheSameBeginning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for grouped, want := range map[bool]string{false: "[seed best seed best seed]", true: "[seed seed seed best best]"} {
			s := newSlots(1)
			s.grouped = grouped
			if err := s.acquire(t.Context(), entry{begins: "seed"}); err != nil {
				t.Fatal(err)
			}
			var order []string
			var wg sync.WaitGroup
			for _, begins := range []string{"seed", "best", "seed", "best", "seed"} {
				wg.Go(func() {
					if err := s.acquire(t.Context(), entry{begins: begins}); err != nil {
						t.Error(err)
					}
					order = append(order, begins) // one at a time
					s.release()
				})
				synctest.Wait()
			}
			s.release()
			wg.Wait()
			if got := fmt.Sprint(order); got != want {
				t.Errorf("grouped %v: served %s", grouped, got)
			}
		}
	})
}

func TestSlotsServeThoseThatComeAgainFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1)
		if err := s.acquire(t.Context(), entry{}); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		var wg sync.WaitGroup
		for _, name := range []string{"first", "second", "again"} {
			wg.Go(func() {
				if err := s.acquire(t.Context(), entry{again: name == "again"}); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				s.release()
			})
			synctest.Wait()
		}
		s.release()
		wg.Wait()
		if got := fmt.Sprint(order); got != "[again first second]" {
			t.Errorf("served %s", got)
		}
	})
}

// However many come, leave and return, no slot is lost and none is made up.
func TestSlotsAreNeitherLostNorMadeUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(5)
		quit := make(chan struct{})
		var wg sync.WaitGroup
		rng := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			patience, work := time.Duration(rng.IntN(50))*time.Millisecond, time.Duration(rng.IntN(20))*time.Millisecond
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				if s.acquire(ctx, entry{quit: quit, reason: func() error { return ErrStopping }}) != nil {
					return
				}
				<-time.After(work)
				s.release()
			})
			<-time.After(time.Millisecond)
			s.resize(1 + rng.IntN(8))
		}
		close(quit)
		wg.Wait()
		if _, used := s.look(); used != 0 || s.queue.Len() != 0 {
			t.Errorf("%d slots in use and %d waiting after all have left", used, s.queue.Len())
		}
	})
}

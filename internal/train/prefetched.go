package train

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/taskgroup"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// prefetch is a set of rollouts that was started before the part of the run that needs it.
type prefetch struct {
	rolloutSet
	stop  context.CancelFunc
	due   func()        // reports that its part has come
	ended chan struct{} // closed when what follows is set
	out   []trajectory.Outcome
	err   error

	mu       sync.Mutex
	finished int
	tell     func() // nil: no one asked yet
}

// prefetched are the sets that were started and not asked for yet. It owns their
// goroutines and is safe for concurrent use.
type prefetched struct {
	ahead func(context.Context) (context.Context, func()) // see Deps.Ahead; nil: no one asks

	mu  sync.Mutex
	all []*prefetch
}

// start starts a set of rollouts with a goroutine of its own.
func (b *prefetched) start(ctx context.Context, roller Roller, set rolloutSet) {
	ctx, stop := context.WithCancel(ctx)
	p := &prefetch{rolloutSet: set, stop: stop, due: func() {}, ended: make(chan struct{})}
	if b.ahead != nil {
		ctx, p.due = b.ahead(ctx)
	}
	b.add(p)
	go func() {
		defer close(p.ended)
		p.out, p.err = roller.All(ctx, p.place, p.tasks, p.skill, p.countOutcome)
	}()
}

func (b *prefetched) add(p *prefetch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, p)
}

// take removes and returns the prefetch of a set, nil if it was not started.
func (b *prefetched) take(set rolloutSet) *prefetch {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.all, func(p *prefetch) bool { return p.is(set) })
	if i < 0 {
		return nil
	}
	p := b.all[i]
	b.all = slices.Delete(b.all, i, i+1)
	return p
}

// rest removes and returns everything.
func (b *prefetched) rest() []*prefetch {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.all
	b.all = nil
	return all
}

// abandon ends what was started for parts that are not reached, and waits for it. If the
// run only waits for answers, all requests are sent before it ends.
func (b *prefetched) abandon(why error) {
	var later taskgroup.Later
	for _, p := range b.rest() {
		if !errors.As(why, &later) {
			p.stop()
		}
		<-p.ended
		p.stop()
	}
}

func (p *prefetch) is(set rolloutSet) bool {
	return p.place == set.place && p.skill.Equal(set.skill) && slices.Equal(taskIDs(p.tasks), taskIDs(set.tasks))
}

// wait returns the outcomes. done learns of each as if it had been there from
// the beginning.
func (p *prefetch) wait(ctx context.Context, done func()) ([]trajectory.Outcome, error) {
	defer p.stop()
	p.due()
	p.follow(done)
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.stop()
		<-p.ended
	}
	return p.out, p.err
}

func (p *prefetch) follow(done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell = done
	for range p.finished {
		done()
	}
}

// countOutcome counts each outcome and reports it.
func (p *prefetch) countOutcome() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished++
	if p.tell != nil {
		p.tell()
	}
}

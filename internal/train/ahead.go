package train

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/together"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// A batch of rollouts lasts as long as its slowest: one answer in sixty that has
// to be asked for three times, or a model that thinks for a minute, keeps all
// others waiting. So the rollouts that the next part of the loop begins with are
// begun as soon as it is certain which skill they are made with, beside what is
// still out of this part. They are the same rollouts under the same keys, only
// earlier: nothing is asked for that would not be asked for anyway, and nothing
// that is decided depends on it. It has to be certain, not likely: a rollout with
// another skill under the same key would be another run's.

// opening is rollouts that a part of the loop begins with.
type opening struct {
	place rollout.Place
	tasks []task.Task
	skill skill.Skill
}

// ahead is an opening that was begun before its part was.
type ahead struct {
	opening
	stop  context.CancelFunc
	ended chan struct{} // closed when what follows is set
	out   []trajectory.Outcome
	err   error

	mu       sync.Mutex
	finished int
	tell     func() // nil: nobody asked yet
}

// coming names a part of the loop by what comes before it: so many steps of an
// epoch, its end not included.
type coming struct{ epoch, steps int }

// opensWith returns what a part of the loop begins with if the current skill is s
// then: nothing if there is no such part.
func (t *trainer) opensWith(c coming, s skill.Skill) ([]opening, error) {
	perEpoch := t.StepsPerEpoch(t.Data.Drawable())
	if c.steps == perEpoch && t.looksBack(c.epoch) {
		e := &epochEnd{trainer: t, epoch: c.epoch, prefix: endPrefix(c.epoch), prev: t.epochStart}
		return e.openings(0, s), nil
	}
	if c.steps == perEpoch {
		c = coming{epoch: c.epoch + 1}
	}
	if c.epoch > t.Epochs {
		return nil, nil
	}
	batches, err := t.batches(c.epoch, perEpoch)
	if err != nil {
		return nil, err
	}
	next := &step{trainer: t, epoch: c.epoch, number: (c.epoch-1)*perEpoch + c.steps + 1}
	next.prefix = next.key()
	batches, _, err = t.fitted(next.sizeKey(), t.batchesOf(c.epoch, c.steps, batches))
	if err != nil {
		return nil, err
	}
	return []opening{{next.place(0), pick(t.Data.drawn(next.number), next.drawn(batches[0]).Items), s}}, nil
}

// begin begins the part of the loop that comes after so many others, with a skill
// that is certain to be the current one then. It is called once for a part.
func (t *trainer) begin(ctx context.Context, parts int, s skill.Skill) {
	if !t.Overlap || t.Data.InFolds() || t.coming == nil {
		return
	}
	if t.coming.steps == t.StepsPerEpoch(len(t.Data.Train)) && !t.looksBack(t.coming.epoch) {
		parts++ // the end of the epoch, which asks for nothing
	}
	if !t.loops(parts) {
		return
	}
	openings, err := t.opensWith(*t.coming, s)
	if err != nil {
		return // the part itself says what is wrong with it
	}
	for _, o := range openings {
		ctx, stop := context.WithCancel(ctx)
		a := &ahead{opening: o, stop: stop, ended: make(chan struct{})}
		t.ahead.add(a)
		go func() {
			defer close(a.ended)
			a.out, a.err = t.Roller.All(ctx, a.place, a.tasks, a.skill, a.done)
		}()
	}
}

// begun is what was begun ahead and not asked for yet. It is safe for concurrent
// use.
type begun struct {
	mu  sync.Mutex
	all []*ahead
}

func (b *begun) add(a *ahead) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, a)
}

// take hands over an opening, nil if it was not begun.
func (b *begun) take(o opening) *ahead {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.all, func(a *ahead) bool { return a.is(o) })
	if i < 0 {
		return nil
	}
	a := b.all[i]
	b.all = slices.Delete(b.all, i, i+1)
	return a
}

// rest hands over everything.
func (b *begun) rest() []*ahead {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.all
	b.all = nil
	return all
}

func (a *ahead) is(o opening) bool {
	return a.place == o.place && a.skill.Text() == o.skill.Text() && slices.Equal(idsOf(a.tasks), idsOf(o.tasks))
}

// watch returns a function that is to be told what was measured of a candidate.
// As soon as that settles which skill the next part works with, it is begun.
func (t *trainer) watch(ctx context.Context, cand *incumbent, r rule) func(item int, o trajectory.Outcome) {
	if !t.Overlap || t.Gate != "strict" || t.Data.InFolds() {
		return func(int, trajectory.Outcome) {}
	}
	f := gate.NewForesight(t.trial(cand), gate.Strict{OrEqual: r == notWorse})
	if f == nil {
		return func(int, trajectory.Outcome) {}
	}
	var mu sync.Mutex
	begun := false
	return func(item int, o trajectory.Outcome) {
		mu.Lock()
		defer mu.Unlock()
		f.Learn(item, o)
		accepted, settled := f.Settled()
		if begun || !settled {
			return
		}
		begun = true
		if accepted {
			t.begin(ctx, t.parts+1, cand.skill)
		} else if !t.SecondTry { // a part of it may be accepted yet
			t.begin(ctx, t.parts+1, t.current.skill)
		}
	}
}

// wait returns the outcomes. done is told of each as if it had been there from
// the beginning.
func (a *ahead) wait(ctx context.Context, done func()) ([]trajectory.Outcome, error) {
	defer a.stop()
	a.follow(done)
	select {
	case <-a.ended:
	case <-ctx.Done():
		a.stop()
		<-a.ended
	}
	return a.out, a.err
}

func (a *ahead) follow(done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tell = done
	for range a.finished {
		done()
	}
}

// done is told of each outcome.
func (a *ahead) done() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.finished++
	if a.tell != nil {
		a.tell()
	}
}

// abandon ends what was begun for parts that are not reached. If the run only
// waits for answers, all questions are put before it ends.
func (t *trainer) abandon(why error) {
	var later together.Later
	for _, a := range t.ahead.rest() {
		if !errors.As(why, &later) {
			a.stop()
		}
		<-a.ended
		a.stop()
	}
}

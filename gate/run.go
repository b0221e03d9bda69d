package gate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/seed-f4525e22/skillopt/internal/taskgroup"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// MaxRedraws is how often a draw that was not measured is made again.
const MaxRedraws = 2

// Measure carries out one draw: item is an index into Trial.Items. It is called
// concurrently, for Trial.AtOnce draws at once. An outcome with the status unmeasured is
// missing and will be asked for again, with the same arguments; an error ends the trial.
type Measure func(ctx context.Context, item int, arm Arm, sample int) (trajectory.Outcome, error)

// Policy decides a trial. It holds no state: everything it goes by is in the
// evidence. Run calls it from one goroutine at a time.
type Policy interface {
	// Judge decides on the evidence; false asks for more. It is called first
	// before anything is drawn and then after each reading.
	Judge(e *Evidence) (Verdict, bool)

	// Next returns the draws to make after those already read, in the order in
	// which Judge is to see them. It is called when Judge wants more and all
	// earlier draws are read; it must then name at least one.
	Next(e *Evidence) []Draw
}

// Result is a verdict and the outcomes it was made on, in the order of the
// items, for the next trial; a missing one is unmeasured.
type Result struct {
	Verdict   Verdict
	Candidate []trajectory.Outcome
	Incumbent []trajectory.Outcome
	Readings  []Reading // what was drawn for the verdict
	Kept      []Reading // what Keep has drawn about losses: in none of the sums

	// By arm and item: all evaluations, the earlier ones and what was read; and
	// the number of the next fresh sample.
	Pooled map[Arm][]Pooled
	Next   map[Arm][]int
}

// Run decides a trial. Draws that are still in flight when the policy has
// decided are cancelled and do not count. It returns when all calls of measure
// have returned.
func Run(ctx context.Context, t Trial, p Policy, measure Measure) (Result, error) {
	e, err := newEvidence(t)
	if err != nil {
		return Result{}, fmt.Errorf("gate: %w", err)
	}
	verdict, done := p.Judge(e)
	for !done {
		draws := p.Next(e)
		if err := checkDraws(draws, len(t.Items)); err != nil {
			return Result{}, fmt.Errorf("gate: policy %T: %w", p, err)
		}
		verdict, done, err = read(ctx, &round{evidence: e, policy: p, measure: measure, draws: draws})
		if err != nil {
			return Result{}, fmt.Errorf("gate: %w", err)
		}
	}
	return e.result(verdict), nil
}

func (e *Evidence) result(v Verdict) Result {
	return Result{
		Verdict:   v,
		Candidate: e.Outcomes(Candidate),
		Incumbent: e.Outcomes(Incumbent),
		Readings:  e.Readings,
		Kept:      e.kept,
		Pooled:    map[Arm][]Pooled{Candidate: e.arms[Candidate].pooled, Incumbent: e.arms[Incumbent].pooled},
		Next:      map[Arm][]int{Candidate: e.arms[Candidate].next, Incumbent: e.arms[Incumbent].next},
	}
}

func checkDraws(draws []Draw, items int) error {
	if len(draws) == 0 {
		return errors.New("neither a verdict nor a draw")
	}
	for _, d := range draws {
		if d.Item < 0 || d.Item >= items || d.Sample < 0 || d.Arm != Candidate && d.Arm != Incumbent {
			return fmt.Errorf("draw %+v is impossible with %d items", d, items)
		}
	}
	return nil
}

// round makes a list of draws and feeds them to the policy in order.
type round struct {
	evidence *Evidence
	policy   Policy
	measure  Measure
	draws    []Draw

	mu       sync.Mutex // guards what follows, the evidence, and calls of the policy
	outcomes []*trajectory.Outcome
	read     int // draws of the complete prefix
	verdict  Verdict
	done     bool
	stop     context.CancelFunc
}

// read makes the draws of a round until the policy has decided or all are made.
// Missing ones are drawn again after the others, when whatever hit them may be
// over.
func read(ctx context.Context, r *round) (Verdict, bool, error) {
	ctx, r.stop = context.WithCancel(ctx)
	defer r.stop()
	r.outcomes = make([]*trajectory.Outcome, len(r.draws))
	pending := make([]int, len(r.draws))
	for i := range pending {
		pending[i] = i
	}
	for pass := 0; len(pending) > 0; pass++ {
		missing, err := r.pass(ctx, pending, pass == MaxRedraws)
		if r.done {
			break
		}
		if err != nil {
			return Verdict{}, false, err
		}
		pending = missing
	}
	return r.verdict, r.done, nil
}

// pass makes the pending draws at once and returns those that are missing, in
// order; in the last pass a missing one is settled as such.
func (r *round) pass(ctx context.Context, pending []int, last bool) ([]int, error) {
	measured := make([]bool, len(pending))
	group, ctx := taskgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(r.atOnce(), len(pending)) {
		group.Go(func() error {
			var later error // an answer that comes later keeps no other from being asked for
			for {
				k := int(next.Add(1)) - 1
				if k >= len(pending) {
					return later
				}
				if ctx.Err() != nil { // it is decided, or over
					return context.Cause(ctx)
				}
				done, err := r.draw(ctx, pending[k], last)
				var waits taskgroup.Later
				switch {
				case errors.As(err, &waits):
					later = err
				case err != nil:
					return err
				}
				measured[k] = done
			}
		})
	}
	err := group.Wait()
	var missing []int
	for k, i := range pending {
		if !measured[k] {
			missing = append(missing, i)
		}
	}
	return missing, err
}

// DefaultAtOnce bounds goroutines, not requests: it is far above any usual number of
// requests in flight.
const DefaultAtOnce = 512

func (r *round) atOnce() int {
	if n := r.evidence.Trial.AtOnce; n > 0 {
		return n
	}
	return DefaultAtOnce
}

// draw makes one draw and settles it, if it was measured or is not made again.
func (r *round) draw(ctx context.Context, i int, last bool) (settled bool, err error) {
	d, o := r.draws[i], new(trajectory.Outcome)
	if *o, err = r.measure(ctx, d.Item, d.Arm, d.Sample); err != nil {
		return false, fmt.Errorf("measure item %q (%s, sample %d): %w", r.evidence.Trial.Items[d.Item], d.Arm, d.Sample, err)
	}
	if !o.Status.Measured() && !last {
		return false, nil
	}
	r.settle(i, o)
	return true, nil
}

// settle takes in an outcome and lets the policy read on as far as the draws
// are complete.
func (r *round) settle(i int, o *trajectory.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !o.Status.Measured() {
		// Whatever else it holds, no score of it may be read.
		o = &trajectory.Outcome{ID: o.ID, Status: score.Unmeasured, FailReason: o.FailReason, Checks: o.Checks}
	}
	r.outcomes[i] = o
	for !r.done && r.read < len(r.draws) && r.outcomes[r.read] != nil {
		r.evidence.add(Reading{Draw: r.draws[r.read], Outcome: *r.outcomes[r.read]})
		r.read++
		if r.verdict, r.done = r.policy.Judge(r.evidence); r.done {
			r.stop()
		}
	}
}

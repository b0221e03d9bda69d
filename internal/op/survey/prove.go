package survey

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/internal/tree"
	"github.com/seed-f4525e22/skillopt/result"
)

// proofs is how often a task is proven.
const proofs = 3

// proof is what gradings of a task have shown.
type proof struct {
	OK      bool
	Why     string
	Nothing [proofs]bool // what is graded as passed where nothing was changed
	Fix     [proofs]bool // the same of the real fix
	CPU, MB float64      // of one grading, the largest
	Spent   float64      // seconds of CPU of all gradings
}

// prove grades doing nothing and the real fix, three times each. It ends with the first that is not as it has to be.
func (s *surveyor) prove(ctx context.Context, t repository.Task) (proof, error) {
	return loadOrRun(ctx, s.runs, []any{"prove", t.Base, t.Tests, t.Fix, t.Fail, t.Pass, t.Targets}, func() (proof, error) {
		p, err := prove(ctx, s.out, t)
		s.runs.CPU += p.Spent
		return p, err
	})
}

func prove(ctx context.Context, r *repository.Repository, t repository.Task) (p proof, err error) {
	fix, err := r.Fixes(ctx, t)
	if err != nil {
		return p, err
	}
	for i := range proofs {
		for _, way := range []struct {
			changes []tree.Change
			passed  *bool
			want    bool
		}{{nil, &p.Nothing[i], false}, {fix, &p.Fix[i], true}} {
			g, err := r.GradeChanges(ctx, t, way.changes)
			if err != nil {
				return p, err
			}
			*way.passed = g.Passed
			p.Spent += g.Report.CPU.Seconds()
			p.CPU, p.MB = max(p.CPU, g.Report.CPU.Seconds()), max(p.MB, float64(g.Report.Peak)/(1<<20))
			switch {
			case g.Passed && !way.want:
				p.Why = "doing nothing passes"
			case !g.Passed && way.want:
				p.Why = "the real fix does not pass: " + g.Reason
			case g.Forged:
				p.Why = "the report is not what the tests are: " + g.Reason
			}
			if p.Why != "" {
				return p, ctx.Err()
			}
		}
	}
	p.OK = true
	return p, ctx.Err()
}

// proveAll proves tasks without looking at what was found before.
func proveAll(ctx context.Context, r *repository.Repository, tasks []named, note func(result.ProvenTask)) (*result.Proven, error) {
	out := &result.Proven{}
	for _, t := range tasks {
		began := time.Now()
		p, err := prove(ctx, r, t.Task)
		if err != nil {
			return out, fmt.Errorf("task %s: %w", t.id, err)
		}
		one := result.ProvenTask{ID: t.id, Type: t.kind, OK: p.OK, Why: p.Why, Nothing: p.Nothing[:], Fix: p.Fix[:], CPUSeconds: p.CPU, MB: p.MB, WallS: time.Since(began).Seconds()}
		if !p.OK {
			out.Failed++
		}
		if out.Tasks = append(out.Tasks, one); note != nil {
			note(one)
		}
	}
	return out, nil
}

// named is a task with what it is called.
type named struct {
	id, kind string
	repository.Task
}

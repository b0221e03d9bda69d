package train

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/taskgroup"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// testSplit scores skills on the test split and gives the certificate. It runs after the
// last decision and nothing is decided by it.
type testSplit struct {
	opts     Options
	tasks    []task.Task
	partial  bool // hard scores between 0 and 1 were seen of the seed skill
	rollouts *rollouts
	record   Recorder
	emit     event.Sink
	measure  string // what scores depend on apart from the skill
	before   func(ctx context.Context, n int, taken bool) (result.TestReads, error)
	lastStep int

	shared, near []task.Pair // test tasks that train or selection have, too
}

func newTestSplit(o Options, d Deps, r *rollouts) *testSplit {
	same, near := task.Shared(d.Data.Test, slices.Concat(d.Data.Train, d.Data.Selection))
	return &testSplit{
		shared: same, near: near, opts: o, tasks: d.Data.Test, rollouts: r, record: d.Record, emit: d.Events, measure: d.Measure, before: d.Before,
	}
}

// tested is what the test split showed.
type tested struct {
	opened      *testAccess
	scores      map[string]*result.Arm // by the name of the arm; nil: the split stayed closed
	outcomes    trajectory.Named       // of each text once
	compared    *result.TestComparison // of best against seed; what the history holds of the certificate
	effort      []result.Effort        // of best against seed
	certificate *result.Certificate    // with words on who has read the split before; nil: none is given
}

// run scores the arms on the test split, equal arms once. The first is the seed skill, the
// second the best one. On an error the result holds what is known until then.
func (s *testSplit) run(ctx context.Context, arms []testArm) (r tested, err error) {
	s.emit(event.StageStarted{Epoch: s.opts.Epochs, Step: s.lastStep, Stage: "test", Total: len(s.tasks)})
	opened, err := s.open(ctx, arms)
	if err != nil {
		return r, err
	}
	r.opened = opened
	if s.warn(opened); opened.refused {
		return r, nil
	}
	if err := s.claim(ctx, opened); err != nil {
		return r, err
	}
	if err := s.settle(ctx, opened); err != nil {
		return r, err
	}
	outcomes, err := s.roll(ctx, opened, arms)
	if err != nil {
		return r, err
	}
	r.scores, r.outcomes = map[string]*result.Arm{}, namedOutcomes(arms, outcomes)
	for i, a := range arms {
		arm := Summarise(outcomes[sameAs(arms, i)])
		r.scores[a.name] = &arm
		s.emit(event.TestDone{Arm: a.name, Hard: arm.Hard, Soft: arm.Soft, N: arm.N, Unanswered: arm.Unanswered})
	}
	if best := sameAs(arms, 1); best > 0 {
		r.effort = CompareEffort(outcomes[0], outcomes[best], s.opts.Seed)
	}
	if s.opts.Alpha > 0 {
		s.certify(&r, s.pairs(outcomes[0], outcomes[sameAs(arms, 1)]), sameAs(arms, 1) == 0)
	}
	return r, nil
}

// roll makes the rollouts of all arms at once, those of equal arms once.
func (s *testSplit) roll(ctx context.Context, opened *testAccess, arms []testArm) ([][]trajectory.Outcome, error) {
	outcomes := make([][]trajectory.Outcome, len(arms))
	g, gctx := taskgroup.WithContext(ctx)
	for i, a := range arms {
		if sameAs(arms, i) < i {
			continue
		}
		g.Go(func() (err error) {
			done := s.rollouts.counter("test "+a.name, len(s.tasks))
			outcomes[i], err = s.rollouts.all(gctx, rolloutSet{opened.place(a), s.tasks, a.skill}, done)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := s.rollouts.healthy(); err != nil {
		return nil, err
	}
	return outcomes, s.cover(ctx, opened, arms, outcomes)
}

// addTo puts what the test split showed into the record of the final evaluation.
func (r tested) addTo(final *result.FinalRecord) {
	if r.opened == nil {
		return
	}
	final.Test, final.Comparison = r.scores, r.compared
	if n := len(r.opened.openings); n > 1 && !r.opened.isSealed() || r.opened.refused {
		final.TestOpenings, final.TestRefused = n, r.opened.refused
	}
}

// readBefore returns the readings of the test's tasks before this run's, nil if they are not known
// or the split was not opened.
func (r tested) readBefore() *result.TestReads {
	if r.opened == nil {
		return nil
	}
	return r.opened.before
}

// noSkill marks the arm without a skill: it is not the arm of an empty one.
const noSkill = "\x00no skill"

// testArm is one of the skills that are compared on the test split.
type testArm struct {
	name  string
	skill skill.Skill
	of    string // what distinguishes it from other arms
}

// testArms returns the seed, the best and the final skill, and no skill at all if it is asked for.
func testArms(seed skill.Skill, known *skills, bare bool) []testArm {
	best, final := known.best.skill, known.current.skill
	arms := []testArm{{"seed", seed, known.hash(seed)}, {"best", best, known.hash(best)}, {"final", final, known.hash(final)}}
	if bare {
		arms = append(arms, testArm{name: "no_skill", skill: skill.New(""), of: noSkill})
	}
	return arms
}

// sameAs returns the first arm with the same skill.
func sameAs(arms []testArm, i int) int {
	return slices.IndexFunc(arms, func(a testArm) bool { return a.of == arms[i].of })
}

// testPlace returns the place of the rollouts of an arm when the test split is opened for the nth
// time.
func testPlace(n int, arm string) rollout.Place {
	if n > 1 {
		return rollout.Place{Prefix: fmt.Sprintf("final/test/open%d/%s", n, arm)}
	}
	return rollout.Place{Prefix: "final/test/" + arm}
}

// cover sees to it that all arms are compared on the same items: one that is
// missing in any arm is left out of all, recorded and named. With too many
// missing there is no comparison, and nothing is reported.
func (s *testSplit) cover(ctx context.Context, opened *testAccess, arms []testArm, outcomes [][]trajectory.Outcome) error {
	missing := map[int]string{}
	for i := range arms {
		for _, j := range findMissing(outcomes[i]) {
			missing[j] = outcomes[i][j].FailReason
		}
	}
	if len(missing) == 0 {
		return nil
	}
	out := slices.Sorted(maps.Keys(missing))
	if !gate.Enough(len(s.tasks), len(missing)) {
		return tooFewMeasured("final/test", len(s.tasks), len(missing), missing[out[0]])
	}
	for i, a := range arms {
		if outcomes[i] == nil {
			continue
		}
		if _, err := s.rollouts.giveUpMissing(ctx, rolloutSet{place: opened.place(a), tasks: s.tasks}, outcomes[i]); err != nil {
			return err
		}
		for _, j := range out {
			outcomes[i][j] = trajectory.Outcome{ID: s.tasks[j].ID, Type: s.tasks[j].Type, Status: score.Unmeasured, FailReason: missing[j]}
		}
	}
	s.emit(event.Warning{Text: fmt.Sprintf("the test goes without %s that could not be measured: %v", wording.Plural(len(out), "item", "items"), taskIDs(pick(s.tasks, out)))})
	return nil
}

func namedOutcomes(arms []testArm, outcomes [][]trajectory.Outcome) trajectory.Named {
	out := trajectory.Named{}
	for i, a := range arms {
		if outcomes[i] != nil {
			out[a.name] = outcomes[i]
		}
	}
	return out
}

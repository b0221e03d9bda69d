package train

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Level is what is settled of a certificate before the test split is opened.
type Level struct {
	Test    gate.LookTest `json:"test"`
	Alpha   float64       `json:"alpha"`   // for all readings of these tasks
	Reading int           `json:"reading"` // 1 is the first; 0: no one knows
	Level   float64       `json:"level"`   // of this one; 0: none
}

// levelKey returns the key of what was settled when the test split was opened for the nth time.
func levelKey(n int) string { return fmt.Sprintf("final/test/level/%d", n) }

// settle records by which test and at which level the certificate is given, before a
// score of the test split is known: a resumed run, and one that is replayed, finds what
// was settled then, whatever was read meanwhile.
func (s *testSplit) settle(ctx context.Context, opened *testAccess) error {
	if s.opts.Alpha <= 0 {
		return nil
	}
	key := levelKey(len(opened.openings))
	data, err := s.record.Decision(ctx, key, func() ([]byte, error) { return json.Marshal(s.newLevel(opened)) })
	if err != nil {
		return err
	}
	opened.level = &Level{}
	if err := json.Unmarshal(data, opened.level); err != nil {
		return fmt.Errorf("read the record of %s: %w", key, err)
	}
	return nil
}

// newLevel returns the level of the next reading. There is none if it is not known how often the
// tasks were read before: unknown is never 0.
func (s *testSplit) newLevel(opened *testAccess) Level {
	l := Level{Test: s.lookTest(), Alpha: s.opts.Alpha}
	if opened.before != nil && opened.before.Unknown == "" {
		l.Reading = opened.before.Times + 1
		l.Level = gate.LevelOf(s.opts.Alpha, l.Reading)
	}
	return l
}

// Uncertifiable says why the next reading of the test split can certify nothing, whatever it
// shows: not even a skill that wins each task. It is "" where it can, or where no certificate is
// wanted.
func (g Gating) Uncertifiable(d Data, before result.TestReads) string {
	if g.Alpha <= 0 || len(d.Test) == 0 {
		return ""
	}
	if before.Unknown != "" {
		return "no certificate is possible: how often the test set was read before is not known: " + before.Unknown
	}
	s := newTestSplit(Options{Gating: g}, Deps{Data: d}, nil)
	seed, best := make([]trajectory.Outcome, len(d.Test)), make([]trajectory.Outcome, len(d.Test))
	for i := range d.Test {
		seed[i], best[i] = trajectory.Outcome{Status: score.OK}, trajectory.Outcome{Status: score.OK, Hard: 1, Soft: 1}
	}
	level := gate.LevelOf(g.Alpha, before.Times+1)
	look, err := gate.LookOnce(s.pairs(seed, best), s.lookTest(), level)
	if err != nil || look.Certified {
		return ""
	}
	more := ""
	if before.Times > 0 {
		more = " any more"
	}
	return fmt.Sprintf("no certificate is possible%s: not even a skill that wins all of %s is certified at the %s level of the %s reading; other test tasks, or more of them, can be",
		more, nameGroups(wording.Plural(len(d.Test), "test task", "test tasks"), len(d.Test), look.N), percent(level), ordinal(before.Times+1))
}

// lookTest returns the exact test for hard scores, if the seed skill had no partial ones and no two
// test tasks share a declared cluster. Else it returns the bound.
func (s *testSplit) lookTest() gate.LookTest {
	if s.opts.Projection.Metric != score.Hard || s.partial {
		return gate.LookBound
	}
	if HasClusters(s.tasks, s.opts.Cluster) {
		return gate.LookBound
	}
	return gate.LookExact
}

// HasClusters reports whether two tasks share a value of a field.
func HasClusters(tasks []task.Task, cluster string) bool {
	seen := map[string]bool{}
	return slices.ContainsFunc(tasks, func(t task.Task) bool {
		name := t.Cluster(cluster)
		shared := name != "" && seen[name]
		seen[name] = true
		return shared
	})
}

// partial reports whether a hard score lies between 0 and 1.
func partial(outcomes []trajectory.Outcome) bool {
	for _, o := range outcomes {
		if o.Status.Measured() && o.Hard > score.Negligible && o.Hard < 1-score.Negligible {
			return true
		}
	}
	return false
}

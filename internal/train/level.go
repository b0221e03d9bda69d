package train

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Level is what is settled of a certificate before the test split is opened.
type Level struct {
	Test    gate.LookTest `json:"test"`
	Alpha   float64       `json:"alpha"`   // for all readings of these tasks
	Reading int           `json:"reading"` // 1 is the first; 0: nobody knows
	Level   float64       `json:"level"`   // of this one; 0: none
}

// levelKey is the key of what was settled when the test split was opened for the nth
// time.
func levelKey(n int) string { return fmt.Sprintf("final/test/level/%d", n) }

// settle records by which test and at which level the certificate is given, before a
// score of the test split is known: a resumed run, and one that is replayed, finds what
// was settled then, whatever was read meanwhile.
func (t *trainer) settle(ctx context.Context, s *seal) error {
	key := levelKey(len(s.openings))
	if _, known := t.Record.Decided(key); t.Alpha <= 0 || !t.LooksOnce && !known {
		return nil
	}
	data, err := t.Record.Decision(ctx, key, func() ([]byte, error) { return json.Marshal(t.levelOf(s)) })
	if err != nil {
		return err
	}
	s.level = &Level{}
	if err := json.Unmarshal(data, s.level); err != nil {
		return fmt.Errorf("read the record of %s: %w", key, err)
	}
	return nil
}

// levelOf is the level of the reading that is about to be. Without knowing how often the
// tasks were read before there is none: unknown is never 0.
func (t *trainer) levelOf(s *seal) Level {
	l := Level{Test: t.lookTest(), Alpha: t.Alpha}
	if s.before != nil && s.before.Unknown == "" {
		l.Reading = s.before.Times + 1
		l.Level = gate.LevelOf(t.Alpha, l.Reading)
	}
	return l
}

// lookTest is the exact test for hard scores, if the seed skill had no partial ones and no
// two test tasks share a cluster; else the bound.
func (t *trainer) lookTest() gate.LookTest {
	if t.Projection.Metric != score.Hard || t.partial {
		return gate.LookBound
	}
	_, clusters := Strata(t.Data.Test, t.Cluster)
	seen := map[string]bool{}
	for _, name := range clusters {
		if name != "" && seen[name] {
			return gate.LookBound
		}
		seen[name] = true
	}
	return gate.LookExact
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

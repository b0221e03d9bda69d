package result_test

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/result"
)

func scored(hard float64, n int) *result.Score {
	return &result.Score{Hard: hard, Soft: hard / 2, N: n}
}

func difference(v float64) *float64 { return &v }

// One sentence says what a run came to, and claims no more than was measured.
func TestSentence(t *testing.T) {
	t.Parallel()
	unread := &result.TestReads{}
	certificate := func(certified bool, d float64) *result.Certificate {
		c := &result.Certificate{Certified: certified, Test: "exact", Level: difference(.04)}
		c.Metric, c.Difference = "hard", difference(d)
		return c
	}
	unknown := certificate(false, .3)
	unknown.Level = nil
	soft := certificate(true, .5)
	soft.Metric = "soft"
	for name, c := range map[string]struct {
		of   result.Summary
		want string
	}{
		"certified": {
			result.Summary{Best: result.Best{Step: 3}, Test: result.Test{Seed: scored(0, 13), Best: scored(12./13, 13), ReadBefore: unread}, Certificate: certificate(true, 12./13)},
			"0.00 -> 0.92 on 13 tasks never used before, certified",
		},
		"chance": {
			result.Summary{Best: result.Best{Step: 3}, Test: result.Test{Seed: scored(.5, 4), Best: scored(.75, 4), ReadBefore: &result.TestReads{Times: 2}}, Certificate: certificate(false, .25)},
			"0.50 -> 0.75 on 4 test tasks read 2 times before, not certified: it may be chance",
		},
		"worse": {
			result.Summary{Best: result.Best{Step: 3}, Test: result.Test{Seed: scored(.75, 4), Best: scored(.5, 4), ReadBefore: unread}, Certificate: certificate(false, -.25)},
			"0.75 -> 0.50 on 4 tasks never used before, not certified: it is not ahead",
		},
		"readings nobody counted": {
			result.Summary{Best: result.Best{Step: 1}, Test: result.Test{Seed: scored(.5, 4), Best: scored(1, 4), ReadBefore: &result.TestReads{Unknown: "the ledger is gone"}}, Certificate: unknown},
			"0.50 -> 1.00 on 4 test tasks, not certified: it is not known how often these tasks were read before",
		},
		"no word of readings": {
			result.Summary{Best: result.Best{Step: 1}, Test: result.Test{Seed: scored(.5, 4), Best: scored(1, 4)}},
			"0.50 -> 1.00 on 4 test tasks",
		},
		"soft": {
			result.Summary{Best: result.Best{Step: 1}, Test: result.Test{Seed: scored(.2, 4), Best: scored(1, 4), ReadBefore: unread}, Certificate: soft},
			"soft score 0.10 -> 0.50 on 4 tasks never used before, certified",
		},
		"not all measured": {
			result.Summary{Best: result.Best{Step: 1}, Test: result.Test{Seed: scored(.5, 3), Best: scored(1, 4), ReadBefore: unread}},
			"0.50 -> 1.00 on 4 tasks never used before (the seed skill on 3)",
		},
		"no better one": {
			result.Summary{Test: result.Test{Seed: scored(.5, 4), ReadBefore: unread}},
			"no better skill was found; the seed skill: 0.50 on 4 tasks never used before",
		},
		"all, by a mean": {
			result.Summary{Best: result.Best{Step: 1}, Test: result.Test{Seed: scored(1e-17, 9), Best: scored(0.9999999999999999, 9), ReadBefore: unread}},
			"0.00 -> 1.00 on 9 tasks never used before",
		},
		"nearly all": {
			result.Summary{Best: result.Best{Step: 1}, Test: result.Test{Seed: scored(.0004, 2500), Best: scored(.9996, 2500), ReadBefore: unread}},
			"0.0004 -> 0.9996 on 2500 tasks never used before",
		},
		"without a test": {
			result.Summary{Status: result.Completed, Best: result.Best{Step: 1, Selection: scored(.9, 10)}},
			"0.90 on 10 selection tasks that chose the skill, so expect less on new ones; there are no test scores",
		},
		"stopped": {
			result.Summary{Status: result.OverBudget, Best: result.Best{Step: 1, Selection: scored(.9, 10)}},
			"0.90 on 10 selection tasks that chose the skill, so expect less on new ones; the test split is not opened yet",
		},
		"refused": {
			result.Summary{Status: result.Completed, Best: result.Best{Step: 1, Selection: scored(.9, 10)}, Test: result.Test{Refused: true}},
			"0.90 on 10 selection tasks that chose the skill, so expect less on new ones; the test split was opened before for other skills",
		},
		"nothing": {result.Summary{}, ""},
	} {
		if got := c.of.Sentence(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

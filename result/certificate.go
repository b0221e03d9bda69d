package result

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
)

// TestComparison compares the best skill with the seed skill on the test split, which
// nothing was decided by: each task's scores are a pair. Differences are in
// gate-score points, best minus seed. It does not depend on who read the split before.
type TestComparison struct {
	Metric     string   `json:"metric"`
	N          int      `json:"n"`     // pairs; items of one cluster count once
	Tasks      int      `json:"tasks"` // behind them
	Difference *float64 `json:"difference"`
	Low        *float64 `json:"low"`  // 95 % interval by the paired bootstrap (BCa); null: too few pairs, or all alike
	High       *float64 `json:"high"` //

	Wins     int      `json:"wins"` // pairs that the best skill scores higher on
	Losses   int      `json:"losses"`
	Ties     int      `json:"ties"`
	P        *float64 `json:"mcnemar_p"`           // exact, two-sided, on the discordant pairs; null: there are none, or pairs that are not of whole scores
	PGreater *float64 `json:"p_greater,omitempty"` // of the exact test that the certificate rests on, one-sided; missing: it rests on another one
}

// Certificate says whether the best skill is better than the seed skill.
type Certificate struct {
	TestComparison

	Test    gate.LookTest `json:"test"`              // that it rests on
	Reading int           `json:"reading,omitempty"` // of these tasks, 1 is the first; missing: not known, or not counted
	Alpha   float64       `json:"alpha"`             // of all such claims of these tasks, at most this share is wrong
	Level   *float64      `json:"level,omitempty"`   // of this reading: the part of alpha that it spends

	EValue    *float64 `json:"e_value,omitempty"` // of the bound: certified at 1/level, which it does not pass
	Certified bool     `json:"certified"`         // the best skill is better
	AtLeast   *float64 `json:"at_least"`          // lower bound of the mean difference, at the same level; null unless certified

	// Triggers is how often the agent loads the skill, before and after; null unless the
	// description may change. Where there are other tasks, nothing is claimed of it.
	Triggers *TrainTriggers `json:"triggers,omitempty"`

	Shared []task.Pair `json:"shared,omitempty"` // test tasks that ask the same as one of train or selection: they count for nothing
	Near   []task.Pair `json:"near,omitempty"`   // those that ask almost the same

	Assumes string `json:"assumes,omitempty"` // what it takes for granted
	Words   string `json:"words"`             // all of it in a sentence
}

// SeedNoise is what asking a skill's items twice says about the selection split: the
// seed skill's, or those of the first accepted skill that can show it where that one is at the
// floor or the ceiling. Deviations and effects are in gate-score points, 0..1.
type SeedNoise struct {
	At    string   `json:"at,omitempty"` // step ("e1/s2") or end of an epoch ("e2/end") with whose skill it was measured; empty: the seed skill
	Items int      `json:"items"`        // of the selection split; in folds, of one of them
	Twice int      `json:"twice"`        // asked twice
	Flips []string `json:"flips"`        // ids whose answer or score changed

	// Within is the deviation of one evaluation around its item's mean. It and Detectable
	// are nil where the skill cannot show what chance changes: at the floor or the ceiling.
	Within *float64 `json:"within,omitempty"`

	// Detectable is the smallest true difference between two skills, each
	// evaluated once, that the noise leaves to be seen: 2.8 standard errors of the
	// difference (power 80 % at the two-sided 5 % level), at least one item.
	Detectable *float64 `json:"minimum_detectable_effect,omitempty"`

	// Deterministic: sampling is deterministic as far as the settings say and no answer
	// changed where a change could be seen, so that one evaluation is taken for the truth.
	Deterministic bool   `json:"alike"`
	Advice        string `json:"advice,omitempty"`
}

// Reported is the best skill's score on the selection split, given in three ways.
type Reported struct {
	Metric           string  `json:"metric"`
	Pooled           float64 `json:"pooled"`   // mean of all evaluations, each item counting once, and each cluster
	Low              float64 `json:"low"`      // its 95 % interval, for tasks like these
	High             float64 `json:"high"`     //
	Naive            float64 `json:"naive"`    // of the first evaluation of each item: what decides if chance is not counted in
	Expected         float64 `json:"expected"` // pulled toward the mean of all accepted skills: what to expect of it the next time
	Items            int     `json:"items"`
	Evaluations      int     `json:"evaluations"`
	score.Unanswered         // of them
	Folds            int     `json:"folds,omitempty"` // of the tasks, on most of which the skill was made too; 0: on none

	// Fresh is of a last pass that nothing was decided by; null if there was none,
	// because one evaluation is the truth, or no one asked for it.
	Fresh *float64 `json:"fresh"`
}

// Caveat says what a score in folds is not, "" without folds.
func (r *Reported) Caveat() string {
	if r.Folds == 0 {
		return ""
	}
	return "the skill was made from most of these tasks too: on new ones expect less, as the test split shows"
}

// TestReads is what a run knows of the readings of its test set before its own.
type TestReads struct {
	Times int      `json:"times"` // readings that are known of
	By    []Reader `json:"by,omitempty"`
	// Unknown says why there may be more, "" if there are not.
	Unknown string `json:"unknown,omitempty"`
}

// Reader is a run that has read a test set.
type Reader struct {
	Run     string `json:"run"`
	Command string `json:"command"`
	Times   int    `json:"times"`
}

// shown is how many runs are named.
const shown = 5

// Words says how often the set was read, and by whom: "read 2 times before, by a, b".
// It is "" for a set that no one is known to have read, and nil.
func (b *TestReads) Words() string {
	switch {
	case b == nil || b.Times == 0 && b.Unknown == "":
		return ""
	case b.Times == 0:
		return "read before, it is not known how often: " + b.Unknown
	}
	text := "read " + wording.Plural(b.Times, "time", "times") + " before, by " + b.names()
	if b.Unknown != "" {
		text = strings.Replace(text, "read ", "read at least ", 1) + "; there may be more: " + b.Unknown
	}
	return text
}

func (b *TestReads) names() string {
	var names []string
	for i, r := range b.By {
		if i == shown {
			names = append(names, fmt.Sprintf("and %d more", len(b.By)-shown))
			break
		}
		if r.Times > 1 {
			r.Run += fmt.Sprintf(" (%d times)", r.Times)
		}
		names = append(names, r.Run)
	}
	return strings.Join(names, ", ")
}

// String returns the certificate in a sentence; of nil, that there is none.
func (c *Certificate) String() string {
	if c == nil {
		return "not certified: no two skills were compared on the test split"
	}
	return c.Words
}

// Basis names the test with its figure: "exact McNemar test, p 0.02". It is "" for a
// certificate by evidence.
func (c *Certificate) Basis() string {
	switch c.Test {
	case gate.LookExact:
		return "exact McNemar test" + c.Figure(", ")
	case gate.LookBound:
		return "bound for one look" + c.Figure(", ")
	}
	return ""
}

// Figure returns the result of the test, after a separator; "" if it says nothing more.
func (c *Certificate) Figure(separator string) string {
	switch {
	case c.PGreater != nil:
		return separator + "p " + probability(*c.PGreater)
	case c.EValue != nil && c.Level != nil && !c.Certified:
		return fmt.Sprintf("%se-value %.3g of the %.4g needed", separator, *c.EValue, 1 / *c.Level)
	}
	return ""
}

// probability returns a p-value with three figures; more would be next to the point below any
// level.
func probability(p float64) string {
	if p < 0.00001 {
		return "below 0.00001"
	}
	return fmt.Sprintf("%.3g", p)
}

package optimize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pyrand"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Category says what a later skill did to a task that an earlier one was tried
// on too. A task counts as solved when its hard score is above 0.
type Category string

const (
	Improved       Category = "improved"
	Regressed      Category = "regressed"
	PersistentFail Category = "persistent_fail"
	StableSuccess  Category = "stable_success"
)

// IsChange reports whether the two skills fared differently.
func (c Category) IsChange() bool { return c == Improved || c == Regressed }

// Side is one skill's rollout of a compared task.
type Side struct {
	Hard         float64           `json:"hard"`
	Soft         float64           `json:"soft"`
	Answer       string            `json:"predicted_answer"` // "N/A" if there is none
	FailReason   string            `json:"fail_reason"`
	Conversation []trajectory.Turn `json:"-"`
	Told         Told              `json:"-"`
}

// Pair is one task as two skills carried it out.
type Pair struct {
	ID        string   `json:"id"`
	Category  Category `json:"category"`
	Task      string   `json:"task"` // as the target saw it, else its prompt, else its id
	Reference string   `json:"reference,omitempty"`
	Prev      Side     `json:"prev"`
	Curr      Side     `json:"curr"`
}

// Compare pairs the outcomes of two skills on the same tasks by id, in the
// order of the tasks. A task with an unmeasured outcome is left out; one
// without any outcome counts as failed, as in SkillOpt.
func Compare(tasks []task.Task, prev, curr []trajectory.Outcome) []Pair {
	before, after := byID(prev), byID(curr)
	var pairs []Pair
	for _, t := range tasks {
		p, c := before[t.ID], after[t.ID]
		if p.Status == score.Unmeasured || c.Status == score.Unmeasured {
			continue
		}
		pairs = append(pairs, Pair{
			ID:        t.ID,
			Category:  pairCategory(p, c),
			Task:      firstText(c.Question, p.Question, t.Prompt, t.ID),
			Reference: firstText(c.Reference, p.Reference),
			Prev:      newSide(p),
			Curr:      newSide(c),
		})
	}
	return pairs
}

func byID(outcomes []trajectory.Outcome) map[string]trajectory.Outcome {
	m := make(map[string]trajectory.Outcome, len(outcomes))
	for _, o := range outcomes {
		m[o.ID] = o
	}
	return m
}

func pairCategory(prev, curr trajectory.Outcome) Category {
	switch was, is := prev.Hard > 0, curr.Hard > 0; {
	case was && is:
		return StableSuccess
	case was:
		return Regressed
	case is:
		return Improved
	}
	return PersistentFail
}

// newSide returns what a reader needs of an outcome. The task itself is shown once, so the
// conversation leaves out the message that holds nothing else.
func newSide(o trajectory.Outcome) Side {
	turns := slices.DeleteFunc(slices.Clone(o.Trajectory), func(t trajectory.Turn) bool {
		return t.Kind == trajectory.Message && t.Role == "user" && t.Content == o.Question
	})
	return Side{
		Hard: o.Hard, Soft: o.Soft, Answer: firstText(o.Answer, "N/A"), FailReason: o.FailReason,
		Conversation: turns, Told: o.Told,
	}
}

func firstText(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// PairPolicy says which pairs the end of an epoch looks at.
type PairPolicy string

const (
	PairsMixed     PairPolicy = "mixed"     // all
	PairsChanged   PairPolicy = "changed"   // improved and regressed
	PairsUnchanged PairPolicy = "unchanged" // the others
)

// ParsePairPolicy reads a policy or one of SkillOpt's aliases for it; "" is
// mixed. Case and surrounding white space do not matter.
func ParsePairPolicy(name string) (PairPolicy, error) {
	if name == "" {
		return PairsMixed, nil
	}
	switch strings.ToLower(trimSpace(name)) {
	case "mixed", "default", "random", "all":
		return PairsMixed, nil
	case "changed", "change", "delta", "01_10", "10_01":
		return PairsChanged, nil
	case "unchanged", "stable", "same", "00_11":
		return PairsUnchanged, nil
	}
	return "", fmt.Errorf("unknown pair policy %q: use mixed, changed or unchanged", name)
}

// SelectPairs returns the pairs that a policy looks at, in their order.
func SelectPairs(pairs []Pair, policy PairPolicy) []Pair {
	if policy == PairsMixed {
		return pairs
	}
	var kept []Pair
	for _, p := range pairs {
		if p.Category.IsChange() == (policy == PairsChanged) {
			kept = append(kept, p)
		}
	}
	return kept
}

// RepresentativeInput asks for a small selection of outcomes.
type RepresentativeInput struct {
	Outcomes  []trajectory.Outcome
	Types     map[string]string // id to type of the tasks in question; other outcomes are passed over
	Failures  int               // most outcomes with a hard score of 0
	Successes int               // most of the others
	Seed      int64
}

// Representative selects failures, then successes, of as many types as
// possible: one of each type in shuffled order first, then others in that
// order. An outcome's own type goes before its task's. It returns ids.
func Representative(in RepresentativeInput) []string {
	var failures, successes []trajectory.Outcome
	for _, o := range in.Outcomes {
		switch _, known := in.Types[o.ID]; {
		case !known || o.Status == score.Unmeasured:
		case o.Hard > 0:
			successes = append(successes, o)
		default:
			failures = append(failures, o)
		}
	}
	rng := pyrand.New(in.Seed)
	return append(in.diverse(rng, failures, in.Failures), in.diverse(rng, successes, in.Successes)...)
}

// diverse draws from rng only if it selects anything, as SkillOpt does: the
// successes depend on that.
func (in RepresentativeInput) diverse(rng *pyrand.Rand, outcomes []trajectory.Outcome, n int) []string {
	if n <= 0 {
		return nil
	}
	rng.Shuffle(len(outcomes), func(i, j int) { outcomes[i], outcomes[j] = outcomes[j], outcomes[i] })
	seen := map[string]bool{}
	var ids, rest []string
	for _, o := range outcomes {
		kind := firstText(o.Type, in.Types[o.ID])
		if seen[kind] {
			rest = append(rest, o.ID)
			continue
		}
		seen[kind] = true
		ids = append(ids, o.ID)
	}
	ids = append(ids, rest...)
	return ids[:min(n, len(ids))]
}

// SafePairID turns an id into a part of a file name: letters, digits, dot,
// underscore and hyphen, at most 80 bytes, "item" if nothing is left. It may
// be "." or "..", so an extension has to follow.
func SafePairID(id string) string {
	var b strings.Builder
	gap := false
	for _, r := range id {
		if !fileRune(r) {
			gap = true
			continue
		}
		if gap {
			b.WriteByte('_')
			gap = false
		}
		b.WriteRune(r)
	}
	safe := strings.Trim(b.String(), "_")
	if safe == "" {
		return "item"
	}
	return safe[:min(80, len(safe))]
}

func fileRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-'
}

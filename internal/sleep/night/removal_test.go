package night_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
)

// A rule names the tasks whose failures asked for it, and which of them it has won. When all of them sleep it is proposed for
// removal; it goes by an edit that the gate accepts, and by none else.
func TestARuleWhoseTasksSleepIsProposedForRemoval(t *testing.T) {
	t.Parallel()
	for name, forgets := range map[string]bool{"nobody deletes it": false, "an edit deletes it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, n, with := needyHome(t, "")
			n.forgets = forgets
			h.needs(16, "", "rule one")
			first := h.night(with)
			got := first.Targets[0]
			if len(got.Rules) != 1 || got.Outcome != night.Supported {
				t.Fatalf("%s: %s: %+v", got.Outcome, got.Reason, got.Rules)
			}
			rule := got.Rules[0]
			if len(rule.Tasks) == 0 || len(rule.Won) == 0 || slices.ContainsFunc(rule.Won, func(id string) bool { return !slices.Contains(rule.Tasks, id) }) ||
				slices.ContainsFunc(rule.Tasks, func(id string) bool { return !strings.HasPrefix(id, "need-") }) {
				t.Errorf("%+v", rule)
			}
			h.adopt(first)

			h.needs(2, "", "rule two")
			if soon := h.night(with); len(soon.Targets[0].Remove) > 0 {
				t.Errorf("after a day: %q", soon.Targets[0].Remove)
			}
			h.now = h.now.Add(120 * 24 * time.Hour)
			h.needs(16, "", "rule two")
			late := h.night(with).Targets[0]
			if late.Outcome != night.Supported {
				t.Fatalf("%s: %s", late.Outcome, late.Reason)
			}
			last, ok, err := night.Last(t.Context(), h.bank, h.dir, h.project, "")
			if err != nil || !ok {
				t.Fatal(err)
			}
			p, err := night.Open(h.dir, h.project, last.ID)
			if err != nil {
				t.Fatal(err)
			}
			text, err := p.Text("memory:CLAUDE.md")
			if err != nil || !strings.Contains(text, "rule two holds") || strings.Contains(text, "rule one holds") == forgets {
				t.Errorf("%v: %s", err, text)
			}
			if forgets && len(late.Remove) > 0 || !forgets && (!slices.Equal(late.Remove, []string{"- rule one holds"}) || len(late.RemoveWhy) != 1 || !strings.Contains(late.RemoveWhy[0], "not seen for long")) {
				t.Errorf("proposed for removal: %q, %q", late.Remove, late.RemoveWhy)
			}
		})
	}
}

// A rule whose text lost on new tasks in two nights is proposed for removal.
func TestARuleThatLosesTwiceIsProposedForRemoval(t *testing.T) {
	t.Parallel()
	h, _, with := needyHome(t, "")
	h.needs(16, "", "rule one")
	h.minedAndReviewed(with)
	first := h.night(with)
	h.adopt(first)
	past, err := h.bank.Candidates(t.Context(), h.project, "memory:CLAUDE.md")
	if err != nil || len(past) != 1 {
		t.Fatalf("%+v, %v", past, err)
	}
	for i, lost := range []int{1, 2} {
		past[0].Pairs = append(past[0].Pairs, bank.Pair{Cluster: int64(1000 + i), Night: []string{"a", "b"}[i], Live: 1})
		if err := h.bank.Update(t.Context(), past[0]); err != nil {
			t.Fatal(err)
		}
		h.needs(2, "", "rule one")
		got := h.night(with).Targets[0]
		if removed := slices.Equal(got.Remove, []string{"- rule one holds"}); removed != (lost == 2) {
			t.Errorf("after %d nights: %q, %q", lost, got.Remove, got.RemoveWhy)
		}
	}
}

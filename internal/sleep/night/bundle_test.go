package night_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/result"
)

// Two edits of two documents, each fine by itself, lose a task that was won once both are there: the last confirmation turns the
// whole down, nothing is claimed, and later nights tell the optimizer of both.
func TestTrap6TheBundleIsJudgedLast(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	h, _, with := needyHome(t, "builtin")
	h.cfg.Sleep.Memory = "CLAUDE.md"
	h.skill("cards")
	h.needs(15, "cards", "rule one")
	h.needs(1, "cards", spoiled)
	h.needs(15, "", "rule two")
	h.minedAndReviewed(with)
	r := h.night(with)
	b := r.Joint
	if b == nil || b.Verdict != result.JointWorse || b.Losses != 1 || b.Wins < 12 || b.Difference == nil || b.Low == nil || *b.Low > *b.Difference || len(b.Runs) != 6 {
		t.Fatalf("%+v, %+v", b, r.Targets)
	}
	want := []gate.Loss{{ID: "need-s015", State: gate.LossConfirmed, Candidate: gate.Passed{Of: 6}, Current: gate.Passed{Passed: 6, Of: 6}}}
	if diff := cmp.Diff(want, b.Lost); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	for _, got := range r.Targets {
		if got.Outcome != night.Suggested || !strings.Contains(got.Reason, "supported by itself") || !strings.Contains(got.Reason, "need-s015") || got.Consolidation.Accepted {
			t.Errorf("%s: %s, %s", got.Target, got.Outcome, got.Reason)
		}
		past, err := h.bank.Candidates(t.Context(), h.project, got.Target)
		if err != nil || len(past) != 1 || past[0].State != bank.Dropped {
			t.Errorf("%s claims something: %+v, %v", got.Target, past, err)
		}
	}
	data, err := os.ReadFile(filepath.Join(night.Folder(h.dir, h.project, r.ID), "diagnostics.json"))
	if err != nil || strings.Count(string(data), "-joint-staged\"") != b.N {
		t.Errorf("%v: %d answers of %d", err, strings.Count(string(data), "-joint-staged\""), b.N)
	}

	h.cfg.Agent.Name, h.cfg.Agent.Gateway = "", false // which answers faster
	h.needs(2, "cards", "rule one")
	h.needs(2, "", "rule two")
	h.minedAndReviewed(with)
	next := h.night(with)
	for _, got := range next.Targets {
		text, err := os.ReadFile(filepath.Join(h.dir, filepath.FromSlash(got.Runs[0]), "memory.json"))
		var memory result.Memory
		if err == nil {
			err = json.Unmarshal(text, &memory)
		}
		if err != nil || len(memory.Rejected) == 0 || memory.Rejected[0].Difference == nil || len(memory.Rejected[0].Edits) != 1 {
			t.Errorf("%s: %v: %+v", got.Target, err, memory)
		}
	}
}

// Where the ceiling does not do for the last confirmation it is skipped and named, and each document says what it says by itself; the
// night is over all the same. A tenth of the ceilings is left for it while documents are trained.
func TestABundleThatCannotBePaidForIsNamed(t *testing.T) {
	t.Parallel()
	h, _, with := needyHome(t, "")
	h.skill("cards")
	h.needs(16, "cards", "rule one")
	h.needs(16, "", "rule two")
	confirmed := func(o *night.Options) { // the ceiling is used up once the second confirmation is over
		calls := int64(1_000_000)
		o.Config.Limits.Calls = &calls
		done := 0
		o.Events = func(e event.Event) {
			if _, ok := e.(event.Compared); ok {
				if done++; done == 2 {
					calls = 1
				}
			}
		}
	}
	r := h.night(with, confirmed)
	b := r.Joint
	if b == nil || b.Verdict != result.JointSkipped || b.Difference != nil || b.N != 0 || !strings.Contains(b.Reason, "limits.calls") || r.Ended.IsZero() || !strings.Contains(strings.Join(r.Notes, " "), "skipped: the last confirmation") {
		t.Fatalf("%+v, %q", b, r.Notes)
	}
	for _, got := range r.Targets {
		if got.Outcome != night.Supported {
			t.Errorf("%s: %s: %s", got.Target, got.Outcome, got.Reason)
		}
	}
	// Training leaves a quarter for its confirmation, and a tenth for the last one.
	text, err := os.ReadFile(filepath.Join(h.dir, filepath.FromSlash(r.Targets[0].Runs[0]), "config.yaml"))
	if err != nil || !strings.Contains(string(text), "calls: 650000\n") {
		t.Errorf("%v: %s", err, text)
	}
}

package night_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
)

// mined makes tasks of the day's sessions and has the user accept all of them, before the night works on them.
func (h *home) minedAndReviewed(change ...func(*night.Options)) {
	h.t.Helper()
	take(h, change...)
	h.reviewed()
}

// With as many fresh test clusters as can show anything the night opens them, once, and certifies.
func TestTheSealedLookCertifies(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(50, "", true)
	h.minedAndReviewed()
	r := h.night()
	got := r.Targets[0]
	if got.Outcome != night.Certified || got.Test == nil || got.Test.N != 10 || got.Can.Does != "train and test" || r.Exploratory {
		t.Fatalf("%s: %s, %+v, %+v", got.Outcome, got.Reason, got.Can, got.Test)
	}
	clusters, err := h.bank.Clusters(t.Context(), h.project, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range clusters {
		if c.Side == wish.Test {
			t.Errorf("cluster %d is sealed still", c.Number)
		}
	}
	past, err := h.bank.Candidates(t.Context(), h.project, got.Target)
	if err != nil || len(past) != 1 || past[0].State != bank.Certified {
		t.Errorf("%+v, %v", past, err)
	}
}

// Tasks without a review certify nothing, and no test is opened for them.
func TestUnreviewedTasksCertifyNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(50, "", true)
	r := h.night()
	if got := r.Targets[0]; got.Outcome != night.Supported || got.Test != nil || !r.Exploratory {
		t.Errorf("%s, %+v", got.Outcome, got.Test)
	}
	clusters, _ := h.bank.Clusters(t.Context(), h.project, "")
	sealed := 0
	for _, c := range clusters {
		if c.Side == wish.Test {
			sealed++
		}
	}
	if sealed != 10 {
		t.Errorf("%d of 10 test clusters are sealed", sealed)
	}
	// What can never be certified spends nothing of the level.
	h.day(1, "", true)
	if next := h.night().Targets[0]; next.Can.Level != r.Targets[0].Can.Level || next.Can.Needed != 7 {
		t.Errorf("%+v after %+v", next.Can, r.Targets[0].Can)
	}
}

// What is supported and not certified is compared on the tasks of later nights, until they certify it.
func TestACarriedProposalIsCertifiedByLaterNights(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(20, "", true)
	h.minedAndReviewed()
	first := h.night()
	if got := first.Targets[0]; got.Outcome != night.Supported {
		t.Fatalf("%s: %s", got.Outcome, got.Reason)
	}
	for range 4 {
		h.day(12, "", true)
		h.minedAndReviewed()
		got := h.night().Targets[0]
		c := got.Continued
		t.Logf("%s: %s; carried %+v", got.Outcome, got.Reason, c)
		if c == nil || c.Night != first.ID && c.State == string(bank.Carried) {
			break // another one took its place
		}
		if c.Tonight == 0 || c.Pairs == 0 {
			t.Fatalf("no pairs: %+v", c)
		}
		if c.State == string(bank.Certified) {
			return
		}
	}
	t.Error("it was not certified")
}

func TestTrap85EvidenceBeginsAnew(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]struct {
		do   func(h *home)
		says string
	}{
		"the live file": {func(h *home) {
			if err := os.WriteFile(filepath.Join(h.project, "CLAUDE.md"), []byte("# Shop\n\nAnswer at length.\n"), 0o644); err != nil {
				h.t.Fatal(err)
			}
		}, "the live file has changed"},
		"the model": {func(h *home) { h.cfg.Models.Target.Temperature = new(float64) }, "the model, the agent or the way of scoring has changed"},
		"a check":   {func(h *home) { h.cfg.Tasks.Threshold = 0.5 }, "the model, the agent or the way of scoring has changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, small())
			h.day(20, "", true)
			h.minedAndReviewed()
			if got := h.night().Targets[0]; got.Outcome != night.Supported {
				t.Fatalf("%s: %s", got.Outcome, got.Reason)
			}
			change.do(h)
			h.day(3, "", true)
			h.minedAndReviewed()
			c := h.night().Targets[0].Continued
			if c == nil || c.State != string(bank.Dropped) || !strings.Contains(c.Reason, change.says) || !strings.Contains(c.Reason, "begins again") {
				t.Errorf("%+v", c)
			}
		})
	}
}

// A night whose ceiling is reached stops, says so, and goes on when it is raised; a night that was killed goes on too, with the
// same result, and pays for nothing twice.
func TestTrap92ANightGoesOn(t *testing.T) {
	t.Parallel()
	whole := newHome(t, small())
	whole.day(20, "", true)
	want := whole.night().Targets[0]

	h := newHome(t, small())
	h.day(20, "", true)
	calls := int64(40)
	r, err := h.try(func(o *night.Options) { o.Config.Limits.Calls = &calls })
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Targets[0]; got.Outcome != night.Budget || got.Help == "" || !r.Ended.IsZero() || r.Spent.Calls > calls {
		t.Fatalf("%+v, spent %+v", got, r.Spent)
	}
	last := r
	for n := int64(80); last.Ended.IsZero(); n += 40 {
		calls = n
		if last, err = h.try(func(o *night.Options) { o.Config.Limits.Calls = &calls }); err != nil {
			t.Fatal(err)
		}
	}
	got := last.Targets[0]
	if got.Outcome != want.Outcome || got.Proposed != want.Proposed || last.ID != r.ID || last.Ended.IsZero() {
		t.Errorf("%s (%s), uninterrupted %s (%s)", got.Outcome, got.Proposed, want.Outcome, want.Proposed)
	}
	if got.Confirmed == nil || want.Confirmed == nil || got.Confirmed.Wins != want.Confirmed.Wins {
		t.Errorf("%+v, %+v", got.Confirmed, want.Confirmed)
	}
}

// A night that ends as if it were killed, in each of its calls in turns, goes on to the same proposal.
func TestAKilledNightGoesOn(t *testing.T) {
	t.Parallel()
	whole := newHome(t, small())
	whole.day(20, "", true)
	want := whole.night()
	h := newHome(t, small())
	h.day(20, "", true)
	ended := errors.New("killed")
	got, err := h.try(func(o *night.Options) { o.Confirm = func(*night.Report) error { return ended } })
	if !errors.Is(err, ended) || !got.Ended.IsZero() {
		t.Fatalf("%v, %+v", err, got)
	}
	for k := 1; got.Ended.IsZero(); k += 60 {
		ctx, kill := context.WithCancel(t.Context())
		seen := 0
		got, _ = h.within(ctx, func(o *night.Options) {
			o.Events = func(event.Event) {
				if seen++; seen == k {
					kill()
				}
			}
		})
		kill()
	}
	if got.Targets[0].Proposed != want.Targets[0].Proposed || got.Targets[0].Outcome != want.Targets[0].Outcome {
		t.Fatalf("%+v", got.Targets[0])
	}
}

// Too few tasks are scored, and edits for them are suggestions. A document that solves none
// of them, or all, shows no noise.
func TestFewTasksAreObserved(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(8, "", true)
	got := h.night().Targets[0]
	if got.Can.Does != "observe" || got.Baseline == nil || got.Noise != nil || got.Confirmed != nil || got.Test != nil {
		t.Errorf("%+v", got)
	}
	if got.Outcome != night.Suggested && got.Outcome != night.TooFewTasks || got.Consolidation.CandidateScore != nil || got.Consolidation.Accepted {
		t.Errorf("%s: %+v", got.Outcome, got.Consolidation)
	}
	past, _ := h.bank.Candidates(t.Context(), h.project, got.Target)
	if len(past) != 0 {
		t.Errorf("a suggestion claims something: %+v", past)
	}
}

func TestTrap9OneTaskOnly(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(1, "", true)
	r := h.night()
	if got := r.Targets[0]; got.Outcome != night.TooFewTasks || got.Consolidation.Accepted {
		t.Errorf("%s: %s", got.Outcome, got.Reason)
	}
}

func TestTrap65ANightWithoutTasks(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	r := h.night()
	if len(r.Targets) != 0 || r.Ended.IsZero() || r.Spent.Calls != 0 {
		t.Errorf("%+v", r)
	}
	if _, err := night.Open(h.dir, h.project, r.ID); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is something to adopt: %v", err)
	}
	h.day(20, "", true)
	next := h.night()
	if !next.Since.IsZero() {
		t.Errorf("a night without sessions has moved the beginning to %s", next.Since)
	}
	if last := h.night(); !last.Since.Equal(next.Started) {
		t.Errorf("the next night looks back to %s, not to %s", last.Since, next.Started)
	}
}

// With test tasks alone nothing is trained, whatever is asked for, and none of them is opened.
func TestTrap10OnlyTestTasks(t *testing.T) {
	t.Parallel()
	for _, n := range []int{5, 50} { // one test cluster, and more than certify
		for _, explore := range []bool{false, true} {
			h := newHome(t, small())
			h.day(n, "", true)
			take(h)
			clusters, _ := h.bank.Clusters(t.Context(), h.project, "")
			said := map[string]bank.Review{}
			for _, c := range clusters {
				said[c.Tasks[0].Task.Task.ID] = bank.Accepted
				if c.Side == wish.Open {
					said[c.Tasks[0].Task.Task.ID] = bank.Rejected
				}
			}
			if err := h.bank.Say(t.Context(), "n", said); err != nil {
				t.Fatal(err)
			}
			r := h.night(func(o *night.Options) { o.Explore = explore })
			if got := r.Targets[0]; got.Outcome != night.TooFewTasks || got.Groups.Fresh != n/5 || len(got.Runs) != 0 || got.Baseline != nil || got.Test != nil || got.Proposal != "" || r.Spent.Calls != 0 {
				t.Errorf("%d tasks, explore %t: %+v", n, explore, got)
			}
			clusters, err := h.bank.Clusters(t.Context(), h.project, "")
			for _, c := range clusters {
				if err != nil || c.Opened != "" || (c.Side == wish.Test) != (said[c.Tasks[0].Task.Task.ID] == bank.Accepted) {
					t.Errorf("%d tasks, explore %t: cluster %d is %s, opened by %q", n, explore, c.Number, c.Side, c.Opened)
				}
			}
		}
	}
}

// A backlog is mined over several nights, the newest sessions first, and none is lost.
func TestABacklogIsMinedOverNights(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.cfg.Sleep.Tasks = 20 // 60 sessions a night
	h.day(150, "", true)
	mined, waits := 0, []string{}
	for range 3 {
		r := h.night()
		mined += r.Mined.Noted
		waits = append(waits, strings.Join(r.Notes, "; "))
	}
	if mined != 150 || !strings.Contains(waits[0], "90 sessions wait") || !strings.Contains(waits[1], "30 sessions wait") || waits[2] != "" {
		t.Errorf("%d mined, %q", mined, waits)
	}
	clusters, err := h.bank.Clusters(t.Context(), h.project, "")
	if err != nil || len(clusters) != 150 {
		t.Errorf("%d clusters, %v", len(clusters), err)
	}
}

// A night whose models have changed since it began cannot go on: it is over, and another one begins in its place, on the
// same tasks.
func TestANightBeginsAnewWithOtherModels(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(20, "", true)
	calls := int64(40)
	first, err := h.try(func(o *night.Options) { o.Config.Limits.Calls = &calls })
	if err != nil || first.Targets[0].Outcome != night.Budget {
		t.Fatalf("%v: %+v", err, first.Targets)
	}
	h.cfg.Models.Target.Temperature = new(float64)
	r := h.night()
	got := r.Targets[0]
	if r.ID == first.ID || got.Outcome != night.Supported || got.Groups.Tonight != first.Targets[0].Groups.Tonight || len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "models.target.temperature") {
		t.Errorf("%s after %s: %+v, %q", r.ID, first.ID, got, r.Notes)
	}
	old, ok, err := night.Last(t.Context(), h.bank, h.dir, h.project, first.ID)
	if err != nil || !ok || old.Ended.IsZero() || old.Targets[0].Outcome != night.Refused || old.Spent.Calls != first.Spent.Calls {
		t.Errorf("%v: %+v", err, old)
	}
}

// A night that is stopped after its test reaches the same result: what it has opened are its test tasks still.
func TestANightGoesOnBehindItsSealedLook(t *testing.T) {
	t.Parallel()
	whole, h := newHome(t, small()), newHome(t, small())
	for _, x := range []*home{whole, h} {
		x.day(50, "", true)
		x.minedAndReviewed()
	}
	want := whole.night().Targets[0]
	ctx, kill := context.WithCancel(t.Context())
	_, _ = h.within(ctx, func(o *night.Options) {
		o.Events = func(event.Event) {
			if clusters, err := h.bank.Clusters(t.Context(), h.project, ""); err == nil && clusters[4].Opened != "" {
				kill()
			}
		}
	})
	kill()
	if got := h.night().Targets[0]; got.Outcome != want.Outcome || got.Proposed != want.Proposed || got.Test == nil || got.Test.N != want.Test.N {
		t.Errorf("%+v, uninterrupted %+v", got, want)
	}
}

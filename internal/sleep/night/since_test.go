package night_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/result"
)

const sincePlain = "# Shop\n\nAnswer briefly.\n"

// trained has a night make rules of a memory file, and returns the text.
func (h *home) trained() string {
	h.t.Helper()
	h.day(20, "", true)
	r := h.night()
	p, err := night.Open(h.dir, h.project, r.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	text, err := p.Text("memory:CLAUDE.md")
	if err != nil {
		h.t.Fatal(err)
	}
	return text
}

// holding has the memory file hold a text that was adopted as number 3, and tells nights so.
func (h *home) holding(live, without string) func(*night.Options) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.project, "CLAUDE.md"), []byte(live), 0o644); err != nil {
		h.t.Fatal(err)
	}
	return func(o *night.Options) {
		o.Adopted = func(target, now string) ([]night.Standing, error) {
			if target != "memory:CLAUDE.md" || now != live {
				return nil, fmt.Errorf("asked for %s: %q", target, now)
			}
			return []night.Standing{{Number: 3, Night: "20261120-200000", Without: without, Changed: strings.Split(live+without, "\n")}}, nil
		}
	}
}

// sinceOf is what a night says of the one adoption.
func sinceOf(t *testing.T, r *night.Report) night.Adopted {
	t.Helper()
	if len(r.Adopted) != 1 {
		t.Fatalf("%+v", r.Adopted)
	}
	return r.Adopted[0]
}

// What was adopted is compared, on the tasks of later nights, with the document without it: the evidence multiplies from night to
// night, until it shows something.
func TestWhatWasAdoptedIsLookedAt(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	text := h.trained()
	adopted := h.holding(text, sincePlain)
	h.day(6, "", true)
	r := h.night(adopted)
	first := sinceOf(t, r)
	if first.Verdict != result.AdoptedOpen || first.Tonight == 0 || first.Wins == 0 || first.Losses > 0 || *first.Better <= 1 || first.Run == "" || first.Help != "" {
		t.Fatalf("%+v", first)
	}
	h.day(10, "", true)
	second := sinceOf(t, h.night(adopted))
	if second.Verdict != result.AdoptedBetter || second.Pairs != first.Pairs+second.Tonight || *second.Better <= *first.Better {
		t.Errorf("%+v after %+v", second, first)
	}
	// Nothing is new: nothing is asked, and what was known is told.
	third := sinceOf(t, h.night(adopted))
	if third.Run != "" || third.Tonight != 0 || third.Pairs != second.Pairs || third.Verdict != result.AdoptedBetter {
		t.Errorf("%+v after %+v", third, second)
	}
}

// What is worse than the document without it is told, with the command that takes it back, and asked no more.
func TestWhatIsWorseProposesARollback(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	text := h.trained()
	adopted := h.holding(sincePlain, text)
	h.day(16, "", true)
	got := sinceOf(t, h.night(adopted))
	if got.Verdict != result.AdoptedWorse || got.Help != "skillopt sleep rollback 3" || got.Losses == 0 || *got.Worse < got.Needs || !strings.HasPrefix(got.Reason, "worse: it won 0 and lost ") {
		t.Fatalf("%+v", got)
	}
	h.day(6, "", true)
	again := sinceOf(t, h.night(adopted))
	if again.Run != "" || again.Pairs != got.Pairs || again.Verdict != result.AdoptedWorse {
		t.Errorf("%+v after %+v", again, got)
	}
	if now, _ := os.ReadFile(filepath.Join(h.project, "CLAUDE.md")); string(now) != sincePlain {
		t.Error("the night wrote into the project")
	}
}

// A text without effect is called neither.
func TestWhatMakesNoDifferenceStaysOpen(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.trained()
	adopted := h.holding(sincePlain+"\nMind the weather.\n", sincePlain)
	for range 2 {
		h.day(12, "", true)
		if got := sinceOf(t, h.night(adopted)); got.Verdict != result.AdoptedOpen || got.Pairs == 0 {
			t.Errorf("%+v", got)
		}
	}
}

// Evidence of another model, or of other rules, is left behind, with why; what is gone or unknown is said, and asks nothing.
func TestEvidenceSinceBeginsAnew(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	text := h.trained()
	adopted := h.holding(text, sincePlain)
	h.day(6, "", true)
	first := sinceOf(t, h.night(adopted))
	h.cfg.Models.Target.Temperature = new(float64)
	h.day(4, "", true)
	model := sinceOf(t, h.night(adopted))
	if model.Pairs != model.Tonight || model.Pairs == 0 || first.Pairs == 0 || !strings.HasSuffix(model.Reason, "the model, the agent or the way of scoring has changed: its evidence begins again") {
		t.Errorf("%+v", model)
	}
	h.day(4, "", true)
	edited := sinceOf(t, h.night(h.holding(text+"\nBy hand.\n", sincePlain)))
	if edited.Pairs != edited.Tonight || edited.Pairs == 0 || !strings.HasSuffix(edited.Reason, "its rules in the document were edited: its evidence begins again") {
		t.Errorf("%+v", edited)
	}
	for want, s := range map[result.AdoptedVerdict]night.Standing{
		result.AdoptedGone: {Number: 3, Without: sincePlain}, result.AdoptedUnknown: {Number: 3, Reason: "the copy is gone"},
	} {
		h.day(2, "", true)
		got := sinceOf(t, h.night(func(o *night.Options) {
			o.Adopted = func(string, string) ([]night.Standing, error) { return []night.Standing{s}, nil }
		}))
		if got.Verdict != want || got.Run != "" || got.Better != nil || got.Difference != nil || got.Reason == "" {
			t.Errorf("%s: %+v", want, got)
		}
	}
}

// A receipt that cannot be believed is noted, and ends no night.
func TestADamagedReceiptEndsNoNight(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(3, "", true)
	r := h.night(func(o *night.Options) {
		o.Adopted = func(string, string) ([]night.Standing, error) { return nil, errors.New("receipt.json: damaged") }
	})
	if len(r.Adopted) != 0 || len(r.Notes) != 1 || r.Notes[0] != "memory:CLAUDE.md: what was adopted is not looked at: receipt.json: damaged" || r.Targets[0].Outcome == night.Stopped {
		t.Errorf("%+v", r)
	}
}

// A night that goes on pays for its look once, and counts each task once. The look spends nothing of the document's level, and it
// is no candidate that is carried.
func TestALookAtWhatWasAdoptedIsPaidOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	text := h.trained()
	adopted := h.holding(text, sincePlain)
	h.day(12, "", true)
	stop := errors.New("no")
	plain, err := h.try(adopted, func(o *night.Options) { o.DryRun = true })
	if err != nil || len(plain.Adopted) > 0 {
		t.Fatalf("%v: %+v", err, plain.Adopted)
	}
	limits := h.cfg.Limits
	calls := int64(30) // enough for the look, and not for the training
	h.cfg.Limits.Calls = &calls
	r, err := h.try(adopted)
	if err != nil || r.Targets[0].Outcome != night.Budget {
		t.Fatalf("%v: %+v", err, r.Targets)
	}
	before := sinceOf(t, r)
	h.cfg.Limits = limits
	r = h.night(adopted, func(o *night.Options) { o.Confirm = func(*night.Report) error { return stop } })
	after := sinceOf(t, r)
	if before.Pairs == 0 || after.Pairs != before.Pairs || after.Tonight != before.Tonight || after.Run != "" {
		t.Errorf("%+v after %+v", after, before)
	}
	list, err := h.bank.Candidates(t.Context(), h.project, "memory:CLAUDE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if c.Adoption != 0 || c.State == bank.Adopted {
			t.Errorf("%+v", c)
		}
	}
	since, err := bank.Since(t.Context(), h.bank, h.project, "memory:CLAUDE.md")
	if err != nil || len(since) != 1 || len(since[0].Pairs) != after.Pairs || !since[0].Exploratory {
		t.Errorf("%v: %+v", err, since)
	}
}

// What was won before does not hide what is lost now: 12 nights of wins, and then a house that has changed its mind. And a text
// that is at no time worse is called so in one of 20 weeks at most, however often it is looked at.
func TestWhatWasWonDoesNotHideALoss(t *testing.T) {
	t.Parallel()
	of := func(night, n int, live, staged float64) []bank.Pair {
		var out []bank.Pair
		for range n {
			out = append(out, bank.Pair{Night: fmt.Sprint(night), Live: live, Staged: staged})
		}
		return out
	}
	for nights, want := range map[int]int{0: 11, 1: 13, 2: 15, 12: 22} { // docs/sleep.md tells them
		var pairs []bank.Pair
		for at := range nights {
			pairs = append(pairs, of(at, 4, 0, 1)...)
		}
		lost := 0
		for e := 0.0; e < 20; e = night.WorseSince(t, pairs) {
			if lost++; lost > 40 {
				break
			}
			pairs = append(pairs, of(nights, 1, 1, 0)...)
		}
		if lost != want {
			t.Errorf("after %d nights of wins %d losses are called worse, want %d", nights, lost, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	wrong := 0
	const weeks = 100
	for range weeks {
		var pairs []bank.Pair
		called := false
		for at := range 10 {
			for range 8 {
				p := bank.Pair{Night: fmt.Sprint(at), Live: float64(rng.IntN(2)), Staged: float64(rng.IntN(2))}
				pairs = append(pairs, p)
			}
			called = called || night.WorseSince(t, pairs) >= 20
		}
		if called {
			wrong++
		}
	}
	if wrong > weeks/20+4 {
		t.Errorf("%d of %d texts without effect were called worse", wrong, weeks)
	}
}

// The look at what was adopted is part of the forecast, of which the default ceiling is made.
func TestALookAtWhatWasAdoptedIsForecast(t *testing.T) {
	t.Parallel()
	of := func(looks bool) *night.Report {
		h := newHome(t, small())
		text := h.trained()
		adopted := h.holding(text, sincePlain)
		h.day(12, "", true)
		if !looks {
			return h.night()
		}
		return h.night(adopted)
	}
	without, with := of(false), of(true)
	if without.Forecast == nil || with.Forecast == nil {
		t.Fatalf("%+v, %+v", without.Forecast, with.Forecast)
	}
	got := sinceOf(t, with)
	if more := with.Forecast.Calls.Expected - without.Forecast.Calls.Expected; got.Pairs == 0 || more != float64(2*got.Pairs) {
		t.Errorf("%g calls more are forecast, and %d tasks were asked", more, got.Pairs)
	}
}

package acceptance_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/result"
)

// A run with a ceiling of cost stops between two steps, leaves enough for the
// test, and never passes the ceiling by more than what is in flight; taken up with
// more and more it comes to what it would have been without a ceiling.
func TestACeilingOfCostHolds(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "run")
	priced := func() config.Config {
		cfg := worldConfig("http://in.process/v1")
		cfg.Prices = map[string]config.Price{"world": {Input: 100, Output: 400, MaxOutput: 400}}
		cfg.Limits.Concurrency = 16
		cfg.Train.SecondTry = false // whether there is room for one is decided once
		return cfg
	}
	whole := trained(t, priced(), plain, inProcess(t)...)
	if whole.CostUSD == nil {
		t.Fatal("the run has no cost")
	}
	dearest := 0.0
	for _, st := range whole.Stages {
		if st.Calls > 0 && st.CostUSD != nil {
			dearest = max(dearest, *st.CostUSD/float64(st.Calls))
		}
	}
	dir := filepath.Join(t.TempDir(), "run")
	for share := 0.2; ; share += 0.2 {
		cfg := priced()
		usd := share * *whole.CostUSD
		cfg.Limits.USD = &usd
		sum, err := skillopt.Train(t.Context(), cfg, append(inProcess(t), skillopt.WithRunDir(dir), skillopt.WithKeepOpen())...)
		if most := usd + 16*3*dearest; *sum.CostUSD > most {
			t.Errorf("$%.4f of $%.4f are spent, want at most %.4f", *sum.CostUSD, usd, most)
		}
		if err == nil {
			break
		}
		var over *caller.BudgetError
		if kind(err) != skillopt.OverBudget || !errors.As(err, &over) || over.Limit != "limits.usd" || sum.Test.Seed != nil {
			t.Fatalf("at $%.4f: %v, test %v", usd, err, sum.Test)
		}
		if share > 2 {
			t.Fatal("twice the money is not enough")
		}
	}
	if diff := cmp.Diff(results(t, plain), results(t, dir)); diff != "" {
		t.Error("the run that met its ceilings came to something else: ", diff)
	}
}

// What is left of the loop is skipped once and for all.
func TestFinishIsADecision(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := worldConfig("http://in.process/v1")
	calls := int64(150)
	cfg.Limits.Calls = &calls
	run := func(opts ...skillopt.Option) (*result.Summary, error) {
		return skillopt.Train(t.Context(), cfg, append(append(inProcess(t), skillopt.WithRunDir(dir), skillopt.WithKeepOpen()), opts...)...)
	}
	stopped, err := run()
	if kind(err) != skillopt.OverBudget || stopped.Test.Seed != nil {
		t.Fatalf("%v, %+v", err, stopped)
	}
	ended, err := run(skillopt.WithFinish())
	if err != nil || ended.Status != "completed" || ended.Test.Best == nil || ended.EndedAfter == nil {
		t.Fatalf("%v, %+v", err, ended)
	}
	if ended.Steps != stopped.Steps || ended.Calls.Total > calls {
		t.Errorf("ended after step %d with %d calls, want step %d and at most %d calls: the reserve was for that", ended.Steps, ended.Calls.Total, stopped.Steps, calls)
	}
	before, err := os.ReadFile(filepath.Join(dir, "history.json"))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Limits.Calls = nil
	again, err := run()
	if err != nil || again.Calls.Total != ended.Calls.Total {
		t.Errorf("%v: %d calls, want the %d that were made", err, again.Calls.Total, ended.Calls.Total)
	}
	after, err := os.ReadFile(filepath.Join(dir, "history.json"))
	if err != nil || string(after) != string(before) {
		t.Errorf("%v: the history has changed", err)
	}
}

// What is kept for the end pays for all of it: the fresh pass as well as the test.
func TestTheReservePaysForTheWholeEnd(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("http://in.process/v1")
	cfg.Models.Target.Temperature = nil
	whole := trained(t, cfg, filepath.Join(t.TempDir(), "run"), inProcess(t)...)
	finished := 0
	for share := int64(4); share <= 9; share++ {
		calls := whole.Calls.Total * share / 10
		cfg.Limits.Calls = &calls
		opts := append(inProcess(t), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")), skillopt.WithKeepOpen())
		stopped, err := skillopt.Train(t.Context(), cfg, opts...)
		if err == nil || stopped.Steps == 0 {
			continue
		}
		ended, err := skillopt.Train(t.Context(), cfg, append(opts, skillopt.WithFinish())...)
		if err != nil || ended.Test.Best == nil {
			t.Errorf("with %d calls, ended after %d of %d steps: %v", calls, stopped.Steps, whole.Steps, err)
			continue
		}
		finished++
	}
	if finished < 2 {
		t.Errorf("%d runs were stopped by their ceiling and finished", finished)
	}
}

// A ceiling of calls is used up before it ends a run, and says what is true: calls
// that only wait for their turn are none.
func TestACeilingOfCallsIsUsedUp(t *testing.T) {
	t.Parallel()
	for _, calls := range []int64{1, 5, 9} {
		cfg := worldConfig("http://in.process/v1")
		cfg.Limits.Calls, cfg.Limits.Concurrency = &calls, 2
		sum, err := skillopt.Train(t.Context(), cfg, append(inProcess(t), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")), skillopt.WithKeepOpen())...)
		var over *caller.BudgetError
		if !errors.As(err, &over) || over.Limit != "limits.calls" || over.Used != float64(calls) || over.InFlight > 2 {
			t.Errorf("%d calls: %v", calls, err)
		}
		if sum.Calls.Total != calls {
			t.Errorf("%d calls were made, %d were allowed and said to be used", sum.Calls.Total, calls)
		}
	}
}

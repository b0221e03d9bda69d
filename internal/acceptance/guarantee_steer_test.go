package acceptance_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/steer"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// helm puts requests to a run at work when something happens in it.
type helm struct {
	t   *testing.T
	dir string

	on      func(event.Event) (steer.Asking, bool)
	ids     []string // of the requests
	steered []event.Steered
	told    []string
}

// put puts a request, and waits until the run has carried it out: it has as soon as it
// removes the file, before it tells of it.
func (h *helm) put(a steer.Asking) {
	h.t.Helper()
	id, err := steer.Put(h.dir, a.What, a.Limits, "test", time.Now())
	if err != nil {
		h.t.Error(err)
		return
	}
	h.ids = append(h.ids, id)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := os.Stat(filepath.Join(h.dir, steer.Folder, id+".json")); errors.Is(err, os.ErrNotExist) || h.t.Context().Err() != nil {
			return
		}
	}
}

func (h *helm) sink(e event.Event) {
	switch e := e.(type) {
	case event.Steered:
		h.steered = append(h.steered, e)
	case event.Warning:
		h.told = append(h.told, e.Text)
	}
	if a, ok := h.on(e); ok {
		h.put(a)
	}
}

// atStep asks for something when a step is done.
func atStep(step int, a steer.Asking) func(event.Event) (steer.Asking, bool) {
	return func(e event.Event) (steer.Asking, bool) {
		done, ok := e.(event.StepDone)
		return a, ok && done.Step == step
	}
}

func limits(t *testing.T, args ...string) steer.Asking {
	t.Helper()
	l, err := steer.ParseLimits(args)
	if err != nil {
		t.Fatal(err)
	}
	return steer.Asking{What: steer.Limit, Limits: l}
}

// steeredRun trains in dir and asks for what on says.
func steeredRun(t *testing.T, cfg config.Config, dir string, on func(event.Event) (steer.Asking, bool), opts ...skillopt.Option) (*result.Summary, *helm, error) {
	t.Helper()
	h := &helm{t: t, dir: dir, on: on}
	sum, err := skillopt.Train(t.Context(), cfg, append(opts, skillopt.WithRunDir(dir), skillopt.WithEvents(h.sink))...)
	return sum, h, err
}

func nothing(event.Event) (steer.Asking, bool) { return steer.Asking{}, false }

func held(t *testing.T, dir string) map[string]run.Held {
	t.Helper()
	m, _, err := run.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.Steering == nil {
		t.Fatal("the manifest says nothing of steering")
	}
	return m.Steering.Held
}

// A ceiling that is raised while the run is at work lets it go on, to what it would have
// been without one.
func TestARaisedCeilingLetsARunGoOn(t *testing.T) {
	t.Parallel()
	plain, dir := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	whole := trained(t, worldConfig("http://in.process/v1"), plain, inProcess(t)...)
	cfg := worldConfig("http://in.process/v1")
	few := whole.Calls.Total / 2
	cfg.Limits.Calls, cfg.Limits.Reserve = &few, "none"
	sum, h, err := steeredRun(t, cfg, dir, atStep(1, limits(t, "calls=none")), inProcess(t)...)
	if err != nil || sum.Status != result.Completed {
		t.Fatalf("%v, %+v", err, sum)
	}
	if len(h.steered) != 1 || h.steered[0].Limits["calls"] != nil || h.steered[0].Refused != "" {
		t.Errorf("events: %+v", h.steered)
	}
	sameResults(t, results(t, plain), dir)
}

// A ceiling below what is spent ends the run as any ceiling does. It stays in force when
// the run continues, until the configuration has another value, and no fork takes it over.
func TestALoweredCeilingEndsARunAndStays(t *testing.T) {
	t.Parallel()
	plain, dir := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	cfg := worldConfig("http://in.process/v1")
	trained(t, cfg, plain, inProcess(t)...)
	for session, on := range []func(event.Event) (steer.Asking, bool){atStep(2, limits(t, "calls=5")), nothing} {
		sum, h, err := steeredRun(t, cfg, dir, on, inProcess(t)...)
		var over *caller.BudgetError
		if kind(err) != skillopt.OverBudget || !errors.As(err, &over) || over.Limit != "limits.calls" || over.Of != 5 || sum.Status != result.OverBudget {
			t.Fatalf("session %d: %v", session, err)
		}
		if says := strings.Contains(strings.Join(h.told, "\n"), "limits.calls is 5, set from outside"); says != (session == 1) {
			t.Errorf("session %d: %q", session, h.told)
		}
		if got := string(held(t, dir)["limits.calls"].Value); got != "5" {
			t.Errorf("session %d: the manifest has %s", session, got)
		}
	}
	fork := filepath.Join(t.TempDir(), "fork")
	trained(t, cfg, dir, append(inProcess(t), skillopt.WithFork(fork))...)
	if len(held(t, fork)) > 0 {
		t.Errorf("the fork has %v", held(t, fork))
	}
	many := int64(100_000)
	cfg.Limits.Calls = &many
	_, h, err := steeredRun(t, cfg, dir, nothing, inProcess(t)...)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(h.told, "\n"), "limits.calls is 100000: the configuration has changed since 5 was set from outside") || len(held(t, dir)) > 0 {
		t.Errorf("%q, the manifest has %v", h.told, held(t, dir))
	}
	sameResults(t, results(t, plain), dir)
}

// A soft stop from outside is the user's: calls in flight are finished, and the run continues
// later. A hard one loses them. A request that was put between sessions stops no later one.
func TestARunIsStoppedFromOutside(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "run")
	cfg := worldConfig("http://in.process/v1")
	trained(t, cfg, plain, inProcess(t)...)
	for _, what := range []string{steer.Stop, steer.StopNow} {
		dir := filepath.Join(t.TempDir(), "run")
		sum, _, err := steeredRun(t, cfg, dir, atStep(1, steer.Asking{What: what}), inProcess(t)...)
		if kind(err) != skillopt.Stopped || sum.Status != result.Stopped {
			t.Fatalf("%s: %v, %+v", what, err, sum)
		}
		if _, err := steer.Put(dir, what, nil, "test", time.Now()); err != nil {
			t.Fatal(err)
		}
		_, h, err := steeredRun(t, cfg, dir, nothing, inProcess(t)...)
		if err != nil || len(h.steered) != 1 || !strings.Contains(h.steered[0].Refused, "before this session") {
			t.Fatalf("%s, then: %v, %+v", what, err, h.steered)
		}
		sameResults(t, results(t, plain), dir)
	}
}

// A request that stands in the manifest is not carried out again: not where the process was
// killed before it had removed the file, and not where somebody puts the file back.
func TestARequestIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := worldConfig("http://in.process/v1")
	var h *helm
	again := func() string {
		id := h.ids[0]
		path := filepath.Join(dir, steer.Folder, id+".json")
		text := fmt.Sprintf(`{"format":1,"id":%q,"what":"limit","limits":{"calls":9000},"from":"test","asked_at":"2026-01-02T03:04:05Z"}`, id)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
		return path
	}
	name := ""
	h = &helm{t: t, dir: dir, on: func(e event.Event) (steer.Asking, bool) {
		switch done, _ := e.(event.StepDone); {
		case done.Step == 1:
			return limits(t, "calls=8k"), true
		case done.Step == 2:
			name = again()
			return limits(t, "time=9h"), true // found behind it
		}
		return steer.Asking{}, false
	}}
	_, err := skillopt.Train(t.Context(), cfg, append(inProcess(t), skillopt.WithRunDir(dir), skillopt.WithEvents(h.sink))...)
	if err != nil || len(h.steered) != 2 {
		t.Fatalf("%v, %+v", err, h.steered)
	}
	want := map[string]any{"usd": nil, "tokens": nil, "calls": 8e3, "time": "9h0m0s"}
	if diff := cmp.Diff(want, h.steered[1].Limits); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	again()
	if _, h, err := steeredRun(t, cfg, dir, nothing, inProcess(t)...); err != nil || len(h.steered) != 0 || string(held(t, dir)["limits.calls"].Value) != "8000" {
		t.Errorf("the next session: %v, %+v, %v", err, h.steered, held(t, dir))
	}
}

// A stop is obeyed also where its answer cannot be recorded, and other ceilings are not.
func TestAStopNeedsNoRecord(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	manifest, away := filepath.Join(dir, run.ManifestFile), filepath.Join(dir, "away")
	told := 0
	on := func(e event.Event) (steer.Asking, bool) {
		if w, ok := e.(event.Warning); ok && strings.Contains(w.Text, "cannot be recorded, and its ceilings stay as they are") {
			told++
		}
		done, ok := e.(event.StepDone)
		if !ok || done.Step != 1 {
			return steer.Asking{}, false
		}
		err := errors.Join(os.Rename(manifest, away), os.MkdirAll(filepath.Join(manifest, "in the way"), 0o755))
		_, limit := steer.Put(dir, steer.Limit, limits(t, "calls=1").Limits, "test", time.Now())
		_, stop := steer.Put(dir, steer.Stop, nil, "test", time.Now())
		if err := errors.Join(err, limit, stop); err != nil {
			t.Error(err)
		}
		return steer.Asking{}, false
	}
	cfg := worldConfig("http://in.process/v1")
	_, _, err := steeredRun(t, cfg, dir, on, slowly(t)...)
	if err == nil || !strings.Contains(err.Error(), "the run was stopped") || told != 1 {
		t.Fatalf("%v, told %d times", err, told)
	}
	if err := errors.Join(os.RemoveAll(manifest), os.Rename(away, manifest)); err != nil {
		t.Fatal(err)
	}
	if _, h, err := steeredRun(t, cfg, dir, nothing, inProcess(t)...); kind(err) != skillopt.OverBudget || len(h.steered) != 2 || h.steered[1].Refused == "" {
		t.Errorf("%v, %+v", err, h.steered)
	}
}

// slowly is inProcess with a world that takes its time: what is asked is heard in between.
func slowly(t *testing.T) []skillopt.Option {
	t.Helper()
	c := slow{sim.New(simulated(t))}
	return []skillopt.Option{skillopt.WithClient(model.Target, "world", c), skillopt.WithClient(model.Optimizer, "world", c)}
}

type slow struct{ model.Client }

// Generate implements model.Client.
func (s slow) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	late := time.NewTimer(100 * time.Millisecond)
	defer late.Stop()
	select {
	case <-late.C:
	case <-ctx.Done():
	}
	return s.Client.Generate(ctx, req)
}

// How large a step is follows the ceiling that held when it began. A ceiling that was
// raised since, and a run that was stopped at once and went on, change no step that has
// begun.
func TestStepsStayAsTheyBeganUnderChangedCeilings(t *testing.T) {
	t.Parallel()
	cfg := func(calls int64) config.Config {
		c := quick(t, calls)
		c.Limits.Reserve, c.Gate.Mode = "auto", "strict"
		return c
	}
	// raised raises the ceiling when a step was cut, and asks for more when a step is done.
	raised := func(after int, then steer.Asking) (func(event.Event) (steer.Asking, bool), *int) {
		cut := 0
		return func(e event.Event) (steer.Asking, bool) {
			if w, ok := e.(event.Warning); ok && strings.Contains(w.Text, "that is what the ceiling has room for") && cut == 0 {
				if _, err := fmt.Sscanf(w.Text, "step %d", &cut); err != nil {
					t.Error(err)
				}
				return limits(t, "calls=5000"), true
			}
			done, ok := e.(event.StepDone)
			return then, ok && cut > 0 && done.Step == cut+after
		}, &cut
	}
	dir := t.TempDir()
	for calls := int64(480); calls < 800; calls += 20 {
		whole := filepath.Join(dir, fmt.Sprint("whole", calls))
		on, cut := raised(1000, steer.Asking{})
		if _, _, err := steeredRun(t, cfg(calls), whole, on); *cut == 0 && err == nil {
			continue // no step was cut by this one
		} else if err != nil {
			t.Fatal(err)
		}
		stopped := filepath.Join(dir, fmt.Sprint("stopped", calls))
		on, _ = raised(0, steer.Asking{What: steer.StopNow})
		if _, _, err := steeredRun(t, cfg(calls), stopped, on); kind(err) != skillopt.Stopped {
			t.Fatal(err)
		}
		// Lower than what the cut step had room for, and then raised again.
		if _, _, err := steeredRun(t, cfg(calls), stopped, atStep(0, limits(t, "calls=10"))); kind(err) != skillopt.OverBudget {
			t.Fatal(err)
		}
		if _, err := steer.Put(stopped, steer.Limit, limits(t, "calls=5000").Limits, "test", time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := steeredRun(t, cfg(calls), stopped, nothing); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rolledOutAt(t, whole, *cut), rolledOutAt(t, stopped, *cut)); diff != "" || rolledOutAt(t, whole, *cut) >= rolledOutIn(t, whole) {
			t.Errorf("step %d was cut to another size: %s", *cut, diff)
		}
		sameResults(t, results(t, whole), stopped)
		return
	}
	t.Fatal("no ceiling has cut a step")
}

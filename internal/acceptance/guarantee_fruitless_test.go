package acceptance_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// nonsense is an optimizer whose replies are of no use, and hold a key.
type nonsense struct{}

const leaked = "ghp_" + "a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8"

func (nonsense) Generate(context.Context, model.Request) (model.Response, error) {
	return model.Response{Text: "As a large model I would rather not. " + leaked, Finish: model.FinishStop}, nil
}

// barren is a run of 4 steps whose optimizer is behind one server of two.
type barren struct {
	t       *testing.T
	bad     *observedServer
	good    *wiretest.Server
	dir     string
	calls   int // to bad, of the last session
	ceiling *int64
}

func newBarren(t *testing.T) *barren {
	return &barren{t: t, bad: watch(t, nonsense{}), good: serve(t, wiretest.Options{}), dir: filepath.Join(t.TempDir(), "run")}
}

// train goes on with the run, with the optimizer at a URL, and counts what the bad one
// was asked.
func (b *barren) train(url string, change func(*config.Config), opts ...skillopt.Option) (*result.Summary, error) {
	b.t.Helper()
	cfg := worldConfig(b.good.URL())
	cfg.Models.Optimizer.BaseURL, cfg.Limits.Calls = url, b.ceiling
	if change != nil {
		change(&cfg)
	}
	before, _ := b.bad.seen()
	sum, err := skillopt.Train(b.t.Context(), cfg, append([]skillopt.Option{skillopt.WithRunDir(b.dir)}, opts...)...)
	after, _ := b.bad.seen()
	b.calls = len(after) - len(before)
	return sum, err
}

func (b *barren) worse(opts ...skillopt.Option) (*result.Summary, error) {
	return b.train(b.bad.URL+"/v1", nil, opts...)
}

func refused(err error) bool {
	return kind(err) == skillopt.Unmeasurable && strings.Contains(err.Error(), "3 steps running (1, 2, 3)")
}

// Three steps without a reply that can be used end a run, with what was said and what
// helps; the same command ends there again, and asks nobody.
func TestAnOptimizerThatSaysNothingUsefulEndsTheRun(t *testing.T) {
	t.Parallel()
	b := newBarren(t)
	sum, err := b.worse()
	if !refused(err) || sum.Status != "failed" || sum.Steps != 3 {
		t.Fatalf("%v (%s), %+v", err, kind(err), sum)
	}
	for _, want := range []string{
		"after 10 tries", `it begins: "As a large model`, "e1/s3/mb0/analyst_", "steps/step_0003/patches.json", "models.optimizer.model", "models.optimizer.structured_output (on)", "models.optimizer.max_tokens", "models.optimizer.base_url",
	} {
		if !strings.Contains(strings.ReplaceAll(err.Error(), "e2/s3", "e1/s3"), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), leaked) {
		t.Errorf("the error holds a key: %v", err)
	}
	if data, rerr := os.ReadFile(filepath.Join(b.dir, "steps/step_0003/patches.json")); rerr != nil || !strings.Contains(string(data), `"lost"`) {
		t.Errorf("patches.json: %s, %v", data, rerr)
	}
	want := results(t, b.dir)
	_, again := b.worse()
	if again == nil || again.Error() != err.Error() || b.calls > 0 {
		t.Errorf("again: %v, %d calls", again, b.calls)
	}
	sameResults(t, want, b.dir)

	// Elsewhere, stopped on its way by a ceiling, it comes to the same end.
	b.dir = filepath.Join(t.TempDir(), "slowly")
	for limit := int64(25); ; limit += 40 {
		b.ceiling = &limit
		if _, err = b.worse(skillopt.WithKeepOpen()); kind(err) != skillopt.OverBudget {
			break
		}
	}
	if !refused(err) {
		t.Errorf("by and by: %v", err)
	}
	sameResults(t, want, b.dir)
}

// With another optimizer the run continues, in its place or as a fork, and is not held up
// at what was lost before.
func TestARunGoesOnWithAnotherOptimizer(t *testing.T) {
	t.Parallel()
	b := newBarren(t)
	if _, err := b.worse(); !refused(err) {
		t.Fatal(err)
	}
	from := b.dir
	for _, tokens := range []int{5000, 0} { // asked anew, and with what is recorded taken over
		change := func(c *config.Config) { c.Models.Optimizer.MaxTokens = tokens }
		sum, err := b.train(b.good.URL(), change, skillopt.WithFork(filepath.Join(t.TempDir(), "fork")))
		if err != nil || sum.Status != "completed" || b.calls > 0 {
			t.Errorf("a fork: %v, %d calls", err, b.calls)
		}
	}
	b.dir = from
	if sum, err := b.train(b.good.URL(), nil); err != nil || sum.Status != "completed" || sum.Steps != 4 {
		t.Fatalf("at another server: %v", err)
	}
	want := results(t, b.dir)
	for _, url := range []string{b.good.URL(), b.bad.URL + "/v1"} {
		if sum, err := b.train(url, nil); err != nil || sum.Status != "completed" || b.calls > 0 {
			t.Errorf("finished, again: %v, %d calls", err, b.calls)
		}
		sameResults(t, want, b.dir)
	}
}

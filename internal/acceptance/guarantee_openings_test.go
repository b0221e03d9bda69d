package acceptance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
	"github.com/seed-f4525e22/skillopt/result"
)

// A fork that scores the same skills in another way has looked at the test twice.
func TestAForkWithOtherChecksKeepsTheTestClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(name string, change func(*config.Config), opts ...skillopt.Option) *result.Summary {
		cfg := worldConfig("http://in.process/v1")
		change(&cfg)
		return trained(t, cfg, filepath.Join(dir, "run"), append(append(inProcess(t), skillopt.WithFork(filepath.Join(dir, name))), opts...)...)
	}
	first := trained(t, worldConfig("http://in.process/v1"), filepath.Join(dir, "run"), inProcess(t)...)
	same := run("same", func(c *config.Config) { c.Limits.Concurrency = 3 })
	if same.Test.Refused || same.Test.Openings > 1 || !cmp.Equal(same.Test.Best, first.Test.Best) {
		t.Errorf("the same run again: %+v, first %+v", same.Test, first.Test)
	}
	for name, change := range map[string]func(*config.Config){
		"checks": func(c *config.Config) {
			c.Tasks.Checks = []any{map[string]any{"type": "equals", "value": "$gold", "normalize": "casefold"}}
		},
		"threshold": func(c *config.Config) { c.Tasks.Threshold = 0.5 },
	} {
		sum := run(name, change)
		if !sum.Test.Refused || sum.Test.Openings != 1 || sum.Test.Best != nil {
			t.Errorf("another %s: %+v", name, sum.Test)
		}
		again := run(name+" again", change, skillopt.WithReopenTest(true))
		if again.Test.Refused || again.Test.Openings != 2 || again.Certificate.Certified || !strings.Contains(again.Certificate.Words, "opened for the 2nd time") {
			t.Errorf("another %s, reopened: %+v, %s", name, again.Test, again.Certificate.Words)
		}
		if by := again.Test.ReadBefore; by == nil || by.By[0].Run != "run" {
			t.Errorf("another %s, reopened: read before by %+v", name, by)
		}
	}
}

// What a run said of its test set it says again, whatever was read meanwhile, and so
// does a replay, which reads nothing.
func TestWhatWasReadBeforeIsRecorded(t *testing.T) {
	t.Parallel()
	dir, cfg := t.TempDir(), worldConfig(serve(t, wiretest.Options{Seed: 1}).URL())
	said := func(name string, opts ...skillopt.Option) string {
		return trained(t, cfg, filepath.Join(dir, name), opts...).Test.ReadBefore.Words()
	}
	for _, c := range []struct{ run, want string }{
		{"a", ""}, {"b", "read 1 time before, by a"}, {"c", "read 2 times before, by a, b"}, {"b", "read 1 time before, by a"},
	} {
		if got := said(c.run); got != c.want {
			t.Errorf("%s: %q, want %q", c.run, got, c.want)
		}
	}
	if got := said("replay", skillopt.WithReplay(exported(t, filepath.Join(dir, "c")))); got != "read 2 times before, by a, b" {
		t.Errorf("the replay of c: %q", got)
	}
	if got := said("d"); got != "read 3 times before, by a, b, c" {
		t.Errorf("d: %q", got)
	}
}

// A fork counts the run that it was made from, wherever that lies and whatever the
// ledger knows.
func TestAForkKnowsWhereItComesFrom(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("http://in.process/v1")
	from, to := filepath.Join(t.TempDir(), "far", "run"), filepath.Join(t.TempDir(), "here", "fork")
	trained(t, cfg, from, inProcess(t)...)
	if err := os.Remove(filepath.Join(filepath.Dir(from), "test_sets.db")); err != nil {
		t.Fatal(err)
	}
	sum := trained(t, cfg, from, append(inProcess(t), skillopt.WithFork(to))...)
	if got := sum.Test.ReadBefore.Words(); got != "read 1 time before, by the run that this one is a fork of" {
		t.Errorf("the fork: %q", got)
	}
	if !strings.Contains(sum.Certificate.Words, sum.Test.ReadBefore.Words()) {
		t.Errorf("the certificate: %q", sum.Certificate.Words)
	}
}

package acceptance_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
)

// begun returns the directory of a run that was stopped by a ceiling of calls
// after the first step had begun.
func begun(t *testing.T, url string) string {
	t.Helper()
	cfg := worldConfig(url)
	calls := int64(40)
	cfg.Limits.Calls, cfg.Limits.Reserve = &calls, "none"
	dir := filepath.Join(t.TempDir(), "run")
	sum, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(dir))
	if kind(err) != skillopt.OverBudget || sum.Status != "budget" {
		t.Fatalf("the run ended as %v (%v), want a stop by the ceiling", sum, err)
	}
	if !strings.Contains(err.Error(), "limits.calls") {
		t.Errorf("the message does not name limits.calls: %v", err)
	}
	// Calls that wait when the ceiling is met are not sent any more.
	if sum.Calls.Total > calls || sum.Calls.Total < 20 {
		t.Errorf("%d calls were made with a ceiling of %d", sum.Calls.Total, calls)
	}
	return dir
}

// How a run is carried out may change between its sessions.
func TestResumeGoesOnWithOtherLimits(t *testing.T) {
	t.Parallel()
	clean := filepath.Join(t.TempDir(), "run")
	total := trained(t, worldConfig("http://in.process/v1"), clean, inProcess(t)...).Calls.Total
	want := results(t, clean)

	both := func(change func(m *config.Model)) func(*config.Config) {
		return func(c *config.Config) { change(&c.Models.Target); change(&c.Models.Optimizer) }
	}
	for name, change := range map[string]func(*config.Config){
		"limits": func(c *config.Config) { c.Limits.Concurrency, c.Limits.Patience = 3, config.Duration(time.Hour) },
		"base url": both(func(m *config.Model) {
			m.BaseURL = strings.Replace(m.BaseURL, "127.0.0.1", "localhost", 1)
		}),
		"headers": both(func(m *config.Model) {
			m.Headers = map[string]string{wiretest.StageHeader: "{{stage}}", "X-Run": "{{run}}"}
		}),
		"timeout": both(func(m *config.Model) { m.Timeout = config.Duration(20 * time.Second) }),
		"key":     both(func(m *config.Model) { m.APIKeyEnv = nil }),
		"prices": func(c *config.Config) {
			c.Prices = map[string]config.Price{"world": {Input: 1, Output: 2}}
		},
		"name": func(c *config.Config) { c.Run.Name = "another" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, wiretest.Options{})
			dir := begun(t, server.URL())
			cfg := worldConfig(server.URL())
			change(&cfg)
			opts := []skillopt.Option{skillopt.WithRunDir(dir)}
			if name == "key" {
				cfg.Run.Dir = t.TempDir() // whose ledger of test sets is of this test alone
				loaded, err := config.Load(config.Options{
					Dir: t.TempDir(), Lookup: func(name string) (string, bool) { return "secret", name == "OPENAI_API_KEY" },
				})
				if err != nil {
					t.Fatal(err)
				}
				opts = append(opts, skillopt.WithLoaded(loaded))
			}
			trained(t, cfg, dir, opts...)
			sameResults(t, want, dir)
			if n := server.Stats().Calls; n != int(total) {
				t.Errorf("%d calls were made in both sessions, %d in one", n, total)
			}
		})
	}
}

// What a run is may not change: its record answers other questions.
func TestResumeRefusesAnotherRun(t *testing.T) {
	t.Parallel()
	server := serve(t, wiretest.Options{})
	dir := begun(t, server.URL())
	before, calls := copiedManifest(t, dir), server.Stats().Calls

	for key, change := range map[string]func(*testing.T, *config.Config){
		"prompts": func(t *testing.T, c *config.Config) {
			c.Prompts = t.TempDir()
			write(t, filepath.Join(c.Prompts, "ranking.md"), "# system\nChoose the best edits. Reply with JSON: {\"selected_indices\": [0]}\n")
		},
		"skill": func(t *testing.T, c *config.Config) {
			c.Skill = filepath.Join(t.TempDir(), "SKILL.md")
			write(t, c.Skill, "# Another skill\n")
		},
		"tasks.path": func(t *testing.T, c *config.Config) {
			data, err := os.ReadFile(c.Tasks.Path)
			if err != nil {
				t.Fatal(err)
			}
			c.Tasks.Path = filepath.Join(t.TempDir(), "tasks.jsonl")
			write(t, c.Tasks.Path, strings.Replace(string(data), `boxes"`, `crates"`, 1))
		},
		"train.seed":                func(_ *testing.T, c *config.Config) { c.Train.Seed++ },
		"train.batch_size":          func(_ *testing.T, c *config.Config) { c.Train.BatchSize = 5 },
		"models.target.model":       func(_ *testing.T, c *config.Config) { c.Models.Target.Model = "other" },
		"models.optimizer.model":    func(_ *testing.T, c *config.Config) { c.Models.Optimizer.Model = "other" },
		"models.target.temperature": func(_ *testing.T, c *config.Config) { c.Models.Target.Temperature = nil },
		"edits.budget":              func(_ *testing.T, c *config.Config) { c.Edits.Budget = 9 },
		"gate.metric":               func(_ *testing.T, c *config.Config) { c.Gate.Metric = "soft" },
		"record.reuse":              func(_ *testing.T, c *config.Config) { c.Record.Reuse = "auto" },
		"extras":                    func(_ *testing.T, c *config.Config) { c.Extras = map[string]any{"unit": "m"} },
	} {
		t.Run(key, func(t *testing.T) {
			cfg := worldConfig(server.URL())
			change(t, &cfg)
			_, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(dir))
			var other *run.IdentityError
			if !errors.As(err, &other) || kind(err) != skillopt.BadInput {
				t.Fatalf("the run ended with %v (%s), want *run.IdentityError", err, kind(err))
			}
			if len(other.Changes) != 1 || !strings.HasPrefix(other.Changes[0], key+": was ") {
				t.Errorf("the changes are %q, want %s alone", other.Changes, key)
			}
			if !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "--fork") {
				t.Errorf("the message names neither the key nor what helps: %v", err)
			}
		})
	}
	if after := copiedManifest(t, dir); after != before {
		t.Errorf("a refusal changed the manifest from\n%s\nto\n%s", before, after)
	}
	if n := server.Stats().Calls; n != calls {
		t.Errorf("%d calls were made though the run was refused", n-calls)
	}
}

// A fork takes over what the other run has paid for as far as it fits. The other
// run has not opened its test split: a fork would know the scores.
func TestForkTakesOverWhatFits(t *testing.T) {
	t.Parallel()
	server := serve(t, wiretest.Options{})
	from := filepath.Join(t.TempDir(), "run")
	untested := worldConfig(server.URL())
	untested.Eval.Test = false
	total := int(trained(t, untested, from).Calls.Total)
	want := results(t, from)

	for _, tt := range []struct {
		name     string
		change   func(*config.Config)
		min, max int // calls that have to be made anew
		same     bool
	}{
		{"the test as well", func(c *config.Config) { c.Eval.Test = true }, 20, 30, false},
		{"nothing that is asked", func(c *config.Config) { c.Extras = map[string]any{"unit": "m"} }, 0, 0, true},
		{"another way to reflect", func(c *config.Config) { c.Reflect.FailureOnly = true }, 1, total - 20, false},
		{"another seed", func(c *config.Config) { c.Train.Seed++ }, total / 2, 2 * total, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := untested
			tt.change(&cfg)
			fresh := filepath.Join(t.TempDir(), "fresh")
			cost := int(trained(t, cfg, fresh).Calls.Total)
			before := server.Stats().Calls

			to := filepath.Join(t.TempDir(), "fork")
			sum, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(from), skillopt.WithFork(to))
			if err != nil {
				t.Fatal(err)
			}
			sameResults(t, results(t, fresh), to)
			sent := server.Stats().Calls - before
			if sent < tt.min || sent > min(tt.max, cost) {
				t.Errorf("%d calls were sent, want %d to %d; without the fork it is %d", sent, tt.min, tt.max, cost)
			}
			if int(sum.Calls.Total) != sent {
				t.Errorf("the fork counts %d calls and paid for %d", sum.Calls.Total, sent)
			}
			if tt.same {
				sameResults(t, want, to)
			}
			// To fork again resumes the fork.
			before = server.Stats().Calls
			if _, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(from), skillopt.WithFork(to)); err != nil {
				t.Fatal(err)
			}
			if n := server.Stats().Calls - before; n != 0 {
				t.Errorf("the finished fork sent %d calls", n)
			}
		})
	}
	sameResults(t, want, from)
}

// A soft stop finishes what is in flight; the run continues later as if nothing
// had happened.
func TestStopIsSoft(t *testing.T) {
	t.Parallel()
	clean := filepath.Join(t.TempDir(), "run")
	total := int(trained(t, worldConfig("http://in.process/v1"), clean, inProcess(t)...).Calls.Total)

	stop := make(chan struct{})
	server := serve(t, wiretest.Options{Latency: time.Millisecond, Jitter: 1, OnRequest: func(n int) {
		if n == 40 {
			close(stop)
		}
	}})
	cfg := worldConfig(server.URL())
	dir := filepath.Join(t.TempDir(), "run")
	sum, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(dir), skillopt.WithStop(stop))
	if kind(err) != skillopt.Stopped || sum.Status != "stopped" {
		t.Fatalf("the run ended with %v (%s)", err, kind(err))
	}
	if stats := server.Stats(); stats.Calls != stats.Answered || recordedCalls(t, dir) != stats.Calls {
		t.Errorf("%d calls were sent, %d answered and %d recorded", stats.Calls, stats.Answered, recordedCalls(t, dir))
	}
	trained(t, cfg, dir)
	sameResults(t, results(t, clean), dir)
	if n := server.Stats().Calls; n != total {
		t.Errorf("%d calls in both sessions, %d in one", n, total)
	}
}

func copiedManifest(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, run.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

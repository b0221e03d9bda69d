package acceptance_test

import (
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/testing/otlptest"
	"github.com/seed-f4525e22/skillopt/model"
)

// Whatever runs, its span has its name, its run and how it ended.
func TestEveryCommandTellsHowItEnded(t *testing.T) {
	t.Parallel()
	tooFew := int64(5)
	for _, tt := range []struct {
		name, want string
		calls      *int64
		run        func(t *testing.T, cfg config.Config, opts []skillopt.Option) error
	}{
		{"eval", "completed", nil, func(t *testing.T, cfg config.Config, opts []skillopt.Option) error {
			_, err := skillopt.Evaluate(t.Context(), cfg, "test", opts...)
			return err
		}},
		{"eval", "budget", &tooFew, func(t *testing.T, cfg config.Config, opts []skillopt.Option) error {
			_, err := skillopt.Evaluate(t.Context(), cfg, "all", opts...)
			return err
		}},
		{"noise", "completed", nil, func(t *testing.T, cfg config.Config, opts []skillopt.Option) error {
			_, err := skillopt.MeasureNoise(t.Context(), cfg, opts...)
			return err
		}},
		{"ablate", "completed", nil, func(t *testing.T, cfg config.Config, opts []skillopt.Option) error {
			_, err := skillopt.Ablate(t.Context(), cfg, skillopt.PruneOptions{Passes: 1}, opts...)
			return err
		}},
		{"prune", "completed", nil, func(t *testing.T, cfg config.Config, opts []skillopt.Option) error {
			_, err := skillopt.Prune(t.Context(), cfg, skillopt.PruneOptions{Passes: 1}, opts...)
			return err
		}},
	} {
		t.Run(tt.name+" "+tt.want, func(t *testing.T) {
			t.Parallel()
			r := otlptest.New(t)
			cfg := worldConfig("http://in.process/v1")
			cfg.Telemetry.Endpoint, cfg.Limits.Calls = r.URL, tt.calls
			err := tt.run(t, cfg, append(inProcess(t), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run"))))
			if (err != nil) != (tt.want != "completed") {
				t.Fatal(err)
			}
			checkRunSpan(t, r, tt.name, tt.want)
		})
	}
}

func checkRunSpan(t *testing.T, r *otlptest.Receiver, command, status string) {
	t.Helper()
	runs := 0
	for _, s := range r.Spans() {
		if len(s.GetParentSpanId()) > 0 {
			continue
		}
		runs++
		a := otlptest.Attributes(s.GetAttributes())
		if s.GetName() != "skillopt "+command || a["skillopt.command"] != command || a["skillopt.status"] != status || a["skillopt.run.id"] == "" {
			t.Errorf("%s: %v, want skillopt %s with its run and the status %s", s.GetName(), a, command, status)
		}
	}
	if runs != 1 {
		t.Errorf("%d spans without a parent, want that of the run", runs)
	}
}

// A comparison without a verdict has not failed.
func TestTelemetryOfAComparison(t *testing.T) {
	t.Parallel()
	r := otlptest.New(t)
	cfg := worldConfig("http://unused.invalid/v1")
	cfg.Telemetry.Endpoint = r.URL
	_, err := skillopt.Compare(t.Context(), cfg, solving(50), solving(55), skillopt.WithTasks(envTasks(20)), skillopt.WithEnv("chancy", &chancyEnv{}),
		skillopt.WithClient(model.Target, "none", fixed{}), skillopt.WithSplit("all"), skillopt.WithPasses(1), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")))
	if err != nil {
		t.Fatal(err)
	}
	checkRunSpan(t, r, "compare", "undecided")
}

package acceptance_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// ollama is a server of Ollama with one model, whose context is given.
func ollama(t *testing.T, window int) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := map[string]any{
			"model": "m", "message": map[string]string{"role": "assistant", "content": `{"ready": true}`},
			"done": true, "done_reason": "stop", "prompt_eval_count": 30, "eval_count": 5,
		}
		if r.URL.Path == "/api/show" {
			answer = map[string]any{"model_info": map[string]any{"general.architecture": "a", "a.context_length": window}}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// rows returns the findings about the model of a role.
func rows(t *testing.T, cfg config.Config, role string) []result.Finding {
	t.Helper()
	var found []result.Finding
	for _, r := range skillopt.Examine(t.Context(), cfg, inProcess(t)[1]).Rows {
		if r.Name == "model "+role {
			found = append(found, r)
		} else if !r.OK && !r.Skipped {
			t.Errorf("%+v", r)
		}
	}
	return found
}

// How much of a prompt a model of Ollama reads is told before a run: Ollama cuts
// the rest without a word.
func TestExamineTellsTheContextOfOllama(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("")
	cfg.Models.Target.Provider, cfg.Models.Target.BaseURL = "ollama", ollama(t, 8192)
	if got := rows(t, cfg, model.Target); len(got) != 1 || !got[0].OK || !strings.Contains(got[0].Detail, "context of 8192 tokens (models.target.context)") {
		t.Errorf("%+v", got)
	}
	cfg.Models.Target.Context = 9000
	if got := rows(t, cfg, model.Target); len(got) != 1 || got[0].OK || !strings.Contains(got[0].Detail, "has at most 8192 tokens") {
		t.Errorf("more than the model has: %+v", got)
	}
	cfg.Models.Target.Context, cfg.Models.Target.Endpoints = 0, []string{ollama(t, 4096)}
	got := rows(t, cfg, model.Target)
	if len(got) != 2 || !strings.Contains(got[0].Detail, "context of 8192") || !strings.Contains(got[1].Detail, "context of 4096") {
		t.Errorf("two endpoints: %+v", got)
	}
}

// How fast a model on this machine is, is measured before a run, and plans go by it.
func TestExamineMeasuresALocalModel(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("")
	cfg.Models.Target.Provider, cfg.Models.Target.BaseURL = "ollama", ollama(t, 8192)
	cfg.Run.Dir = t.TempDir()
	plan := func() *result.Interval {
		p, err := skillopt.Plan(t.Context(), cfg, inProcess(t)[1])
		if err != nil {
			t.Fatal(err)
		}
		return p.Forecast.TimeS
	}
	if got := plan(); got != nil {
		t.Errorf("a time of %+v though nothing is known of the model", *got)
	}
	if got := rows(t, cfg, model.Target); len(got) != 1 || !got[0].OK || !strings.Contains(got[0].Detail, "tokens a second") {
		t.Errorf("%+v", got)
	}
	if got := plan(); got == nil || got.Expected <= 0 {
		t.Errorf("a time of %+v", got)
	}
}

// Each of several endpoints is asked: the others would hide one that fails.
func TestExamineAsksEveryEndpoint(t *testing.T) {
	t.Parallel()
	good, bad := serve(t, wiretest.Options{}), httptest.NewServer(nil)
	bad.Close()
	cfg := worldConfig(good.URL())
	cfg.Models.Target.Endpoints = []string{bad.URL + "/v1"}
	got := rows(t, cfg, model.Target)
	if len(got) != 2 || !got[0].OK || !strings.Contains(got[0].Detail, good.URL()) {
		t.Fatalf("%+v", got)
	}
	if got[1].OK || !strings.Contains(got[1].Detail, bad.URL) || !strings.Contains(got[1].Fix, "models.target.endpoints") {
		t.Errorf("an endpoint that nobody serves: %+v", got[1])
	}
}

// An endpoint that is asked no more is named once: the run continues without it.
func TestARunTellsOfAnEndpointThatIsOut(t *testing.T) {
	t.Parallel()
	good := serve(t, wiretest.Options{})
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{"message":"wrong key"}}`, http.StatusUnauthorized)
	}))
	defer refusing.Close()
	cfg := worldConfig(good.URL())
	cfg.Models.Target.Endpoints = []string{refusing.URL + "/v1"}
	var mu sync.Mutex
	var warnings []string
	trained(t, cfg, filepath.Join(t.TempDir(), "run"), skillopt.WithEvents(func(e event.Event) {
		if w, ok := e.(event.Warning); ok && strings.Contains(w.Text, refusing.URL) {
			mu.Lock()
			defer mu.Unlock()
			warnings = append(warnings, w.Text)
		}
	}))
	if len(warnings) != 1 || !strings.Contains(warnings[0], "models.target.endpoints") || !strings.Contains(warnings[0], "wrong key") {
		t.Errorf("warnings %q", warnings)
	}
}

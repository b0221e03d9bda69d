package acceptance_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// heard is a model that keeps what it was asked, and is done at once.
type heard struct {
	mu   sync.Mutex
	reqs []model.Request
}

func (h *heard) Generate(_ context.Context, req model.Request) (model.Response, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reqs = append(h.reqs, req)
	return modeltest.Text("done").Response, nil
}

// What the config sets of a model holds for its agent as well, whatever the agent
// asks for; what it leaves open is the agent's own.
func TestSamplingOfAgents(t *testing.T) {
	t.Parallel()
	zero, half := 0.0, 0.5
	for name, tt := range map[string]struct {
		set  func(*config.Config)
		want model.Sampling
	}{
		"open": {func(*config.Config) {}, model.Sampling{Temperature: &half, MaxTokens: 20}},
		"set": {func(c *config.Config) {
			c.Models.Target.Temperature, c.Models.Target.MaxTokens, c.Models.Target.ReasoningEffort = &zero, 900, "low"
		}, model.Sampling{Temperature: &zero, MaxTokens: 900, ReasoningEffort: "low"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := &heard{}
			got, _, err := rogue{
				script: dial("'$key'", `{"model":"m","temperature":0.5,"max_tokens":20,"messages":[{"role":"user","content":"x"}]}`) + ` >/dev/null; printf done`,
				client: client, change: func(c *config.Config) { c.Agent.Gateway = true; tt.set(c) },
			}.run(t)
			if err != nil || got["bad"].Hard != 1 || len(client.reqs) != 1 {
				t.Fatalf("%+v, %d requests, %v", got["bad"], len(client.reqs), err)
			}
			asked := client.reqs[0].Sampling
			asked.Seed = nil
			if diff := cmp.Diff(tt.want, asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What one judge said of an episode is no score where another judge is named.
func TestForksWithAnotherJudge(t *testing.T) {
	t.Parallel()
	says := func(equivalent string) skillopt.Option {
		return skillopt.WithClient(model.Judge, "scripted", modeltest.Always(`{"reason":"seen","equivalent":`+equivalent+`}`))
	}
	r := func(judge string) rogue {
		return rogue{script: "printf done", change: func(c *config.Config) {
			c.Tasks.Checks = []any{map[string]any{"type": "llm-equivalent"}}
			c.Models.Judge.Provider, c.Models.Judge.Model = "openai", judge
		}}
	}
	got, from, err := r("strict").run(t, says("false"))
	if err != nil || got["bad"].Hard != 0 {
		t.Fatalf("%+v, %v", got["bad"], err)
	}
	to := filepath.Join(t.TempDir(), "fork")
	if _, _, err := r("mild").run(t, says("true"), skillopt.WithRunDir(from), skillopt.WithFork(to)); err != nil {
		t.Fatal(err)
	}
	for id, o := range outcomesIn(t, to) {
		if o.Hard != 1 {
			t.Errorf("%s: %+v", id, o)
		}
	}
}

package skillopt_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
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
		set  func(*skillopt.Config)
		want model.Sampling
	}{
		"open": {func(*skillopt.Config) {}, model.Sampling{Temperature: &half, MaxTokens: 20}},
		"set": {func(c *skillopt.Config) {
			c.Models.Target.Temperature, c.Models.Target.MaxTokens, c.Models.Target.ReasoningEffort = &zero, 900, "low"
		}, model.Sampling{Temperature: &zero, MaxTokens: 900, ReasoningEffort: "low"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := &heard{}
			got, _, err := rogue{
				script: dial("'$key'", `{"model":"m","temperature":0.5,"max_tokens":20,"messages":[{"role":"user","content":"x"}]}`) + ` >/dev/null; printf done`,
				client: client, change: func(c *skillopt.Config) { c.Agent.Gateway = true; tt.set(c) },
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

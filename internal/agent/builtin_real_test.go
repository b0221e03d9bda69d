package agent

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/provider/openai"
	"github.com/seed-f4525e22/skillopt/internal/testing/agenttest"
	"github.com/seed-f4525e22/skillopt/model"
)

// TestBuiltinBehaves has the built-in agent do what real ones are tried with, over HTTP
// and with the retries that a run gives it.
func TestBuiltinBehaves(t *testing.T) {
	t.Parallel()
	for behaviour, test := range map[string]func(*testing.T, *Agent){
		agenttest.Tool: usesTool, agenttest.Parallel: callsAtOnce, agenttest.Auth: hasWrongKey, agenttest.Retries: seesTwoFaults,
		agenttest.CutShort: isCutShort, agenttest.Overflow: overflows, agenttest.Hang: hangsAtWork, "a whole skill": usesFolder,
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			test(t, builtinAgent(t))
		})
	}
}

// runBuiltin runs a job whose model is the server of its endpoint.
func runBuiltin(t *testing.T, a *Agent, j Job) (rep Report) {
	t.Helper()
	client, err := openai.New(openai.Options{BaseURL: j.Endpoint.URL + "/v1", APIKey: j.Endpoint.Key})
	if err != nil {
		t.Fatal(err)
	}
	record, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "run.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer record.Close()
	role := caller.Role{Client: client, Endpoint: "local", Model: j.Model, Timeout: time.Minute}
	c, err := caller.New(caller.Options{Journal: record, Roles: map[string]caller.Role{model.Target: role}, Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	j.Endpoint = nil
	call := caller.EpisodeCall{Key: "episode", Stage: model.StageRollout, Role: model.Target}
	// That an episode failed is what its report says.
	_, _ = c.Episode(t.Context(), call, func(ctx context.Context, client model.Client) (caller.EpisodeResult, error) {
		j.Client = client
		rep, err = a.Run(ctx, j)
		return caller.EpisodeResult{}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

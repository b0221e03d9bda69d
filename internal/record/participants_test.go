package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

func TestParts(t *testing.T) {
	t.Parallel()
	settings := map[string]string{
		"models.target.provider": `"vllm"`, "models.target.model": `"Qwen/Qwen3-8B"`,
		"models.optimizer.provider": `"claude-cli"`, "models.optimizer.model": `"opus"`, "models.judge.provider": `""`,
		"agent.name": `"codex"`,
	}
	own := map[string]string{
		"models.target.base_url": `"http://localhost:8000/v1"`, "models.optimizer.version": `"2.0.1"`, "agent.version": `"0.42.0"`,
	}
	for name, tt := range map[string]struct {
		kind result.Kind
		id   map[string]string
		want map[string]string
	}{
		"training": {result.Train, nil, map[string]string{
			"target": "vllm/Qwen/Qwen3-8B at http://localhost:8000/v1", "optimizer": "claude-cli/opus 2.0.1", "agent": "codex 0.42.0",
		}},
		"evaluation": {result.Evaluate, map[string]string{"library.evaluate": "test"}, map[string]string{
			"target": "vllm/Qwen/Qwen3-8B at http://localhost:8000/v1", "agent": "codex 0.42.0",
		}},
		"draft":   {result.DraftTasks, map[string]string{"library.draft": "30"}, map[string]string{"optimizer": "claude-cli/opus 2.0.1"}},
		"gateway": {result.ServeModel, map[string]string{"library.gateway": "optimizer"}, map[string]string{"optimizer": "claude-cli/opus 2.0.1"}},
		"the user's own, and a masked name": {
			result.Train,
			map[string]string{"library.client.target": "mine", "models.target.provider": `""`, "models.target.model": `""`, "models.optimizer.model": "pbkdf2:12ab", "agent.name": `""`},
			map[string]string{"target": "mine at http://localhost:8000/v1", "optimizer": "claude-cli/pbkdf2:12ab 2.0.1"},
		},
	} {
		id := map[string]string{}
		for _, from := range []map[string]string{settings, tt.id} {
			for k, v := range from {
				id[k] = v
			}
		}
		got := map[string]string{}
		for _, p := range Participants(run.Manifest{Kind: tt.kind, Identity: id, Operational: own}) {
			got[p.Role] = p.String()
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

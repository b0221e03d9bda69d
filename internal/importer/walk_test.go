package importer_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/importer"
)

// TestTakenKeysAreRead walks every key: two values that are reported as taken over become two
// configurations, whatever the backend. What is kept in extras is read by nothing.
func TestTakenKeysAreRead(t *testing.T) {
	t.Parallel()
	words := map[string][]any{
		"model.backend": {"claude", "qwen"}, "model.optimizer_backend": {"claude", "qwen"}, "model.target_backend": {"claude", "qwen"},
		"optimizer.skill_update_mode": {"patch", "full_rewrite_minibatch"}, "optimizer.lr_control_mode": {"autonomous", "none"},
		"optimizer.lr_scheduler": {"linear", "cosine"}, "optimizer.longitudinal_pair_policy": {"mixed", "changed"},
		"evaluation.gate_metric": {"hard", "soft"}, "env.name": {"searchqa", "docvqa"}, "env.split_ratio": {"2:1:7", "1:1:1"},
		"env.split_mode": {"ratio", "split_dir"}, "model.minimax_region": {"global_en", "cn_zh"},
	}
	for _, role := range []string{"", "optimizer_", "target_"} {
		words["model."+role+"azure_openai_auth_mode"] = []any{"api_key", "managed_identity"}
		words["model."+role+"qwen_chat_thinking_mode"] = []any{"enabled", "disabled"}
	}
	taken, to := 0, target(t)
	for _, backend := range []string{"", "compat", "claude", "qwen", "minimax", "copilot", "codex", "claude_code_exec", "cursor", "copilot_exec"} {
		for _, key := range importer.EveryKey() {
			values := words[key]
			if values == nil {
				values = []any{"x", "y", true, false, int64(3), int64(7), 0.25, 0.75}
			}
			plans := map[string][]any{}
			for _, v := range values {
				if plan, ok := planned(t, to, backend, key, v); ok {
					plans[plan] = append(plans[plan], v)
				}
			}
			if len(plans) > 0 {
				taken++
			}
			for plan, same := range plans {
				if len(plans) == 1 && len(same) > 1 {
					t.Errorf("%s %s: taken over for %v, and nothing reads it:\n%s", backend, key, same, plan)
				}
			}
		}
	}
	if taken < 300 {
		t.Errorf("only %d keys were taken over", taken)
	}
}

// planned is the configuration of ours that a source with one key becomes, without extras; false
// where the report does not say that the key is taken over.
func planned(t *testing.T, to importer.Target, backend, key string, v any) (string, bool) {
	t.Helper()
	section, name, _ := strings.Cut(key, ".")
	cfg := map[string]any{"model": map[string]any{"backend": backend, "target": "m", "optimizer": "m", "reasoning_effort": "low"}, "optimizer": map[string]any{"learning_rate": int64(9), "use_semantic_density": true}}
	if cfg[section] == nil {
		cfg[section] = map[string]any{}
	}
	cfg[section].(map[string]any)[name] = v
	text, report, err := importer.Import(cfg, importer.Options{Target: to})
	if err != nil {
		t.Fatal(err)
	}
	taken := slices.ContainsFunc(report.Rows, func(r importer.Row) bool {
		return r.Key == key && r.State == importer.Taken && !strings.Contains(r.Note, "the key is not copied")
	})
	plan := regexp.MustCompile(`(?m)^#.*\n|^extras:\n(?:  .*\n)*`).ReplaceAllString(string(text), "")
	return plan, taken
}

// TestNoConfigIsQuoted: a file that is no configuration of SkillOpt is refused, and nothing of it is
// in the error.
func TestNoConfigIsQuoted(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"passwords":       "root:$y$j9T$sesame$0123456789:19700:0:99999:7:::\ndaemon:*:19700:0:99999:7:::\n",
		"locked":          "root: !$6$sesame$abc\n",
		"compose":         "services:\n  web: {image: sesame}\nversion: '3'\n",
		"promptfoo":       "prompts: [sesame]\nproviders: [openai:gpt-5-mini]\nenv: {OPENAI_API_KEY: sesame}\n",
		"a workflow":      "name: sesame\non: push\nenv: {CI: true}\njobs: {}\n",
		"ours":            "skill: sesame\ntasks: t.jsonl\ntrain: {epochs: 2, batch_size: 8}\nmodels: {}\n",
		"another trainer": "model_name: sesame\nnum_train_epochs: 3\nwarmup_steps: 10\nseed: 42\n",
		"nothing":         "",
	} {
		err := importer.Recognise("f", []byte(text))
		if err == nil {
			_, err = importer.Parse("f", []byte(text))
		}
		if err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"a section": "train: {num_epochs: 2}\n", "flat": "num_epochs: 2\nworkers: 3\n", "a base alone": "_base_: x.yaml\n",
		"a fork": "_base_: x.yaml\nmodel: {backend: qwen, own_thing: 1}\nenv: {name: mine, a: 1, b: 2, c: 3}\n",
	} {
		if err := importer.Recognise("f", []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFallbacksOfTheSource: what a source without a base leaves out is off there, and ours are on.
func TestFallbacksOfTheSource(t *testing.T) {
	t.Parallel()
	out, report, err := importer.Import(map[string]any{"train": map[string]any{"num_epochs": int64(2)}}, importer.Options{Target: target(t)})
	if err != nil {
		t.Fatal(err)
	}
	loads(t, out)
	for key, line := range map[string]string{"edits.schedule": "schedule: constant", "slow_update.enabled": "slow_update:\n  enabled: false", "meta_skill.enabled": "meta_skill:\n  enabled: false"} {
		added := slices.ContainsFunc(report.Added, func(r importer.Row) bool { return slices.Contains(r.To, key) })
		if !added || !strings.Contains(string(out), line) {
			t.Errorf("%s: added %v in\n%s", key, added, out)
		}
	}
}

package importer

import (
	"strings"
	"sync"
)

// setting is one thing that can be configured, in both forms: as a key of a
// section ("train.num_epochs") and as a flat key ("num_epochs").
type setting struct {
	section, key string
	flat         string
}

// isEnvName reports whether the setting is env.name, the odd one: its flat name is that of its own section.
func (s setting) isEnvName() bool { return s.section == "env" && s.key == "name" }

// sections returns the names that make a configuration a structured one when they hold a mapping.
func sections() []string {
	return []string{"model", "train", "gradient", "optimizer", "evaluation", "env"}
}

func isSection(name string) bool {
	for _, s := range sections() {
		if s == name {
			return true
		}
	}
	return false
}

// settings are all settings that have a section. No one changes the list.
var settings = sync.OnceValue(listSettings)

// listSettings makes the list. A flat name is that of the key unless "=" says
// otherwise.
func listSettings() []setting {
	var out []setting
	add := func(section, names string) {
		for _, name := range strings.Fields(names) {
			key, flat, renamed := strings.Cut(name, "=")
			if !renamed {
				flat = key
			}
			out = append(out, setting{section, key, flat})
		}
	}
	add("model", `backend=model_backend optimizer=optimizer_model target=target_model optimizer_backend target_backend
		reasoning_effort rewrite_reasoning_effort rewrite_max_completion_tokens
		codex_exec_path codex_exec_sandbox codex_exec_profile codex_exec_full_auto codex_exec_reasoning_effort codex_exec_use_sdk
		codex_exec_network_access codex_exec_web_search codex_exec_approval_policy codex_trace_to_optimizer
		claude_code_exec_path claude_code_exec_profile claude_code_exec_use_sdk claude_code_exec_effort
		claude_code_exec_max_thinking_tokens claude_trace_to_optimizer cursor_exec_path cursor_exec_sandbox
		copilot_exec_path copilot_exec_home copilot_exec_allow_all_tools
		copilot_chat_optimizer_model copilot_chat_target_model copilot_chat_timeout
		azure_endpoint azure_api_version azure_api_key
		minimax_region minimax_base_url minimax_api_key minimax_model minimax_temperature minimax_max_tokens minimax_enable_thinking`)
	for _, role := range []string{"", "optimizer_", "target_"} {
		for _, family := range [][2]string{
			{"azure_openai_", "endpoint api_version api_key auth_mode ad_scope managed_identity_client_id"},
			{"qwen_chat_", "base_url api_key temperature timeout_seconds max_tokens enable_thinking thinking_mode"},
			{"openai_compatible_", "base_url api_key model temperature timeout_seconds max_tokens"},
		} {
			for _, name := range strings.Fields(family[1]) {
				add("model", role+family[0]+name)
			}
		}
	}
	add("train", "num_epochs train_size steps_per_epoch batch_size accumulation seed")
	add("gradient", "minibatch_size merge_batch_size analyst_workers failure_only")
	add("optimizer", `learning_rate=edit_budget min_learning_rate=min_edit_budget meta_learning_rate=meta_edit_budget
		lr_scheduler lr_control_mode skill_update_mode use_slow_update slow_update_samples slow_update_gate_with_selection
		longitudinal_pair_policy use_meta_skill use_skill_aware_reflection skill_aware_appendix_source skill_aware_consolidate_threshold`)
	add("evaluation", `use_gate gate_metric gate_mixed_weight use_semantic_density semantic_density_weight leading_words
		sel_env_num test_env_num eval_test`)
	add("env", "name=env skill_init out_root")
	return out
}

// findSetting returns the setting of a flat name.
func findSetting(flat string) (setting, bool) {
	for _, s := range settings() {
		if s.flat == flat {
			return s, true
		}
	}
	return setting{}, false
}

// settingAt returns the setting of a key of a section.
func settingAt(section, key string) (setting, bool) {
	for _, s := range settings() {
		if s.section == section && s.key == key {
			return s, true
		}
	}
	return setting{}, false
}

// spelling is a key with its older names; the first of them that is there counts.
type spelling struct {
	name  string
	older []string
}

func spellings() []spelling {
	return []spelling{
		{"codex_exec_path", []string{"codex_path", "codex_cli_bin", "codex_bin"}},
		{"codex_exec_sandbox", []string{"sandbox", "codex_sandbox"}},
	}
}

// modernName returns the present name of a key that may have an older one.
func modernName(key string) string {
	for _, s := range spellings() {
		for _, old := range s.older {
			if old == key {
				return s.name
			}
		}
	}
	return key
}

// modernise gives the keys of one mapping their present names. A present name
// that is there wins over older ones, also when it is empty.
func modernise(m map[string]any) {
	for _, s := range spellings() {
		for _, old := range s.older {
			value, ok := m[old]
			if !ok {
				continue
			}
			if _, taken := m[s.name]; !taken {
				m[s.name] = value
			}
			delete(m, old)
		}
	}
}

// moderniseConfig returns a copy of a configuration with present names, at the top
// and in the section of models.
func moderniseConfig(cfg map[string]any) map[string]any {
	out := clone(cfg)
	modernise(out)
	if model, ok := out["model"].(map[string]any); ok {
		modernise(model)
	}
	return out
}

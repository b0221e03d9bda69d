package importer

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
)

// dataKeys returns the keys of the section env that all benchmarks of SkillOpt share.
func dataKeys() []string {
	return strings.Fields(`split_mode split_ratio split_seed split_dir data_path split_output_dir exec_timeout workers limit
		max_completion_tokens`)
}

// benchmarkKeys returns the keys of the section env that single benchmarks have.
func benchmarkKeys() []string {
	return strings.Fields(`max_turns max_steps max_tool_turns max_api_workers mode image_detail data_root data_dirs docs_dirs
		shuffle_choices use_theorem use_sketch use_eval_feedback history_length search_mode search_api_url search_auth_env
		search_provider search_max_num_results search_timeout_seconds max_num_results max_queries_per_turn use_local_tools`)
}

// benchmarks returns the names of the benchmarks that SkillOpt ships or shipped.
func benchmarks() []string {
	return strings.Fields("alfworld docvqa livemathematicianbench officeqa searchqa spreadsheetbench babyvision mathverse mmrb sealqa swebench")
}

// benchmarkNames returns the benchmarks that there are here.
func benchmarkNames() []string { return folder.Names() }

// explainKey returns what happens to keys that are taken over nowhere, and why.
func explainKey(flat string, v any) (Row, bool) {
	is := func(state State, note string) (Row, bool) { return Row{State: state, Note: note}, true }
	switch flat {
	case "train_size":
		return is(NotNeeded, "the train split has the tasks that the data give it")
	case "steps_per_epoch":
		return is(NotNeeded, "it follows from the train split and the batch")
	case "meta_edit_budget", "max_analyst_rounds", "use_meta_reflect":
		return is(NotNeeded, "nothing in SkillOpt reads it")
	case "max_turns", "image_detail", "use_theorem", "use_sketch", "shuffle_choices":
		if k := rowsByKey()[flat][0]; slices.Contains(k.same, plain(v)) {
			return is(NotNeeded, k.Note)
		}
	case "leading_words":
		return is(NoCounterpart, "the list of directive words cannot be set")
	case "sel_env_num", "test_env_num":
		if empty(v) {
			return is(NotNeeded, "0: the whole split")
		}
		return is(NoCounterpart, rowsByKey()[flat][0].Note)
	case "rewrite_reasoning_effort", "rewrite_max_completion_tokens":
		return is(NoCounterpart, "all calls of the optimizer have one setting")
	case "human_feedback":
		if m, _ := v.(map[string]any); empty(m["enabled"]) {
			return is(NotNeeded, "off")
		}
		return is(NoCounterpart, "the gate does not wait for a person")
	case "codex_trace_to_optimizer", "claude_trace_to_optimizer":
		if v == false {
			return is(NoCounterpart, "analysts always see what an agent did")
		}
		return is(NotNeeded, "analysts always see what an agent did")
	}
	for _, role := range []string{"optimizer_minimax_", "target_minimax_"} {
		if strings.HasPrefix(flat, role) {
			return is(NotNeeded, "nothing in SkillOpt reads it")
		}
	}
	if flat == "mem0_enabled" && empty(v) {
		return is(NotNeeded, "off")
	}
	if strings.HasPrefix(flat, "mem0_") {
		return is(NoCounterpart, "there is no memory outside the run")
	}
	return knownOfAgents(flat, v)
}

// knownOfAgents does what explainKey does for the keys of agents.
func knownOfAgents(flat string, v any) (Row, bool) {
	is := func(state State, note string) (Row, bool) { return Row{State: state, Note: note}, true }
	switch flat {
	case "codex_exec_sandbox", "cursor_exec_sandbox":
		return is(NotNeeded, "agents run in the sandbox of this program")
	case "codex_exec_full_auto", "codex_exec_approval_policy", "codex_exec_use_sdk", "claude_code_exec_use_sdk", "copilot_exec_allow_all_tools":
		return is(NotNeeded, "agents are run as programs that ask nothing")
	case "copilot_exec_home":
		return is(NotNeeded, "each agent has a home of its own")
	case "codex_exec_network_access", "codex_exec_web_search":
		if empty(v) {
			return is(NotNeeded, "off")
		}
		return is(NoCounterpart, "the network of an agent is not opened by an import")
	}
	return Row{}, false
}

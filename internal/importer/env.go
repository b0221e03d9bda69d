package importer

import (
	"slices"
	"strings"
)

// EnvKey is a row of the table of what happens to the keys that environments have.
type EnvKey struct {
	Key  string   // with its section
	Envs []string // those that read it; nil: all
	To   []string // ours, of which one or several are set; none: nothing here does that
	Note string   // the reason, or what holds for it
	// same are the values without which nothing is lost.
	same []any
}

// flat returns the key without its section.
func (k EnvKey) flat() string {
	_, name, _ := strings.Cut(k.Key, ".")
	return name
}

// reads reports whether an environment reads the key.
func (k EnvKey) reads(name string) bool { return k.Envs == nil || slices.Contains(k.Envs, name) }

// The environments whose keys are known.
const (
	alfworld    = "alfworld"
	officeQA    = "officeqa"
	spreadsheet = "spreadsheetbench"
)

// knownEnvs returns the environments that SkillOpt has the program of: what they read is known.
func knownEnvs() []string {
	return []string{alfworld, "docvqa", "livemathematicianbench", officeQA, "searchqa", spreadsheet}
}

// EnvKeys returns the table: each key of env, and those of evaluation that take some tasks of a split.
func EnvKeys() []EnvKey {
	office, sheets := []string{officeQA}, []string{spreadsheet}
	questions := []string{"docvqa", "livemathematicianbench", "searchqa"}
	math := []string{"livemathematicianbench"}
	return []EnvKey{
		{Key: "env.name", To: []string{"bench.name", "env.world"}, Note: "env.world for alfworld (textgame), officeqa (corpus) and spreadsheetbench (spreadsheet); an environment of your own is a program: env.command"},
		{Key: "env.skill_init", To: []string{"skill"}},
		{Key: "env.out_root", To: []string{"run.dir"}, Note: "there the folder of one run, here of all runs"},
		{Key: "env.split_mode", Note: "tasks in folders for train, val and test are taken as they are divided"},
		{Key: "env.split_dir", To: []string{"bench.data", "tasks.path"}},
		{Key: "env.data_path", To: []string{"bench.data", "tasks.path"}},
		{Key: "env.split_ratio", To: []string{"split.ratio"}},
		{Key: "env.split_seed", To: []string{"split.seed"}},
		{Key: "env.split_output_dir", Note: "the seed gives the same split again"},
		{Key: "env.limit", Envs: []string{alfworld, "docvqa", "livemathematicianbench", officeQA, "searchqa"}, To: []string{"tasks.limit"}},
		{Key: "evaluation.sel_env_num", Note: "tasks.limit limits all three splits alike", same: []any{int64(0)}},
		{Key: "evaluation.test_env_num", Note: "tasks.limit limits all three splits alike", same: []any{int64(0)}},
		{Key: "env.workers", To: []string{"limits.concurrency"}, Note: "the largest of the pools"},
		{Key: "env.max_api_workers", Envs: []string{alfworld}, To: []string{"limits.concurrency"}, Note: "the largest of the pools"},
		{Key: "env.max_completion_tokens", To: []string{"models.target.max_tokens"}, Note: "not for agents, which have a limit of their own"},
		{Key: "env.exec_timeout", Envs: questions, To: []string{"models.target.timeout", "agent.timeout"}},
		{Key: "env.exec_timeout", Envs: sheets, To: []string{"env.timeout", "agent.timeout"}, Note: "of a whole task"},
		{Key: "env.max_turns", Envs: questions, Note: "a task has one turn here", same: []any{int64(1)}},
		{Key: "env.max_turns", Envs: sheets, To: []string{"env.turns"}, Note: "not in mode single"},
		{Key: "env.mode", Envs: sheets, To: []string{"env.mode"}, Note: "single, multi and react; other words act as react"},
		{Key: "env.data_root", Envs: sheets, Note: "the workbooks that tasks name are looked for in bench.data: copy the folder there"},
		{Key: "env.use_eval_feedback", Envs: []string{}, Note: "SkillOpt reads it from no configuration"},
		{Key: "env.search_mode", Envs: office, To: []string{"env.mode"}, Note: "offline is tools, custom_search is search; azure_search, the search of a server, has no counterpart"},
		{Key: "env.use_local_tools", Envs: office, To: []string{"env.mode"}, Note: "false is pages where search_mode is offline"},
		{Key: "env.max_tool_turns", Envs: office, To: []string{"env.turns"}, Note: "not in mode pages"},
		{Key: "env.data_dirs", Envs: office, To: []string{"env.docs"}, Note: "a list of several is refused, since env.docs is one folder"},
		{Key: "env.docs_dirs", Envs: office, To: []string{"env.docs"}, Note: "where data_dirs is not set"},
		{Key: "env.search_api_url", Envs: office, To: []string{"env.search.url"}, Note: "in mode search, as the next"},
		{Key: "env.search_auth_env", Envs: office, To: []string{"env.search.api_key_env"}},
		{Key: "env.search_provider", Envs: office, Note: "the endpoint chooses its provider"},
		{Key: "env.search_max_num_results", Envs: office, Note: "a query has at most 4 results here", same: []any{int64(4)}},
		{Key: "env.search_timeout_seconds", Envs: office, Note: "a query has 20 seconds here", same: []any{int64(20)}},
		{Key: "env.max_queries_per_turn", Envs: office, Note: "a round has at most 4 queries here", same: []any{int64(4)}},
		{Key: "env.image_detail", Envs: []string{"docvqa"}, Note: "the detail of pictures is left to the server", same: []any{"auto"}},
		{Key: "env.shuffle_choices", Envs: math, Note: "choices are always shuffled here", same: []any{true}},
		{Key: "env.use_theorem", Envs: math, Note: "the theorem is not shown here", same: []any{false}},
		{Key: "env.use_sketch", Envs: math, Note: "the sketch of the proof is not shown here", same: []any{false}},
		{Key: "env.max_steps", Envs: []string{alfworld}, To: []string{"env.turns"}, Note: "a reply without a command is a turn too"},
		{Key: "env.max_num_results", Envs: []string{}, Note: "no environment of SkillOpt reads it"},
		{Key: "env.history_length", Envs: []string{}, Note: "no environment of SkillOpt reads it"},
	}
}

// environment reports which keys the environment does not read, and converts those of the three in
// which a target acts over several turns.
func (c *converter) environment() {
	name := strings.ToLower(c.text("env"))
	if !slices.Contains(knownEnvs(), name) {
		return
	}
	for flat, rows := range rowsByKey() {
		if !slices.ContainsFunc(rows, func(k EnvKey) bool { return k.reads(name) }) {
			c.settle(flat, NotNeeded, "SkillOpt does not read it for "+name)
		}
	}
	c.act(name)
	for _, k := range EnvKeys() {
		if _, said := c.rows[k.flat()]; k.To == nil && k.Envs != nil && k.reads(name) && c.set(k.flat()) && !said {
			c.keep(k)
		}
	}
}

func rowsByKey() map[string][]EnvKey {
	out := map[string][]EnvKey{}
	for _, k := range EnvKeys() {
		out[k.flat()] = append(out[k.flat()], k)
	}
	return out
}

// keep reports a key that is taken over nowhere.
func (c *converter) keep(k EnvKey) {
	state := NoCounterpart
	if slices.Contains(k.same, plain(c.in[k.flat()])) {
		state = NotNeeded
	}
	c.note(k.flat(), state, k.Note)
}

// plain returns a value that can be compared; nil for lists and mappings.
func plain(v any) any {
	switch v.(type) {
	case []any, map[string]any:
		return nil
	}
	return v
}

// settle says what happened to a key, of which nothing else shall be made.
func (c *converter) settle(flat string, state State, note string) {
	c.note(flat, state, note)
	delete(c.in, flat)
}

// act converts the keys of a world. An agent acts in a workspace of its own instead.
func (c *converter) act(name string) {
	if !slices.Contains([]string{alfworld, officeQA, spreadsheet}, name) {
		return
	}
	_, target := RoleBackends(c.text("model_backend"), c.text("optimizer_backend"), c.text("target_backend"))
	if slices.Contains([]string{CodexExec, ClaudeCodeExec, CursorExec, CopilotExec}, target) {
		if name == officeQA { // it gets the documents of its task
			c.docs()
		}
		for _, flat := range actingKeys() {
			if c.set(flat) && flat != "data_dirs" && flat != "docs_dirs" {
				c.settle(flat, NoCounterpart, "the target is an agent, which acts in a workspace of its own")
			}
		}
		return
	}
	switch name {
	case officeQA:
		c.corpus()
	case alfworld:
		c.games()
	default:
		c.workbooks()
	}
}

// games converts the keys of alfworld.
func (c *converter) games() {
	c.add("env.world", "textgame", "the world of "+alfworld)
	c.turns("max_steps", true, 50)
	c.add("env.history", "2", "SkillOpt's default")
	c.add("env.docs", "${ALFWORLD_DATA}", "where SkillOpt looks for games; ~/.cache/alfworld where the variable is not set")
}

// actingKeys returns the keys of which something in env is made.
func actingKeys() []string {
	var out []string
	for _, k := range EnvKeys() {
		if len(k.Envs) == 1 && len(k.To) == 1 && strings.HasPrefix(k.To[0], "env.") {
			out = append(out, k.flat())
		}
	}
	return out
}

// workbooks converts the keys of spreadsheetbench.
func (c *converter) workbooks() {
	c.add("env.world", "spreadsheet", "the world of "+spreadsheet)
	mode := "single"
	switch said := c.text("mode"); {
	case !c.set("mode"):
		c.add("env.mode", mode, "SkillOpt's default")
	case said == "":
		c.note("mode", Unusable, "found "+c.show(c.in["mode"])+", allowed: single, multi, react")
	case slices.Contains([]string{"single", "multi", "react"}, said):
		mode = said
		c.take("mode", "env.mode", mode, "")
	default:
		mode = "react"
		c.take("mode", "env.mode", mode, "other words act as react")
	}
	c.turns("max_turns", mode != "single", 30)
	if !c.set("exec_timeout") {
		return
	}
	if text, ok := c.seconds("exec_timeout"); ok {
		c.take("exec_timeout", "env.timeout", text, "of a whole task")
	}
	delete(c.in, "exec_timeout") // no call has it
}

// turns converts the number of replies to a task.
func (c *converter) turns(flat string, several bool, def int64) {
	switch {
	case !several:
		c.note(flat, NotNeeded, "the target replies once in this mode")
	case c.set(flat):
		c.take(flat, "env.turns", c.in[flat], "")
	default:
		c.add("env.turns", def, "SkillOpt's default")
	}
}

// corpus converts the keys of officeqa.
func (c *converter) corpus() {
	c.add("env.world", "corpus", "the world of "+officeQA)
	mode := c.searchMode()
	c.turns("max_tool_turns", mode != "pages" && mode != "", 12)
	c.docs()
	if mode == "search" {
		c.direct("search_api_url", "env.search.url", "")
		if c.direct("search_auth_env", "env.search.api_key_env", ""); !c.set("search_auth_env") {
			c.add("env.search.api_key_env", "OFFICEQA_CUSTOM_SEARCH_AUTH", "the variable that SkillOpt reads")
		}
		return
	}
	for _, flat := range []string{"search_api_url", "search_auth_env", "search_provider", "search_max_num_results", "search_timeout_seconds", "max_queries_per_turn"} {
		c.note(flat, NotNeeded, "search_mode is not custom_search")
	}
}

// searchMode converts how the target finds what it reads, and returns it; "": nothing here does.
func (c *converter) searchMode() string {
	said, mode, note := strings.ToLower(c.text("search_mode")), "tools", ""
	switch said {
	case "custom", "custom_search":
		if !c.set("search_api_url") {
			c.note("search_mode", NoCounterpart, "search_api_url names no endpoint: env.mode search needs one of yours in env.search.url")
			c.note("use_local_tools", NotNeeded, "read in search_mode offline alone")
			return ""
		}
		c.take("search_mode", "env.mode", "search", "")
		c.note("use_local_tools", NotNeeded, "read in search_mode offline alone")
		return "search"
	case "azure", "azure_search":
		c.note("search_mode", NoCounterpart, "the search of a server has no counterpart: env.mode search asks an endpoint of yours")
		c.note("use_local_tools", NotNeeded, "read in search_mode offline alone")
		return ""
	case "offline", "":
	default:
		note = "other words act as offline"
	}
	if !c.yes("use_local_tools", true) {
		mode = "pages"
		c.take("use_local_tools", "env.mode", mode, "")
	} else {
		c.note("use_local_tools", NotNeeded, "the target has tools here too")
	}
	switch {
	case said != "":
		c.take("search_mode", "env.mode", mode, note)
	case c.set("search_mode"):
		c.note("search_mode", Unusable, "found "+c.show(c.in["search_mode"])+", allowed: offline, custom_search, azure_search")
	case mode == "tools":
		c.add("env.mode", mode, "SkillOpt's default")
	}
	return mode
}

// docs converts the folder of documents: the first of two keys that is there.
func (c *converter) docs() {
	flat, other := "data_dirs", "docs_dirs"
	if c.in[flat] == nil {
		flat, other = other, flat
	}
	c.note(other, NotNeeded, c.written(flat)+" comes before it")
	switch list, isList := c.in[flat].([]any); {
	case !c.set(flat):
		c.note(flat, NotNeeded, "not set")
	case isList && len(list) > 1:
		c.note(flat, NoCounterpart, "env.docs is one folder: put the documents into one")
	case isList && len(list) == 0:
		c.note(flat, NotNeeded, "an empty list")
	default:
		if isList {
			c.in[flat] = list[0]
		}
		c.path(flat, "env.docs", "")
	}
}

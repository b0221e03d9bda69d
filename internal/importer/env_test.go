package importer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/importer"
)

// valuesOfEnv are the values that the keys of environments are tried with.
func valuesOfEnv(key string) []any {
	list := func(v ...any) any { return v }
	if values := map[string][]any{
		"env.mode": {"single", "multi", "react"}, "env.search_mode": {"offline", "custom_search", "azure_search"},
		"env.data_dirs": {list("a"), list("b"), "c", list("a", "b")}, "env.docs_dirs": {list("a"), list("b"), "c", list("a", "b")},
		"env.split_ratio": {"2:1:7", "1:1:1"}, "env.split_mode": {"ratio", "split_dir"}, "env.use_local_tools": {true, false},
	}[key]; values != nil {
		return values
	}
	return []any{"x", "y", true, false, int64(0), int64(3), int64(7)}
}

// environments are the source's, "" is one of the user's.
func environments() []string {
	return []string{"", "alfworld", "docvqa", "livemathematicianbench", "officeqa", "searchqa", "spreadsheetbench"}
}

// importKey converts a source with an environment, a backend and one key more.
func importKey(t *testing.T, to importer.Target, env, backend, key string, v any) (string, importer.Report) {
	t.Helper()
	section, name, _ := strings.Cut(key, ".")
	cfg := map[string]any{"env": map[string]any{"name": env}, "evaluation": map[string]any{}, "model": map[string]any{"backend": backend}}
	own := cfg["env"].(map[string]any)
	if strings.HasPrefix(name, "search_") && name != "search_mode" || name == "max_queries_per_turn" {
		own["search_mode"] = "custom"
	}
	if strings.HasPrefix(name, "search_") && name != "search_api_url" {
		own["search_api_url"] = "http://127.0.0.1/q"
	}
	if name == "max_turns" && env == "spreadsheetbench" {
		own["mode"] = "multi"
	}
	if key != "env.name" {
		cfg[section].(map[string]any)[name] = v
	}
	text, report, err := importer.Import(cfg, importer.Options{Target: to})
	if err != nil {
		t.Fatal(err)
	}
	return string(text), report
}

// TestKeysOfEnvironments walks the table: a key becomes one of ours that the table names, each of
// these is set by something, and what is not taken over is named with its reason.
func TestKeysOfEnvironments(t *testing.T) {
	t.Parallel()
	to, set := target(t), map[string]map[string]bool{}
	for _, env := range environments() {
		for _, backend := range []string{"", "codex"} {
			for _, k := range importer.EnvKeys() {
				if set[k.Key] == nil {
					set[k.Key] = map[string]bool{}
				}
				plans := map[string]int{}
				for _, v := range valuesOfEnv(k.Key) {
					text, report := importKey(t, to, env, backend, k.Key, v)
					if checkRow(t, report, k.Key, fmt.Sprintf("%s %s %v", env, backend, v), set[k.Key]) {
						plans[text]++
						loads(t, []byte(text))
					}
				}
				for plan, n := range plans {
					if n > 1 && len(plans) == 1 && k.Key != "env.name" {
						t.Errorf("%s %s %s: taken over, and nothing reads it:\n%s", env, backend, k.Key, plan)
					}
				}
			}
		}
	}
	for key, allowed := range keysOfTable() {
		for _, ours := range allowed {
			if !set[key][ours] {
				t.Errorf("%s: the table says %s, and nothing sets it", key, ours)
			}
		}
	}
}

// keysOfTable are those of ours that a key may become.
func keysOfTable() map[string][]string {
	out := map[string][]string{}
	for _, k := range importer.EnvKeys() {
		out[k.Key] = append(out[k.Key], k.To...)
	}
	return out
}

// checkRow looks at what is said of a key, and notes which of ours it set.
func checkRow(t *testing.T, report importer.Report, key, at string, set map[string]bool) (taken bool) {
	t.Helper()
	i := slices.IndexFunc(report.Rows, func(r importer.Row) bool { return r.Key == key })
	if i < 0 {
		t.Errorf("%s %s: not named", at, key)
		return false
	}
	row := report.Rows[i]
	if row.State == importer.Unknown || row.State != importer.Taken && row.Note == "" {
		t.Errorf("%s %s: %+v", at, key, row)
	}
	if key == "env.name" {
		for _, r := range report.Added {
			if r.To[0] == "env.world" {
				set["env.world"] = true
			}
		}
	}
	for _, ours := range row.To {
		if set[ours] = true; !slices.Contains(keysOfTable()[key], ours) {
			t.Errorf("%s %s: became %s, which the table does not say", at, key, ours)
		}
	}
	return row.State == importer.Taken
}

// TestEnvironmentsAsShipped converts what the configurations of SkillOpt say of two environments.
func TestEnvironmentsAsShipped(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		yaml string
		want map[string]any // what is in env and tasks
		rows map[string]string
	}{
		"documents": {
			`{name: officeqa, split_mode: split_dir, split_dir: s, data_dirs: [docs], max_tool_turns: 24, search_mode: offline, search_api_url: "http://h/q",
			  max_queries_per_turn: 4, exec_timeout: 120, limit: 5}`,
			map[string]any{"world": "corpus", "mode": "tools", "turns": int64(24), "docs": "docs", "limit": int64(5)},
			map[string]string{"search_api_url": "search_mode is not custom_search", "max_queries_per_turn": "search_mode is not custom_search", "exec_timeout": "SkillOpt does not read it for officeqa"},
		},
		"pages": {
			`{name: officeqa, use_local_tools: false, max_tool_turns: 24, docs_dirs: [a, b]}`,
			map[string]any{"world": "corpus", "mode": "pages"},
			map[string]string{"max_tool_turns": "the target replies once in this mode", "docs_dirs": "env.docs is one folder: put the documents into one"},
		},
		"search": {
			`{name: officeqa, search_mode: custom, search_api_url: "http://h/q", search_max_num_results: 9, search_provider: p, use_local_tools: false}`,
			map[string]any{"world": "corpus", "mode": "search", "turns": int64(12), "url": "http://h/q", "api_key_env": "OFFICEQA_CUSTOM_SEARCH_AUTH"},
			map[string]string{"search_max_num_results": "a query has at most 4 results here", "search_provider": "the endpoint chooses its provider", "use_local_tools": "read in search_mode offline alone"},
		},
		"search of a server": {
			`{name: officeqa, search_mode: azure_search}`,
			map[string]any{"world": "corpus"},
			map[string]string{"search_mode": "the search of a server has no counterpart: env.mode search asks an endpoint of yours"},
		},
		"workbooks": {
			`{name: spreadsheetbench, data_root: d, mode: multi, max_turns: 30, exec_timeout: 600, limit: 5}`,
			map[string]any{"world": "spreadsheet", "mode": "multi", "turns": int64(30), "timeout": "10m0s"},
			map[string]string{"data_root": "the workbooks that tasks name are looked for in bench.data: copy the folder there", "limit": "SkillOpt does not read it for spreadsheetbench"},
		},
		"one program": {
			`{name: spreadsheetbench, max_turns: 30, image_detail: low}`,
			map[string]any{"world": "spreadsheet", "mode": "single"},
			map[string]string{"max_turns": "the target replies once in this mode", "image_detail": "SkillOpt does not read it for spreadsheetbench"},
		},
		"questions": {
			`{name: livemathematicianbench, max_turns: 2, use_theorem: true, use_sketch: false, max_tool_turns: 3, limit: 4}`,
			map[string]any{"limit": int64(4)},
			map[string]string{"max_turns": "a task has one turn here", "use_theorem": "the theorem is not shown here", "max_tool_turns": "SkillOpt does not read it for livemathematicianbench"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, err := importer.Parse("f", []byte("model: {backend: compat, target: m}\nenv: "+tt.yaml+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			text, report, err := importer.Import(cfg, importer.Options{Target: target(t)})
			if err != nil {
				t.Fatal(err)
			}
			loads(t, text)
			if diff := cmp.Diff(tt.want, sectionsOf(t, text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for key, note := range tt.rows {
				if i := slices.IndexFunc(report.Rows, func(r importer.Row) bool { return r.Key == "env."+key }); i < 0 || report.Rows[i].State == importer.Taken || report.Rows[i].Note != note {
					t.Errorf("%s: want %q in %+v", key, note, report.Rows)
				}
			}
		})
	}
}

// sectionsOf returns the keys of env, env.search and tasks.limit of what was written.
func sectionsOf(t *testing.T, text []byte) map[string]any {
	t.Helper()
	all, err := importer.Parse("out", text)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	env, _ := all["env"].(map[string]any)
	search, _ := env["search"].(map[string]any)
	tasks, _ := all["tasks"].(map[string]any)
	for _, from := range []map[string]any{env, search} {
		for key, v := range from {
			if key != "search" {
				out[key] = v
			}
		}
	}
	if v, ok := tasks["limit"]; ok {
		out["limit"] = v
	}
	return out
}

// TestTableIsWhole: every key of env that is known is in the table.
func TestTableIsWhole(t *testing.T) {
	t.Parallel()
	for _, key := range importer.EveryKey() {
		if _, ok := keysOfTable()[key]; strings.HasPrefix(key, "env.") && !ok {
			t.Errorf("%s is not in the table", key)
		}
	}
}

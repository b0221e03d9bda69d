package importer_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/importer"
)

var update = flag.Bool("update", false, "write the golden files")

// target is our configuration as it is now.
func target(t testing.TB) importer.Target {
	t.Helper()
	schema, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	out, err := importer.NewTarget(schema)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestImport converts the configurations in testdata: to a schema that is kept
// with them, and to that of today, where what comes out must load.
func TestImport(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("testdata/*/main.yaml")
	if err != nil || len(sources) < 5 {
		t.Fatalf("sources: %v, %v", sources, err)
	}
	for _, source := range sources {
		t.Run(filepath.Base(filepath.Dir(source)), func(t *testing.T) {
			t.Parallel()
			cfg, err := importer.Load(os.ReadFile, source)
			if err != nil {
				t.Fatal(err)
			}
			o := importer.Options{
				Target: keptTarget(t), Source: "main.yaml",
				Rebase: func(path string) string { return filepath.Join("..", path) },
			}
			text, report, err := importer.Import(cfg, o)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join(filepath.Dir(source), "config.golden"), text)
			rows, err := json.MarshalIndent(report, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join(filepath.Dir(source), "report.golden"), append(rows, '\n'))
			o.Target = target(t)
			today, _, err := importer.Import(cfg, o)
			if err != nil {
				t.Fatal(err)
			}
			loads(t, today)
			for _, secret := range []string{"0123456789abcdef", "fedcba", "not-a-real-key", "hunter22", "abcdefgh", "pass1234"} {
				if strings.Contains(string(text)+string(rows), secret) {
					t.Errorf("the secret %s is copied", secret)
				}
			}
		})
	}
}

func keptTarget(t *testing.T) importer.Target {
	t.Helper()
	schema, err := os.ReadFile("testdata/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	to, err := importer.NewTarget(schema)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want = []byte(strings.ReplaceAll(string(want), "\r\n", "\n"))
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// loads reads what was written as a configuration of ours.
func loads(t *testing.T, text []byte) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	lookup := func(name string) (string, bool) {
		v, ok := map[string]string{"AZURE_OPENAI_ENDPOINT": "https://example.openai.azure.com", "ALFWORLD_DATA": dir}[name]
		return v, ok
	}
	_, err := config.Load(config.Options{Path: dir, Dir: dir, Lookup: lookup})
	var wrong *config.Error
	if errors.As(err, &wrong) { // a model whose name cannot be taken over is left to the user
		wrong.Problems = slices.DeleteFunc(wrong.Problems, func(p config.Problem) bool {
			return strings.HasSuffix(p.Key, ".model") && p.Found == "nothing"
		})
		if len(wrong.Problems) == 0 {
			return
		}
	}
	if err != nil {
		t.Errorf("the result does not load: %v\n%s", err, text)
	}
}

// TestEveryKeyIsNamed gives each setting odd values and looks for it in the
// report.
func TestEveryKeyIsNamed(t *testing.T) {
	t.Parallel()
	backends := []any{nil, "", "azure", "compat", "claude", "qwen", "minimax", "copilot", "codex", "claude_code_exec", "cursor", "copilot_exec", "bogus"}
	values := []any{nil, "", "x", true, false, int64(0), int64(3), 2.5, -1.0, math.NaN(), []any{int64(1)}, map[string]any{"a": int64(1)}, new(big.Int).Lsh(big.NewInt(1), 70)}
	to := target(t)
	for i, value := range values {
		for j, backend := range backends {
			cfg := everySetting(value)
			model, _ := cfg["model"].(map[string]any)
			model["backend"], model["optimizer_backend"], model["target_backend"] = backend, backends[(i+j)%len(backends)], nil
			cfg["env"].(map[string]any)["name"] = []any{value, "officeqa", "spreadsheetbench"}[j%3]
			text, report, err := importer.Import(cfg, importer.Options{Target: to})
			if err != nil {
				t.Fatalf("%v %v: %v", value, backend, err)
			}
			named := map[string]int{}
			for _, row := range report.Rows {
				named[row.Key]++
				if (row.State == importer.Taken) != (len(row.To) > 0) {
					t.Errorf("%v %v: %s is %s, to %q", value, backend, row.Key, row.State, row.To)
				}
			}
			for section, keys := range cfg {
				for key := range keys.(map[string]any) {
					if named[section+"."+key] != 1 {
						t.Errorf("%v %v: %s.%s is named %d times", value, backend, section, key, named[section+"."+key])
					}
				}
			}
			loads(t, text)
		}
	}
}

// everySetting gives every key that is known one value, and one that is not.
func everySetting(value any) map[string]any {
	cfg := map[string]any{}
	for _, key := range importer.EveryKey() {
		section, name, _ := strings.Cut(key, ".")
		if cfg[section] == nil {
			cfg[section] = map[string]any{"nobody_knows": value}
		}
		cfg[section].(map[string]any)[name] = value
	}
	return cfg
}

// TestValuesOfAnotherKind: what cannot be read is reported as such, never as taken
// with a default in its place.
func TestValuesOfAnotherKind(t *testing.T) {
	t.Parallel()
	to := target(t)
	const backend, login = "allowed: the name of a backend", "allowed: azure_cli, managed_identity, api_key, openai_compatible"
	for key, allowed := range map[string]string{
		"model.backend": backend, "model.optimizer_backend": backend, "model.target_backend": backend,
		"model.azure_openai_auth_mode": login, "model.target_azure_openai_auth_mode": login,
		"optimizer.skill_update_mode": "allowed: patch, rewrite", "optimizer.lr_control_mode": "allowed: fixed, autonomous, none",
		"optimizer.longitudinal_pair_policy": "allowed: mixed, changed, unchanged", "env.split_mode": "allowed: ratio, split_dir",
		"evaluation.use_semantic_density": "allowed: true or false", "model.minimax_enable_thinking": "allowed: true or false",
		"model.qwen_chat_thinking_mode": "allowed: server_default, enabled, disabled", "model.target_qwen_chat_enable_thinking": "allowed: true or false",
		"env.split_ratio": "allowed: ", "env.own": "allowed: any value that equals itself",
	} {
		section, name, _ := strings.Cut(key, ".")
		for _, value := range []any{[]any{"x"}, map[string]any{"a": true}, math.NaN()} {
			if f, ok := value.(float64); key == "env.own" && !(ok && math.IsNaN(f)) {
				continue
			}
			_, report, err := importer.Import(map[string]any{section: map[string]any{name: value}}, importer.Options{Target: to})
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(report.Rows, func(r importer.Row) bool { return strings.HasSuffix(key, r.Key) })
			if at < 0 || report.Rows[at].State != importer.Unusable || !strings.Contains(report.Rows[at].Note, "found ") || !strings.Contains(report.Rows[at].Note, allowed) {
				t.Errorf("%s = %v: got %+v, want %s", key, value, report.Rows, allowed)
			}
		}
	}
}

// TestAliases: names that SkillOpt takes for others become the names of ours.
func TestAliases(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ yaml, want string }{
		{"longitudinal_pair_policy: all", "pairs: mixed"},
		{"longitudinal_pair_policy: change", "pairs: changed"},
		{"longitudinal_pair_policy: '10_01'", "pairs: changed"},
		{"longitudinal_pair_policy: Stable", "pairs: unchanged"},
		{"longitudinal_pair_policy: same", "pairs: unchanged"},
		{"longitudinal_pair_policy: '00_11'", "pairs: unchanged"},
		{"{lr_control_mode: scheduled, lr_scheduler: linear}", "schedule: linear"},
		{"{lr_control_mode: optimizer, lr_scheduler: linear}", "schedule: model"},
		{"{lr_control_mode: no_lr, lr_scheduler: linear}", "schedule: unlimited"},
	} {
		cfg, err := importer.Parse("f", []byte("optimizer:\n  "+tt.yaml+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		out, report, err := importer.Import(cfg, importer.Options{Target: target(t)})
		if err != nil {
			t.Fatal(err)
		}
		loads(t, out)
		if !strings.Contains(string(out), tt.want) || len(report.Of(importer.Unusable)) > 0 {
			t.Errorf("%s: %+v\n%s", tt.yaml, report.Rows, out)
		}
	}
}

// TestAzure: the address of the server says the version and the cloud; the identity is a variable.
func TestAzure(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		model string
		base  string // of both models
		rows  map[string]importer.State
	}{
		{"{azure_openai_api_version: 2024-10-21}", "${AZURE_OPENAI_ENDPOINT}?api-version=2024-10-21", map[string]importer.State{"model.azure_openai_api_version": importer.Taken}},
		{
			"{azure_endpoint: https://r.openai.azure.us/, azure_api_version: preview, azure_openai_ad_scope: https://cognitiveservices.azure.us/.default}",
			"https://r.openai.azure.us/?api-version=preview",
			map[string]importer.State{"model.azure_api_version": importer.Taken, "model.azure_openai_ad_scope": importer.NotNeeded},
		},
		{
			"{azure_endpoint: https://r.openai.azure.com, azure_openai_ad_scope: api://mine/.default, azure_openai_auth_mode: managed_identity, azure_openai_managed_identity_client_id: abc}",
			"https://r.openai.azure.com",
			map[string]importer.State{"model.azure_openai_ad_scope": importer.NoCounterpart, "model.azure_openai_managed_identity_client_id": importer.NoCounterpart},
		},
		{"{azure_endpoint: 'https://r.openai.azure.com/${X}', azure_api_version: 2024-10-21}", "", map[string]importer.State{"model.azure_endpoint": importer.Unusable, "model.azure_api_version": importer.NoCounterpart}},
	} {
		cfg, err := importer.Parse("f", []byte("model: "+tt.model+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		out, report, err := importer.Import(cfg, importer.Options{Target: target(t)})
		if err != nil {
			t.Fatal(err)
		}
		if tt.base != "" {
			loads(t, out)
		}
		if got := strings.Count(string(out), "base_url: "+tt.base+"\n"); tt.base != "" && got != 2 || tt.base == "" && strings.Contains(string(out), "base_url") {
			t.Errorf("%s: %d times %s in\n%s", tt.model, got, tt.base, out)
		}
		for _, row := range report.Rows {
			if want, ok := tt.rows[row.Key]; ok && row.State != want {
				t.Errorf("%s: %+v, want %s", tt.model, row, want)
			}
			if strings.HasSuffix(row.Key, "client_id") && !strings.Contains(row.Note, "AZURE_CLIENT_ID") {
				t.Errorf("%+v does not name the variable", row)
			}
		}
	}
}

// TestSkillAware: what SkillOpt does with notes, and what is done here, where only
// analysts of failures write some and more than 20 are compacted.
func TestSkillAware(t *testing.T) {
	t.Parallel()
	const (
		on, source, threshold = "optimizer.use_skill_aware_reflection", "optimizer.skill_aware_appendix_source", "optimizer.skill_aware_consolidate_threshold"

		successes = "only analysts of failures write notes here; there those of successes do too"
		never     = "notes are compacted here when there are more than 20; there never"
		unset     = "notes are compacted here when there are more than 20, which cannot be set"
		off       = "use_skill_aware_reflection is off"
	)
	taken := importer.Row{Key: on, State: importer.Taken, To: []string{"reflect.skill_aware"}}
	is := func(key string, state importer.State, note string) importer.Row {
		return importer.Row{Key: key, State: state, Note: note}
	}
	with := func(note string) importer.Row { r := taken; r.Note = note; return r }
	for _, tt := range []struct {
		yaml string // of the section optimizer
		want []importer.Row
	}{
		{"use_skill_aware_reflection: true", []importer.Row{with(successes + "; " + never)}},
		{"use_skill_aware_reflection: false", []importer.Row{taken}},
		{"{use_skill_aware_reflection: true, skill_aware_appendix_source: both, skill_aware_consolidate_threshold: 0}", []importer.Row{
			is(source, importer.NoCounterpart, successes), is(threshold, importer.NoCounterpart, never), taken,
		}},
		{"{use_skill_aware_reflection: true, skill_aware_appendix_source: failure_only, skill_aware_consolidate_threshold: 20}", []importer.Row{
			is(source, importer.NotNeeded, "only analysts of failures write notes here too"),
			is(threshold, importer.NotNeeded, "notes are compacted here too when there are more than 20"), taken,
		}},
		{"{use_skill_aware_reflection: true, skill_aware_appendix_source: '', skill_aware_consolidate_threshold: '7'}", []importer.Row{
			is(source, importer.NoCounterpart, successes), is(threshold, importer.NoCounterpart, unset), taken,
		}},
		{"{use_skill_aware_reflection: true, skill_aware_appendix_source: failure_only, skill_aware_consolidate_threshold: -1}", []importer.Row{
			is(source, importer.NotNeeded, "only analysts of failures write notes here too"), is(threshold, importer.NoCounterpart, never), taken,
		}},
		{"{use_skill_aware_reflection: true, skill_aware_appendix_source: failure_only, skill_aware_consolidate_threshold: many}", []importer.Row{
			is(source, importer.NotNeeded, "only analysts of failures write notes here too"),
			is(threshold, importer.Unusable, `found "many", allowed: a whole number`), taken,
		}},
		{"{skill_aware_appendix_source: both, skill_aware_consolidate_threshold: 5}", []importer.Row{
			is(source, importer.NotNeeded, off), is(threshold, importer.NotNeeded, off),
		}},
		{"{use_skill_aware_reflection: true, skill_aware_appendix_source: both, skill_update_mode: rewrite_from_suggestions}", []importer.Row{
			is(source, importer.NoCounterpart, "use_skill_aware_reflection is not taken over"),
			is(on, importer.NoCounterpart, "only with edits.mode patch"),
		}},
	} {
		if diff := cmp.Diff(tt.want, awareRows(t, "optimizer: "+flow(tt.yaml))); diff != "" {
			t.Errorf("%s: %s", tt.yaml, diff)
		}
	}
	failures := "gradient: {failure_only: true}\noptimizer: {use_skill_aware_reflection: true, skill_aware_consolidate_threshold: 20, skill_aware_appendix_source: both}"
	want := []importer.Row{
		is(source, importer.NotNeeded, "with failure_only there are no analysts of successes"),
		is(threshold, importer.NotNeeded, "notes are compacted here too when there are more than 20"), taken,
	}
	if diff := cmp.Diff(want, awareRows(t, failures)); diff != "" {
		t.Error(diff)
	}
}

// flow is a mapping in one line.
func flow(yaml string) string { return "{" + strings.Trim(yaml, "{}") + "}" }

// awareRows imports a configuration and returns what is said of reflection on lapses.
func awareRows(t *testing.T, yaml string) []importer.Row {
	t.Helper()
	cfg, err := importer.Parse("f", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	text, report, err := importer.Import(cfg, importer.Options{Target: target(t)})
	if err != nil {
		t.Fatal(err)
	}
	loads(t, text)
	return slices.DeleteFunc(report.Rows, func(r importer.Row) bool { return !strings.Contains(r.Key, "skill_aware") })
}

// TestSplitRatio: what is written can be loaded.
func TestSplitRatio(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"2:1:7": "ratio: 2:1:7", " 2 : 1 :: 7 ": "ratio: 2:1:7", "half": "", "1:2": "", "0:1:1": "", "1e400": ""} {
		out, report, err := importer.Import(map[string]any{"env": map[string]any{"split_ratio": text}}, importer.Options{Target: target(t)})
		if err != nil {
			t.Fatal(err)
		}
		loads(t, out)
		if want != "" && !strings.Contains(string(out), want) || want == "" && strings.Contains(string(out), "  ratio:") {
			t.Errorf("%q: got %s", text, out)
		}
		if unusable := len(report.Of(importer.Unusable)); unusable != map[bool]int{true: 1}[want == ""] {
			t.Errorf("%q: %+v", text, report.Rows)
		}
	}
}

// TestControlCharacters: what a terminal takes for an order is not copied, and what
// is written can be read again.
func TestControlCharacters(t *testing.T) {
	t.Parallel()
	cfg, err := importer.Parse("f", []byte(`{"model": {"target": "gpt\e[31m", "optimizer": "a\tb"}, "env": {"own": ["x\0"], "k\x9b": 1, "data_path": "a\rb", "fine": "a\nb"}}`))
	if err != nil {
		t.Fatal(err)
	}
	out, report, err := importer.Import(cfg, importer.Options{Target: target(t), Source: "f\x1b[2J"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(string(out), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }) {
		t.Errorf("got %q", out)
	}
	if _, err := importer.Parse("out", out); err != nil {
		t.Errorf("the result cannot be read: %v\n%s", err, out)
	}
	var unusable []string
	for _, row := range report.Of(importer.Unusable) {
		unusable = append(unusable, row.Key)
	}
	if diff := cmp.Diff([]string{"env.data_path", "env.k\u009b", "env.own", "model.target"}, unusable); diff != "" {
		t.Errorf("unusable (-want +got):\n%s", diff)
	}
}

func TestSecretsAreNotCopied(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-v4lu3-0f-a-key"
	for _, backend := range []string{"azure", "compat", "claude", "qwen", "minimax", "copilot", "codex", "claude_code_exec", "cursor", "copilot_exec"} {
		for _, auth := range []string{"", "api_key", "compat", "aad"} {
			cfg := map[string]any{"model": map[string]any{"backend": backend, "azure_openai_auth_mode": auth}, "train": map[string]any{"mem0_api_key": secret}}
			model, _ := cfg["model"].(map[string]any)
			for _, key := range importer.Keys() {
				if name, ok := strings.CutPrefix(key, "model."); ok && strings.HasSuffix(name, "api_key") {
					model[name] = secret
				}
			}
			text, report, err := importer.Import(cfg, importer.Options{Target: target(t)})
			if err != nil {
				t.Fatal(err)
			}
			rows, err := json.Marshal(report)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text)+string(rows), secret) {
				t.Errorf("%s %s: the secret is copied:\n%s\n%s", backend, auth, text, rows)
			}
		}
	}
}

// TestKeysThatAreNotThereYet converts to a configuration without some keys.
func TestKeysThatAreNotThereYet(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","properties":{"models":{"type":"object","properties":{"target":{"type":"object","properties":{
		"provider":{"type":"string","enum":["","openai"]},"model":{"type":"string"}}}}}}}`
	to, err := importer.NewTarget([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	text, report, err := importer.Convert(map[string]any{"target_backend": "claude", "target_model": "m", "num_epochs": int64(3)}, importer.Options{Target: to, Source: "x"})
	if err != nil {
		t.Fatal(err)
	}
	want := []importer.Row{
		{Key: "num_epochs", State: importer.NoCounterpart, Note: "there is no train.epochs yet"},
		{Key: "target_backend", State: importer.NoCounterpart, Note: `models.target.provider: found "claude-cli", allowed: openai`},
		{Key: "target_model", State: importer.Taken, To: []string{"models.target.model"}},
	}
	if diff := cmp.Diff(want, report.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if !strings.HasSuffix(string(text), "models:\n  target:\n    model: m\n") {
		t.Errorf("got:\n%s", text)
	}
}

func TestCast(t *testing.T) {
	t.Parallel()
	huge, _ := new(big.Int).SetString("-123456789012345678901234567890", 10)
	tests := []struct {
		text string
		want any
	}{
		{"TRUE", true},
		{"no", false},
		{" yes", " yes"},
		{"+5", int64(5)},
		{"\u00a0-7\x1c", int64(-7)},
		{"٣٤", int64(34)},
		{"1__0", "1__0"},
		{"_1", "_1"},
		{"-123456789012345678901234567890", huge},
		{strings.Repeat("9", 4301), math.Inf(1)},
		{"1_0.5_0e1_0", 10.5e10},
		{"٣.٥", 3.5},
		{"-inf", math.Inf(-1)},
		{"+Infinity", math.Inf(1)},
		{"infinit", "infinit"},
		{".", "."},
		{"e5", "e5"},
		{"1e", "1e"},
		{"0x1p3", "0x1p3"},
		{"5.e3", 5000.0},
		{"1e-400", 0.0},
	}
	for _, tt := range tests {
		got := importer.Cast(tt.text)
		if diff := cmp.Diff(fmt.Sprintf("%T %v", tt.want, tt.want), fmt.Sprintf("%T %v", got, got)); diff != "" {
			t.Errorf("%.40q (-want +got):\n%s", tt.text, diff)
		}
	}
	for _, text := range []string{"nan", "-NaN", "+nan"} {
		if f, ok := importer.Cast(text).(float64); !ok || !math.IsNaN(f) {
			t.Errorf("%q: got %v, want a NaN", text, importer.Cast(text))
		}
	}
}

func TestOverrideErrors(t *testing.T) {
	t.Parallel()
	cfg := map[string]any{"train": nil, "model": map[string]any{"azure_openai_api_key": "x"}}
	for _, text := range []string{"noequals", "seed=1", "train.seed=1"} {
		if got, err := importer.Override(cfg, []string{text}); err == nil {
			t.Errorf("%s: got %v, want an error", text, got)
		}
	}
	if len(cfg) != 2 || cfg["train"] != nil {
		t.Errorf("the configuration was changed: %v", cfg)
	}
}

// files reads from a map, as a disk would.
func files(content map[string]string) importer.ReadFile {
	return func(path string) ([]byte, error) {
		text, ok := content[filepath.ToSlash(path)]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		}
		return []byte(text), nil
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		want  map[string]any
	}{
		{"no base", map[string]string{"a/main.yaml": "_base_: ''\nseed: 1"}, map[string]any{"seed": int64(1)}},
		{
			"a chain through folders",
			map[string]string{"a/main.yaml": "_base_: ../b/x.yaml\nseed: 1", "b/x.yaml": "_base_: y.yaml\nseed: 2\nworkers: 2", "b/y.yaml": "workers: 3\nlimit: 4"},
			map[string]any{"seed": int64(1), "workers": int64(2), "limit": int64(4)},
		},
		{
			"a flat name and a section",
			map[string]string{"a/main.yaml": "_base_: b.yaml\nenv: alfworld", "a/b.yaml": "env: {name: searchqa, workers: 3}"},
			map[string]any{"env": map[string]any{"name": "alfworld", "workers": int64(3)}},
		},
		{
			"a section and a flat name",
			map[string]string{"a/main.yaml": "_base_: b.yaml\nenv: {workers: 3}", "a/b.yaml": "env: alfworld"},
			map[string]any{"env": map[string]any{"name": "alfworld", "workers": int64(3)}},
		},
		{
			"an older name over a present one",
			map[string]string{"a/main.yaml": "_base_: b.yaml\nmodel: {codex_cli_bin: /c}", "a/b.yaml": "codex_exec_path: /b\nmodel: {sandbox: x}"},
			map[string]any{"model": map[string]any{"codex_exec_path": "/c", "codex_exec_sandbox": "x"}},
		},
		{
			"several older names",
			map[string]string{"a/main.yaml": "model: {codex_bin: /3, codex_cli_bin: /2, codex_path: /1, codex_sandbox: b, sandbox: a}"},
			map[string]any{"model": map[string]any{"codex_exec_path": "/1", "codex_exec_sandbox": "a"}},
		},
	}
	for _, tt := range tests {
		got, err := importer.Load(files(tt.files), filepath.FromSlash("a/main.yaml"))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	var cycle *importer.CycleError
	_, err := importer.Load(files(map[string]string{"a.yaml": "_base_: b/b.yaml", "b/b.yaml": "_base_: ../a.yaml"}), "a.yaml")
	if want := []string{"a.yaml", filepath.FromSlash("b/b.yaml"), "a.yaml"}; !errors.As(err, &cycle) || cmp.Diff(want, cycle.Chain) != "" {
		t.Errorf("got %v, want a circle %v", err, want)
	}
	_, err = importer.Load(files(map[string]string{"a.yaml": "_base_: b.yaml"}), "a.yaml")
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "a.yaml, which builds on b.yaml") {
		t.Errorf("got %v, want the missing file and who names it", err)
	}
	var parse *importer.ParseError
	_, err = importer.Load(files(map[string]string{"a.yaml": "_base_: [b.yaml, c.yaml]"}), "a.yaml")
	if !errors.As(err, &parse) || !strings.Contains(err.Error(), "_base_ is a list") {
		t.Errorf("got %v, want an error about a list", err)
	}
}

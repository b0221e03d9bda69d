package evals_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seed-f4525e22/skillopt/internal/importer/evals"
)

// walked is a source of a format, and the keys that the format has, as paths in it.
type walked struct {
	format, file, text string
	files              map[string]string
	keys               []string
}

// prefixed are keys below a place.
func prefixed(place, names string) (out []string) {
	for _, name := range strings.Fields(names) {
		out = append(out, place+"."+name)
	}
	return out
}

func walks() []walked {
	const options = `prefix suffix transform transformVars postprocess storeOutputAs provider rubricPrompt factuality disableVarExpansion
		disableConversationVar disableDefaultAsserts runSerially repeat temperature max_tokens response_format tools tool_choice functions function_call`
	const test = "description provider providers prompts providerOutput assertScoringFunction threshold metadata"
	const config = `temperature max_tokens max_completion_tokens top_p seed stop presence_penalty frequency_penalty response_format tools tool_choice functions
		function_call apiBaseUrl apiHost apiKey apiKeyEnvar apiVersion projectId headers organization cost passthrough reasoning reasoning_effort verbosity showThinking`
	return []walked{
		{
			format: "promptfoo", file: "promptfooconfig.json",
			text: `{"prompts": ["{{q}}", {"raw": "Z {{q}}", "label": "y"}], "providers": [{"id": "openai:gpt-5-mini", "config": {}}], "defaultTest": {"options": {}, "assert": [{"type": "contains", "value": "d"}]}, "scenarios": [{"config": [{"vars": {"q": ["s", "r"]}, "options": {}}], "tests": [{"assert": [{"type": "equals", "value": "x"}]}]}],
				"tests": [{"vars": {"q": ["a", "e"]}, "options": {}, "assert": [{"type": "icontains", "value": "x"}, {"type": "assert-set", "assert": [{"type": "equals", "value": "x"}]}, {"type": "llm-rubric", "value": "fine"}]}, {"vars": {"q": "b"}, "assert": [{"type": "equals", "value": "x"}]}, {"vars": {"q": "c"}, "assert": [{"type": "equals", "value": "x"}]}]}`,
			keys: slices.Concat(
				strings.Fields("description env extensions nunjucksFilters redteam sharing outputPath evaluateOptions commandLineOptions derivedMetrics tracing tags metadata x_unheard"),
				prefixed("providers[0]", "label prompts transform delay env inputs"), prefixed("providers[0].config", config),
				prefixed("defaultTest", test), prefixed("defaultTest.options", strings.Replace(options, "disableDefaultAsserts", "", 1)), // which says nothing there
				prefixed("tests[0]", test+" vars x_unheard"), prefixed("tests[0].options", options+" x_unheard"), prefixed("tests[0].vars", "q"),
				prefixed("tests[0].assert[0]", "type value threshold weight metric provider rubricPrompt transform contextTransform config"),
				prefixed("tests[0].assert[1]", "weight metric threshold config"),
				prefixed("tests[0].assert[2]", "value threshold weight metric provider rubricPrompt transform config"),
				prefixed("scenarios[0]", "description x_unheard"), prefixed("scenarios[0].config[0]", test), prefixed("scenarios[0].config[0].options", options),
			),
		},
		{
			format: "inspect", file: "log.json",
			text: `{"version": 2, "eval": {"task": "t", "model": "openai/gpt-5-mini", "model_generate_config": {}, "scorers": [{"name": "includes", "options": {}}]}, "plan": {"steps": [{"solver": "generate", "params": {}}], "config": {}},
				"samples": [{"id": "1", "input": "a", "target": "x"}, {"id": "2", "input": "b", "target": "x"}, {"id": "3", "input": "c", "target": "x"}]}`,
			keys: slices.Concat(
				strings.Fields("status results stats error reductions x_unheard"),
				prefixed("eval", "task model model_base_url model_args model_roles solver solver_args task_args config dataset sandbox approval x_unheard"),
				prefixed("eval.model_generate_config", "temperature max_tokens top_p system_message reasoning_effort seed stop_seqs tools response_schema"),
				prefixed("eval.scorers[0]", "name"), prefixed("eval.scorers[0].options", "ignore_case model template instructions x_unheard"),
				prefixed("plan.steps[0]", "solver"), prefixed("plan", "name finish"), prefixed("plan.config", "temperature max_tokens top_p"),
				prefixed("samples[0]", "id input target choices metadata setup sandbox files messages output scores x_unheard"),
			),
		},
		{
			format: "openai", file: "evals/due.json.yaml", files: map[string]string{"data/due.jsonl": "{\"input\": \"a\", \"ideal\": \"x\"}\n{\"input\": \"b\", \"ideal\": \"x\"}\n{\"input\": \"c\", \"ideal\": \"x\"}\n"},
			text: `{"due": {"class": "evals.elsuite.basic.includes:Includes", "args": {"samples_jsonl": "due.jsonl"}}}`,
			keys: slices.Concat(prefixed("due", "id metrics description disclaimer class x_unheard"), prefixed("due.args", "ignore_case num_few_shot few_shot_jsonl max_tokens eval_type modelgraded_spec x_unheard")),
		},
		{
			format: "openai", file: "samples.json", text: `[{"input": "a", "ideal": "x"}, {"input": "b", "ideal": "x"}, {"input": "c", "ideal": "x"}]`,
			keys: []string{"[0].input", "[0].ideal", "[0].criteria", "[0].x_unheard"},
		},
		{
			format: "agent-skills", file: "evals.json", text: `{"skill_name": "s", "evals": [{"id": 1, "prompt": "a", "expectations": ["x"]}, {"id": 2, "prompt": "b", "expectations": ["x"]}, {"id": 3, "prompt": "c", "expectations": ["x"]}]}`,
			keys: slices.Concat(strings.Fields("skill_name version x_unheard"), prefixed("evals[0]", "id name prompt files expectations assertions expected_behavior expected_output skills x_unheard")),
		},
		{
			format: "huggingface", file: "rows.json", text: `[{"question": "a", "answer": "x"}, {"question": "b", "answer": "x"}, {"question": "c", "answer": "x"}]`,
			keys: []string{"[0].question", "[0].answer", "[0].id", "[0].explanation", "[0].category", "[0].x_unheard"},
		},
	}
}

// TestEveryKeyIsReadOrNamed walks the keys of every format: two values of a key become two folders, or
// the report names the key as what is not taken over.
func TestEveryKeyIsReadOrNamed(t *testing.T) {
	t.Parallel()
	values := []any{"y", "file://z.js", 0.5, 3.0, true, false, "match", []any{"y"}, []any{"x", "y"}, map[string]any{"y": "z"}, "https://llm.example.com/v1", "anthropic:claude-x", "2", map[string]any{"grader": map[string]any{"model": "openai/gpt-5"}}}
	for _, w := range walks() {
		base, baseRows, err := w.imported(w.text)
		if err != nil {
			t.Fatalf("%s %s: %v", w.format, w.file, err)
		}
		for _, key := range w.keys {
			read, silent := false, ""
			for _, v := range values {
				text := changed(t, w.text, key, v)
				folder, rows, err := w.imported(text)
				name := key[strings.LastIndexAny(key, ".]")+1:]
				place := strings.TrimSuffix(key, "."+name)
				if read = read || err == nil && folder != base || err != nil && strings.Contains(err.Error(), name); read || err != nil || text == w.text {
					continue
				}
				named := slices.ContainsFunc(rows, func(r evals.Row) bool {
					return !slices.Contains(baseRows, r) && r.State != evals.Taken && (r.Key == place || strings.Contains(r.Key+" "+r.Note, name))
				})
				if !named {
					silent = fmt.Sprint(v)
				}
			}
			if !read && silent != "" {
				t.Errorf("%s: %s = %s changes nothing, and is not named", w.format, key, silent)
			}
		}
	}
}

// imported is the folder that a source becomes, as one text.
func (w walked) imported(text string) (string, []evals.Row, error) {
	fsys := fstest.MapFS{w.file: {Data: []byte(text)}}
	for name, content := range w.files {
		fsys[name] = &fstest.MapFile{Data: []byte(content)}
	}
	folder, report, err := evals.Import(context.Background(), evals.Source{FS: fsys, File: w.file}, evals.Options{Format: w.format})
	var all string
	for _, name := range slices.Sorted(maps.Keys(folder.Files)) {
		all += name + "\n" + string(folder.Files[name])
	}
	return all + fmt.Sprint(folder.Copies), report.Rows, err
}

// changed is a source in JSON with another value at a path such as tests[0].options.prefix.
func changed(t *testing.T, text, path string, to any) string {
	t.Helper()
	var top any
	if err := json.Unmarshal([]byte(text), &top); err != nil {
		t.Fatal(err)
	}
	steps := strings.FieldsFunc(strings.ReplaceAll(path, "[", ".["), func(r rune) bool { return r == '.' })
	v := top
	for i, step := range steps {
		last := i == len(steps)-1
		if n, err := strconv.Atoi(strings.Trim(step, "[]")); err == nil {
			v = v.([]any)[n]
			continue
		}
		m := v.(map[string]any)
		if last {
			m[step] = to
		} else if v = m[step]; v == nil {
			t.Fatalf("%s: no %s", path, step)
		}
	}
	out, err := json.Marshal(top)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

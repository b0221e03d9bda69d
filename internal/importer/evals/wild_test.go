package evals_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/importer/evals"
)

// importFiles imports one of several files.
func importFiles(t *testing.T, file string, files map[string]string) (evals.Folder, evals.Report, error) {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return evals.Import(t.Context(), evals.Source{FS: fsys, File: file}, evals.Options{})
}

// models is what a configuration says of the agent and the models.
func models(f evals.Folder) string {
	_, text, _ := strings.Cut(string(f.Files["config.yaml"]), "seed: 42\n")
	return text
}

// askWith is a configuration of promptfoo with some providers.
func askWith(providers string) string {
	return `{"prompts": ["{{q}}"], "providers": ` + providers + `, "tests": [{"vars": {"q": ["a", "b", "c"]}, "assert": [{"type": "equals", "value": "x"}]}]}`
}

// Providers that we have are taken over by the names that promptfoo and inspect give them.
func TestProvidersAreMapped(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"openrouter:meta-llama/llama-3.3-70b": "openrouter meta-llama/llama-3.3-70b", "groq:llama-3.3-70b-versatile": "groq llama-3.3-70b-versatile",
		"deepseek:deepseek-chat": "deepseek deepseek-chat", "mistral:mistral-large-latest": "mistral mistral-large-latest", "xai:grok-4": "xai grok-4",
		"azure:chat:my-gpt": "azure my-gpt", "azureopenai:chat:my-gpt": "azure my-gpt", "bedrock:us.anthropic.claude-sonnet-5-v1:0": "bedrock us.anthropic.claude-sonnet-5-v1:0",
		"vertex:gemini-3-pro": "vertex gemini-3-pro", "google:gemini-3-pro": "gemini gemini-3-pro", "litellm:my-model": "litellm my-model",
		"togetherai:chat:Qwen/Qwen3-32B": "together Qwen/Qwen3-32B", "openai:responses:gpt-5": "openai gpt-5", "anthropic:messages:claude-sonnet-5": "anthropic claude-sonnet-5",
		"ollama:chat:llama3.3:8b": "ollama llama3.3:8b", "ollama/llama3:8b": "ollama llama3:8b", "openai/azure/my-gpt": "azure my-gpt", "anthropic/bedrock/anthropic.claude-sonnet-5-v1:0": "bedrock anthropic.claude-sonnet-5-v1:0",
		"google/vertex/gemini-3-pro": "vertex gemini-3-pro", "grok/grok-4": "xai grok-4", "together/meta-llama/Llama-3": "together meta-llama/Llama-3",
		"bedrock:amazon.nova-pro-v1:0": "", "openai:embedding:text-embedding-3-large": "", "openai:image:dall-e-3": "", "exec:python run.py": "", "http://localhost:8080/ask": "",
		"python:provider.py": "", "cohere:command-r": "", "hf/openai-community/gpt2": "", "openai:chat:{{env.MODEL}}": "", "echo": "", "openai:agents:mine": "",
	} {
		f, _, err := importText(t, "promptfooconfig.json", askWith(`["`+id+`"]`), evals.Options{})
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		text := ""
		if provider, name, ok := strings.Cut(want, " "); ok {
			entry := fmt.Sprintf("    provider: %s\n    model: %s\n", provider, name)
			text = "models:\n  target:\n" + entry + "  optimizer:\n" + entry
		}
		if diff := cmp.Diff(text, models(f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

// The agents of promptfoo's SDKs are the same agents here, with the model that is named.
func TestAgentSDKsBecomeAgents(t *testing.T) {
	t.Parallel()
	target := "models:\n  target:\n    provider: %s\n    model: %s\n  optimizer:\n    provider: %[1]s\n    model: %[2]s\n"
	for providers, want := range map[string]string{
		`[{"id": "anthropic:claude-agent-sdk", "config": {"model": "claude-sonnet-5", "working_dir": "."}}]`: "agent:\n  name: claude\n" + fmt.Sprintf(target, "anthropic", "claude-sonnet-5"),
		`["openai:codex-sdk:gpt-5-codex"]`:                                                "agent:\n  name: codex\n" + fmt.Sprintf(target, "openai", "gpt-5-codex"),
		`[{"id": "opencode:sdk", "config": {"provider_id": "openrouter", "model": "m"}}]`: "agent:\n  name: opencode\n" + fmt.Sprintf(target, "openrouter", "m"),
		`["anthropic:claude-agent-sdk"]`:                                                  "agent:\n  name: claude\n",
		`["openclaw:main"]`:                                                               "",
	} {
		f, _, err := importText(t, "promptfooconfig.json", askWith(providers), evals.Options{})
		if diff := cmp.Diff(want, models(f)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", providers, err, diff)
		}
	}
}

// What is meant for a server of one's own does not go to a vendor, and what nothing sends is named.
func TestSettingsOfProviders(t *testing.T) {
	t.Parallel()
	f, report, err := importText(t, "promptfooconfig.json", askWith(`[{"id": "openai:chat:local", "prompts": ["other"], "config": {"apiBaseUrl": "http://127.0.0.1:8080/v1", "apiKeyEnvar": "LOCAL_KEY",
		"temperature": 0, "max_tokens": 200, "response_format": {"type": "json_object"}, "tools": [{"type": "function"}], "top_p": 0.5, "apiKey": "sk-not-copied-0123456789abcdef"}}]`), evals.Options{})
	if err != nil {
		t.Fatal(err)
	}
	entry := "    provider: compatible\n    model: local\n    base_url: http://127.0.0.1:8080/v1\n    api_key_env: LOCAL_KEY\n    max_tokens: 200\n    temperature: 0.0\n"
	if diff := cmp.Diff("models:\n  target:\n"+entry+"  optimizer:\n"+entry, models(f)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	lost, named := 0, map[string]evals.State{}
	for _, row := range report.Rows {
		named[row.Key] = row.State
		if row.Lost {
			lost++
		}
	}
	if lost != 2 || report.Lost != 2 || named["providers[0].config.top_p"] != evals.NoCounterpart || named["providers[0].config.apiKey"] != evals.NoCounterpart || strings.Contains(fmt.Sprint(report, f), "not-copied") {
		t.Errorf("%d lost: %v", lost, named)
	}
}

// The version of Azure's API is part of its address.
func TestVersionOfAzure(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		`{"apiHost": "r.openai.azure.com", "apiVersion": "2024-10-21"}`:               "    base_url: https://r.openai.azure.com?api-version=2024-10-21\n",
		`{"apiBaseUrl": "https://r.openai.azure.com/openai/v1", "apiVersion": "a&b"}`: "    base_url: https://r.openai.azure.com/openai/v1?api-version=a%26b\n",
		`{"apiVersion": "2024-10-21"}`:                                                "",
	} {
		f, report, err := importText(t, "promptfooconfig.json", askWith(`[{"id": "azure:chat:my-gpt", "config": `+config+`}]`), evals.Options{})
		if err != nil {
			t.Fatal(err)
		}
		entry := "    provider: azure\n    model: my-gpt\n" + want
		if diff := cmp.Diff("models:\n  target:\n"+entry+"  optimizer:\n"+entry, models(f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", config, diff)
		}
		for _, row := range report.Rows {
			if state := map[bool]evals.State{true: evals.Taken, false: evals.NoCounterpart}[want != ""]; strings.HasSuffix(row.Key, "apiVersion") && row.State != state {
				t.Errorf("%s: %+v", config, row)
			}
		}
	}
}

// One bad row is left out, counted and named; the others are a set.
func TestOneBadRowLeavesTheSet(t *testing.T) {
	t.Parallel()
	good := func(format string) (out []string) {
		for _, q := range []string{"a", "b", "c"} {
			out = append(out, fmt.Sprintf(format, q))
		}
		return out
	}
	const sample, ideal, row, eval, pf = `{"input": "%s", "target": "x"}`, `{"input": "%s", "ideal": "x"}`, `{"question": "%s", "answer": "x", "image": null}`, `{"prompt": "%s", "expectations": ["x"]}`, `{"vars": {"q": "%s"}, "assert": [{"type": "equals", "value": "x"}]}`
	for _, tt := range []struct{ file, format, bad, origin, msg string }{
		{"x.jsonl", sample, `{"input": "d", "target": ""}`, "x.jsonl:4", "target: entry 1"},
		{"x.jsonl", sample, `{"input": "d", "target": "x", "files": {"f": "gone.png"}}`, "x.jsonl:4", "gone.png"},
		{"x.jsonl", sample, `{no`, "x.jsonl:4", "JSON that cannot be read"},
		{"x.jsonl", sample, `{"input": "d", "target": "E", "choices": ["y", "z"]}`, "x.jsonl:4", "none of the 2 choices"},
		{"x.jsonl", ideal, `{"input": "d", "ideal": null}`, "x.jsonl:4", "ideal: entry 1: found nothing"},
		{"x.jsonl", row, `{"question": "d", "answer": null}`, "x.jsonl:4", "answer: entry 1: found nothing"},
		{"x.jsonl", row, `{"question": "d", "answer": "x", "image": "gone.png"}`, "x.jsonl:4", "gone.png"},
		{"evals.json", eval, `{"prompt": "d"}`, "evals.json", "evals[3].expectations: there is nothing by which"},
		{"evals.json", eval, `{"prompt": "d", "expectations": ["x"], "files": ["gone.txt"]}`, "evals.json", "gone.txt"},
		{"promptfooconfig.json", pf, `{"vars": {"q": "file://gone.txt"}, "assert": [{"type": "equals", "value": "x"}]}`, "promptfooconfig.json", "gone.txt"},
		{"promptfooconfig.json", pf, `{"vars": {"q": "d"}, "assert": [{"type": "contains", "value": ""}]}`, "promptfooconfig.json", "tests[3].assert[0].value: contains needs text"},
		{"promptfooconfig.json", pf, `{"vars": {"q": "d"}}`, "promptfooconfig.json", "tests[3]: nothing is left that says whether an answer is right"},
	} {
		rows := append(good(tt.format), tt.bad)
		text := strings.Join(rows, "\n")
		switch tt.file {
		case "evals.json":
			text = `{"evals": [` + strings.Join(rows, ",") + `]}`
		case "promptfooconfig.json":
			text = `{"prompts": ["{{q}}"], "tests": [` + strings.Join(rows, ",") + `]}`
		}
		_, report, err := importText(t, tt.file, text, evals.Options{})
		if err != nil || report.Tasks != 3 || report.LeftOut != 1 {
			t.Errorf("%s: %v: %d tasks, %d left out", tt.bad, err, report.Tasks, report.LeftOut)
			continue
		}
		left := report.Of(evals.LeftOut)
		if len(left) != 1 || left[0].File != tt.origin || !strings.Contains(left[0].Note, tt.msg) {
			t.Errorf("%s: %+v, want %s: %s", tt.bad, left, tt.origin, tt.msg)
		}
	}
}

// Where every assertion is lost, the message names them.
func TestNothingLeftNamesWhatIsLost(t *testing.T) {
	t.Parallel()
	_, _, err := importText(t, "promptfooconfig.yaml", "prompts: ['{{q}}']\ntests: [{vars: {q: [a, b, c]}, assert: [{type: javascript, value: x}, {type: similar, value: y}]}]\n", evals.Options{})
	for _, want := range []string{"tests[0].vars#1.assert[0]: javascript: its code is not run", "tests[0].vars#3.assert[1]: similar: there are no embeddings", "there are 0 tasks with checks"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Files of evals.json that are the skill itself are copied as the skill, not into the prompts.
func TestFilesOfTheSkillAreTheSkill(t *testing.T) {
	t.Parallel()
	f, report, err := importFiles(t, ".", map[string]string{
		"SKILL.md": "# Rule: answer x", "references/r.md": "the rule", "evals/files/in.txt": "an input",
		"evals/evals.json": `{"evals": [{"prompt": "a", "expectations": ["x"], "files": ["SKILL.md", "references/r.md", "evals/files/in.txt"]}, {"prompt": "b", "expectations": ["x"], "files": ["skills/mine/SKILL.md"]}, {"prompt": "c", "expectations": ["x"]}]}`,
	})
	if err != nil || report.Tasks != 3 {
		t.Fatalf("%v: %+v", err, report)
	}
	tasks := string(f.Files["tasks.jsonl"])
	if strings.Contains(tasks, "Rule") || strings.Contains(tasks, "the rule") || !strings.Contains(tasks, "an input") || f.Copies["skill/references/r.md"] == "" {
		t.Errorf("%s\n%v", tasks, f.Copies)
	}
}

// Tests with one prompt are one flat list of checks, with the weights that they have.
func TestTestsWithOnePromptAreOneList(t *testing.T) {
	t.Parallel()
	f, _, err := importText(t, "promptfooconfig.yaml", `
prompts: ["{{q}}"]
defaultTest: {assert: [{type: contains, value: d}]}
tests:
  - {vars: {q: a}, assert: [{type: contains, value: x}]}
  - {vars: {q: a}, assert: [{type: contains, value: y, weight: 3}]}
  - {vars: {q: a}, assert: [{type: contains, value: z}]}
  - {vars: {q: b}, assert: [{type: contains, value: x}]}
  - {vars: {q: c}, assert: [{type: contains, value: x}]}
`, evals.Options{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(value string, more map[string]any) any {
		c := map[string]any{"type": "contains", "like": "promptfoo", "value": value}
		for key, v := range more {
			c[key] = v
		}
		return c
	}
	want := []any{check("d", nil), check("x", nil), check("y", map[string]any{"weight": 3.0}), check("z", nil)}
	if diff := cmp.Diff(want, written(t, f)[0]["checks"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A prompt that uses none of the variables is named, with what it should have been.
func TestPromptWithoutVariables(t *testing.T) {
	t.Parallel()
	_, _, err := importText(t, "promptfooconfig.yaml", "prompts: ['Say it: {text}']\ntests: [{vars: {text: [a, b, c]}, assert: [{type: equals, value: x}]}]\n", evals.Options{})
	if err == nil || !strings.Contains(err.Error(), "uses none of the variables text, there neither; write {{text}} for {text}") {
		t.Errorf("got %v", err)
	}
	for _, prompt := range []string{"Say it: {{ text }}", "{{text | trim}}", "Say {{ text.deep }}", "[{\"role\": \"user\", \"content\": \"{{text}}\"}]"} {
		_, report, err := importText(t, "promptfooconfig.yaml", fmt.Sprintf("prompts: [%q]\ntests: [{vars: {text: [a, b, c]}, assert: [{type: equals, value: x}]}]\n", prompt), evals.Options{})
		if strings.Contains(fmt.Sprint(report, err), "uses none") {
			t.Errorf("%s: %v", prompt, err)
		}
	}
}

// What is published otherwise than it is read is called by its name.
func TestWhatItIsInstead(t *testing.T) {
	t.Parallel()
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0123456789abcdef\nsize 1234\n"
	rows := "{\"question\": \"a\", \"answer\": \"1\"%s}\n{\"question\": \"b\", \"answer\": \"1\"}\n{\"question\": \"c\", \"answer\": \"1\"}\n"
	for _, tt := range []struct{ file, text, want string }{
		{"x.jsonl", pointer, "it is the pointer of Git LFS, not the file"},
		{"x.parquet", pointer, "it is the pointer of Git LFS"},
		{"evals/evals.json", pointer, "it is the pointer of Git LFS"},
		{"promptfooconfig.js", "module.exports = {prompts: []}", "it is code, which is not run; save what it exports as JSON"},
		{"promptfooconfig.ts", "export default {}", "it is code, which is not run"},
	} {
		if _, _, err := importText(t, tt.file, tt.text, evals.Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.file, err, tt.want)
		}
	}
	if _, _, err := importFiles(t, ".", map[string]string{"promptfooconfig.mjs": "export default {}", "data.json": "[]"}); err == nil || !strings.Contains(err.Error(), "promptfooconfig.mjs: it is code") {
		t.Errorf("a folder: %v", err)
	}
	for config, want := range map[string]string{
		"prompts: [file://p.py:make]\ntests: [{vars: {q: a}, assert: [{type: equals, value: x}]}]\n": "prompts[0]: file://p.py:make: its code is not run",
		"prompts: ['{{q}}']\ntests: tests/make.py:all\n":                                             "tests: tests/make.py: its code is not run",
	} {
		if _, _, err := importText(t, "promptfooconfig.yaml", config, evals.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", config, err, want)
		}
	}
	for image, want := range map[string]string{`, "image": "data:image/png;base64,data:image/png;base64,iVBORw0KGgo="`: "begins with data: and data:image/png twice; write it once", `, "image": "p.png"`: "it is the pointer of Git LFS"} {
		_, _, err := importFiles(t, "x.jsonl", map[string]string{"x.jsonl": strings.Replace(fmt.Sprintf(rows, image), "{\"question\": \"c\", \"answer\": \"1\"}\n", "", 1), "p.png": pointer})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", image, err)
		}
	}
}

// What the solvers and settings of a log say before the question is said here too.
func TestSolversOfALog(t *testing.T) {
	t.Parallel()
	f, report, err := importText(t, "log.json", `{"version": 2, "eval": {"task": "t", "model": "openrouter/m", "model_base_url": "https://llm.example.com/v1", "model_generate_config": {"temperature": 0.5, "system_message": "Be exact."},
		"model_roles": {"grader": {"model": "anthropic/claude-x"}}, "scorers": [{"name": "includes"}]},
		"plan": {"steps": [{"solver": "system_message", "params": {"template": "Be short."}}, {"solver": "prompt_template", "params": {"template": "Answer: {prompt}"}}, {"solver": "self_critique", "params": {}}, {"solver": "generate", "params": {}}]},
		"samples": [{"id": "1", "input": "a", "target": "x"}, {"id": "2", "input": "b", "target": "x"}, {"id": "3", "input": "c", "target": "x"}]}`, evals.Options{})
	if err != nil {
		t.Fatal(err)
	}
	config := string(f.Files["config.yaml"])
	for _, want := range []string{"Be short.", "Be exact.", "provider: openrouter", "base_url: https://llm.example.com/v1", "temperature: 0.5", "judge:\n    provider: anthropic\n    model: claude-x"} {
		if !strings.Contains(config, want) {
			t.Errorf("no %q in\n%s", want, config)
		}
	}
	if prompt := written(t, f)[0]["prompt"]; prompt != "Answer: a" || !strings.Contains(fmt.Sprint(report.Of(evals.NoCounterpart)), "self_critique") {
		t.Errorf("%q: %+v", prompt, report.Rows)
	}
}

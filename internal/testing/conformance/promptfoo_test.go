package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/importer/evals"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
	"github.com/seed-f4525e22/skillopt/task"
)

// notImported are the assertions of promptfoo that are named as lost.
func notImported() []string { return []string{"bleu", "rouge-n", "is-html", "is-xml"} }

// losesAll reports whether every assertion of a case is lost.
func losesAll(in map[string]any) bool {
	list, _ := in["assert"].([]any)
	for _, a := range list {
		m, _ := a.(map[string]any)
		kind, _ := m["type"].(string)
		lost := false
		for _, one := range notImported() {
			lost = lost || strings.TrimPrefix(kind, "not-") == one
		}
		if !lost {
			return false
		}
	}
	return true
}

// TestPromptfooAssert: a test of promptfoo, imported, passes the answers that it passed there.
func TestPromptfooAssert(t *testing.T) {
	t.Parallel()
	run(t, "promptfoo_assert", checkPromptfoo)
}

// checkPromptfoo imports a configuration that holds the recorded test, and scores the
// recorded output by what was written. What promptfoo ends with an error on is refused or
// named as lost.
func checkPromptfoo(in, out map[string]any) string {
	pass, err := imported(in)
	if want, ok := out["ok"].(map[string]any); ok {
		return diffRecorded(pass, err, map[string]any{"ok": want["pass"]})
	}
	return diffRecorded(pass, err, out)
}

func imported(in map[string]any) (pass bool, err error) {
	test := map[string]any{"vars": map[string]any{"q": "recorded"}, "assert": in["assert"]}
	if v, ok := in["threshold"]; ok {
		test["threshold"] = v
	}
	tests := []any{test}
	for _, q := range []string{"a", "b"} { // a set has three tasks at least
		tests = append(tests, map[string]any{"vars": map[string]any{"q": q}, "assert": []any{map[string]any{"type": "equals", "value": "x"}}})
	}
	text, err := json.Marshal(map[string]any{"prompts": []any{"{{q}}"}, "tests": tests})
	if err != nil {
		return false, err
	}
	source := fstest.MapFS{"promptfooconfig.json": {Data: text}}
	folder, report, err := evals.Import(context.Background(), evals.Source{FS: source, File: "promptfooconfig.json"}, evals.Options{})
	if err != nil {
		return false, err
	}
	if report.Lost > 0 {
		return false, fmt.Errorf("lost: %+v", report.Rows)
	}
	return passes(folder, in["output"].(string))
}

// passes scores a reply by the first task of a folder.
func passes(folder evals.Folder, reply string) (bool, error) {
	var config struct {
		Tasks struct {
			Extract any `yaml:"extract"`
			Checks  any `yaml:"checks"`
		} `yaml:"tasks"`
	}
	if _, err := yamlx.Decode(folder.Files["config.yaml"], &config); err != nil {
		return false, err
	}
	extractor, err := check.ParseExtract(config.Tasks.Extract)
	if err != nil {
		return false, err
	}
	suite, err := check.Compile(config.Tasks.Checks, check.Options{Extract: extractor})
	if err != nil {
		return false, err
	}
	first, _, _ := bytes.Cut(folder.Files["tasks.jsonl"], []byte("\n"))
	var line struct {
		ID, Prompt string
		Checks     json.RawMessage
	}
	if err := json.Unmarshal(first, &line); err != nil {
		return false, err
	}
	t := task.Task{ID: line.ID, Prompt: line.Prompt, Checks: line.Checks}
	if err := suite.Check(t); err != nil {
		return false, fmt.Errorf("lint: %w", err)
	}
	answer, err := extractor.Answer(reply)
	if err != nil {
		return false, err
	}
	return suite.Score(answer, t).Hard == 1, nil
}

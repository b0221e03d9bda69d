package cli

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-f4525e22/skillopt/internal/testing/fakemodel"
)

// What test tasks hold, in each field, and what they are answered.
const planted = "PLANTED"

// newPlantedProject is a folder with a config, whose model is a server, and tasks; those of the test split hold a mark
// in each of their fields. bad has tasks each of which is wrong.
func newPlantedProject(t *testing.T, before ...func()) (dir string, trust []string, model *fakemodel.Server) {
	t.Helper()
	model = fakemodel.New(func(r *fakemodel.Request) {
		for _, f := range before {
			f()
		}
		switch {
		case strings.Contains(r.Body, "You improve a skill"):
			r.Answer(fakemodel.Reply{Text: `{"batch_size": 1, "failure_summary": [], "patch": {"reasoning": "r", "edits": [{"op": "append", "target": "", "content": "- Say the word."}]}}`})
		case strings.Contains(r.Body, planted):
			r.Answer(fakemodel.Reply{Text: "<answer>" + planted + " reply</answer>"})
		case strings.Contains(r.Body, "Say the word"):
			_, word, _ := strings.Cut(r.Body, "the word is ")
			word, _, _ = strings.Cut(word, ".")
			r.Answer(fakemodel.Reply{Text: "<answer>" + word + "</answer>"})
		default:
			r.Answer(fakemodel.Reply{Text: "<answer>nothing</answer>"})
		}
	})
	t.Cleanup(model.Stop)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	var rows, bad strings.Builder
	for i, split := range []string{"train", "selection"} {
		for n := range 12 {
			fmt.Fprintf(&rows, `{"id":"%s-%d","split":"%s","type":"word","prompt":"In sentence %d of part %d the word is w%d%c.","gold":"w%d%c"}`+"\n", split, n, split, n*7, i, n, 'a'+i, n, 'a'+i)
		}
	}
	for n := range 12 {
		fmt.Fprintf(&rows, `{"id":"test-%d","split":"test","type":"word","prompt":"%s prompt %d %d?","gold":"%s gold %d","checks":[{"type":"contains","value":"%s gold"}]}`+"\n", n, planted, n*n, n, planted, n, planted)
	}
	bad.WriteString(rows.String())
	for _, row := range []string{
		`{"id":"test-1","split":"test","prompt":"PLANTED again","gold":"PLANTED"}`,
		`{"id":"bad-1","split":"test","prompt":"PLANTED prompt 4 2?","gold":"PLANTED x"}`,
		`{"id":"bad-2","split":"test","prompt":"PLANTED b","checks":[{"type":"regex","value":"PLANTED("}]}`,
		`{"id":"bad-3","split":"test","prompt":"PLANTED c","checks":[{"type":"PLANTED"}]}`,
		`{"id":"bad-4","split":"test","prompt":"PLANTED d","gold":""}`,
		`{"id":"bad-5","split":"test","prompt":"PLANTED e","gold":{"PLANTED":["PLANTED"]}}`,
		`{"id":"bad-6","split":"PLANTED","prompt":"PLANTED f","gold":"PLANTED"}`,
		`{"id":"bad-7","split":"test","prompt":["PLANTED"],"gold":"PLANTED"}`,
		`{"id":"bad-8","split":"test","prompt":"PLANTED g","gold":"PLANTED","PLANTED":"PLANTED"}`,
		`{"id":"bad-9","split":"test","prompt":"PLANTED h" "gold":"PLANTED"}`,
	} {
		bad.WriteString(row + "\n")
	}
	config := fmt.Sprintf(`skill: SKILL.md
tasks: {path: tasks.jsonl, extract: {tag: answer}, checks: [{type: equals, value: $gold}]}
train: {epochs: 1, batch_size: 4}
models:
  target: {provider: compatible, model: m, base_url: "%[1]s/v1", api_key_env: "", temperature: 0}
  optimizer: {provider: compatible, model: m, base_url: "%[1]s/v1", api_key_env: "", temperature: 0}
`, model.URL)
	files := map[string]string{"project/config.yaml": config, "project/tasks.jsonl": rows.String(), "bad/tasks.jsonl": bad.String(), "bad/config.yaml": config}
	for i, line := range strings.Split(strings.TrimSpace(bad.String()), "\n")[36:] {
		files[fmt.Sprintf("bad/one-%d.jsonl", i)] = rows.String() + line + "\n"
	}
	for _, name := range []string{"project", "bad"} {
		files[name+"/SKILL.md"] = "---\nname: words\ndescription: Finds words.\n---\n# Words\n\nAnswer in answer tags.\n"
	}
	writeTree(t, dir, files)
	for _, text := range files {
		trust = append(trust, "--trust", fmt.Sprintf("%x", sha256.Sum256([]byte(text))))
	}
	return dir, trust, model
}

// Of test tasks nothing but scores is shown: what they hold and were answered is in no answer of a tool, and in no
// document.
func TestMCPShowsNothingOfTestTasks(t *testing.T) {
	dir, flags, _ := newPlantedProject(t)
	s := connectMCP(t, dir, "claude-code", nil, append(flags, "--allow-calls", "100", "--allow-train", "calls=2000")...)
	shown := map[string]string{}
	call := func(name string, args map[string]any) string {
		text, _ := callMCP(t, s, name, args)
		shown[fmt.Sprintf("%s %v", name, args)] = text
		return text
	}
	project := map[string]any{"config": "project"}
	if text := call("train", project); !strings.Contains(text, `"status":"completed"`) || !strings.Contains(text, `"best":{`) {
		t.Fatal(text)
	}
	runs, err := filepath.Glob(filepath.Join(dir, "runs", "project-*"))
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	run := filepath.Join("runs", filepath.Base(runs[0]))
	record, err := os.ReadFile(filepath.Join(runs[0], "run.db"))
	if err != nil || !bytes.Contains(record, []byte(planted)) {
		t.Fatalf("the run has not read what is planted: %v", err)
	}
	list, err := s.ListTools(t.Context(), nil)
	must(t, err)
	for _, tool := range list.Tools {
		if tool.Name != "train" && tool.Name != "stop" {
			call(tool.Name, project)
			call(tool.Name, map[string]any{"run": run})
			call(tool.Name, nil)
		}
	}
	for _, args := range []map[string]any{{"step": 0}, {"step": 1}} {
		call("runs_show", args)
	}
	for _, task := range []string{"test-0", "test-11", "train-0", "selection-3"} {
		call("runs_failures", map[string]any{"run": run, "task": task, "prompt": true})
	}
	call("runs_failures", map[string]any{"run": run, "step": "0"})
	for line := range 12 {
		call("runs_blame", map[string]any{"run": run, "line": line})
	}
	call("resume", map[string]any{"config": "project", "run": run, "finish": true})
	for n := range 3 {
		call("try", map[string]any{"config": "project", "number": n + 1, "task": []string{fmt.Sprintf("test-%d", n)}})
	}
	call("try", map[string]any{"config": "project", "set": []string{"split.ratio=1:1:8"}})
	call("try", map[string]any{"config": "project", "set": []string{"tasks.path=project/tasks.jsonl"}})
	files, err := filepath.Glob(filepath.Join(dir, "bad", "*"))
	must(t, err)
	for _, file := range append(files, filepath.Join(dir, "bad"), filepath.Join(dir, "project", "tasks.jsonl")) {
		for _, tool := range []string{"tasks_lint", "train_plan", "doctor", "skill_lint"} {
			call(tool, map[string]any{"config": file})
			call(tool, map[string]any{"skill": file})
		}
	}
	for _, what := range []string{"report", "diff"} {
		r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "skillopt://run/" + filepath.Base(run) + "/" + what})
		must(t, err)
		shown[what] = r.Contents[0].Text
	}
	for what, text := range shown {
		if strings.Contains(text, planted) {
			t.Errorf("%s: %s", what, around(text))
		}
	}
	if !strings.Contains(shown["report"], "Certificate") || !strings.Contains(shown["diff"], "Say the word") {
		t.Errorf("%s\n%s", shown["report"], shown["diff"])
	}
}

// around is the text around what is planted.
func around(text string) string {
	i := strings.Index(text, planted)
	return text[max(0, i-200):min(len(text), i+100)]
}

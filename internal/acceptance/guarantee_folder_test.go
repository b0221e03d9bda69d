package acceptance_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// skillFolder writes a skill of several files and returns its folder.
func skillFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "word-codes")
	for _, sub := range []string{"scripts", "references", "assets"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	document, err := os.ReadFile(filepath.Join(guaranteeDir, "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "SKILL.md"), string(document))
	write(t, filepath.Join(dir, "references", "codes.md"), "# Codes\n\nThe code of the day is HERON-7.\n")
	write(t, filepath.Join(dir, "assets", "table.bin"), "\x00\x01\xff table")
	write(t, filepath.Join(dir, "scripts", "encode.sh"), "#!/bin/sh\necho \"coded:$1\"\n")
	if err := os.Chmod(filepath.Join(dir, "scripts", "encode.sh"), 0o775); err != nil {
		t.Fatal(err)
	}
	return dir
}

// An agent runs a script of the skill and reads a reference and a binary file, whichever
// way the skill is named and told.
func TestAnAgentWorksWithTheFilesOfTheSkill(t *testing.T) {
	t.Parallel()
	dir := skillFolder(t)
	for name, change := range map[string]func(*config.Config){
		"folder":        func(c *config.Config) { c.Skill = dir },
		"document":      func(c *config.Config) { c.Skill = filepath.Join(dir, "SKILL.md") },
		"read mode":     func(c *config.Config) { c.Skill, c.Agent.Mode = dir, "read" },
		"another name":  func(c *config.Config) { c.Skill, c.Agent.SkillName = dir, "other-name" },
		"document only": func(c *config.Config) { c.Skill, c.SkillFiles = dir, config.FilesDocument },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := agentConfig(t)
			change(&cfg)
			cfg.Tasks.Checks = []any{map[string]any{"type": "command", "run": `grep -q coded:x out.txt && grep -q HERON-7 out.txt && test "$(wc -c < table.bin)" -eq 9`, "timeout": "1m"}}
			command := `s=$(echo .agents/skills/*); "$s/scripts/encode.sh" x > out.txt; cat "$s/references/codes.md" >> out.txt; cp "$s/assets/table.bin" .; diff -r .agents/skills .claude/skills`
			client := modeltest.Func(func(_ context.Context, req model.Request) (model.Response, error) {
				if req.Messages[len(req.Messages)-1].Role == model.ToolRole {
					return model.Response{Text: "done", Finish: model.FinishStop}, nil
				}
				args, err := json.Marshal(map[string]string{"command": command})
				return model.Response{Finish: model.FinishTools, Parts: []model.Part{{Call: &model.ToolCall{ID: "c1", Name: "bash", Arguments: args}}}}, err
			})
			tasks := []task.Task{{ID: "t", Prompt: "Encode x.", Gold: []string{"x"}, Split: task.Test}}
			out, err := skillopt.Evaluate(t.Context(), cfg, "test", skillopt.WithTasks(tasks), skillopt.WithClient(model.Target, "scripted", client), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")))
			if err != nil {
				t.Fatal(err)
			}
			want := 1.0
			if name == "document only" {
				want = 0
			}
			if got := out.Splits["test"].Hard; got != want {
				t.Errorf("score %v, want %v", got, want)
			}
		})
	}
}

// A chat target, which has no tools, is told the texts beside SKILL.md and what else is
// there; one document is told as it always was.
func TestAChatTargetIsToldTheFilesOfTheSkill(t *testing.T) {
	t.Parallel()
	dir := skillFolder(t)
	told := func(files string) string {
		cfg := worldConfig("")
		cfg.Skill, cfg.SkillFiles = dir, files
		var mu sync.Mutex
		var system string
		client := modeltest.Func(func(_ context.Context, req model.Request) (model.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			system = req.Messages[0].Text()
			return model.Response{Text: "<answer>x</answer>", Finish: model.FinishStop}, nil
		})
		tasks := []task.Task{{ID: "t", Prompt: "Encode x.", Gold: []string{"x"}, Split: task.Test}}
		if _, err := skillopt.Evaluate(t.Context(), cfg, "test", skillopt.WithTasks(tasks), skillopt.WithClient(model.Target, "scripted", client), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run"))); err != nil {
			t.Fatal(err)
		}
		return system
	}
	all, document := told(config.FilesAll), told(config.FilesDocument)
	for _, want := range []string{"HERON-7", "references/codes.md", "scripts/encode.sh", "echo \"coded:$1\"", "assets/table.bin: 9 bytes, not shown"} {
		if !strings.Contains(all, want) || strings.Contains(document, want) {
			t.Errorf("%q: told %v with all files and %v with the document", want, strings.Contains(all, want), strings.Contains(document, want))
		}
	}
}

// An environment gets the files with each task.
func TestAnEnvironmentGetsTheFilesOfTheSkill(t *testing.T) {
	t.Parallel()
	g := newGolden(t)
	write(t, filepath.Join(g.dir, "env.py"), `import json, sys
for line in sys.stdin:
    task = json.loads(line)
    files = {f["path"]: f for f in task.get("skill_files", [])}
    ok = "HERON-7" in files["references/codes.md"]["text"] and files["scripts/encode.sh"]["executable"] and files["assets/table.bin"] == {"path": "assets/table.bin", "bytes": 9}
    print(json.dumps({"answer": "", "hard": 1 if ok else 0}), flush=True)
`)
	cfg := worldConfig("http://unused.invalid/v1")
	cfg.Skill, cfg.Env.Command = skillFolder(t), []string{"python3", filepath.Join(g.dir, "env.py")}
	tasks := []task.Task{{ID: "t", Prompt: "1", Gold: []string{"x"}, Split: task.Test}}
	out, err := skillopt.Evaluate(t.Context(), cfg, "test", skillopt.WithTasks(tasks), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")))
	if err != nil || out.Splits["test"].Hard != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
}

// A file of the skill with one other byte, or another mode, is another run, which is told
// by the name of the file. A run that was stopped goes on to the same bytes, and the best
// skill is a folder.
func TestAFolderIsPartOfWhatARunIs(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("")
	cfg.Skill = skillFolder(t)
	whole, cut := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	trained(t, cfg, whole, inProcess(t)...)
	calls := int64(60)
	stopped := cfg
	stopped.Limits.Calls, stopped.Limits.Reserve = &calls, "none"
	if _, err := skillopt.Train(t.Context(), stopped, append(inProcess(t), skillopt.WithRunDir(cut), skillopt.WithKeepOpen())...); kind(err) != skillopt.OverBudget {
		t.Fatalf("error %v, want one of the budget", err)
	}
	for path, change := range map[string]func(string) error{
		"assets/table.bin":    func(p string) error { return os.WriteFile(p, []byte("\x00\x01\xfe table"), 0o600) },
		"scripts/encode.sh":   func(p string) error { return os.Chmod(p, 0o644) },
		"references/codes.md": os.Remove,
		"references/new.md":   func(p string) error { return os.WriteFile(p, []byte("new"), 0o600) },
	} {
		other := cfg
		other.Skill = skillFolder(t)
		if err := change(filepath.Join(other.Skill, filepath.FromSlash(path))); err != nil {
			t.Fatal(err)
		}
		_, err := skillopt.Train(t.Context(), other, append(inProcess(t), skillopt.WithRunDir(cut))...)
		if kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), "skill/"+path) {
			t.Errorf("%s: error %v, want one that names it", path, err)
		}
	}
	trained(t, cfg, cut, inProcess(t)...)
	sameResults(t, results(t, whole), cut)
	want := folderOf(t, cfg.Skill)
	want["SKILL.md"] = results(t, whole)["best_skill.md"]
	if diff := cmp.Diff(want, folderOf(t, filepath.Join(cut, "best_skill"))); diff != "" {
		t.Errorf("best_skill (-want +got):\n%s", diff)
	}
	// best_skill.md is the document of that folder, and stands for it.
	cfg.Skill = filepath.Join(cut, "best_skill.md")
	out, err := skillopt.Evaluate(t.Context(), cfg, "test", append(inProcess(t), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")))...)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Skill = filepath.Join(cut, "best_skill")
	folder, err := skillopt.Evaluate(t.Context(), cfg, "test", append(inProcess(t), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")))...)
	if err != nil || folder.Skill != out.Skill || out.Skill == skill.Hash(want["SKILL.md"]) {
		t.Errorf("best_skill.md is %s, the folder is %s, %v", out.Skill, folder.Skill, err)
	}
}

// folderOf are the files below dir, by path, with whether they may be executed.
func folderOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = string(data)
		if info.Mode()&0o100 != 0 {
			out[filepath.ToSlash(rel)+" (mode)"] = "executable"
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What lies in a skill and is the run's own is not handed to the target with it.
func TestTasksInTheFolderOfTheSkillStayThere(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		skill, tasks string // below the folder
		refused      bool
	}{
		"beside SKILL.md, the folder":   {".", "tasks.jsonl", false},
		"in assets, the folder":         {".", "assets/tasks.jsonl", true},
		"beside SKILL.md, the document": {"SKILL.md", "tasks.jsonl", false},
		"in assets, the document":       {"SKILL.md", "assets/tasks.jsonl", true},
		"in evals, the folder":          {".", "evals/tasks.jsonl", false},
		"hidden, the folder":            {".", ".skillopt/tasks.jsonl", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := skillFolder(t)
			cfg := worldConfig("")
			cfg.Limits.Concurrency = 1
			data, err := os.ReadFile(cfg.Tasks.Path)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Skill, cfg.Tasks.Path = filepath.Join(dir, tt.skill), filepath.Join(dir, filepath.FromSlash(tt.tasks))
			if err := os.MkdirAll(filepath.Dir(cfg.Tasks.Path), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, cfg.Tasks.Path, string(data))
			var told strings.Builder
			_, err = skillopt.Evaluate(t.Context(), cfg, "test", skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")), skillopt.WithClient(model.Optimizer, "none", noCalls{t}),
				skillopt.WithClient(model.Target, "listens", modeltest.Func(func(_ context.Context, req model.Request) (model.Response, error) {
					told.WriteString(req.Messages[0].Text())
					return model.Response{Text: "none", Finish: model.FinishStop}, nil
				})))
			if strings.Contains(told.String(), "tasks.jsonl") || !tt.refused && !strings.Contains(told.String(), "HERON-7") {
				t.Errorf("the target was told:\n%s", told.String())
			}
			if refused := kind(err) == skillopt.BadInput && strings.Contains(err.Error(), "tasks.path"); refused != tt.refused || !refused && err != nil {
				t.Errorf("error %v, refused: want %v", err, tt.refused)
			}
		})
	}
}

// A workspace that brings a skill of the same name is refused before anything is paid.
func TestAWorkspaceWithTheSkillIsRefused(t *testing.T) {
	t.Parallel()
	cfg := agentConfig(t)
	cfg.Skill, cfg.Agent.SkillName, cfg.Agent.Workspace = skillFolder(t), "codes", t.TempDir()
	folder := filepath.Join(cfg.Agent.Workspace, ".claude", "skills", "codes")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "SKILL.md"), "# Another\n")
	_, err := skillopt.Plan(t.Context(), cfg, inProcess(t)...)
	if kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), ".claude/skills/codes") || !strings.Contains(err.Error(), "agent.skill_name") {
		t.Errorf("error %v, want one that names the folder and what helps", err)
	}
}

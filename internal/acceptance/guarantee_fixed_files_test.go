package acceptance_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Where SKILL.md alone may change, analysts of a skill with other files are told of these,
// and shown what the trajectories touched; no edit names a file, and none reaches one.
// Analysts of a SKILL.md alone are asked as ever.
func TestAnalystsAreToldOfFixedFiles(t *testing.T) {
	t.Parallel()
	cfg := agentConfig(t)
	cfg.Tasks.Extract = "all"
	cfg.SlowUpdate.Enabled, cfg.MetaSkill.Enabled = false, false
	cfg.Tasks.Checks = []any{map[string]any{"type": "command", "run": `grep -q HERON-8 out.txt`, "timeout": "1m"}}
	ask := func(path string, edits ...skill.Edit) (model.Request, string) {
		cfg.Skill = path
		optimizer := &filesOptimizer{edits: edits}
		dir := filepath.Join(t.TempDir(), "run")
		trained(t, cfg, dir, skillopt.WithTasks(tasksOfTwoKinds(t, 4)), skillopt.WithClient(model.Target, "scripted", readingAgent()), skillopt.WithClient(model.Optimizer, "scripted", optimizer.client()))
		return optimizer.asked[model.StageAnalystError], dir
	}
	folder := skillFolder(t)
	req, dir := ask(folder, skill.Edit{Op: skill.Append, File: "references/codes.md", Content: "HERON-8"})
	system, user := req.Messages[0].Text(), req.Messages[len(req.Messages)-1].Text()
	if !strings.Contains(system, "SKILL.md is all that you can change") || strings.Contains(system, `"file"`) || strings.Contains(string(req.Schema.JSON), `"file"`) {
		t.Errorf("system: %s\nschema: %s", system, req.Schema.JSON)
	}
	for _, want := range []string{"- SKILL.md: ", "always loaded, shown above; may be edited", "references/codes.md: 41 bytes, touched in these trajectories; fixed", "scripts/encode.sh: 26 bytes, a program; fixed", "The code of the day is HERON-7."} {
		if !strings.Contains(user, want) {
			t.Errorf("the analyst is not told %q", want)
		}
	}
	if got := folderOf(t, folder)["references/codes.md"]; strings.Contains(readTree(t, filepath.Join(dir, "best_skill")), "HERON-8") || strings.Contains(got, "HERON-8") {
		t.Error("an edit reached a file that may not change")
	}
	req, _ = ask(filepath.Join(guaranteeDir, "SKILL.md"))
	if all := req.Messages[0].Text() + req.Messages[len(req.Messages)-1].Text(); strings.Contains(all, "Files Of The Skill") || strings.Contains(all, "all that you can change") {
		t.Error("an analyst of SKILL.md alone is told of files")
	}
}

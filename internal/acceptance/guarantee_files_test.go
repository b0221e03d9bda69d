package acceptance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/report"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// filesOptimizer proposes edits of files, and keeps what it was asked.
type filesOptimizer struct {
	edits []skill.Edit
	mu    sync.Mutex
	asked map[string]model.Request // by stage, the latest
}

func (o *filesOptimizer) client() model.Client {
	return modeltest.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.asked == nil {
			o.asked = map[string]model.Request{}
		}
		o.asked[req.Tags.Stage] = req
		var reply any
		switch req.Tags.Stage {
		case model.StageAnalystError:
			reply = map[string]any{"batch_size": 1, "failure_summary": []any{}, "patch": map[string]any{"reasoning": "r", "edits": o.edits}}
		case model.StageAnalystSuccess:
			reply = map[string]any{"batch_size": 1, "success_patterns": []any{}, "patch": map[string]any{"reasoning": "r", "edits": []any{}}}
		case model.StageMerge, model.StageMergeFinal:
			reply = map[string]any{"reasoning": "r", "edits": o.edits}
		default:
			reply = map[string]any{"reasoning": "r", "slow_update_content": "", "meta_skill_content": ""}
		}
		text, err := json.Marshal(reply)
		return model.Response{Text: string(text), Finish: model.FinishStop}, err
	})
}

// readingAgent copies what the reference of the skill says into its answer.
func readingAgent() model.Client {
	return modeltest.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		if req.Messages[len(req.Messages)-1].Role == model.ToolRole {
			return model.Response{Text: "done", Finish: model.FinishStop}, nil
		}
		args, err := json.Marshal(map[string]string{"command": `cat .agents/skills/*/references/codes.md .agents/skills/*/references/new.md > out.txt; cat out.txt`})
		return model.Response{Finish: model.FinishTools, Parts: []model.Part{{Call: &model.ToolCall{ID: "c1", Name: "bash", Arguments: args}}}}, err
	})
}

// A reference of the skill is trained: the edit lands in it, the score on the test split
// follows, the best skill is a folder with its modes, and nothing else of it has changed.
func TestAReferenceIsTrained(t *testing.T) {
	t.Parallel()
	cfg := agentConfig(t)
	cfg.Skill = skillFolder(t)
	cfg.Tasks.Extract, cfg.Edits.Budget = "all", 8
	cfg.Edits.Files, cfg.Edits.NewFiles = []string{"SKILL.md", "references/*.md"}, 1
	cfg.SlowUpdate.Enabled, cfg.MetaSkill.Enabled = false, false
	cfg.Tasks.Checks = []any{map[string]any{"type": "command", "run": `grep -q HERON-8 out.txt && grep -q moved out.txt`, "timeout": "1m"}}
	first, err := os.ReadFile(filepath.Join(cfg.Skill, "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	line := lastLine(string(first))
	edits := []skill.Edit{
		{Op: skill.Replace, File: "references/codes.md", Target: "HERON-7", Content: "HERON-8"},
		{Op: skill.Append, File: "references/new.md", Content: "moved"},
		{Op: skill.Move, File: "references/codes.md", Target: line, Content: "See references/codes.md."},
		{Op: skill.Append, File: "scripts/encode.sh", Content: "rm -rf /"},
		{Op: skill.Append, File: "../outside.md", Content: "x"},
	}
	optimizer := &filesOptimizer{edits: edits}
	opts := []skillopt.Option{skillopt.WithTasks(tasksOfTwoKinds(t, 4)), skillopt.WithClient(model.Target, "scripted", readingAgent()), skillopt.WithClient(model.Optimizer, "scripted", optimizer.client())}
	dir := filepath.Join(t.TempDir(), "run")
	sum := trained(t, cfg, dir, opts...)
	if sum.Test.Seed == nil || sum.Test.Best == nil || sum.Test.Seed.Hard != 0 || sum.Test.Best.Hard != 1 {
		t.Fatalf("test %+v -> %+v, want 0 -> 1", sum.Test.Seed, sum.Test.Best)
	}
	want := folderOf(t, cfg.Skill)
	want["references/codes.md"] = "# Codes\n\nThe code of the day is HERON-8.\n\n" + line + "\n"
	want["references/new.md"] = "moved\n"
	want["SKILL.md"] = strings.Replace(string(first), line, "See references/codes.md.", 1)
	if diff := cmp.Diff(want, folderOf(t, filepath.Join(dir, "best_skill"))); diff != "" {
		t.Errorf("best_skill (-want +got):\n%s", diff)
	}
	toldOfFiles(t, optimizer.asked[model.StageAnalystError])
	filesOfTheRun(t, dir)
	writtenBy(t, dir, line)
	writtenOut(t, dir, want)
	cutAndResumed(t, cfg, dir, opts)
}

// writtenBy fails unless blame, diff and report know what wrote the lines of each file.
func writtenBy(t *testing.T, dir, moved string) {
	t.Helper()
	r, err := record.ReadTraining(dir, "run")
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r.Problems)
	}
	best, err := record.Version(dir, "best")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range r.Blame("best", best).Files {
		for _, l := range f.Lines {
			got[f.Path+": "+l.Text] = record.Describe(l.Origin)
		}
	}
	for line, want := range map[string]string{
		"references/codes.md: # Codes": "seed", "references/codes.md: The code of the day is HERON-8.": "step 1, edit 1",
		"references/new.md: moved": "step 1, edit 2", "references/codes.md: " + moved: "step 1, edit 3",
	} {
		if got[line] != want {
			t.Errorf("%q is of %q, want %q", line, got[line], want)
		}
	}
	page, err := report.HTML(report.Of(r))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<code>references/codes.md</code>", "<code>references/new.md</code>", "HERON-8"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report lacks %s", want)
		}
	}
	if text := string(report.Markdown(report.Of(r))); !strings.Contains(text, "+++ best/references/codes.md") || !strings.Contains(text, "-The code of the day is HERON-7.") {
		t.Errorf("report.md has no diff of the reference:\n%s", text)
	}
}

// writtenOut fails unless the best skill is written with all its files and modes, into a
// folder that is there too.
func writtenOut(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	best, err := run.ReadBest(dir)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "deep", "skill")
	for range 2 {
		if err := run.ExportFolder(to, best); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, folderOf(t, to)); diff != "" {
			t.Errorf("exported (-want +got):\n%s", diff)
		}
	}
}

// lastLine is the last line of a text that is not blank.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// toldOfFiles fails unless an analyst is told of all files, and shown those that may be
// edited.
func toldOfFiles(t *testing.T, req model.Request) {
	t.Helper()
	system, user := req.Messages[0].Text(), req.Messages[len(req.Messages)-1].Text()
	for _, want := range []string{`"file"`, "move", "references/*.md"} {
		if !strings.Contains(system, want) {
			t.Errorf("the analyst's system message lacks %q", want)
		}
	}
	for _, want := range []string{"references/codes.md: 41 bytes, touched in these trajectories; may be edited", "scripts/encode.sh: 26 bytes, a program; fixed", "assets/table.bin: 9 bytes; fixed", "The code of the day is HERON-7."} {
		if !strings.Contains(user, want) {
			t.Errorf("the analyst is not told %q", want)
		}
	}
	if !strings.Contains(string(req.Schema.JSON), `"file"`) {
		t.Errorf("its schema knows no file: %s", req.Schema.JSON)
	}
}

// filesOfTheRun fails unless a run shows the result of each file.
func filesOfTheRun(t *testing.T, dir string) {
	t.Helper()
	for name, want := range map[string]string{
		"skills/skill_v0000/references/codes.md":            "HERON-7",
		"skills/skill_v0001/references/codes.md":            "HERON-8",
		"steps/step_0001/candidate_skill/references/new.md": "moved",
		"steps/step_0001/edit_apply_report.json":            "applied_new_file",
		"candidates.json":                                   "HERON-8",
		"steps/step_0001/step_record.json":                  "skipped_unsupported_file",
	} {
		if data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s lacks %q: %v", name, want, err)
		}
	}
}

// cutAndResumed fails unless a run that is stopped and goes on ends with the same bytes.
func cutAndResumed(t *testing.T, cfg config.Config, whole string, opts []skillopt.Option) {
	t.Helper()
	cut := filepath.Join(t.TempDir(), "run")
	calls := int64(25)
	stopped := cfg
	stopped.Limits.Calls, stopped.Limits.Reserve = &calls, "none"
	if _, err := skillopt.Train(t.Context(), stopped, append(opts, skillopt.WithRunDir(cut))...); kind(err) != skillopt.OverBudget {
		t.Fatalf("error %v, want one of the budget", err)
	}
	trained(t, cfg, cut, opts...)
	sameResults(t, results(t, whole), cut)
	if diff := cmp.Diff(folderOf(t, filepath.Join(whole, "best_skill")), folderOf(t, filepath.Join(cut, "best_skill"))); diff != "" {
		t.Errorf("best_skill (-whole +resumed):\n%s", diff)
	}
}

// A script is trained by its name, with a command that tells whether it still runs: an edit
// that breaks it is refused before anything is paid for it, and one that does not is judged.
// A seed skill that does not pass, and a command that cannot be run, are told as what they are.
func TestAScriptIsTrainedOnlyWhileItRuns(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	cfg := worldConfig("")
	cfg.Skill = skillFolder(t)
	cfg.Edits.Files = []string{"SKILL.md", "scripts/encode.sh"}
	cfg.SlowUpdate.Enabled, cfg.MetaSkill.Enabled, cfg.Tasks.Extract = false, false, "all"
	train := func(verify, content string) (*result.Summary, string, error) {
		c := cfg
		if verify != "" {
			c.Edits.Verify.Command = []string{"sh", "-c", verify}
		}
		optimizer := &filesOptimizer{edits: []skill.Edit{{Op: skill.Replace, File: "scripts/encode.sh", Target: "echo", Content: content}}}
		dir := filepath.Join(t.TempDir(), "run")
		sum, err := skillopt.Train(t.Context(), c, skillopt.WithTasks(echoTasks()), skillopt.WithClient(model.Target, "t", echoTarget()), skillopt.WithClient(model.Optimizer, "o", optimizer.client()), skillopt.WithRunDir(dir), skillopt.WithAcceptedSeed())
		return sum, dir, err
	}
	if _, _, err := train("", "x"); kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), "edits.verify") {
		t.Errorf("without a check: %v, want one that names edits.verify", err)
	}
	const runs = `test "$(scripts/encode.sh x | tail -c 8)" = "coded:x"`
	if sum, _, err := train(runs, "echo new >/dev/null; echo"); err != nil || sum.Accepted != 1 || sum.Test.Best.Hard != 1 {
		t.Errorf("an edit that keeps it running: %+v, %v", sum, err)
	}
	sum, dir, err := train(runs, "echo new; ehco")
	if err != nil || sum.Accepted != 0 || sum.Test.Best.Hard != 0 {
		t.Errorf("an edit that breaks it: %+v, %v", sum, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "history.json")); err != nil || !strings.Contains(string(data), "edits.verify: the command ended with exit code 1") {
		t.Errorf("the refusal is not told: %v\n%s", err, data)
	}
	if _, _, err := train("exit 3", "x"); kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), "the seed skill does not pass: edits.verify: the command ended with exit code 3") {
		t.Errorf("a seed skill that does not pass: %v", err)
	}
}

// echoTasks are solved by a target that says what the script of the skill echoes.
func echoTasks() []task.Task {
	var tasks []task.Task
	for i := range 30 {
		split := []task.Split{task.Train, task.Selection, task.Test}[i%3]
		tasks = append(tasks, task.Task{ID: fmt.Sprintf("t%d", i), Prompt: fmt.Sprintf("Encode %d.", i), Gold: []string{"new code"}, Split: split})
	}
	return tasks
}

func echoTarget() model.Client {
	return modeltest.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		text := "old"
		if strings.Contains(req.Messages[0].Text(), "echo new") {
			text = "new code"
		}
		return model.Response{Text: text, Finish: model.FinishStop}, nil
	})
}

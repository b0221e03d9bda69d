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
	"github.com/seed-f4525e22/skillopt/internal/provenance"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/report"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// wholeOptimizer writes whole texts of files: its first reply to a request breaks a rule,
// and the one to the request that tells why does not.
type wholeOptimizer struct {
	document  string
	bad, good []skill.FileText
	mu        sync.Mutex
	asked     map[string]model.Request // by stage, the latest
	refused   []string                 // why a reply was refused, as it is told of it
}

func (o *wholeOptimizer) client() model.Client {
	return modeltest.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.asked == nil {
			o.asked = map[string]model.Request{}
		}
		o.asked[req.Tags.Stage] = req
		files := o.bad
		if last := req.Messages[len(req.Messages)-1].Text(); len(req.Messages) > 2 {
			files, o.refused = o.good, append(o.refused, last)
		}
		whole := map[string]any{"title": "codes", "change_summary": []string{"the code of the day"}, "new_skill": o.document, "files": files}
		suggestion := map[string]any{"type": "change", "file": "references/codes.md", "title": "codes", "motivation": "m", "instruction": "say HERON-8", "priority_hint": "high"}
		full := strings.Contains(string(req.Schema.JSON), "skill_candidates")
		items := func(list ...any) map[string]any {
			if full {
				return map[string]any{"reasoning": "r", "skill_candidates": list}
			}
			return map[string]any{"reasoning": "r", "revise_suggestions": list}
		}
		item := suggestion
		if full {
			item = whole
		}
		var reply any
		switch req.Tags.Stage {
		case model.StageAnalystError:
			reply = map[string]any{"batch_size": 1, "failure_summary": []any{}, "patch": items(item)}
		case model.StageAnalystSuccess:
			reply = map[string]any{"batch_size": 1, "success_patterns": []any{}, "patch": items([]any{}...)}
		case model.StageMerge, model.StageMergeFinal:
			reply = items(item)
		default:
			reply = whole
		}
		text, err := json.Marshal(reply)
		return model.Response{Text: string(text), Finish: model.FinishStop}, err
	})
}

// A reference of the skill is written anew: the score on the test split follows, the best
// skill holds it byte for byte beside all other files, a reply that breaks a rule is asked
// for again with the reason, and a run that is cut goes on to the same bytes.
func TestAReferenceIsRewritten(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"rewrite_from_suggestions", "full_rewrite_minibatch"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			cfg := agentConfig(t)
			cfg.Skill, cfg.Tasks.Extract, cfg.Edits.Mode = skillFolder(t), "all", mode
			cfg.Edits.Files, cfg.Edits.NewFiles = []string{"SKILL.md", "references/*.md"}, 1
			cfg.SlowUpdate.Enabled, cfg.MetaSkill.Enabled = false, false
			cfg.Tasks.Checks = []any{map[string]any{"type": "command", "run": `grep -q HERON-8 out.txt && grep -q added out.txt`, "timeout": "1m"}}
			first, err := os.ReadFile(filepath.Join(cfg.Skill, "SKILL.md"))
			if err != nil {
				t.Fatal(err)
			}
			const codes = "# Codes\n\nThe code of the day is HERON-8.\n"
			optimizer := &wholeOptimizer{
				document: string(first) + "\nSee references/new.md.\n",
				good:     []skill.FileText{{File: "references/codes.md", Content: codes}, {File: "references/new.md", Content: "added\x1b[2J"}},
				bad:      []skill.FileText{{File: "references/codes.md", Content: codes}, {File: "scripts/encode.sh", Content: "rm -rf /"}},
			}
			opts := []skillopt.Option{skillopt.WithTasks(tasksOfTwoKinds(t, 4)), skillopt.WithClient(model.Target, "scripted", readingAgent()), skillopt.WithClient(model.Optimizer, "scripted", optimizer.client())}
			dir := filepath.Join(t.TempDir(), "run")
			sum := trained(t, cfg, dir, opts...)
			if sum.Test.Seed == nil || sum.Test.Best == nil || sum.Test.Seed.Hard != 0 || sum.Test.Best.Hard != 1 {
				t.Fatalf("test %+v -> %+v, want 0 -> 1", sum.Test.Seed, sum.Test.Best)
			}
			want := folderOf(t, cfg.Skill)
			want["references/codes.md"], want["references/new.md"] = codes, "added[2J\n"
			want["SKILL.md"] = string(first) + "\nSee references/new.md.\n"
			if diff := cmp.Diff(want, folderOf(t, filepath.Join(dir, "best_skill"))); diff != "" {
				t.Errorf("best_skill (-want +got):\n%s", diff)
			}
			optimizer.told(t, mode)
			rewrittenBy(t, dir)
			writtenOut(t, dir, want)
			cutAndResumed(t, cfg, dir, opts)
		})
	}
}

// told fails unless those who write whole texts are shown all files, asked for them, and
// told which may not be written.
func (o *wholeOptimizer) told(t *testing.T, mode string) {
	t.Helper()
	if len(o.refused) == 0 || !strings.Contains(o.refused[0], `"scripts/encode.sh": only what matches SKILL.md, references/*.md may be edited`) {
		t.Errorf("why a reply was refused: %q", o.refused)
	}
	stage := model.StageRewrite
	if mode == "full_rewrite_minibatch" {
		stage = model.StageAnalystError
	}
	req := o.asked[stage]
	system, user := req.Messages[0].Text(), req.Messages[1].Text()
	for _, want := range []string{`"files" lists the other files that change`, "references/*.md"} {
		if !strings.Contains(system, want) {
			t.Errorf("the system message lacks %q:\n%s", want, system)
		}
	}
	for _, want := range []string{"touched in these trajectories; may be edited", "scripts/encode.sh: 26 bytes, a program; fixed", "The code of the day is HERON-7."} {
		if !strings.Contains(user, want) {
			t.Errorf("the author is not told %q:\n%s", want, user)
		}
	}
	if !strings.Contains(string(req.Schema.JSON), `"files":{"type":"array"`) {
		t.Errorf("the schema knows no files: %s", req.Schema.JSON)
	}
	if mode == "rewrite_from_suggestions" && !strings.Contains(user, "type=change file=references/codes.md") {
		t.Errorf("the author is not told which file a suggestion is about:\n%s", user)
	}
}

// rewrittenBy fails unless blame, diff and report name the step for the lines that it wrote,
// and for no other.
func rewrittenBy(t *testing.T, dir string) {
	t.Helper()
	r, err := record.ReadTraining(dir, "run")
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r.Problems)
	}
	best, err := record.Version(dir, "best")
	if err != nil {
		t.Fatal(err)
	}
	got, blame := map[string]string{}, r.Blame("best", best)
	for _, f := range append(blame.Files, provenance.File{Path: "SKILL.md", Lines: blame.Lines}) {
		for _, l := range f.Lines {
			got[f.Path+": "+l.Text] = record.Describe(l.Origin)
		}
	}
	for line, want := range map[string]string{
		"references/codes.md: # Codes": "seed", "references/codes.md: The code of the day is HERON-8.": "step 1, rewrite",
		"references/new.md: added[2J": "step 1, rewrite", "SKILL.md: See references/new.md.": "step 1, rewrite",
		"SKILL.md: ---": "seed",
	} {
		if got[line] != want {
			t.Errorf("%q is of %q, want %q", line, got[line], want)
		}
	}
	page, err := report.HTML(report.Of(r))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<code>references/codes.md</code>", "<code>references/new.md</code>", "HERON-8", "the code of the day"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report lacks %s", want)
		}
	}
	if text := string(report.Markdown(report.Of(r))); !strings.Contains(text, "+++ best/references/codes.md") || !strings.Contains(text, "-The code of the day is HERON-7.") {
		t.Errorf("report.md has no diff of the reference:\n%s", text)
	}
	for name, want := range map[string]string{
		"skills/skill_v0001/references/codes.md":            "HERON-8",
		"steps/step_0001/candidate_skill/references/new.md": "added",
		"steps/step_0001/edit_apply_report.json":            "the code of the day",
		"candidates.json":                                   "HERON-8",
	} {
		if data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s lacks %q: %v", name, want, err)
		}
	}
}

// A script that is written anew has to run before it is judged, as one that edits change.
func TestARewrittenScriptHasToRun(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	cfg := worldConfig("")
	cfg.Skill = skillFolder(t)
	cfg.Edits.Files = []string{"SKILL.md", "scripts/encode.sh"}
	cfg.Edits.Verify.Command = []string{"sh", "-c", `test "$(scripts/encode.sh x | tail -c 8)" = "coded:x"`}
	cfg.SlowUpdate.Enabled, cfg.MetaSkill.Enabled, cfg.Tasks.Extract = false, false, "all"
	document, err := os.ReadFile(filepath.Join(cfg.Skill, "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"rewrite_from_suggestions", "full_rewrite_minibatch"} {
		for script, want := range map[string]int{"#!/bin/sh\necho new >/dev/null; echo \"coded:$1\"\n": 1, "#!/bin/sh\necho new; ehco\n": 0} {
			c := cfg
			c.Edits.Mode = mode
			texts := []skill.FileText{{File: "scripts/encode.sh", Content: script}}
			optimizer := &wholeOptimizer{document: string(document), good: texts, bad: texts}
			dir := filepath.Join(t.TempDir(), "run")
			sum, err := skillopt.Train(t.Context(), c, skillopt.WithTasks(echoTasks()), skillopt.WithClient(model.Target, "t", echoTarget()), skillopt.WithClient(model.Optimizer, "o", optimizer.client()), skillopt.WithRunDir(dir), skillopt.WithAcceptedSeed())
			if err != nil || sum.Accepted != want || int(sum.Test.Best.Hard) != want {
				t.Errorf("%s, %q: %+v, %v", mode, script, sum, err)
			}
			if data, err := os.ReadFile(filepath.Join(dir, "history.json")); err != nil || strings.Contains(string(data), "edits.verify: the command ended with exit code 1") != (want == 0) {
				t.Errorf("%s, %q: what became of it: %v\n%s", mode, script, err, data)
			}
		}
	}
}

// The simulated optimizer answers where several files may be written anew, and learns.
func TestTheSimulatedOptimizerRewritesFolders(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"rewrite_from_suggestions", "full_rewrite_minibatch"} {
		accepted := 0 // in either view: which rules are tried is chance
		for _, view := range []string{"agent", "task"} {
			cfg, world := worldConfig("http://unused.invalid/v1"), sim.New(simulated(t))
			cfg.Skill, cfg.Edits.Mode, cfg.Reflect.View = skillFolder(t), mode, view
			cfg.Edits.Files, cfg.Train.Seed = []string{"SKILL.md", "references/*.md"}, 1
			dir := filepath.Join(t.TempDir(), "run")
			sum := trained(t, cfg, dir, skillopt.WithClient(model.Optimizer, "world", world), skillopt.WithClient(model.Target, "world", world))
			history, err := os.ReadFile(filepath.Join(dir, "history.json"))
			if accepted += sum.Accepted; err != nil || sum.Lost > 0 || strings.Contains(string(history), result.ActionRefused) {
				t.Errorf("%s, view %s: %d replies lost: %v\n%s", mode, view, sum.Lost, err, history)
			}
			got, want := folderOf(t, filepath.Join(dir, "best_skill")), folderOf(t, cfg.Skill)
			delete(got, "SKILL.md")
			delete(want, "SKILL.md")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: the other files (-want +got):\n%s", mode, diff)
			}
		}
		if accepted == 0 {
			t.Errorf("%s: nothing was learned", mode)
		}
	}
}

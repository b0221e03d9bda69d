package acceptance_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/model"
)

// outcomeCase is a night that is to come to an outcome, from sessions to what explain says first.
type outcomeCase struct {
	outcome night.Outcome // "": no document was worked on
	code    int
	cause   string // how the first line of explain begins
	says    string // a word of it
	unasked bool   // no answer was judged: nothing has a score
	do      func(d *desk) (code int, r *night.Report, errs string)
}

func outcomeCases() map[string]outcomeCase {
	return map[string]outcomeCase{
		"certified": {outcome: night.Certified, cause: "certified: memory:CLAUDE.md: better on tasks like these", do: func(d *desk) (int, *night.Report, string) {
			d.sessions(50)
			d.accepted()
			return d.night()
		}},
		"supported": {outcome: night.Supported, cause: "supported: memory:CLAUDE.md: better on these tasks", do: func(d *desk) (int, *night.Report, string) {
			d.sessions(20)
			return d.night()
		}},
		"suggested": {outcome: night.Suggested, cause: "suggested: memory:CLAUDE.md: ", do: func(d *desk) (int, *night.Report, string) {
			d.sessions(8)
			return d.night()
		}},
		"rejected": {outcome: night.Rejected, cause: "rejected: memory:CLAUDE.md: ", says: "none was better", do: func(d *desk) (int, *night.Report, string) {
			d.sessions(20)
			d.models.saying(model.Optimizer, proposing(d, "- Mind the weather."))
			return d.night()
		}},
		"nothing to learn": {outcome: night.NothingToLearn, cause: "nothing_to_learn: memory:CLAUDE.md: the live document solves all", do: func(d *desk) (int, *night.Report, string) {
			d.sessions(20)
			d.write("project/CLAUDE.md", "# Desk\n\nAnswer with the value alone.\n- Write dates as YYYY-MM-DD.\n")
			d.models.saying(model.Target, func(req model.Request) string { return houseAnswer(last(req)) })
			return d.night()
		}},
		"no edit": {outcome: night.NothingToLearn, cause: "nothing_to_learn: memory:CLAUDE.md: no edit was proposed", do: func(d *desk) (int, *night.Report, string) {
			d.sessions(20)
			d.models.saying(model.Optimizer, proposing(d, ""))
			return d.night()
		}},
		"no data": {outcome: night.NoData, cause: "no_data: memory:CLAUDE.md: no session since the last night", do: func(d *desk) (int, *night.Report, string) {
			d.sessions(8)
			d.night()
			return d.night()
		}},
		"too few tasks": {outcome: night.TooFewTasks, cause: "too_few_tasks: memory:CLAUDE.md: 1 independent task", do: func(d *desk) (int, *night.Report, string) {
			d.sessions(1)
			return d.night()
		}},
		"not replayable": {outcome: night.NotReplayable, cause: "not_replayable: memory:CLAUDE.md: ", says: "the profile names no agent", unasked: true, do: func(d *desk) (int, *night.Report, string) {
			d.sessions(3, withTests)
			return d.night()
		}},
		"a judge that gives all the same": {outcome: night.JudgeUnusable, cause: "judge_unusable: memory:CLAUDE.md: of 12 pairs of answers", says: "in 0, and 75 % are needed: task mined-", do: func(d *desk) (int, *night.Report, string) {
			d.sessions(20)
			d.models.say = rubrics(d.models.world)
			d.models.saying(model.Judge, func(model.Request) string { return graded(1) })
			return d.night()
		}},
		"no judge": {outcome: night.JudgeUnusable, cause: "judge_unusable: memory:CLAUDE.md: models.judge names no model", unasked: true, do: func(d *desk) (int, *night.Report, string) {
			d.sessions(14)
			d.models.say = rubrics(d.models.world)
			d.set[2] = "" // models.judge
			return d.night()
		}},
		"expired login": {outcome: night.ModelUnhealthy, code: 5, cause: "model_unhealthy: ", says: "401", unasked: true, do: func(d *desk) (int, *night.Report, string) {
			d.sessions(14)
			d.server.expired = true
			return d.night()
		}},
		"empty answers": {outcome: night.ModelUnhealthy, code: 5, cause: "model_unhealthy: memory:CLAUDE.md: ", says: "empty", unasked: true, do: func(d *desk) (int, *night.Report, string) {
			d.sessions(14)
			d.models.saying(model.Target, func(model.Request) string { return "" })
			return d.night()
		}},
		"budget": {outcome: night.Budget, code: 4, cause: "budget: memory:CLAUDE.md: limits.calls", do: func(d *desk) (int, *night.Report, string) {
			d.sessions(14)
			d.set = append(d.set, "limits.calls=40")
			return d.night()
		}},
		"waiting": {outcome: night.WaitingForReply, code: 3, cause: "waiting: memory:CLAUDE.md: ", says: "questions wait for answers", unasked: true, do: func(d *desk) (int, *night.Report, string) {
			d.sessions(14)
			d.set = append(d.set, "models.target={provider: handoff, model: somebody, folder: hand}")
			return d.night()
		}},
		"stopped": {outcome: night.Stopped, code: 130, cause: "stopped: memory:CLAUDE.md: ", do: func(d *desk) (int, *night.Report, string) {
			d.sessions(14)
			signals := make(chan os.Signal, 1)
			var once sync.Once
			before := d.models.say
			d.models.say = func(req model.Request) (string, bool, error) {
				if req.Tags.Role == model.Target {
					once.Do(func() { signals <- os.Interrupt })
				}
				if before != nil {
					return before(req)
				}
				return "", false, nil
			}
			code, _, errs := d.interrupted(signals, "run")
			return code, d.report(), errs
		}},
		"refused": {outcome: night.Refused, code: 2, cause: "refused: memory:CLAUDE.md: ", says: "CLAUDE.md", unasked: true, do: func(d *desk) (int, *night.Report, string) {
			d.sessions(14)
			d.write("project/CLAUDE.md", "# Desk\n<!-- SKILLOPT-SLEEP:LEARNED START -->\n")
			return d.night()
		}},
		"no tasks in sessions": {cause: "no_data: of 3 sessions none shows an outcome", unasked: true, do: func(d *desk) (int, *night.Report, string) {
			d.sessions(3, func(lines []map[string]any) []map[string]any { return lines[:3] })
			return d.night()
		}},
		"an empty store": {cause: "no_data: there was no night yet", unasked: true, do: func(d *desk) (int, *night.Report, string) {
			code, _, errs := d.sleep("run")
			return code, nil, errs
		}},
		"a bank without tasks": {cause: "no_data: no session of the project is new", unasked: true, do: func(d *desk) (int, *night.Report, string) {
			d.sessions(3, func(lines []map[string]any) []map[string]any { return lines[:3] })
			d.night()
			return d.night()
		}},
	}
}

// Each outcome that the program has is come to by a night from sessions to verdict: with its exit code, its cause in the
// first line of explain, and nothing measured where nothing was judged.
func TestEachOutcomeOfANight(t *testing.T) {
	t.Parallel()
	cases := outcomeCases()
	reached := map[night.Outcome]bool{}
	for _, c := range cases {
		reached[c.outcome] = true
	}
	for _, o := range outcomesOfCode(t) {
		if !reached[o] {
			t.Errorf("no case comes to %s", o)
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			code, r, errs := c.do(d)
			if code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, errs)
			}
			if r != nil {
				got := night.Outcome("")
				if len(r.Targets) > 0 {
					got = r.Targets[0].Outcome
				}
				if got != c.outcome {
					t.Fatalf("%s, want %s: %+v", got, c.outcome, r)
				}
			} else if c.outcome != "" {
				t.Fatal("no night was written down")
			}
			if got := d.cause(); !strings.HasPrefix(got, c.cause) || !strings.Contains(got, c.says) {
				t.Errorf("%q, want %q ... %q", got, c.cause, c.says)
			}
			d.unmeasuredIsNull(c.unasked)
		})
	}
}

// outcomesOfCode are the outcomes that the program declares.
func outcomesOfCode(t *testing.T) []night.Outcome {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../result/night_staged.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []night.Outcome
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "NightOutcome" {
			for _, v := range spec.Values {
				text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, night.Outcome(text))
			}
		}
		return true
	})
	if len(out) < 14 {
		t.Fatalf("%v", out)
	}
	return out
}

// scoresOf are the members of documents that are scores.
var scoresOf = map[string]bool{
	"hard": true, "soft": true, "baseline_score": true, "candidate_score": true, "holdout_baseline": true, "holdout_candidate": true, "noise": true, "difference": true,
	"at_least": true, "evidence": true, "corrected": true, "accepted": true, "share": true,
}

// unmeasuredIsNull walks the documents of the night: what is measured has a number, and what is not is null. Without an
// answer that was judged there is no score at all.
func (d *desk) unmeasuredIsNull(unasked bool) {
	d.t.Helper()
	judged := 0
	if data := d.newest("diagnostics.json"); data != nil {
		var doc night.Diagnostics
		if err := json.Unmarshal(data, &doc); err != nil {
			d.t.Fatal(err)
		}
		for _, task := range doc.Tasks {
			measured := task.Status == "ok" || task.Status == "agent_error"
			if measured != (task.Hard != nil) || measured != (task.Soft != nil) {
				d.t.Errorf("diagnostics: %+v", task)
			}
			if measured {
				judged++
			}
		}
		if unasked {
			d.noScore("diagnostics.json", data, true)
		}
	}
	if data := d.newest("night.json"); data != nil {
		d.noScore("night.json", data, unasked)
		if !unasked && judged == 0 && strings.Contains(string(data), `"baseline_score": 0,`) {
			d.t.Error("night.json: a score of 0, and no answer that was judged in diagnostics.json")
		}
	}
}

// noScore fails for scores in a document; if answers were judged, for those alone of which the document says that
// nothing was read.
func (d *desk) noScore(name string, data []byte, unasked bool) {
	d.t.Helper()
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		d.t.Fatal(err)
	}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			n, counted := v["n"].(float64)
			for key, inner := range v {
				if score, ok := inner.(float64); ok && scoresOf[key] && (unasked || counted && n == 0) {
					d.t.Errorf("%s: %s.%s is %v, and nothing was judged", name, path, key, score)
				}
				walk(path+"."+key, inner)
			}
		case []any:
			for i, inner := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), inner)
			}
		}
	}
	walk("", doc)
}

// proposing is an optimizer that mines as the world does, and proposes one edit; "": none.
func proposing(d *desk, line string) func(model.Request) string {
	return func(req model.Request) string {
		if req.Tags.Stage == model.StageMine {
			resp, err := d.models.world.Generate(d.t.Context(), req)
			if err != nil {
				return err.Error()
			}
			return resp.Text
		}
		edits := []any{}
		if line != "" {
			edits = append(edits, map[string]any{"op": "append", "content": line})
		}
		reply := map[string]any{"reasoning": "", "edits": edits, "meta_skill_content": "Nothing."}
		if strings.HasPrefix(req.Tags.Stage, "analyst") {
			reply = map[string]any{"batch_size": 1, "failure_summary": []any{}, "success_patterns": []any{}, "patch": reply}
		}
		data, err := json.Marshal(reply)
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
}

// houseAnswer is the due date of a document as the house writes it.
func houseAnswer(prompt string) string {
	for n := range 336 {
		if plain, house := dueDate(n); strings.Contains(prompt, "Due: "+plain+"\n") {
			return house
		}
	}
	return "I cannot tell"
}

// withTests are sessions in which a command failed, and passed after files were written.
func withTests(lines []map[string]any) []map[string]any {
	id, _ := lines[1]["id"].(string)
	run := func(n int, exit int) map[string]any {
		return map[string]any{"type": "tool", "id": fmt.Sprintf("%s-%d", id, n), "name": "shell", "ok": exit == 0, "command": "python -m unittest", "exit": exit}
	}
	wrote := map[string]any{"type": "tool", "id": id + "-w", "name": "edit", "ok": true, "wrote": []string{"due.py"}}
	return append(append(append([]map[string]any{}, lines[:2]...), append([]map[string]any{run(1, 1)}, lines[2:4]...)...), append([]map[string]any{wrote, run(2, 0)}, lines[4:]...)...)
}

// Stores of another format are named, by explain too.
func TestStoresOfAnotherVersion(t *testing.T) {
	t.Parallel()
	t.Run("an agent's", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		store := func(version int) {
			head := fmt.Sprintf(`{"type":"session","version":%d,"id":"p1","timestamp":"2026-11-16T06:00:00Z","cwd":%q}`, version, filepath.Join(d.dir, "project"))
			d.write("pi/sessions/2026/p1.jsonl", head+"\n"+`{"type":"message","id":"a","parentId":null,"timestamp":"2026-11-16T06:00:01Z","message":{"role":"user","content":"hello"}}`+"\n")
		}
		d.set = append(d.set, "sleep.sources=[pi]", `sleep.stores={pi: pi}`)
		store(3)
		if code, _, errs := d.night(); code != 0 {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		store(99)
		code, out, errs := d.sleep("run")
		if code != 0 || !strings.Contains(errs, "99") {
			t.Errorf("exit code %d: %s%s", code, out, errs)
		}
		if got := d.cause(); !strings.HasPrefix(got, "no_data: no session of the project is new since it was mined last: pi: ") || !strings.Contains(got, `version "99" of the format of pi`) {
			t.Error(got)
		}
	})
	t.Run("our own", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.sessions(3)
		d.night()
		db, err := sql.Open("sqlite", "file:"+filepath.Join(d.dir, "state", "bank.db"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), "PRAGMA user_version = 99"); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"run"}, {"show", "--why"}, {"show"}} {
			code, _, errs := d.sleep(args...)
			first, _, _ := strings.Cut(errs, "\n")
			if code != 2 || !strings.Contains(first, "bank.db: it has format 99, and this program reads format 3") {
				t.Errorf("%v: exit code %d: %s", args, code, errs)
			}
		}
	})
}

// A judge that tells apart what the sessions tell apart decides tasks; where it does not, tasks with other checks go on.
func TestAJudgeIsTriedFirst(t *testing.T) {
	t.Parallel()
	t.Run("it can", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.sessions(20)
		d.models.saying(model.Optimizer, proposing(d, "- Write dates as YYYY-MM-DD."))
		words, before := rubrics(d.models.world), d.models.say
		d.models.say = func(req model.Request) (string, bool, error) {
			if text, said, err := words(req); said || err != nil {
				return text, said, err
			}
			return before(req)
		}
		d.models.saying(model.Judge, judgeOfDates(1))
		code, r, errs := d.night()
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		got := r.Targets[0]
		if j := got.Judge; got.Outcome != night.Supported || j == nil || j.Usable == nil || !*j.Usable || j.Pairs != 12 || j.Apart != 12 || j.Calls != 24 || len(j.Examples) != 0 {
			t.Errorf("%s: %s, judge %+v", got.Outcome, got.Reason, got.Judge)
		}
		used := r.ByRun[r.ID+"-memory-CLAUDE.md-judge"]
		if used.Calls != 24 || !strings.Contains(errs, "models.judge is tried first on 12 pairs of answers") {
			t.Errorf("%+v\n%s", used, errs)
		}
		if !strings.Contains(string(d.newest("diagnostics.json")), `"arm": "corrected"`) {
			t.Error("diagnostics.json has not what the judge was tried on")
		}
	})
	t.Run("it cannot, and others go on", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.sessions(30)
		plain := rubrics(d.models.world)
		d.models.say = func(req model.Request) (string, bool, error) {
			for n := range 30 { // every second session is judged by words
				if date, _ := dueDate(n); n%2 == 0 && strings.Contains(last(req), fmt.Sprintf("Invoice %d of Osprey\\nDue: %s\\n", 4001+n, date)) {
					return plain(req)
				}
			}
			return "", false, nil
		}
		d.models.saying(model.Judge, judgeOfDates(0))
		code, r, errs := d.night()
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		got := r.Targets[0]
		if j := got.Judge; j == nil || j.Usable == nil || *j.Usable || j.Tasks == 0 || len(j.Examples) != 3 || *j.Share != 0 {
			t.Fatalf("%s: %s, judge %+v", got.Outcome, got.Reason, got.Judge)
		}
		if got.Outcome != night.Suggested && got.Outcome != night.Supported || len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "that a judge decides are left out") {
			t.Errorf("%s: %s, notes %q", got.Outcome, got.Reason, r.Notes)
		}
		requests, _ := d.server.seen()
		asked := 0
		for _, s := range requests {
			if s.role == model.Judge {
				asked++
			}
		}
		if asked != got.Judge.Calls {
			t.Errorf("the judge was asked %d times, and %d pairs were to be tried", asked, got.Judge.Planned)
		}
	})
}

// judgeOfDates scores answers with a date as the house writes it, and 0 for others.
func judgeOfDates(score float64) func(model.Request) string {
	return func(req model.Request) string {
		if houseDate.MatchString(last(req)) {
			return graded(score)
		}
		return graded(0)
	}
}

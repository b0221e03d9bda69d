package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/server"
	"github.com/seed-f4525e22/skillopt/result"
)

// laxChecks are checks by which a wrong answer is right, too.
const laxChecks = `tasks.checks=[{type: regex, value: "^(right|wrong)$"}]`

// windows are all that shows the runs of a folder.
type windows struct {
	t     *testing.T
	dir   string
	api   *server.Server
	rows  []result.RunRow
	table string // of runs list
}

func newWindows(t *testing.T) *windows {
	dir := t.TempDir()
	refusedRuns(t, dir)
	api, err := server.New(server.Options{Folders: []string{filepath.Join(dir, "runs")}, Addr: "127.0.0.1:1", Token: apiToken, Key: []byte("key"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return &windows{t: t, dir: dir, api: api}
}

const apiToken = "a-token-for-tests-a-token-for-tests-a-token"

// text returns what a command prints, which must not fail.
func (w *windows) text(args ...string) string {
	w.t.Helper()
	var out, errs bytes.Buffer
	if code := Main(w.t.Context(), args, Streams{In: bytes.NewReader(nil), Out: &out, Err: &errs, Dir: w.dir}, "test"); code != 0 {
		w.t.Fatalf("%s: exit code %d\n%s", strings.Join(args, " "), code, &errs)
	}
	return out.String()
}

// may runs a command that ends as it will: at a ceiling it is no success.
func (w *windows) may(args ...string) (code int) {
	return Main(w.t.Context(), args, Streams{In: bytes.NewReader(nil), Out: io.Discard, Err: io.Discard, Dir: w.dir}, "test")
}

// train trains a run with settings and flags.
func (w *windows) train(name string, more ...string) (code int) {
	args := []string{"train", ".", "--yes", "--run", "runs/" + name}
	for _, m := range more {
		if !strings.HasPrefix(m, "--") {
			args = append(args, "--set")
		}
		args = append(args, m)
	}
	return w.may(args...)
}

// makeRuns makes a run of each kind.
func makeRuns(w *windows) {
	w.t.Helper()
	w.train("test")
	w.train("untested", "eval.test=false")
	w.train("folds", "eval.test=false", "split.cross_fit=3", "train.batch_size=10")
	w.train("off", "eval.test=false", "gate.mode=off")
	w.train("soft", "eval.test=false", "gate.metric=soft")
	w.train("first", "eval.test=false", "gate.fresh=false")
	w.train("ceiling", "eval.test=false", "limits.calls=75")
	w.train("killed", "eval.test=false")
	kill(w.t, filepath.Join(w.dir, "runs", "killed"))
	w.train("unmeasured", "tasks.path=broken.jsonl", "limits.concurrency=1")
	w.train("unmeasured-selection", "tasks.path=broken.jsonl", "limits.concurrency=1", "eval.test=false", "gate.fresh=false")
	w.train("unmeasured-fresh", "tasks.path=broken.jsonl", "limits.concurrency=1", "eval.test=false")
	if w.train("accepted", "tasks.extract=boxed") == 0 || w.train("accepted", "tasks.extract=boxed", "--accept-seed") != 0 {
		w.t.Fatal("a seed skill without any extracted answer is accepted, or not where that is asked for")
	}
	w.train("rescored")
	w.text("rescore", "runs/rescored", "--config", ".", "--test", "--set", laxChecks)
	w.text("train", ".", "--yes", "--run", "runs/rescored", "--fork", "runs/forked", "--set", laxChecks, "--reopen-test")
	w.may("eval", ".", "--yes", "--run", "runs/unmeasured-eval", "--split", "selection", "--repeat", "2", "--set", "tasks.path=broken.jsonl", "--set", "limits.concurrency=1")
	w.may("eval", ".", "--yes", "--run", "runs/eval", "--split", "selection", "--repeat", "2")
	w.may("compare", "skill.md", "other.md", "--config", ".", "--yes", "--run", "runs/compare", "--split", "selection", "--passes", "1")
}

// kill leaves a run as it is when its process is killed at its end.
func kill(t *testing.T, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Replace(data, []byte(`"status": "completed"`), []byte(`"status": "running"`), 1)
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "manifest.json"), data, 0o600), os.Remove(filepath.Join(dir, "summary.json"))); err != nil {
		t.Fatal(err)
	}
}

// look reads the list of runs.
func (w *windows) look() {
	w.t.Helper()
	w.rows = nil
	decode(w.t, w.text("runs", "list", "runs", "--json"), &w.rows)
	w.table = w.text("runs", "list", "runs")
}

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

// ask asks the HTTP API.
func (w *windows) ask(path string, v any) {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://127.0.0.1:1/api/v1/"+path, nil)
	r.Header.Set("Authorization", "Bearer "+apiToken)
	got := httptest.NewRecorder()
	w.api.ServeHTTP(got, r)
	if got.Code != http.StatusOK {
		w.t.Fatalf("%s: %d %s", path, got.Code, got.Body)
	}
	decode(w.t, got.Body.String(), v)
}

// compareDocuments compares the score of a row with that of all documents of the run.
func (w *windows) compareDocuments(row result.RunRow) {
	w.t.Helper()
	var shown record.View
	decode(w.t, w.text("runs", "show", "runs/"+row.Name, "--json"), &shown)
	var served server.Run
	w.ask("runs/runs:"+row.Name, &served)
	var listing result.Listing
	w.ask("runs", &listing)
	var compared result.RunsCompared
	decode(w.t, w.text("runs", "compare", "runs/"+row.Name, "runs/test", "--json"), &compared)
	got := map[string]result.RunScore{"runs show --json": shown.Score, "GET /runs/RUN": served.Score, "GET /runs/RUN, row": served.Row.RunScore, "runs compare --json": compared.Runs[0].RunScore}
	for _, r := range listing.Runs {
		if r.Name == row.Name {
			got["GET /runs"] = r.RunScore
		}
	}
	if shown.Summary != nil {
		got["summary.json"] = shown.Summary.Score
	}
	if row.Kind == result.Train {
		var shownNow, progress record.Progress
		decode(w.t, w.text("runs", "watch", "runs/"+row.Name, "--once", "--json"), &shownNow)
		w.ask("runs/runs:"+row.Name+"/progress", &progress)
		got["runs watch --json"], got["GET /runs/RUN/progress"] = scoreIn(shownNow.Best), scoreIn(progress.Best)
	}
	if _, listed := got["GET /runs"]; !listed {
		w.t.Errorf("%s: the server does not list it", row.Name)
	}
	for name, score := range got {
		if diff := cmp.Diff(row.RunScore, score, cmpopts.EquateEmpty()); diff != "" {
			w.t.Errorf("%s, %s (-runs list --json +it): %s", row.Name, name, diff)
		}
	}
}

// scoreIn returns the score of a skill, the zero value where nothing is known of it.
func scoreIn(s *record.Standing) result.RunScore {
	if s == nil {
		return result.RunScore{}
	}
	return s.RunScore
}

// compareNumbers wants runs with items that were not measured, and counts none of these.
func (w *windows) compareNumbers() {
	w.t.Helper()
	got := map[string][2]int{}
	for _, row := range w.rows {
		if strings.HasPrefix(row.Name, "unmeasured") {
			got[row.Name] = [2]int{row.N, row.Answers}
		}
	}
	want := map[string][2]int{"unmeasured": {19, 19}, "unmeasured-selection": {19, 19}, "unmeasured-fresh": {20, 20}, "unmeasured-eval": {20, 39}}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("tasks and answers (-want +got): %s", diff)
	}
	if text := w.text("runs", "show", "runs/unmeasured-eval"); !strings.Contains(text, "without selection19 in some passes: could not be measured") {
		w.t.Errorf("the evaluation does not say what was not measured:\n%s", text)
	}
}

// compareTexts wants the score of a row, and what it is of, in all texts about the run.
func (w *windows) compareTexts(row result.RunRow) {
	w.t.Helper()
	if row.Score == nil {
		return
	}
	of, figure := row.RunScore, fmt.Sprintf("%.3f", *row.Score)
	texts := map[string][2]string{
		"runs list":    {w.table, `(?m)/` + row.Name + ` .* ` + figure + ` ` + of.Split + `\b.*` + regexp.QuoteMeta(of.Words())},
		"runs show":    {w.text("runs", "show", "runs/"+row.Name), figure + `.*` + regexp.QuoteMeta(of.Words())},
		"runs compare": {w.text("runs", "compare", "runs/"+row.Name, "runs/test"), `(?m)^score +` + figure + ` ` + of.Split + `.*` + regexp.QuoteMeta(of.Words())},
	}
	if row.Kind == result.Train {
		texts["runs watch"] = [2]string{w.text("runs", "watch", "runs/"+row.Name, "--once"), `best +` + figure + `.* on ` + of.Over()}
		texts["report"] = [2]string{strings.ReplaceAll(w.report(row.Name, "report.md"), `\`, ""), `Best skill, ` + of.Split + ` split \| ` + figure + ` .* on ` + of.Over() + `.*` + regexp.QuoteMeta(of.Words())}
	}
	for name, text := range texts {
		if !regexp.MustCompile(text[1]).MatchString(text[0]) {
			w.t.Errorf("%s, %s: want %s in\n%s", row.Name, name, text[1], text[0])
		}
	}
}

// report writes the report of a run, and returns a file of it.
func (w *windows) report(name, file string) string {
	w.t.Helper()
	w.text("runs", "export", "runs/"+name, "--format", "report", "--to", name+"-"+file)
	page, err := os.ReadFile(filepath.Join(w.dir, name+"-"+file))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(page)
}

// compareFailures compares in all windows what fails with the skill of a run, and in how many of
// its answers. Where the score is over the same answers, it says the same.
func (w *windows) compareFailures(row result.RunRow) {
	w.t.Helper()
	if row.Kind == result.Compare || row.Score == nil {
		return
	}
	var want, served ask.Failures
	decode(w.t, w.text("runs", "tasks", "runs/"+row.Name, "--failing", "--json"), &want)
	w.ask("runs/runs:"+row.Name+"/failures", &served)
	if diff := cmp.Diff(want, served); diff != "" {
		w.t.Errorf("%s, GET /runs/RUN/failures (-runs tasks --failing --json +it): %s", row.Name, diff)
	}
	lead := fmt.Sprintf("%s: %d of %d tasks fail%s", want.Where, len(want.List), want.Tasks, want.Over())
	texts := map[string]string{"runs tasks": w.text("runs", "tasks", "runs/"+row.Name, "--failing")}
	if row.Kind == result.Train {
		texts["report"] = html.UnescapeString(w.report(row.Name, "report.html"))
	}
	for name, text := range texts {
		if !strings.Contains(text, lead) {
			w.t.Errorf("%s, %s: want %q in\n%s", row.Name, name, lead, text[:min(len(text), 3000)])
		}
		for _, f := range want.List {
			if rate := fmt.Sprintf("%d of %d answers", f.Failures, f.Draws); f.Draws > 1 && !strings.Contains(text, rate) {
				w.t.Errorf("%s, %s: %s fails in %s, which is not there", row.Name, name, f.ID, rate)
			}
		}
	}
	if row.Metric != "hard" || row.Split != "selection" || row.Pass == result.FreshPass {
		return
	}
	failed := 0.0
	for _, f := range want.List {
		failed += float64(f.Failures) / float64(f.Draws)
	}
	if score := 1 - failed/float64(want.Tasks); row.N != want.Tasks || row.Answers != want.Answers || score-*row.Score > 1e-9 || *row.Score-score > 1e-9 {
		w.t.Errorf("%s: the score is %v of %d answers to %d tasks; what fails leaves %v of %d to %d", row.Name, *row.Score, row.Answers, row.N, score, want.Answers, want.Tasks)
	}
}

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/queue"
	"github.com/seed-f4525e22/skillopt/internal/server"
	"github.com/seed-f4525e22/skillopt/result"
)

// decided is a served folder with a config and a run of it.
type decided struct {
	t       *testing.T
	dir     string
	program *servedProgram
	server  *server.Server
}

const decideToken = "a-token-for-tests-a-token-for-tests-a-token"

func newDecided(t *testing.T, adopt bool) *decided {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &decided{t: t, dir: dir, program: &servedProgram{
		app: &app{Streams: Streams{Dir: dir, Out: io.Discard, Err: io.Discard}, version: "test", lookup: os.LookupEnv}, guard: config.Guard{Roots: []string{dir}},
	}}
	d.do("init", "desk")
	seeds := regexp.MustCompile(`seed: \d+`) // which init draws
	if err := os.WriteFile(filepath.Join(dir, "desk", "config.yaml"), []byte(seeds.ReplaceAllString(d.read("desk/config.yaml"), "seed: 5351")), 0o644); err != nil {
		t.Fatal(err)
	}
	d.do("train", "desk", "--set", "train.epochs=1", "--yes")
	d.server, err = server.New(server.Options{
		Folders: []string{filepath.Join(dir, "runs")}, Addr: "127.0.0.1:8675", Token: decideToken, Key: []byte("a key that signs sessions in tests"), Now: time.Now,
		Configs: dir, Program: d.program, Editor: d.program, Adopt: adopt,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// do carries out a command line as the server does.
func (d *decided) do(words ...string) []byte {
	d.t.Helper()
	out, err := d.program.Do(context.Background(), words...)
	if err != nil {
		d.t.Fatalf("%s: %v", strings.Join(words, " "), err)
	}
	return out
}

// ask asks the server, and reads its answer if it has the status.
func (d *decided) ask(method, path string, body, into any, status int) string {
	d.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		d.t.Fatal(err)
	}
	r := httptest.NewRequest(method, "http://127.0.0.1:8675/api/v1"+path, bytes.NewReader(text))
	r.Header.Set("Authorization", "Bearer "+decideToken)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	d.server.ServeHTTP(w, r)
	if w.Code != status {
		d.t.Fatalf("%s %s: %d %s, want %d", method, path, w.Code, w.Body, status)
	}
	if into != nil {
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			d.t.Fatal(err)
		}
	}
	return w.Body.String()
}

func (d *decided) read(name string) string {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(name)))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// A line that is edited by hand is scored on the tasks that are named, never on test tasks, and the record of that is
// marked everywhere: in its manifest and document, in its row, and in what later commands say of this text.
func TestDecideTunes(t *testing.T) {
	t.Parallel()
	d := newDecided(t, false)
	lines := strings.Split(d.read("runs/desk-1/best_skill.md"), "\n")
	line := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "- Take the answer") })
	edited := "- Always take the answer from the document."
	tune := server.Tune{Version: "best", Lines: []server.LineEdit{{Line: line + 1, Was: lines[line], Text: &edited}}, Split: "selection", Tasks: []string{"phone-11", "weight-09"}}
	var e queue.Entry
	d.ask(http.MethodPost, "/runs/runs:desk-1/tune", tune, &e, 200)
	want := []string{
		"eval", "runs/desk-eval-2/tuned", "--config", "desk", "--split", "selection", "--tuned-from", "runs/desk-1@best", "--yes", "--task=phone-11", "--task=weight-09", "--run", "runs/desk-eval-2",
	}
	if diff := cmp.Diff(want, e.Words); diff != "" {
		t.Fatal(diff)
	}
	if got := d.read("runs/desk-eval-2/tuned/SKILL.md"); got != strings.Join(append(append(append([]string{}, lines[:line]...), edited), lines[line+1:]...), "\n") {
		t.Errorf("the edited skill is\n%s", got)
	}
	var evaluated result.Evaluation
	if err := json.Unmarshal(d.do(e.Words...), &evaluated); err != nil {
		t.Fatal(err)
	}
	if got := evaluated.Tuned; got == nil || got.Run != "desk-1" || got.Version != "best" || evaluated.Splits["selection"].N != 2 || len(evaluated.Splits) != 1 {
		t.Errorf("the document says %+v of %v", got, evaluated.Splits)
	}
	var list result.Listing
	d.ask(http.MethodGet, "/runs", nil, &list, 200)
	if row := list.Runs[len(list.Runs)-1]; row.Tuned == nil || row.Tuned.Run != "desk-1" || row.Tuned.RunID == "" {
		t.Errorf("the row has %+v", row.Tuned)
	}
	if !strings.Contains(d.ask(http.MethodGet, "/runs/runs:desk-eval-2", nil, nil, 200), `"library.tuned":"{`) {
		t.Error("the manifest does not say it")
	}
	var versions result.Versions
	d.ask(http.MethodGet, "/runs/runs:desk-eval-2/versions", nil, &versions, 200)
	if versions.Best != "tuned" {
		t.Errorf("versions: %+v", versions)
	}
	if err := json.Unmarshal(d.do("eval", "runs/desk-eval-2/tuned", "--config", "desk", "--yes"), &evaluated); err != nil {
		t.Fatal(err)
	}
	if on := evaluated.Splits["selection"].TrainedOn; on == nil || on.Run != "desk-eval-2" || on.Tasks != 2 {
		t.Errorf("a later score of the text says %+v", on)
	}

	var versus queue.Entry
	d.ask(http.MethodPost, "/runs/runs:desk-1/versus", server.Versus{Version: "0", Other: "runs:desk-eval-2", To: "tuned"}, &versus, 200)
	var compared result.Comparison
	if err := json.Unmarshal(d.do(versus.Words...), &compared); err != nil || compared.Split != "selection" || compared.Withheld == "" {
		t.Errorf("%v: %+v", err, compared)
	}

	none := ""
	for name, tt := range map[string]struct {
		change func(*server.Tune)
		status int
		says   string
	}{
		"test":       {func(b *server.Tune) { b.Split = "test" }, 400, "allowed are train and selection"},
		"all":        {func(b *server.Tune) { b.Split = "all" }, 400, "allowed are train and selection"},
		"no tasks":   {func(b *server.Tune) { b.Tasks = nil }, 400, "0 tasks"},
		"no version": {func(b *server.Tune) { b.Version = "99" }, 404, "no version"},
		"no file":    {func(b *server.Tune) { b.File = "../config.yaml" }, 404, "no file"},
		"other line": {func(b *server.Tune) { b.Lines = []server.LineEdit{{Line: 1, Was: "x", Text: &none}} }, 409, "not what it was"},
		"far line":   {func(b *server.Tune) { b.Lines = []server.LineEdit{{Line: 9999, Text: &none}} }, 400, "the file has"},
		"no change":  {func(b *server.Tune) { b.Lines = nil }, 400, "no line was changed"},
	} {
		b := tune
		tt.change(&b)
		if text := d.ask(http.MethodPost, "/runs/runs:desk-1/tune", b, nil, tt.status); !strings.Contains(text, tt.says) {
			t.Errorf("%s: %s", name, text)
		}
	}
	if _, err := d.program.Do(context.Background(), append(append([]string{}, e.Words[:5]...), "test", "--tuned-from", "runs/desk-1@best")...); err == nil || !strings.Contains(err.Error(), "has no test") {
		t.Errorf("a tuned skill on test: %v", err)
	}
}

// A row of the task file is written again by its bytes alone, if it stays the task that it was, and the recorded answers
// are scored by it. A test task is not edited.
func TestDecideCorrectsTasks(t *testing.T) {
	t.Parallel()
	d := newDecided(t, false)
	var row server.TaskRow
	d.ask(http.MethodGet, "/runs/runs:desk-1/tasks/phone-11/row", nil, &row, 200)
	before := d.read("desk/tasks.jsonl")
	if row.File != "desk/tasks.jsonl" || row.Why != "" || strings.Split(before, "\n")[row.Line-1] != row.Text || !strings.Contains(row.Text, `"phone-11"`) {
		t.Fatalf("%+v", row)
	}
	for name, text := range map[string]string{
		"another id": strings.ReplaceAll(row.Text, "phone-11", "phone-99"), "two rows": row.Text + "\n" + row.Text, "no row": "", "no JSON": row.Text + "}",
		"a program": strings.TrimSuffix(row.Text, "}") + `, "checks": [{"type": "command", "run": ["touch", "x"]}]}`,
		"a picture": strings.TrimSuffix(row.Text, "}") + `, "images": ["file:///etc/passwd"]}`, "a page": strings.TrimSuffix(row.Text, "}") + `, "urls": "https://example.com/"}`,
	} {
		if got := d.ask(http.MethodPut, "/runs/runs:desk-1/tasks/phone-11/row", server.NewRow{Text: text, SHA256: row.SHA256}, nil, 400); strings.Contains(got, os.TempDir()+"/skillopt-row") {
			t.Errorf("%s: %s", name, got)
		}
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(row.Text), &fields); err != nil {
		t.Fatal(err)
	}
	fields["gold"] = "something else"
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	d.ask(http.MethodPut, "/runs/runs:desk-1/tasks/phone-11/row", server.NewRow{Text: string(text), SHA256: row.SHA256}, &row, 200)
	if got := d.read("desk/tasks.jsonl"); got != strings.Replace(before, strings.Split(before, "\n")[row.Line-1], string(text), 1) {
		t.Error("more than the row has changed")
	}
	d.ask(http.MethodPut, "/runs/runs:desk-1/tasks/phone-11/row", server.NewRow{Text: string(text), SHA256: "0"}, nil, 409)
	var rescored result.Rescore
	d.ask(http.MethodPost, "/runs/runs:desk-1/rescore", server.Rescored{Tasks: []string{"phone-11"}}, &rescored, 200)
	changed := 0
	for _, s := range rescored.Sheets {
		if changed += len(s.Changed); s.Split == "test" {
			t.Errorf("test tasks are read: %+v", s)
		}
	}
	if changed == 0 {
		t.Errorf("no answer scores otherwise: %+v", rescored)
	}
	d.ask(http.MethodGet, "/runs/runs:desk-1/tasks/weight-05/row", nil, &row, 200) // of the test split
	if row.Why == "" || row.Text != "" {
		t.Errorf("a test task: %+v", row)
	}
	d.ask(http.MethodPut, "/runs/runs:desk-1/tasks/weight-05/row", server.NewRow{Text: "{}"}, nil, 409)
	d.ask(http.MethodGet, "/runs/runs:desk-1/tasks/none/row", nil, nil, 404)

	// A file that a link leads out to is neither shown nor written.
	path, outside := filepath.Join(d.dir, "desk", "tasks.jsonl"), filepath.Join(t.TempDir(), "tasks.jsonl")
	if err := errors.Join(os.Rename(path, outside), os.Symlink(outside, path)); err != nil {
		t.Skip("this system lets its user make no links:", err)
	}
	if text := d.ask(http.MethodGet, "/runs/runs:desk-1/tasks/phone-11/row", nil, nil, 400); !strings.Contains(text, "leads out of the folders") {
		t.Error(text)
	}
}

// The best skill goes to where the config has its skill, which is kept, and only where the server may.
func TestDecidePlaces(t *testing.T) {
	t.Parallel()
	d := newDecided(t, true)
	before, best := d.read("desk/SKILL.md"), d.read("runs/desk-1/best_skill.md")
	var decision server.Decision
	d.ask(http.MethodGet, "/runs/runs:desk-1/decide", nil, &decision, 200)
	want := server.Decision{Config: "desk", Skill: "desk/SKILL.md", Words: []string{"runs", "export", "runs/desk-1", "--to", "desk/SKILL.md"}, Adopt: true}
	if diff := cmp.Diff(want, decision); diff != "" {
		t.Error(diff)
	}
	var placed server.Placed
	d.ask(http.MethodPost, "/runs/runs:desk-1/place", nil, &placed, 200)
	if d.read("desk/SKILL.md") != best || placed.Replaced == "" {
		t.Fatalf("%+v", placed)
	}
	if kept, err := os.ReadFile(filepath.Join(placed.Replaced, "SKILL.md")); err != nil || string(kept) != before {
		t.Errorf("what was there is not kept: %v", err)
	}
	closed := newDecided(t, false)
	if text := closed.ask(http.MethodPost, "/runs/runs:desk-1/place", nil, nil, 403); !strings.Contains(text, "--allow-adopt") {
		t.Error(text)
	}
	if err := os.RemoveAll(filepath.Join(closed.dir, "desk", "config.yaml")); err != nil {
		t.Fatal(err)
	}
	closed.ask(http.MethodGet, "/runs/runs:desk-1/decide", nil, &decision, 200)
	if decision.Why == "" || decision.Config != "" {
		t.Errorf("a run without a config: %+v", decision)
	}
}

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/server"
	"github.com/seed-f4525e22/skillopt/result"
)

// pageOf is a server that pages start runs from, as serve makes it.
type pageOf struct {
	t   *testing.T
	dir string
	at  *serving
}

// servePage serves a folder with configs until the test ends.
func servePage(t *testing.T, dir string, o serveOptions) *pageOf {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	a := &app{Streams: Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Dir: dir}, version: "test"}
	o.addr = "127.0.0.1:0"
	folders, configs, err := servedFolders(a, nil)
	must(t, err)
	at, err := o.listen(t.Context(), a, folders, configs)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- at.server.Serve(ctx, at.listener) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		must(t, <-ended)
	})
	return &pageOf{t, dir, at}
}

// said is the answer of a server.
type said struct {
	status int
	text   string
}

// into reads the document of an answer that is none of a refusal.
func (s said) into(t *testing.T, v any) {
	t.Helper()
	if s.status != http.StatusOK {
		t.Fatalf("%d %s", s.status, s.text)
	}
	must(t, json.Unmarshal([]byte(s.text), v))
}

func (p *pageOf) send(method, path, kind string, body io.Reader, header ...string) said {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.at.origin+"/api/v1"+path, body)
	must(p.t, err)
	r.Header.Set("Authorization", "Bearer "+p.at.token)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	must(p.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(p.t, err)
	return said{resp.StatusCode, string(text)}
}

// ask sends a document.
func (p *pageOf) ask(method, path string, doc any, header ...string) said {
	p.t.Helper()
	text, err := json.Marshal(doc)
	must(p.t, err)
	return p.send(method, path, "application/json", bytes.NewReader(text), header...)
}

// create sends a form; a field FILE:NAME is a file.
func (p *pageOf) create(fields map[string]string) said {
	p.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for key, value := range fields {
		name, file, is := strings.Cut(key, ":")
		if !is {
			must(p.t, w.WriteField(key, value))
			continue
		}
		part, err := w.CreateFormFile(name, file)
		must(p.t, err)
		_, err = io.WriteString(part, value)
		must(p.t, err)
	}
	must(p.t, w.Close())
	return p.send(http.MethodPost, "/configs", w.FormDataContentType(), &b)
}

// From an empty folder to a config that can be started: an example is written, read, changed in keys and in the text,
// and saved.
func TestPageWritesAConfig(t *testing.T) {
	p := servePage(t, t.TempDir(), serveOptions{})
	var start server.Start
	p.send(http.MethodGet, "/start", "", nil).into(t, &start)
	if start.Configs != p.dir || start.Why != "" || len(start.List) != 0 || len(start.First) != 10 {
		t.Errorf("%+v", start)
	}
	var made, read, checked, saved result.ConfigFile
	p.create(map[string]string{"name": "first", "example": "quickstart"}).into(t, &made)
	p.send(http.MethodGet, "/configs/first", "", nil).into(t, &read)
	if diff := cmp.Diff(made, read); diff != "" || len(read.Problems)+len(read.Foreign) > 0 || read.Command != "skillopt train first" {
		t.Errorf("%s\n%+v", diff, read)
	}
	p.ask(http.MethodPost, "/configs/first/check", server.Check{Text: read.Text, Set: map[string]any{"train.epochs": 0, "gate.metric": "loud"}}).into(t, &checked)
	var wrong []string
	for _, q := range checked.Problems {
		wrong = append(wrong, q.Key+" "+q.Message)
		if q.Line != checked.Lines[q.Key] || q.Line == 0 {
			t.Errorf("%+v, lines %v", q, checked.Lines)
		}
	}
	if len(wrong) != 2 || !strings.Contains(strings.Join(wrong, "\n"), `gate.metric found "loud", allowed: hard, soft, mixed`) {
		t.Errorf("%q", wrong)
	}
	p.ask(http.MethodPost, "/configs/first/check", server.Check{Text: checked.Text, Set: map[string]any{"train.epochs": 2, "gate.metric": nil}}).into(t, &checked)
	if len(checked.Problems) > 0 || checked.Values["train.epochs"] != 2.0 {
		t.Errorf("%+v", checked)
	}
	p.ask(http.MethodPut, "/configs/first", server.Save{Text: checked.Text, SHA256: read.SHA256}).into(t, &saved)
	text, err := os.ReadFile(filepath.Join(p.dir, "first", "config.yaml"))
	must(t, err)
	if string(text) != checked.Text || saved.SHA256 != checked.SHA256 {
		t.Errorf("%s", text)
	}
	if a := p.ask(http.MethodPut, "/configs/first", server.Save{Text: checked.Text, SHA256: read.SHA256}); a.status != http.StatusConflict {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := p.create(map[string]string{"name": "first", "example": "quickstart"}); a.status != http.StatusConflict {
		t.Errorf("%d %s", a.status, a.text)
	}
}

// A spreadsheet of questions becomes a config whose tasks are linted, planned, looked over by the doctor and tried.
func TestPageTriesOwnTasks(t *testing.T) {
	p := servePage(t, t.TempDir(), serveOptions{})
	p.create(map[string]string{"name": "first", "example": "quickstart"}).into(t, &result.ConfigFile{})
	var own result.ConfigFile
	rows := "Question,Answer\n"
	for i := range 12 {
		rows += "What is 2 + " + strings.Repeat("1", i+1) + "?,3\n"
	}
	p.create(map[string]string{"name": "own", "target": "sim/first/world.yaml", "optimizer": "sim/first/world.yaml", "columns": `{"prompt": "Question", "gold": "Answer"}`, "tasks:q.csv": rows, "skill:SKILL.md": "---\nname: own\ndescription: Sums.\n---\nAdd.\n"}).into(t, &own)
	if len(own.Problems) > 0 || own.Values["skill"] != "SKILL.md" || own.Values["tasks.path"] != "tasks.csv" || !strings.HasPrefix(own.Text, "# `skillopt") {
		t.Errorf("%+v", own)
	}
	var lint server.Lint
	p.ask(http.MethodPost, "/configs/own/lint", struct{}{}).into(t, &lint)
	if lint.Tasks == nil || lint.Tasks.Tasks != 12 || lint.Skill == nil || lint.Skill.Errors > 0 || len(lint.Problems) > 0 {
		t.Errorf("%+v", lint)
	}
	var plan result.Plan
	p.ask(http.MethodPost, "/configs/first/plan", struct{}{}).into(t, &plan)
	if plan.Total == 0 || plan.Forecast == nil || !plan.Simulated {
		t.Errorf("%+v", plan)
	}
	var doctor result.Examination
	p.ask(http.MethodPost, "/configs/first/doctor", struct{}{}).into(t, &doctor)
	if len(doctor.Rows) == 0 {
		t.Error("no rows")
	}
	var tried server.Tried
	p.ask(http.MethodPost, "/configs/first/try", server.TryRequest{Number: 2}).into(t, &tried)
	if len(tried.Evaluations) != 2 || tried.Evaluation == nil {
		t.Errorf("%+v", tried)
	}
	must(t, os.WriteFile(filepath.Join(p.dir, "own", "tasks.csv"), []byte("Question,Answer\nWhy?,\nWhat?,3\n"), 0o644))
	p.ask(http.MethodPost, "/configs/own/lint", struct{}{}).into(t, &lint)
	if len(lint.Problems) == 0 || lint.Problems[0].File != "own/tasks.csv" || lint.Problems[0].Line != 2 {
		t.Errorf("%+v", lint.Problems)
	}
	if a := p.ask(http.MethodPost, "/configs/own/try", server.TryRequest{Number: 3}); a.status != http.StatusBadRequest || !strings.Contains(a.text, "own/tasks.csv:2") {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := p.create(map[string]string{"name": "big", "target": "sim/first/world.yaml", "tasks:q.csv": strings.Repeat("x", 21<<20)}); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s", a.status, a.text)
	}
	if _, err := os.Lstat(filepath.Join(p.dir, "big")); err == nil {
		t.Error("a folder is left")
	}
}

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/server"
	"github.com/seed-f4525e22/skillopt/internal/testing/booktest"
	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
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
	if len(start.Examples) < 8 {
		t.Errorf("%v", start.Examples)
	}
	for _, e := range start.Examples {
		p.create(map[string]string{"name": "of-" + e.Name, "example": e.Name}).into(t, &made)
		if len(made.Problems)+len(made.Foreign) > 0 {
			t.Errorf("%s: %v %v", e.Name, made.Problems, made.Foreign)
		}
		if a := p.ask(http.MethodPost, "/configs/of-"+e.Name+"/lint", struct{}{}); a.status != http.StatusOK || !strings.Contains(a.text, `"problems":[]`) {
			t.Errorf("%s: %d %s", e.Name, a.status, a.text)
		}
		if a := p.ask(http.MethodPost, "/configs/of-"+e.Name+"/try", server.TryRequest{Number: 1}); a.status != http.StatusOK {
			t.Errorf("%s: %d %s", e.Name, a.status, a.text)
		}
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
	sheet := booktest.Write(t, []booktest.Sheet{{Name: "One", Cells: map[string]string{"A1": booktest.Cell("A1", "Question"), "B1": booktest.Cell("B1", "Answer"), "A2": booktest.Cell("A2", `a, "b"`), "B2": booktest.Cell("B2", 3.0)}}}, nil)
	p.create(map[string]string{"name": "sheet", "target": "sim/first/world.yaml", "tasks:q.xlsx": string(sheet)}).into(t, &own)
	table, err := os.ReadFile(filepath.Join(p.dir, "sheet", "tasks.csv"))
	must(t, err)
	if diff := cmp.Diff("Question,Answer\n\"a, \"\"b\"\"\",3\n", string(table)); diff != "" {
		t.Error(diff)
	}
	if a := p.create(map[string]string{"name": "broken", "target": "sim/first/world.yaml", "tasks:q.xlsx": "PK"}); a.status != http.StatusBadRequest {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := p.create(map[string]string{"name": "big", "target": "sim/first/world.yaml", "tasks:q.csv": strings.Repeat("x", 21<<20)}); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s", a.status, a.text)
	}
	if _, err := os.Lstat(filepath.Join(p.dir, "big")); err == nil {
		t.Error("a folder is left")
	}
}

// What a page may not say is refused when it is written, and when a file that says it is to be used. Nothing runs, is
// asked or is read elsewhere.
func TestPageIsRefused(t *testing.T) {
	outside := t.TempDir()
	writeTree(t, outside, map[string]string{"config.yaml": "train: {epochs: 1}\n", "SKILL.md": "---\nname: x\ndescription: y\n---\nthe colour is ultramarine", "prompts/analyst.md": "ultramarine"})
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{"linked/none": ""})
	must(t, os.Symlink(outside, filepath.Join(dir, "away")))
	must(t, os.Symlink(filepath.Join(outside, "config.yaml"), filepath.Join(dir, "linked", "config.yaml")))
	must(t, os.Symlink(filepath.Join(outside, "SKILL.md"), filepath.Join(dir, "linked", "SKILL.md")))
	p := servePage(t, dir, serveOptions{})
	var first result.ConfigFile
	p.create(map[string]string{"name": "first", "example": "quickstart"}).into(t, &first)
	tests := []struct {
		name, key string
		set       map[string]any
	}{
		{"base_url", "models.target.base_url", map[string]any{"models.target.base_url": "http://evil.example/v1"}},
		{"headers", "models.target.headers", map[string]any{"models.target.headers": map[string]any{"X": "y"}}},
		{"extends", "extends", map[string]any{"extends": filepath.ToSlash(outside) + "/config.yaml"}},
		{"prompts outside", "prompts", map[string]any{"prompts": filepath.ToSlash(outside) + "/prompts"}},
		{"${HOME}", "run.name", map[string]any{"run.name": "${HOME}"}},
		{"command checks", "tasks.checks", map[string]any{"tasks.checks": []any{map[string]any{"type": "command", "run": []any{"touch", "ran"}}}}},
		{"env.command", "env.command", map[string]any{"env.command": []any{"touch", "ran"}}},
		{"..", "skill", map[string]any{"skill": "../../" + filepath.Base(outside) + "/SKILL.md"}},
		{"links", "skill", map[string]any{"skill": "../linked/SKILL.md"}},
		{"a model that no config names", "models.target.model", map[string]any{"models.target.provider": "openai", "models.target.model": "gpt-5"}},
		{"prices of its own", "price_file", map[string]any{"prices": map[string]any{"file": "/etc/passwd"}}},
		{"an agent", "agent.name", map[string]any{"agent.name": "codex"}},
		{"a seat", "models.target.provider", map[string]any{"models.target.provider": "claude-cli"}},
		{"a folder of keys", "tasks.path", map[string]any{"tasks.path": "../.ssh/id"}},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var checked result.ConfigFile
			p.ask(http.MethodPost, "/configs/first/check", server.Check{Text: first.Text, Set: tt.set}).into(t, &checked)
			if i := slices.IndexFunc(checked.Problems, func(q result.ConfigProblem) bool { return q.Key == tt.key && q.Refused }); i < 0 {
				t.Errorf("%+v", checked.Problems)
			}
			if a := p.ask(http.MethodPut, "/configs/first", server.Save{Text: checked.Text, SHA256: first.SHA256}); a.status != http.StatusForbidden || !strings.Contains(a.text, tt.key) {
				t.Errorf("%d %s", a.status, a.text)
			}
			text, err := os.ReadFile(filepath.Join(dir, "first", "config.yaml"))
			must(t, err)
			if string(text) != first.Text {
				t.Error("the file has changed")
			}
			other := "other" + strconv.Itoa(i)
			must(t, os.CopyFS(filepath.Join(dir, other), os.DirFS(filepath.Join(dir, "first"))))
			must(t, os.WriteFile(filepath.Join(dir, other, "config.yaml"), []byte(checked.Text), 0o644))
			for _, command := range []string{"lint", "plan", "doctor", "try"} {
				if a := p.ask(http.MethodPost, "/configs/"+other+"/"+command, map[string]any{}); a.status != http.StatusBadRequest || !strings.Contains(a.text, tt.key) || strings.Contains(a.text, "ultramarine") {
					t.Errorf("%s: %d %s", command, a.status, a.text)
				}
			}
		})
	}
	for _, id := range []string{"away", "linked", "..", "%2e%2e", "..%2f" + filepath.Base(outside), "first%2f..%2faway", "runs"} {
		if a := p.send(http.MethodGet, "/configs/"+id, "", nil); a.status == http.StatusOK || strings.Contains(a.text, "ultramarine") {
			t.Errorf("%s: %d %s", id, a.status, a.text)
		}
	}
	for _, name := range []string{"..", "../x", "a/b", ".x", "", "runs", "a b", "-x"} {
		if a := p.create(map[string]string{"name": name, "example": "quickstart"}); a.status != http.StatusBadRequest {
			t.Errorf("%q: %d %s", name, a.status, a.text)
		}
	}
	for _, how := range [][]string{{"Origin", "http://evil.example"}, {"Sec-Fetch-Site", "cross-site"}} {
		for _, path := range []string{"/configs", "/configs/first/check", "/configs/first/try"} {
			if a := p.ask(http.MethodPost, path, map[string]any{}, how...); a.status != http.StatusForbidden {
				t.Errorf("%v %s: %d %s", how, path, a.status, a.text)
			}
		}
	}
	task := `{"id": "a", "prompt": "What?", "gold": "b", "checks": [{"type": "command", "run": ["touch", "ran"]}]}` + "\n"
	p.create(map[string]string{"name": "runs-a-program", "target": "sim/first/world.yaml", "tasks:t.jsonl": task}).into(t, &result.ConfigFile{})
	for _, command := range []string{"plan", "try"} {
		if a := p.ask(http.MethodPost, "/configs/runs-a-program/"+command, server.TryRequest{Number: 1}); a.status != http.StatusBadRequest || !strings.Contains(a.text, "tasks.jsonl:1") {
			t.Errorf("%s: %d %s", command, a.status, a.text)
		}
	}
	if a := p.create(map[string]string{"name": "curious", "target": "sim/first/world.yaml", "columns": `{"prompt": "${HOME}"}`, "tasks:t.csv": "a,b\n"}); a.status != http.StatusForbidden {
		t.Errorf("%d %s", a.status, a.text)
	}
	for _, name := range []string{"sim/../../etc/passwd", "sim/away/world.yaml"} {
		if a := p.create(map[string]string{"name": "far", "target": name, "tasks:t.jsonl": task}); a.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, a.status, a.text)
		}
	}
	for _, name := range []string{"curious", "far"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	if a := p.create(map[string]string{"name": "dear", "target": "openai/gpt-5", "tasks:t.jsonl": task}); a.status != http.StatusForbidden {
		t.Errorf("%d %s", a.status, a.text)
	}
	if ran, _ := filepath.Glob(filepath.Join(dir, "*", "ran")); len(ran) > 0 {
		t.Errorf("%v", ran)
	}
}

// A config with keys of its own is shown, kept as it is, and used only as it was when the server began and named it.
func TestPageKeepsForeignKeys(t *testing.T) {
	dir := t.TempDir()
	must(t, os.CopyFS(filepath.Join(dir, "mine"), os.DirFS("../../examples/quickstart")))
	path := filepath.Join(dir, "mine", "config.yaml")
	text, err := os.ReadFile(path)
	must(t, err)
	text = append(text, "\nprices: {m: {input: 1, output: 2}} # ours\n"...)
	must(t, os.WriteFile(path, text, 0o644))
	for _, trusted := range []bool{true, false} {
		var o serveOptions
		if trusted {
			o.trust = []string{"mine"}
		}
		p := servePage(t, dir, o)
		var doc, checked, saved result.ConfigFile
		p.send(http.MethodGet, "/configs/mine", "", nil).into(t, &doc)
		if len(doc.Foreign) != 1 || doc.Foreign[0].Key != "prices" || doc.Trusted != trusted || (len(doc.Problems) == 0) != trusted {
			t.Errorf("%+v", doc)
		}
		want := http.StatusBadRequest
		if trusted {
			want = http.StatusOK
		}
		if a := p.ask(http.MethodPost, "/configs/mine/plan", struct{}{}); a.status != want {
			t.Errorf("%d %s", a.status, a.text)
		}
		p.ask(http.MethodPost, "/configs/mine/check", server.Check{Text: doc.Text, Set: map[string]any{"train.seed": 9}}).into(t, &checked)
		p.ask(http.MethodPut, "/configs/mine", server.Save{Text: checked.Text, SHA256: doc.SHA256}).into(t, &saved)
		now, err := os.ReadFile(path)
		must(t, err)
		if !strings.Contains(string(now), "prices: {m: {input: 1, output: 2}} # ours") || saved.Trusted || len(saved.Problems) == 0 {
			t.Errorf("%s\n%+v", now, saved)
		}
		if a := p.ask(http.MethodPost, "/configs/mine/plan", struct{}{}); a.status != http.StatusBadRequest {
			t.Errorf("it was changed, and is started: %d %s", a.status, a.text)
		}
		p.ask(http.MethodPost, "/configs/mine/check", server.Check{Text: saved.Text, Set: map[string]any{"prices": map[string]any{"m": map[string]any{"input": 0}}}}).into(t, &checked)
		if a := p.ask(http.MethodPut, "/configs/mine", server.Save{Text: checked.Text, SHA256: saved.SHA256}); a.status != http.StatusForbidden {
			t.Errorf("%d %s", a.status, a.text)
		}
		must(t, os.WriteFile(path, text, 0o644))
	}
}

// Each config of the repository opens in the page, and is written back byte for byte.
func TestPageKeepsConfigs(t *testing.T) {
	dir := t.TempDir()
	p := servePage(t, dir, serveOptions{})
	kept := 0
	for name, text := range treetest.Configs(t, "../..") {
		if !utf8.ValidString(text) {
			continue
		}
		writeTree(t, dir, map[string]string{"c/config.yaml": text})
		var doc, checked result.ConfigFile
		p.send(http.MethodGet, "/configs/c", "", nil).into(t, &doc)
		p.ask(http.MethodPost, "/configs/c/check", server.Check{Text: doc.Text}).into(t, &checked)
		a := p.ask(http.MethodPut, "/configs/c", server.Save{Text: checked.Text, SHA256: doc.SHA256})
		now, err := os.ReadFile(filepath.Join(dir, "c", "config.yaml"))
		must(t, err)
		if a.status != http.StatusOK || string(now) != text || cmp.Diff(doc.Values, checked.Values) != "" {
			t.Errorf("%s: %d %s\n%s", name, a.status, a.text, cmp.Diff(text, string(now)))
		}
		kept++
	}
	if kept < 50 {
		t.Errorf("%d configs", kept)
	}
	t.Log(kept, "configs")
}

// Tasks are found in the sessions of a project that the profile allows, and of no other. They are kept when the config
// cannot be written, since sessions are mined once.
func TestPageBeginsWithSessions(t *testing.T) {
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS("../../examples/sleep")))
	days, err := filepath.Glob(filepath.Join(dir, "day-*"))
	must(t, err)
	for _, day := range days {
		must(t, os.CopyFS(filepath.Join(dir, "store"), os.DirFS(day)))
	}
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	p := servePage(t, dir, serveOptions{profile: filepath.Join(dir, "sleep.yaml")})
	var known server.Projects
	p.send(http.MethodGet, "/projects", "", nil).into(t, &known)
	project := filepath.Join(dir, "project")
	if diff := cmp.Diff([]string{project}, known.Projects); diff != "" {
		t.Fatal(diff)
	}
	form := map[string]string{"name": "mined", "project": project, "target": "sim/world.yaml"}
	for key, value := range map[string]string{"project": dir, "target": "openai/gpt"} {
		other := maps.Clone(form)
		other[key] = value
		if a := p.create(other); a.status == http.StatusOK {
			t.Errorf("%s %s: %s", key, value, a.text)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "mined")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was refused has left a folder: %v", err)
	}
	var made result.ConfigFile
	p.create(form).into(t, &made)
	text, err := os.ReadFile(filepath.Join(dir, "mined", "tasks.jsonl"))
	must(t, err)
	if n := bytes.Count(text, []byte("\n")); n < 20 || len(made.Problems) > 0 || made.Command != "skillopt train mined" {
		t.Errorf("%d tasks, %+v", n, made)
	}
	form["name"] = "again"
	if a := p.create(form); a.status != http.StatusConflict || !strings.Contains(a.text, "0 sessions of") {
		t.Errorf("%d %s", a.status, a.text)
	}
}

// A server that only shows, or has no folder with configs, starts nothing and says what helps. Bodies are as large as their
// route needs.
func TestPageStartsNothing(t *testing.T) {
	dir := t.TempDir()
	must(t, os.CopyFS(filepath.Join(dir, "mine"), os.DirFS("../../examples/quickstart")))
	p := servePage(t, dir, serveOptions{readOnly: true})
	var start server.Start
	p.send(http.MethodGet, "/start", "", nil).into(t, &start)
	if start.Configs != "" || !strings.Contains(start.Why, "--read-only") {
		t.Errorf("%+v", start)
	}
	for _, path := range []string{"/configs", "/configs/mine/try", "/configs/mine/doctor", "/configs/mine/plan"} {
		if a := p.ask(http.MethodPost, path, struct{}{}); a.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", path, a.status, a.text)
		}
	}
	p = servePage(t, dir, serveOptions{})
	long := strings.Repeat("# a comment\n", 10_000)
	for path, want := range map[string]int{"/configs/mine/check": http.StatusOK, "/configs/mine/lint": http.StatusRequestEntityTooLarge} {
		if a := p.ask(http.MethodPost, path, server.Check{Text: long}); a.status != want {
			t.Errorf("%s: %d %.200s", path, a.status, a.text)
		}
	}
	if a := p.ask(http.MethodPost, "/configs/mine/check", server.Check{Text: strings.Repeat(long, 20)}); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %.200s", a.status, a.text)
	}
	var schema struct{ Properties map[string]any }
	p.send(http.MethodGet, "/schema", "", nil).into(t, &schema) // the client of Go asks for gzip
	if len(schema.Properties) < 10 {
		t.Errorf("%v", schema)
	}
}

// A config is written with the mode that it had, by one page at a time.
func TestPagesThatSaveAtOnce(t *testing.T) {
	dir := t.TempDir()
	must(t, os.CopyFS(filepath.Join(dir, "mine"), os.DirFS("../../examples/quickstart")))
	must(t, os.Chmod(filepath.Join(dir, "mine", "config.yaml"), 0o600))
	p := servePage(t, dir, serveOptions{})
	var doc result.ConfigFile
	p.send(http.MethodGet, "/configs/mine", "", nil).into(t, &doc)
	answers := make(chan int, 8)
	for i := range cap(answers) {
		go func() {
			text, _ := json.Marshal(server.Save{Text: doc.Text + "# " + strconv.Itoa(i) + "\n", SHA256: doc.SHA256})
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, p.at.origin+"/api/v1/configs/mine", bytes.NewReader(text))
			r.Header.Set("Authorization", "Bearer "+p.at.token)
			r.Header.Set("Content-Type", "application/json")
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				answers <- 0
				return
			}
			_ = resp.Body.Close()
			answers <- resp.StatusCode
		}()
	}
	count := map[int]int{}
	for range cap(answers) {
		count[<-answers]++
	}
	if count[http.StatusOK] != 1 || count[http.StatusConflict] != cap(answers)-1 {
		t.Errorf("%v", count)
	}
	info, err := os.Stat(filepath.Join(dir, "mine", "config.yaml"))
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Error(info.Mode())
	}
}

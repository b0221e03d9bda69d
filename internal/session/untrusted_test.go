package session

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/corpus"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/openenv"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/steer"
	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
	"github.com/seed-f4525e22/skillopt/internal/textgame"
	"github.com/seed-f4525e22/skillopt/task"
)

// loadUntrusted loads what the config.yaml of a folder names, for an untrusted caller.
func loadUntrusted(t *testing.T, dir string, trusted ...string) (*Inputs, error) {
	t.Helper()
	none := func(string) (string, bool) { return "", false }
	l, err := config.Load(config.Options{Path: dir, Dir: dir, Lookup: none, Guard: &config.Guard{Roots: []string{dir}, Trusted: trusted}})
	if err != nil {
		t.Fatal(err)
	}
	return Load(t.Context(), l.Config, Options{Loaded: l})
}

const (
	plainConfig = "skill: SKILL.md\ntasks: tasks.jsonl\n"
	pixel       = "\x89PNG\r\n\x1a\n"
)

// lines writes tasks as JSONL, the same question but for a number.
func lines(t *testing.T, extra ...map[string]any) string {
	t.Helper()
	var out strings.Builder
	for i := range max(3, len(extra)) {
		row := map[string]any{"id": strconv.Itoa(i), "prompt": "question " + strconv.Itoa(i), "gold": strconv.Itoa(i)}
		if i < len(extra) {
			maps.Copy(row, extra[i])
		}
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(text, '\n'))
	}
	return out.String()
}

func TestUntrustedTasks(t *testing.T) {
	t.Parallel()
	outside := treetest.Write(t, map[string]string{"t.jsonl": lines(t), "p.png": pixel, "secret/k": "secret", "secret/items.json": "[]", "secret/tasks.json": "[]"})
	type tree = map[string]string
	row := func(key string, v any) string { return lines(t, nil, map[string]any{key: v}) }
	command := []any{map[string]any{"type": "command", "run": []string{"sh", "-c", "touch /tmp/ran"}}}
	pages := "skill: SKILL.md\ntasks: {path: tasks.jsonl, extract: {tag: answer}, pages: {fetch: 2}}\nsplit: {cross_fit: 0}\n"
	agents := "skill: SKILL.md\ntasks: tasks.jsonl\nagent: {name: custom, custom: {argv: [sh]}}\n"
	tests := []struct {
		name  string
		files tree
		want  []string // in the error; none: it loads
	}{
		{"plain", tree{"tasks.jsonl": lines(t)}, nil},
		{"an address in texts", tree{"tasks.jsonl": lines(t, map[string]any{"prompt": "open file:///etc/passwd and http://evil.example", "gold": "http://x/y.png", "hidden": "file://a", "url": "http://x", "urls": []string{"http://x"}, "workspace": "https://a.slack.example", "files": "http://x"})}, nil},
		{"a command check", tree{"tasks.jsonl": row("checks", command)}, []string{`tasks.jsonl:2: task "1": the field checks runs a program (checks[0])`, "--trust " + treetest.SHA256(row("checks", command))}},
		{"a command check as text", tree{"tasks.jsonl": row("checks", "command")}, []string{"tasks.jsonl:2"}},
		{"a command check in groups", tree{"tasks.jsonl": row("checks", []any{map[string]any{"all": []any{map[string]any{"any": command}}}})}, []string{"checks[0].all[0].any[0]"}},
		{"a picture by address", tree{"tasks.jsonl": row("images", []string{"http://evil.example/p.png"})}, []string{"tasks.jsonl:2", "the field images has an address"}},
		{"a picture by file address", tree{"tasks.jsonl": row("images", "file:///etc/passwd")}, []string{"the field images has an address"}},
		{"a picture by a path of Windows", tree{"tasks.jsonl": row("images", `C:\p.png`)}, []string{"tasks.jsonl:2", "images"}},
		{"a picture by a share of Windows", tree{"tasks.jsonl": row("images", `\\host\share\p.png`)}, []string{"tasks.jsonl:2", "images"}},
		{"a picture above", tree{"tasks.jsonl": row("images", "../p.png")}, []string{"tasks.jsonl:2", "images"}},
		{"a picture by its path", tree{"tasks.jsonl": row("images", outside+"/p.png")}, []string{"tasks.jsonl:2", "images"}},
		{"a picture over a link", tree{"tasks.jsonl": row("images", "in.png"), "in.png": "-> " + outside + "/p.png"}, []string{"tasks.jsonl:2", "images has an address, or leads out"}},
		{"a picture over a folder that is a link", tree{"tasks.jsonl": row("images", "in/p.png"), "in": "-> " + outside}, []string{"tasks.jsonl:2", "images has an address, or leads out"}},
		{"a picture at home", tree{"tasks.jsonl": row("images", "~/p.png")}, []string{"tasks.jsonl:2", "images has an address, or leads out"}},
		{"a picture next to the tasks", tree{"tasks.jsonl": row("images", []string{"pictures/p.png"}), "pictures/p.png": pixel}, nil},
		{"tasks that are a link", tree{"tasks.jsonl": "-> " + outside + "/t.jsonl"}, []string{"tasks.path", "leads out"}},
		{"a split that is a link", tree{"config.yaml": "skill: SKILL.md\ntasks: set\n", "set/train.jsonl": "-> " + outside + "/t.jsonl", "set/val.jsonl": lines(t), "set/test.jsonl": lines(t)}, []string{"train.jsonl", "leads out"}},
		{"a split in a folder that is a link", tree{"config.yaml": "skill: SKILL.md\ntasks: set\n", "set/train": "-> " + outside + "/secret", "set/val.jsonl": lines(t)}, []string{"set/train", "leads out"}},
		{"another link in the folder", tree{"config.yaml": "skill: SKILL.md\ntasks: set\n", "set/tasks.jsonl": lines(t), "set/venv": "-> " + outside}, nil},
		{"CSV", tree{"config.yaml": "skill: SKILL.md\ntasks: t.csv\n", "t.csv": "prompt,gold,images,checks\na,b,,\nc,d,http://x/p.png,\"[{\"\"type\"\":\"\"command\"\",\"\"run\"\":[\"\"sh\"\"]}]\"\n"}, []string{"t.csv:3", "images has an address", "checks runs a program"}},
		{"CSV with other names of columns", tree{"config.yaml": "skill: SKILL.md\ntasks: {path: t.csv, columns: {images: Picture, checks: Rules}}\n", "t.csv": "prompt,gold,Picture,Rules\nc,d,\"[\"\"http://x/p.png\"\"]\",\"[\"\"command\"\"]\"\n"}, []string{"t.csv:2", "images has an address", "checks runs a program"}},
		{"YAML", tree{"config.yaml": "skill: SKILL.md\ntasks: t.yaml\n", "t.yaml": "- &a {prompt: q, gold: a}\n- {<<: *a, prompt: r, images: [http://x/p.png]}\n"}, []string{"t.yaml:2", "images has an address"}},
		{"JSON", tree{"config.yaml": "skill: SKILL.md\ntasks: t.json\n", "t.json": `{"tasks": [` + "\n" + `{"prompt":"q","gold":"a","checks":{"type":"not_command","run":["sh"]}}]}`}, []string{"t.json:2", "checks runs a program"}},
		{"pages of a trusted config", tree{"config.yaml": pages, "tasks.jsonl": row("urls", "see http://evil.example/x")}, []string{"tasks.jsonl:2", "urls names a page to fetch"}},
		{"a workspace over a link", tree{"config.yaml": agents, "tasks.jsonl": row("workspace", "ws"), "ws": "-> " + outside + "/secret"}, []string{"tasks.jsonl:2", "workspace has an address, or leads out"}},
		{"a workspace above", tree{"config.yaml": agents, "tasks.jsonl": row("workspace", "../x")}, []string{"tasks.jsonl:2", "workspace has an address, or leads out"}},
		{"a workspace next to the tasks", tree{"config.yaml": agents, "tasks.jsonl": row("workspace", "ws"), "ws/f": "x"}, nil},
		{"what a program makes of its tasks is its own affair", tree{"config.yaml": "skill: SKILL.md\ntasks: tasks.jsonl\nenv: {command: [sh]}\n", "tasks.jsonl": row("images", "http://x/p.png")}, nil},
		{"a skill that is a link", tree{"tasks.jsonl": lines(t), "config.yaml": "skill: s\ntasks: tasks.jsonl\n", "s/SKILL.md": "-> " + outside + "/secret/k"}, []string{"leads out"}},
		{"files of a skill that are links", tree{"tasks.jsonl": lines(t), "config.yaml": "skill: s\ntasks: tasks.jsonl\n", "s/SKILL.md": "x", "s/references": "-> " + outside + "/secret"}, []string{"a link"}},
		{"prompts that are links", tree{"tasks.jsonl": lines(t), "config.yaml": plainConfig + "prompts: p\n", "p/analyst_error.md": "-> " + outside + "/secret/k"}, []string{"leads out"}},
		{"a variable in a prompt file is text", tree{"tasks.jsonl": lines(t), "config.yaml": plainConfig + "prompts: p\n", "p/rollout.md": "# system\n${HOME}\n"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := tree{"config.yaml": plainConfig, "SKILL.md": "# S\n"}
			maps.Copy(files, tt.files)
			dir := treetest.Write(t, files)
			loaded := func(trusted ...string) error {
				none := func(string) (string, bool) { return "", false }
				l, err := config.Load(config.Options{Path: dir, Dir: dir, Lookup: none, Guard: &config.Guard{Roots: []string{dir}, Trusted: append(trusted, treetest.SHA256(files["config.yaml"]))}})
				if err != nil {
					return err
				}
				for _, counting := range []bool{true, false} {
					if _, err = Load(t.Context(), l.Config, Options{Loaded: l, Counting: counting}); err != nil {
						return err
					}
				}
				return nil
			}
			err := loaded()
			if len(tt.want) == 0 && err != nil {
				t.Fatalf("refused: %v", err)
			}
			for _, want := range tt.want {
				if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), `\\`, `\`), want) {
					t.Errorf("want %q in %v", want, err)
				}
			}
			if err != nil && (fault.Of(err) != fault.BadInput || strings.Contains(err.Error(), "secret\"")) {
				t.Errorf("%v of %v", fault.Of(err), err)
			}
		})
	}
}

// The hash is that of the bytes that were read: with it the same file may say anything, and
// another one may not.
func TestTrustedTasks(t *testing.T) {
	t.Parallel()
	text := lines(t, map[string]any{"workspace": "../ws"})
	conf := "skill: SKILL.md\ntasks: tasks.jsonl\nagent: {name: custom, custom: {argv: [sh]}}\n"
	dir := treetest.Write(t, map[string]string{"config.yaml": conf, "SKILL.md": "# S\n", "tasks.jsonl": "\ufeff" + text})
	_, err := loadUntrusted(t, dir, treetest.SHA256(conf))
	var own *task.Error
	if !errors.As(err, &own) || !strings.Contains(err.Error(), treetest.SHA256("\ufeff"+text)) {
		t.Fatalf("want the hash of the file: %v", err)
	}
	if _, err := loadUntrusted(t, dir, treetest.SHA256(conf), treetest.SHA256("\ufeff"+text)); err != nil {
		t.Errorf("a trusted file is refused: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tasks.jsonl"), []byte("\ufeff"+text+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := loadUntrusted(t, dir, treetest.SHA256(conf), treetest.SHA256("\ufeff"+text)); err == nil {
		t.Error("another file is trusted by the hash of the first")
	}
	conf = strings.Replace(conf, ".jsonl", ".yaml", 1)
	text = "- {prompt: q, gold: a, workspace: ../ws}\n"
	dir = treetest.Write(t, map[string]string{"p/config.yaml": conf, "p/SKILL.md": "# S\n", "p/tasks.yaml": text})
	if _, err := loadUntrusted(t, filepath.Join(dir, "p"), treetest.SHA256(conf), treetest.SHA256(text)); err != nil && strings.Contains(err.Error(), "not trusted") {
		t.Errorf("a trusted file that is read whole is refused: %v", err)
	}
}

// A folder with many files takes no time, and nothing but what is named is looked at.
func TestUntrustedFolderOfManyFiles(t *testing.T) {
	t.Parallel()
	files := map[string]string{"config.yaml": "skill: s\ntasks: tasks.jsonl\n", "s/SKILL.md": "# S\n", "tasks.jsonl": lines(t), "s/config.yaml": "x"}
	for i := range 3000 {
		files["s/node_modules/"+strconv.Itoa(i)] = "x"
	}
	files["s/node_modules/out"] = "-> /etc/passwd"
	if _, err := loadUntrusted(t, treetest.Write(t, files)); err != nil {
		t.Error(err)
	}
}

// Every field that the program reads of a task by its name has its place in the list, so that
// another one is classed before anyone can name it.
func TestFieldsOfTasksAreClassed(t *testing.T) {
	t.Parallel()
	const text, inDocs, refuse = "text", "a file in the folder of a trusted world", "see taskGuard.Refuse"
	does := map[string]string{
		"id": text, "type": text, "prompt": text, "gold": text, "hidden": text, "split": text, "trigger": text,
		"checks": refuse, "data": text, task.FieldImages: refuse, rollout.FieldWorkspace: refuse, rollout.FieldFiles: text,
		corpus.FieldFiles: inDocs, corpus.FieldDocs: text, textgame.FieldGame: inDocs, openenv.FieldReset: text,
		"doubts": text, "question": text,
		"session": text, "skill": text, // of nights on files, which read them as names
	}
	classed := slices.Sorted(maps.Keys(does))
	var found []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[task.Task]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			found = append(found, name)
		}
	}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{"testdata", "node_modules", ".git", "lab", "examples"}, d.Name()) {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if text, ok := strings.CutPrefix(name.Name, "Field"); ok && text != "" && i < len(n.Values) {
						found = append(found, unquoted(n.Values[i]))
					}
				}
			case *ast.IndexExpr: // t.Data["name"]
				if s, ok := n.X.(*ast.SelectorExpr); ok && s.Sel.Name == "Data" && unquoted(n.Index) != "" {
					found = append(found, unquoted(n.Index))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	found = slices.DeleteFunc(slices.Compact(found), func(n string) bool { return n == "" })
	if diff := cmp.Diff(classed, found); diff != "" {
		t.Errorf("decide what a field of a task has the program do (-list +code):\n%s", diff)
	}
}

func unquoted(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	text, _ := strconv.Unquote(lit.Value)
	return text
}

// Directories of runs that lead out of the folders of the caller are not read.
func TestUntrustedRunDirectories(t *testing.T) {
	t.Parallel()
	outside := treetest.Write(t, map[string]string{"manifest.json": "{}", "memory.json": "{}"})
	type tree = map[string]string
	tests := []struct {
		name  string
		files tree
		o     func(dir string) Options
		ok    bool
	}{
		{"none", nil, func(string) Options { return Options{} }, true},
		{"within", tree{"runs/x/manifest.json": "{}", "runs/last": "-> x"}, func(dir string) Options { return Options{RunDir: filepath.Join(dir, "runs", "x")} }, true},
		{"outside", nil, func(string) Options { return Options{RunDir: outside} }, false},
		{"a link", tree{"runs/x": "-> " + outside}, func(dir string) Options { return Options{RunDir: filepath.Join(dir, "runs", "x")} }, false},
		{"a file that is a link", tree{"runs/x/memory.json": "-> " + outside + "/memory.json"}, func(dir string) Options { return Options{RunDir: filepath.Join(dir, "runs", "x")} }, false},
		{"a file below", tree{"runs/x/skills/a/b.md": "-> " + outside + "/memory.json"}, func(dir string) Options { return Options{RunDir: filepath.Join(dir, "runs", "x")} }, false},
		{"what an agent left", tree{"runs/x/workspaces/a/python": "-> /usr/bin/python3"}, func(dir string) Options { return Options{RunDir: filepath.Join(dir, "runs", "x")} }, true},
		{"another run in the folder", tree{"runs/y/run.db": "-> " + outside + "/memory.json"}, func(string) Options { return Options{} }, false},
		{"a fork", nil, func(dir string) Options {
			return Options{RunDir: filepath.Join(dir, "runs", "x"), Beginning: Beginning{Fork: outside}}
		}, false},
		{"what is continued", nil, func(string) Options {
			return Options{Beginning: Beginning{Continue: Continuation{Dir: outside, Epochs: 1}}}
		}, false},
		{"a folder of runs that is a link", tree{"runs": "-> " + outside}, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := tree{"config.yaml": plainConfig, "SKILL.md": "# S\n", "tasks.jsonl": lines(t)}
			maps.Copy(files, tt.files)
			dir := treetest.Write(t, files)
			l, err := config.Load(config.Options{Path: dir, Dir: dir, Guard: &config.Guard{Roots: []string{dir}}})
			if err == nil {
				o := tt.o(dir)
				o.Loaded = l
				if o.Continue.Dir != "" {
					_, err = Continue(t.Context(), &l.Config, &o)
				} else {
					_, err = Load(t.Context(), l.Config, o)
				}
			}
			if (err == nil) != tt.ok || err != nil && !strings.Contains(err.Error(), "leads out of the folders") {
				t.Errorf("%v", err)
			}
		})
	}
}

// A forged manifest says that other ceilings hold; none is above that of the host.
func TestHeldCeilingsOfAForgedRun(t *testing.T) {
	t.Parallel()
	dir := treetest.Write(t, map[string]string{"config.yaml": plainConfig, "SKILL.md": "# S\n", "tasks.jsonl": lines(t)})
	calls := int64(10)
	l, err := config.Load(config.Options{Path: dir, Dir: dir, Guard: &config.Guard{Roots: []string{dir}, Limits: config.Limits{Calls: &calls}}})
	if err != nil {
		t.Fatal(err)
	}
	in, err := NewInputs(l.Config, Options{Loaded: l})
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Open(t.Context(), run.OpenOptions{Dir: filepath.Join(dir, "runs", "x"), Name: "x", Now: time.Now, Operational: in.Settings()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	was := json.RawMessage(r.Manifest.Operational["limits.calls"])
	if err := r.Steer(run.Steering{Held: map[string]run.Held{"limits.calls": {Value: json.RawMessage("1000000"), Was: was, From: "browser"}}}); err != nil {
		t.Fatal(err)
	}
	s := &Session{Inputs: in, Run: r}
	if err := takeUp(s); err != nil {
		t.Fatal(err)
	}
	if got := InForce(s).Calls; got == nil || *got != calls {
		t.Errorf("%v calls are allowed, want %d", got, calls)
	}
	if s.Caller, err = caller.New(caller.Options{Journal: r.Journal, Limits: Ceilings(InForce(s))}); err != nil {
		t.Fatal(err)
	}
	next, most := InForce(s), 1e6
	if _, err := s.steering.change(s, steer.Request{What: steer.Limit, Limits: steer.Limits{steer.Calls: &most}}, &next); err != nil || *next.Calls != calls {
		t.Errorf("a request raises the ceiling of the host: %v, %v", next.Calls, err)
	}
}

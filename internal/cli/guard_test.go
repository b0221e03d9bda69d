package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/examples"
)

// asUntrusted runs a command line for an untrusted caller in a folder, with a key of a provider in its variables.
func asUntrusted(t *testing.T, dir string, trusted []string, args ...string) (out string, err error) {
	t.Helper()
	var text bytes.Buffer
	a := &app{Streams: Streams{In: strings.NewReader(""), Out: &text, Err: &text, Dir: dir}, version: "test", color: colorNever}
	a.guard = &config.Guard{Roots: []string{dir}, Trusted: trusted}
	a.lookup = func(name string) (string, bool) {
		v, ok := map[string]string{"OPENAI_API_KEY": "sk-very-secret-key", "PATH": os.Getenv("PATH")}[name]
		return v, ok
	}
	root := rootCommand(a)
	root.SetArgs(args)
	root.SetOut(&text)
	root.SetErr(&text)
	err = root.ExecuteContext(t.Context())
	return text.String(), err
}

// quickstart writes the example into a folder without links.
func quickstart(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	example, err := fs.Sub(examples.Quickstart, "quickstart")
	if err == nil {
		err = os.CopyFS(dir, example)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The quick start needs no trust: it is tried, trained, continued and looked at by an untrusted caller.
func TestUntrustedQuickstart(t *testing.T) {
	t.Parallel()
	dir := quickstart(t, nil)
	for _, args := range [][]string{
		{"tasks", "lint", "."},
		{"skill", "lint", "."},
		{"try", ".", "-n", "2"},
		{"train", ".", "--plan"},
		{"train", ".", "--set", "train.epochs=1", "--set", "run.name=r"},
		{"train", "--continue", "runs/r-1", "--epochs", "+1"},
		{"config", "explain", "skill", "."},
	} {
		if out, err := asUntrusted(t, dir, nil, args...); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

// A run that is resumed without being named is looked at as one that is.
func TestUntrustedResume(t *testing.T) {
	t.Parallel()
	dir := quickstart(t, nil)
	train := []string{"train", ".", "--set", "train.epochs=1", "--set", "run.name=r"}
	if out, err := asUntrusted(t, dir, nil, train...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	manifest := filepath.Join(dir, "runs", "r-1", "manifest.json")
	text, err := os.ReadFile(manifest)
	if err == nil {
		err = os.WriteFile(manifest, bytes.Replace(text, []byte(`"completed"`), []byte(`"stopped"`), 1), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := asUntrusted(t, dir, nil, train...); err != nil || !strings.Contains(out, "r-1") {
		t.Fatalf("it is not resumed: %v\n%s", err, out)
	}
	if err := os.WriteFile(manifest, bytes.Replace(text, []byte(`"completed"`), []byte(`"stopped"`), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "runs", "r-1", "skills", "out")); err != nil {
		t.Skip("this system lets its user make no links:", err)
	}
	if out, err := asUntrusted(t, dir, nil, train...); err == nil || !strings.Contains(err.Error(), "leads out of the folders") {
		t.Errorf("%v\n%s", err, out)
	}
}

// What the issue showed: a config of four lines ran a program and handed a key to a server.
func TestUntrustedCommands(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(server.Close)
	const four = "skill: SKILL.md\ntasks: tasks.jsonl\nenv: {command: [sh, -c, 'touch ran'], pass_env: [OPENAI_API_KEY]}\nrun: {name: x}\n"
	sum := sha256.Sum256([]byte(four))
	for _, tt := range []struct {
		name  string
		files map[string]string
		args  []string
		want  []string
	}{
		{"a program", map[string]string{"config.yaml": four}, []string{"try", "."}, []string{"config.yaml:3: env.command", "config.yaml:3: env.pass_env", "--trust " + hex.EncodeToString(sum[:])}},
		{"a server", map[string]string{"config.yaml": "skill: SKILL.md\ntasks: tasks.jsonl\nmodels: {target: {provider: openai, model: m, base_url: '" + server.URL + "'}}\n"}, []string{"try", "."}, []string{"config.yaml:3: models.target.base_url"}},
		{"a server by a flag", nil, []string{"train", "SKILL.md", "--tasks", "tasks.jsonl", "--target", "m@" + server.URL}, []string{"--target: models.target.base_url", "--target: models.target.provider"}},
		{"a server by a setting", nil, []string{"eval", ".", "--set", "models.target={provider: openai, model: m, endpoints: ['" + server.URL + "']}"}, []string{"--set: models.target.endpoints"}},
		{"a seat by a flag", nil, []string{"train", "SKILL.md", "--tasks", "tasks.jsonl", "--target", "claude-cli"}, []string{"--target: models.target.provider"}},
		{"a benchmark", nil, []string{"eval", ".", "--set", "bench.name=./evil"}, []string{"--set: bench.name"}},
		{"a base and a .env", map[string]string{"config.yaml": "extends: base.yaml\n", "base.yaml": four, ".env": "OPENAI_BASE_URL=" + server.URL + "\nOPENAI_API_KEY=x\n"}, []string{"train", "."}, []string{"config.yaml:1: extends"}},
		{"a check", map[string]string{"tasks.jsonl": `{"prompt":"q","gold":"a","checks":[{"type":"command","run":["sh","-c","touch ran"]}]}` + "\n"}, []string{"tasks", "lint", "."}, []string{"tasks.jsonl:1", "runs a program", "the file is not trusted"}},
		{"a check in the config", map[string]string{"config.yaml": "skill: SKILL.md\ntasks: {path: tasks.jsonl, checks: [{type: command, run: [sh, -c, 'touch ran']}]}\n"}, []string{"eval", "."}, []string{"config.yaml:2: tasks.checks"}},
		{"telemetry", nil, []string{"train", ".", "--set", "telemetry.endpoint=" + server.URL}, []string{"--set: telemetry.endpoint"}},
		{"a run outside", nil, []string{"train", ".", "--run", "../x"}, []string{"leads out of the folders"}},
		{"a forged run", map[string]string{"runs/x/config.yaml": four, "runs/x/manifest.json": "{}"}, []string{"train", "--continue", "runs/x", "--epochs", "+1"}, []string{"env.command"}},
		{"a config outside", nil, []string{"try", "../x.yaml"}, nil},
		{"tasks outside", nil, []string{"tasks", "lint", "../none.yaml"}, []string{"leads out of the folders"}},
		{"a skill outside", nil, []string{"skill", "lint", "/etc"}, []string{"leads out of the folders"}},
		{"a directory outside", nil, []string{"train", "/etc"}, []string{"leads out of the folders"}},
		{"keys as a skill", map[string]string{".env": "OPENAI_API_KEY=sk-very-secret-key\n"}, []string{"skill", "lint", ".env"}, []string{"a file of keys"}},
		{"doctor", map[string]string{"config.yaml": four}, []string{"doctor", "."}, []string{"env.command"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := quickstart(t, nil)
			for name, text := range tt.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			out, err := asUntrusted(t, dir, nil, tt.args...)
			if err == nil || exitCode(err) != exitInput {
				t.Fatalf("not refused as input: %v\n%s", err, out)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error()+out, want) {
					t.Errorf("want %q in %v\n%s", want, err, out)
				}
			}
			if strings.Contains(err.Error()+out, "sk-very-secret-key") {
				t.Error("a key is shown")
			}
			if exists(filepath.Join(dir, "ran")) || asked.Load() > 0 {
				t.Error("the program ran, or the server was asked")
			}
		})
	}
}

// The profile of the sleep commands is the user's own.
func TestProfilesHaveNoGuard(t *testing.T) {
	t.Parallel()
	dir := quickstart(t, nil)
	profile := filepath.Join(t.TempDir(), "sleep.yaml")
	if err := os.WriteFile(profile, []byte("sleep: {projects: [/x]}\nextras: {a: b}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app{Streams: Streams{Dir: dir}, guard: &config.Guard{Roots: []string{dir}}}
	s, err := a.readSleepSetup(profile, profile)
	if err != nil || s.loaded.Guard != nil {
		t.Errorf("%v", err)
	}
	if a.guard == nil {
		t.Error("the guard is gone for what comes after")
	}
}

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ownBench is the folder of a benchmark of a user's own.
func ownBench(more map[string]string) map[string]string {
	files := map[string]string{
		"mine/benchmark.yaml": "name: mine\nlicence: none\ntask: {prompt: '{{q}}'}\nconfig: config.yaml\nscoring: {default: robust, reference: ref.yaml, robust: robust.yaml}\n",
		"mine/config.yaml":    "tasks: {prompt: 'Q: {{q}}', threshold: 0.5}\ntrain: {epochs: 7}\n",
		"mine/ref.yaml":       "tasks: {extract: last_line}\n",
		"mine/robust.yaml":    "tasks: {extract: {tag: answer}}\n",
		"mine/guide.md":       "Say it plainly.\n",
	}
	for name, text := range more {
		files[name] = text
	}
	return files
}

// TestABenchmarkIsALayerBeneathAllFiles: what its folder says holds where nothing else is said, and config
// explain names it.
func TestABenchmarkIsALayerBeneathAllFiles(t *testing.T) {
	t.Parallel()
	l, err := load(t, ownBench(map[string]string{
		"base.yaml":   "train: {epochs: 5}\n",
		"config.yaml": "extends: base.yaml\nbench: {name: ./mine, data: rows}\ntasks: {threshold: 0.25}\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	c := l.Config
	got := []any{c.Tasks.Prompt, c.Tasks.Threshold, c.Train.Epochs, c.Reflect.Guide, c.Tasks.Extract, filepath.Base(c.Tasks.Path), filepath.Base(filepath.Dir(c.Tasks.Path)), c.Skill}
	want := []any{"Q: {{q}}", 0.25, Auto(5), "Say it plainly.", map[string]any{"tag": "answer"}, "tasks", "rows", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	origins := map[string]string{"tasks.prompt": "./mine, config.yaml:1", "reflect.guide": "./mine, guide.md", "train.epochs": "base.yaml:1", "tasks.threshold": "config.yaml:3", "tasks.extract": "./mine, robust.yaml:1", "tasks.path": "config.yaml:2"}
	for key, want := range origins {
		if l.Origins[key] != want {
			t.Errorf("%s is from %q, want %q", key, l.Origins[key], want)
		}
	}
}

// TestScoringChoosesTheFile: by a setting too, and what it says is part of what a run is.
func TestScoringChoosesTheFile(t *testing.T) {
	t.Parallel()
	files := ownBench(map[string]string{"config.yaml": "bench: {name: ./mine}\n"})
	robust, err := load(t, files)
	if err != nil {
		t.Fatal(err)
	}
	reference, err := load(t, files, "bench.scoring=reference")
	if err != nil {
		t.Fatal(err)
	}
	if reference.Config.Tasks.Extract != "last_line" {
		t.Errorf("extract is %v", reference.Config.Tasks.Extract)
	}
	changes := Changes(robust.Config.Fingerprint(nil, nil), reference.Config.Fingerprint(nil, nil))
	if len(changes) != 1 || changes[0].Key != "tasks.extract" {
		t.Errorf("the identity differs in %v, want tasks.extract", changes)
	}
}

// TestABenchmarkOfTheProgram: each that there is can be loaded by its name, with each of its ways to score.
func TestABenchmarkOfTheProgram(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"searchqa", "docvqa", "livemathematicianbench", "babyvision", "mathverse", "mmrb", "officeqa", "sealqa"} {
		for _, way := range []string{"", "reference", "robust"} {
			l, err := load(t, map[string]string{"config.yaml": "bench: {name: " + name + "}\n"}, "bench.scoring=\""+way+"\"")
			if err != nil {
				t.Errorf("%s, %q: %v", name, way, err)
				continue
			}
			if l.Config.Tasks.System == "" || len(l.Config.Tasks.Checks) == 0 || l.Config.Tasks.Extract == nil || l.Config.Reflect.Guide == "" || len(l.Config.Reflect.Guide) > MaxGuide {
				t.Errorf("%s, %q: system, checks, extract or guide is missing or too long", name, way)
			}
		}
	}
}

// TestSpreadsheetBench: its answers are files, which are scored in one way.
func TestSpreadsheetBench(t *testing.T) {
	t.Parallel()
	l, err := load(t, map[string]string{"config.yaml": "bench: {name: spreadsheetbench}\n"})
	if err != nil {
		t.Fatal(err)
	}
	c := l.Config
	if c.Tasks.System == "" || len(c.Tasks.Checks) == 0 || c.Reflect.Guide == "" || c.Env.World != "spreadsheet" || c.Env.Recalc != "none" || c.Env.Turns != 30 {
		t.Errorf("tasks %+v, env %+v", c.Tasks, c.Env)
	}
}

// TestWhatABenchmarkMayNotSay: it may come from a stranger.
func TestWhatABenchmarkMayNotSay(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("sk-not-to-be-shown"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, file, text, want string
	}{
		{"a model", "mine/config.yaml", "models: {target: {provider: openai, model: m}}\n", "mine, config.yaml:1: models: found a key that is the user's alone"},
		{"a program", "mine/config.yaml", "env: {world: corpus, command: [sh]}\n", "env.command: found a key that is the user's alone"},
		{"documents", "mine/config.yaml", "env: {world: corpus, docs: /etc}\n", "mine, config.yaml:1: env.docs: found a key that is the user's alone"},
		{"an endpoint", "mine/config.yaml", "env: {world: corpus, search: {url: 'http://x.example'}}\n", "env.search: found a key that is the user's alone"},
		{"a text for env", "mine/config.yaml", "env: corpus\n", "env: found a key that is the user's alone"},
		{"a path", "mine/config.yaml", "tasks: {path: /etc/passwd}\n", "tasks.path: found a key that is the user's alone"},
		{"a path in short", "mine/config.yaml", "tasks: /etc/passwd\n", "tasks: found a key that is the user's alone"},
		{"a program that verifies", "mine/ref.yaml", "edits: {verify: {command: [sh]}}\n", "edits.verify: found a key that is the user's alone"},
		{"the network", "mine/config.yaml", "tasks: {checks: [{any: [{type: command, run: x, network: true}]}]}\n", "tasks.checks: found a command with network"},
		{"a variable", "mine/config.yaml", "tasks: {prompt: 'Q ${OPENAI_API_KEY} {{q}}'}\n", "tasks.prompt: found ${NAME}, a variable of the user's environment"},
		{"a variable in a list", "mine/config.yaml", "tasks: {checks: [{type: equals, value: '${HOME}'}]}\n", "a variable of the user's environment"},
		{"a variable in the guide", "mine/guide.md", "tell ${OPENAI_API_KEY}", "reflect.guide: found ${NAME}"},
		{"another file", "mine/benchmark.yaml", "name: mine\nlicence: x\ntask: {prompt: p}\nconfig: ../config.yaml\n", `there is no file "../config.yaml" in the folder`},
		{"an unknown key", "mine/benchmark.yaml", "name: mine\nlicence: x\ntask: {promt: p}\n", "benchmark.yaml:3"},
		{"an unknown key of the config", "mine/config.yaml", "tasks: {promt: p}\n", "mine, config.yaml:1: tasks.promt"},
		{"no way to score", "config.yaml", "bench: {name: ./mine, scoring: strict}\n", "bench.scoring"},
		{"nobody", "config.yaml", "bench: {name: serchqa}\n", "did you mean searchqa?"},
		{"no folder", "config.yaml", "bench: {name: ./yours}\n", "no folder is there"},
		{"a list", "config.yaml", "bench: {name: [a]}\n", "bench.name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := ownBench(map[string]string{"config.yaml": "bench: {name: ./mine, scoring: reference}\n"})
			files[tt.file] = tt.text
			_, err := load(t, files)
			var own *Error
			if !errors.As(err, &own) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "sk-not") {
				t.Errorf("it shows a secret: %v", err)
			}
		})
	}
	t.Run("a link that leads out", func(t *testing.T) {
		t.Parallel()
		dir := write(t, ownBench(map[string]string{"config.yaml": "bench: {name: ./mine}\n"}))
		guide := filepath.Join(dir, "mine", "guide.md")
		if err := errors.Join(os.Remove(guide), os.Symlink(secret, guide)); err != nil {
			t.Skip(err)
		}
		l, err := Load(Options{Path: "config.yaml", Dir: dir, Lookup: noEnv})
		if err == nil && strings.Contains(l.Config.Reflect.Guide, "sk-not") {
			t.Error("a link out of the folder was followed")
		}
	})
}

// TestTheDocumentsOfABenchmark checks that world corpus searches those in the data of the benchmark, unless
// the user names others.
func TestTheDocumentsOfABenchmark(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, world, config string
		docs                bool // they are in the data
		want                string
	}{
		{"in the data", "corpus", "", true, "rows/docs"},
		{"nowhere", "corpus", "", false, ""},
		{"the user's own", "corpus", "env: {docs: own}\n", true, "own"},
		{"another world", "spreadsheet", "", true, ""},
		{"the user's world", "spreadsheet", "env: {world: corpus}\n", true, "rows/docs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := ownBench(map[string]string{
				"mine/config.yaml": "tasks: {prompt: 'Q: {{q}}'}\nenv: {world: " + tt.world + ", turns: 24, timeout: 15m}\n",
				"config.yaml":      "bench: {name: ./mine, data: rows}\n" + tt.config, "own/a.txt": "own",
			})
			if tt.docs {
				files["rows/docs/a.txt"] = "one"
			}
			l, err := load(t, files)
			if err != nil {
				t.Fatal(err)
			}
			e := l.Config.Env
			if got := filepath.ToSlash(e.Docs); !strings.HasSuffix(got, tt.want) || got == "" != (tt.want == "") || e.Turns != 24 || e.Timeout.Std().Minutes() != 15 {
				t.Errorf("%+v", e)
			}
			if tt.name == "in the data" && l.Origins["env.docs"] != "config.yaml:1" {
				t.Errorf("env.docs is from %q", l.Origins["env.docs"])
			}
		})
	}
}

package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/score"
)

// layout writes files below dir: a text that begins with "-> " is a link, one that
// begins with #! a program. @@ in a text stands for dir.
func layout(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		text = strings.ReplaceAll(text, "@@", dir)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(text), map[bool]os.FileMode{true: 0o755, false: 0o644}[strings.HasPrefix(text, "#!")])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// reads is the end of a script: it prints which files it can read of the user's.
const reads = `
for f in secret p/.env p/tasks.jsonl .local/share/keyring .cargo/credentials.toml; do cat "@@/$f" >/dev/null 2>&1 && echo "read $f"; done
cat "$1"
`

// installed is a home folder with a project and secrets, and a tool in one of the ways
// in which people install them.
type installed struct {
	files map[string]string
	path  []string // folders of the search path
}

func ways() map[string]installed {
	return map[string]installed{
		"nvm": {files: map[string]string{
			".nvm/versions/node/v22/bin/node":                             "#!/bin/sh\nexec sh \"$@\"\n",
			".nvm/versions/node/v22/bin/tool":                             "-> ../lib/node_modules/@x/tool/bin/tool.js",
			".nvm/versions/node/v22/lib/node_modules/@x/tool/bin/tool.js": "#!/usr/bin/env node\nset -- \"$(dirname \"$(readlink -f \"$0\")\")/../../dep/said\"\n" + reads,
			".nvm/versions/node/v22/lib/node_modules/@x/dep/said":         "done",
		}, path: []string{".nvm/versions/node/v22/bin"}},
		"npm-global": {files: map[string]string{
			".npm-global/bin/tool": "-> ../lib/node_modules/tool/cli.js", ".npm-global/lib/node_modules/tool/cli.js": "#!/usr/bin/env sh\nset -- @@/.npm-global/lib/node_modules/tool/said\n" + reads,
			".npm-global/lib/node_modules/tool/said": "done",
		}, path: []string{".npm-global/bin"}},
		"pyenv": {files: map[string]string{
			".pyenv/shims/tool":    "#!/usr/bin/env bash\nexport PYENV_ROOT=@@/.pyenv\nexec @@/.pyenv/libexec/pyenv exec tool\n",
			".pyenv/libexec/pyenv": "#!/usr/bin/env bash\nexec \"$PYENV_ROOT/versions/$(cat \"$PYENV_ROOT/version\")/bin/$2\"\n",
			".pyenv/version":       "3.12\n", ".pyenv/versions/3.12/bin/tool": "#!/bin/sh\nset -- @@/.pyenv/versions/3.12/lib/said\n" + reads, ".pyenv/versions/3.12/lib/said": "done",
		}, path: []string{".pyenv/shims"}},
		"pipx": {files: map[string]string{
			".local/bin/tool": "-> ../share/pipx/venvs/tool/bin/tool", ".local/share/keyring": "secret",
			".local/share/pipx/venvs/tool/bin/tool":   "#!@@/.local/share/pipx/venvs/tool/bin/python\nset -- @@/.local/share/pipx/venvs/tool/lib/said\n" + reads,
			".local/share/pipx/venvs/tool/bin/python": "-> @@/.local/share/uv/python/cpython-3.12/bin/python3", ".local/share/pipx/venvs/tool/pyvenv.cfg": "home = @@/.local/share/uv/python/cpython-3.12/bin\n",
			".local/share/pipx/venvs/tool/lib/said": "done", ".local/share/uv/python/cpython-3.12/bin/python3": "-> /bin/sh",
		}, path: []string{".local/bin"}},
		"a file in ~/.local": {files: map[string]string{
			".local/bin/tool": "#!/bin/sh\nset -- \"$0\"\n" + strings.Replace(reads, `cat "$1"`, "echo done", 1), ".local/share/keyring": "secret",
		}, path: []string{".local/bin"}},
		"volta": {files: map[string]string{
			".volta/bin/tool": "-> volta-shim", ".volta/bin/volta-shim": "#!/bin/sh\nexec \"$VOLTA_HOME/tools/image/tool/1/bin/tool\"\n",
			".volta/tools/image/tool/1/bin/tool": "#!/bin/sh\nset -- @@/.volta/tools/image/tool/1/lib/said\n" + reads, ".volta/tools/image/tool/1/lib/said": "done",
		}, path: []string{".volta/bin"}},
		"mise": {files: map[string]string{
			".local/share/mise/shims/tool": "-> @@/.local/bin/mise", ".local/bin/mise": "#!/bin/sh\nexec \"$MISE_DATA_DIR/installs/tool/1/bin/$(basename \"$0\")\"\n", ".local/share/keyring": "secret",
			".local/share/mise/installs/tool/1/bin/tool": "#!/bin/sh\nset -- @@/.local/share/mise/installs/tool/1/lib/said\n" + reads, ".local/share/mise/installs/tool/1/lib/said": "done",
		}, path: []string{".local/share/mise/shims"}},
		"rustup": {files: map[string]string{
			".cargo/bin/tool": "-> rustup", ".cargo/bin/rustup": "#!/bin/sh\nexec \"$RUSTUP_HOME/toolchains/stable/bin/tool\"\n", ".cargo/credentials.toml": "secret",
			".rustup/toolchains/stable/bin/tool": "#!/bin/sh\nset -- @@/.rustup/toolchains/stable/lib/said\n" + reads, ".rustup/toolchains/stable/lib/said": "done",
		}, path: []string{".cargo/bin"}},
		"bun": {files: map[string]string{
			".bun/bin/tool": "-> ../install/global/node_modules/tool/cli.js", ".bun/install/global/node_modules/tool/cli.js": "#!/usr/bin/env sh\nset -- @@/.bun/install/global/node_modules/tool/said\n" + reads,
			".bun/install/global/node_modules/tool/said": "done",
		}, path: []string{".bun/bin"}},
		"in the project": {files: map[string]string{"p/bin/tool": "#!/bin/sh\n" + strings.Replace(reads, `cat "$1"`, "echo done", 1)}, path: []string{"p/bin"}},
	}
}

func (w installed) agent(t *testing.T, home string) *Agent {
	t.Helper()
	layout(t, home, map[string]string{"secret": "s", "p/.env": "KEY=x", "p/tasks.jsonl": "gold"})
	layout(t, home, w.files)
	var path []string
	for _, dir := range w.path {
		path = append(path, filepath.Join(home, dir))
	}
	path = append(path, "/usr/local/bin", "/usr/bin", "/bin")
	a, err := New(CustomName, Options{
		Path: strings.Join(path, string(os.PathListSeparator)), Custom: &Custom{Argv: []string{"tool"}},
		Guard: reach.Guard{
			Home: home, Config: filepath.Join(home, "p"), Kept: []reach.Path{{Path: filepath.Join(home, "p", "tasks.jsonl"), Name: "tasks.path"}},
			Bases: []reach.Path{{Path: os.TempDir(), Name: "temporary files"}}, System: sandbox.SystemFolders(),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// However a program was installed, it starts, finds what belongs to it, and reads
// nothing else of the user's.
func TestInstalledPrograms(t *testing.T) {
	t.Parallel()
	needsLandlock(t)
	for name, way := range ways() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := stubJob(t, "")
			j.Confine = true
			if rep := run(t, way.agent(t, t.TempDir()), j); rep.Status != score.OK || rep.Answer != "done" {
				t.Errorf("%s %s: %q %s", rep.Status, rep.Reason, rep.Answer, rep.Result.Stderr)
			}
		})
	}
}

func needsLandlock(t *testing.T) {
	t.Helper()
	if s := sandbox.Supports(); s.Kind == "" || !s.Network {
		t.Skipf("programs cannot be confined here: %s", s.Why)
	}
}

// The toolchains of this machine work for a confined agent, wherever they are.
func TestToolchainsOfThisMachine(t *testing.T) {
	t.Parallel()
	needsLandlock(t)
	say := map[string][]string{
		"python3": {"-c", "import json, sys; print('done')"}, "node": {"-e", "console.log('done')"}, "go": {"env", "GOVERSION"}, "cargo": {"--version"}, "rustc": {"--version"}, "java": {"-version"},
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	for name, args := range say {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
				t.Skipf("%s does not work here: %v %s", name, err, out)
			}
			a, err := New(CustomName, Options{
				Path: os.Getenv("PATH"), Custom: &Custom{Argv: []string{"sh", "-c", name + ` "$@" 2>&1 && echo ok`, "sh", args[0], strings.Join(args[1:], " ")}},
				Guard: reach.Guard{Home: home, Bases: []reach.Path{{Path: os.TempDir(), Name: "temporary files"}}, System: sandbox.SystemFolders()},
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(args) == 1 {
				a.opts.Custom.Argv = a.opts.Custom.Argv[:5]
			}
			j := stubJob(t, "")
			j.Confine = true
			if rep := run(t, a, j); !strings.HasSuffix(rep.Answer, "ok") {
				t.Errorf("%s %s: %q", rep.Status, rep.Reason, rep.Answer)
			}
			plan, err := a.Reach()
			if err != nil || slices.Contains(plan.Read, home) {
				t.Errorf("it reads %v, %v", plan.Read, err)
			}
		})
	}
}

// A package that cannot be told from what is kept refuses the agent before it starts.
func TestAgentInTheRunDirectory(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := installed{files: map[string]string{"runs/tool": "#!/bin/sh\n"}, path: []string{"runs"}}.agent(t, home)
	a.opts.Guard.Kept = append(a.opts.Guard.Kept, reach.Path{Path: filepath.Join(home, "runs"), Name: "run.dir"})
	j := stubJob(t, "")
	j.Confine = true
	if _, err := a.Run(t.Context(), j); err == nil || !strings.Contains(err.Error(), "lies in run.dir") {
		t.Errorf("error %v", err)
	}
}

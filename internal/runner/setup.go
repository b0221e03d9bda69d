package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// setupTime bounds the command that installs dependencies.
const setupTime = 30 * time.Minute

// Setup runs a command of the user's in a tree, confined, with network and without credentials, so that it fills a folder with
// dependencies: $DEPS. A node_modules that it leaves in the tree is moved there. Detect finds them by Options.Deps: programs in
// bin, as a virtual environment of Python has them, node_modules, and the caches of Go and cargo, which are led there. What was
// filled once is not filled again: choose the folder by Lock.
func Setup(ctx context.Context, command, tree, into string, lookup func(string) (string, bool)) (err error) {
	done := into + ".done"
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	home, err := os.MkdirTemp("", disk.Check)
	if err != nil {
		return fmt.Errorf("set up dependencies: %w", err)
	}
	defer func() { err = errors.Join(err, disk.RemoveAll(home)) }()
	if err := errors.Join(disk.RemoveAll(into), os.MkdirAll(into, 0o755), os.Mkdir(filepath.Join(home, "tmp"), 0o700)); err != nil {
		return fmt.Errorf("set up dependencies: %w", err)
	}
	out := &lines{}
	r, err := sandbox.Run(ctx, sandbox.Spec{
		Argv: []string{"/bin/sh", "-c", command}, Dir: tree, Env: setupEnv(home, into, lookup), Stdout: out, Timeout: setupTime,
		Confine: &sandbox.Confine{Write: []string{tree, into, home}, Read: toolRoots(lookup), Network: true, Limits: sandbox.Limits{CPU: -1, Written: 20 << 30}},
	})
	if err != nil {
		return fmt.Errorf("set up dependencies: %w", err)
	}
	if r.Reason != sandbox.Exited || r.Code != 0 {
		return &Unfit{Why: fmt.Sprintf("the command that sets up dependencies ended with %s, code %d %s: %s", r.Reason, r.Code, r.Detail, wording.Middle(strings.TrimSpace(out.tail.String()+"\n"+r.Stderr), mostMessage))}
	}
	modules := filepath.Join(into, "node_modules")
	if left := filepath.Join(tree, "node_modules"); isFolder(left) && !isFolder(modules) {
		if err := errors.Join(copyFolder(ctx, left, modules), disk.RemoveAll(left)); err != nil {
			return fmt.Errorf("set up dependencies: %w", err)
		}
	}
	return disk.WriteFile(done, nil, 0o600)
}

// setupEnv returns what a command sees of the environment: nothing with a credential.
func setupEnv(home, into string, lookup func(string) (string, bool)) []string {
	folders, _ := lookup("PATH")
	env := []string{
		"HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp"), "PATH=" + folders, "LANG=C.UTF-8", "CI=1", "DEPS=" + into,
		"GOMODCACHE=" + filepath.Join(into, "go", "pkg", "mod"), "GOFLAGS=-modcacherw", "CARGO_HOME=" + filepath.Join(into, "cargo"), "PIP_DISABLE_PIP_VERSION_CHECK=1",
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE"} {
		if v, ok := lookup(name); ok && !strings.Contains(v, "@") {
			env = append(env, name+"="+v)
		}
	}
	for name, at := range managers(lookup) {
		env = append(env, name+"="+at)
	}
	return env
}

// managers returns the folders of those who manage versions of toolchains, by their variables.
func managers(lookup func(string) (string, bool)) map[string]string {
	out := map[string]string{}
	home, _ := lookup("HOME")
	for name, at := range map[string]string{"RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv"} {
		dir, ok := lookup(name)
		if !ok {
			dir = filepath.Join(home, at)
		}
		if isFolder(dir) {
			out[name] = dir
		}
	}
	return out
}

// toolRoots returns the folders of PATH, and those that toolchains are installed in. It leaves out folders in which users keep much else.
func toolRoots(lookup func(string) (string, bool)) []string {
	home, _ := lookup("HOME")
	folders, _ := lookup("PATH")
	out := slices.Collect(maps.Values(managers(lookup)))
	for _, dir := range filepath.SplitList(folders) {
		out = append(out, dir)
		for _, name := range []string{"go", "python3", "node"} {
			if at := filepath.Join(dir, name); runs(at) {
				out = append(out, prefixes(at)...)
			}
		}
	}
	much := []string{"/", "/usr", "/usr/local", "/opt", home, filepath.Join(home, ".local"), filepath.Join(home, ".cargo")}
	return slices.DeleteFunc(out, func(dir string) bool { return !filepath.IsAbs(dir) || slices.Contains(much, filepath.Clean(dir)) })
}

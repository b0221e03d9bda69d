package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

func (s Suite) cargoPlan(j Job) plan {
	c := &cargoTests{results: results{}, messages: map[string]*strings.Builder{}}
	argv := []string{"sh", "-c", `exec "$@" 2>&1`, "sh", "cargo", "test", "--offline", "--no-fail-fast"}
	argv = append(append(argv, s.cargoTargets(j)...), "--", "--color=never")
	return plan{argv: argv, each: c.line, read: func(_ []byte, r *Report) { r.Tests, r.Unbuilt = c.finish() }}
}

// cargoTargets chooses integration tests by name, and the tests in sources by what holds them.
func (s Suite) cargoTargets(j Job) []string {
	flags := map[string]bool{}
	if len(j.Targets) == 0 {
		return []string{"--workspace", "--lib", "--bins", "--tests"}
	}
	for _, target := range j.Targets {
		before, rest, in := strings.Cut("/"+target, "/tests/")
		name, _, _ := strings.Cut(strings.TrimSuffix(rest, ".rs"), "/")
		if in && !strings.Contains(before, "/src") {
			flags["--test="+name] = true
		} else {
			before, _, _ = strings.Cut("/"+target, "/src/")
			s.sourceTargets(j.Dir, before, flags)
		}
		if before != "" {
			flags["--workspace"] = true
		}
	}
	return sortedKeys(flags)
}

func (s Suite) sourceTargets(work, dir string, flags map[string]bool) {
	for file, flag := range map[string]string{"lib.rs": "--lib", "main.rs": "--bins"} {
		if _, err := os.Stat(filepath.Join(work, filepath.FromSlash(s.Folder), filepath.FromSlash(dir), "src", file)); err == nil {
			flags[flag] = true
		}
	}
}

// cargoTests reads what cargo and the programs that it runs print.
type cargoTests struct {
	results  results
	messages map[string]*strings.Builder
	program  string           // whose tests run
	message  *strings.Builder // of the test whose output is read
	errors   strings.Builder
	failed   bool // to build
}

var (
	cargoRuns  = pattern.New(`^\s+Running (?:unittests )?\S+ \(.*?([A-Za-z0-9_-]+)-[0-9a-f]{16}\)$`)
	cargoTest  = pattern.New(`^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)`)
	cargoSays  = pattern.New(`^---- (\S+) stdout ----$`)
	cargoError = pattern.New(`^(error(\[E\d+\])?:|\s+(-->|\||=|\d+ \|)|warning: unused)`)
)

func (c *cargoTests) line(line []byte) {
	text := string(line)
	if m := cargoRuns.FindStringSubmatch(text); m != nil {
		c.program, c.message = m[1], nil
	} else if m := cargoTest.FindStringSubmatch(text); m != nil && c.program != "" {
		status := map[string]Status{"ok": Passed, "FAILED": Failed, "ignored": Skipped}[m[2]]
		c.results.add(c.program+"::"+m[1], Test{Status: status})
	} else if m := cargoSays.FindStringSubmatch(text); m != nil {
		c.message = &strings.Builder{}
		c.messages[c.program+"::"+m[1]] = c.message
	} else if text == "failures:" {
		c.message = nil
	} else if c.message != nil && c.message.Len() < 2*mostMessage {
		c.message.WriteString(text + "\n")
	} else if cargoError.MatchString(text) && c.errors.Len() < mostOutput {
		c.errors.WriteString(text + "\n")
		c.failed = c.failed || strings.Contains(text, "could not compile") || strings.HasPrefix(text, "error: ") && c.program == ""
	}
}

func (c *cargoTests) finish() (map[string]Test, string) {
	for name, m := range c.messages {
		if t, ok := c.results[name]; ok && t.Status == Failed {
			t.Message = bounded(strings.TrimSpace(m.String()))
			c.results[name] = t
		}
	}
	if !c.failed {
		return c.results, ""
	}
	return c.results, strings.TrimSpace(c.errors.String())
}

// rustModule is how names of tests begin that are in a file.
func (s Suite) rustModule(root *os.Root, target string) string {
	before, rest, in := strings.Cut("/"+target, "/tests/")
	crate := ""
	if !in || strings.Contains(before, "/src") {
		before, rest, _ = strings.Cut("/"+target, "/src/")
		text, _ := disk.ReadIn(context.Background(), root, path.Join(s.Folder, "."+before, "Cargo.toml"), mostSettings) // without it the name is not that of a test
		if m := crateName.FindStringSubmatch(string(text)); m != nil {
			crate = strings.ReplaceAll(m[1], "-", "_") + "::"
		}
	}
	return crate + strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(rest, ".rs"), "/mod"), "/", "::") + "::"
}

// detectCargo finds the toolchain and the registry. Of the registry all is read but the packages of the project.
func (d *detector) detectCargo(ctx context.Context) error {
	d.suite.Kind = Cargo
	d.suite.Project = d.crates()
	rustc, err := d.program("rustc")
	if err != nil {
		return err
	}
	said, err := d.ask(ctx, rustc, "--print", "sysroot")
	if err != nil {
		return err
	}
	sysroot := strings.TrimSpace(said)
	home, ok := d.machine.Lookup("CARGO_HOME")
	if !ok {
		home = filepath.Join(d.machine.Home, ".cargo")
	}
	if deps := filepath.Join(d.options.Deps, "cargo"); d.options.Deps != "" && isFolder(deps) {
		home = deps
	}
	d.reads(sysroot)
	d.suite.Links = map[string]string{}
	for _, name := range []string{"registry", "git"} {
		if dir := filepath.Join(home, name); isFolder(dir) {
			d.reads(dir, d.ofCrates(dir)...)
			d.suite.Links[inHome+".cargo/"+name] = dir
		}
	}
	d.suite.Env = append(d.suite.Env, "PATH="+filepath.Join(sysroot, "bin"), "CARGO_NET_OFFLINE=true", "CARGO_INCREMENTAL=0", "CARGO_TERM_COLOR=never")
	d.suite.Caches = []Cache{{From: "cache/target", To: inWork + path.Join(d.options.Folder, "target")}}
	d.found("cargo of %s, packages of %s", sysroot, home)
	return nil
}

var crateName = pattern.New(`(?m)^\[package\][^\[]*?^name\s*=\s*"([^"]+)"`)

// crates lists the packages of the tree: that of the folder, and those one or two folders below.
func (d *detector) crates() []string {
	names := map[string]bool{}
	dirs := []string{"."}
	for _, depth := range []string{"*", "*/*"} {
		found, _ := filepath.Glob(filepath.Join(d.root.Name(), filepath.FromSlash(d.options.Folder), filepath.FromSlash(depth), "Cargo.toml"))
		for _, at := range found {
			if rel, err := filepath.Rel(filepath.Join(d.root.Name(), filepath.FromSlash(d.options.Folder)), filepath.Dir(at)); err == nil {
				dirs = append(dirs, filepath.ToSlash(rel))
			}
		}
	}
	for _, dir := range dirs {
		if m := crateName.FindStringSubmatch(d.text(path.Join(dir, "Cargo.toml"))); m != nil {
			names[m[1]] = true
		}
	}
	return sortedKeys(names)
}

// ofCrates lists where a registry has the packages of the project.
func (d *detector) ofCrates(dir string) (hidden []string) {
	for _, name := range d.suite.Project {
		for _, glob := range []string{"src/*/" + name + "-[0-9]*", "cache/*/" + name + "-[0-9]*", "db/" + name + "-*", "checkouts/" + name + "-*"} {
			more, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(glob))) // names of packages have no signs of patterns
			hidden = append(hidden, more...)
		}
	}
	return hidden
}

// warmCargo builds what tests need and takes out what was made of the project's own packages.
func (c *cell) warmCargo(ctx context.Context, timeout time.Duration) error {
	none := func() *lines { return &lines{each: func([]byte) {}} }
	if err := c.must(ctx, []string{"cargo", "test", "--offline", "--no-run", "--workspace"}, nil, none(), timeout); err != nil {
		return err
	}
	out := none()
	if err := c.must(ctx, []string{"cargo", "metadata", "--offline", "--no-deps", "--format-version=1"}, nil, out, timeout); err != nil {
		return err
	}
	var about struct{ Packages []struct{ Name string } }
	if err := json.Unmarshal([]byte(out.tail.String()), &about); err != nil {
		return fmt.Errorf("read what cargo says of the packages: %w", err)
	}
	argv := []string{"cargo", "clean", "--offline"}
	for _, p := range about.Packages {
		argv = append(argv, "-p", p.Name)
	}
	return c.must(ctx, argv, nil, none(), timeout)
}

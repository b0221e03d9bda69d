package runner

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

func (s Suite) cargoPlan(j Job) plan {
	c := &cargoTests{results: results{}, messages: map[string]*strings.Builder{}}
	argv := []string{"sh", "-c", `exec "$@" 2>&1`, "sh", "cargo", "test", "--offline", "--no-fail-fast"}
	argv = append(append(argv, s.cargoTargets(j)...), "--", "--color=never")
	return plan{argv: argv, each: c.line, read: func(_ []byte, r *Report) { r.Tests, r.Unbuilt = c.finish() }}
}

// cargoTargets chooses integration tests by name, and the tests in sources by the target that holds them.
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
	return slices.Sorted(maps.Keys(flags))
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
	cargoError = pattern.New(`^(error(\[E\d+\])?:|\s+(-->|\||=|\d+ \|))`)
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
			t.Message = wording.Middle(strings.TrimSpace(m.String()), mostMessage)
			c.results[name] = t
		}
	}
	if !c.failed {
		return c.results, ""
	}
	return c.results, strings.TrimSpace(c.errors.String())
}

// rustModule returns how names of tests begin that are in a file.
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
	if err := d.crates(); err != nil {
		return err
	}
	said, err := d.ask(ctx, "rustc", "--print", "sysroot")
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
	d.read(sysroot)
	for _, name := range []string{"registry", "git"} {
		if dir := filepath.Join(home, name); isFolder(dir) {
			d.read(dir)
			d.suite.Links[inHome+".cargo/"+name] = dir
		}
	}
	for _, name := range d.suite.Project {
		d.hide(glob(home, "registry/src/*/"+name+"-[0-9]*", "registry/cache/*/"+name+"-[0-9]*", "git/db/"+name+"-*", "git/checkouts/"+name+"-*")...)
		d.hide(glob(filepath.Join(sysroot, "lib/rustlib/src/rust/library/vendor"), name, name+"-[0-9]*")...)
	}
	d.suite.Env = append(d.suite.Env, "PATH="+filepath.Join(sysroot, "bin"), "CARGO_NET_OFFLINE=true", "CARGO_INCREMENTAL=0", "CARGO_TERM_COLOR=never")
	d.suite.Caches = []Cache{{From: "cache/target", To: inWork + path.Join(d.options.Folder, "target")}}
	d.addFinding("cargo of %s, packages of %s", sysroot, home)
	return nil
}

var crateName = pattern.New(`(?m)^\[package\][^\[]*?^name\s*=\s*"([^"]+)"`)

// crates finds the packages of the tree.
func (d *detector) crates() error {
	return disk.Walk(d.root, func(dir *os.Root, name string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != "Cargo.toml" {
			return err
		}
		text, err := disk.ReadIn(context.Background(), dir, e.Name(), mostSettings)
		if m := crateName.FindStringSubmatch(string(text)); m != nil {
			d.suite.Project = append(d.suite.Project, m[1])
		}
		return err
	})
}

// warmCargo builds what tests need and takes out what was made of the project's own packages.
func (c *cell) warmCargo(ctx context.Context, timeout time.Duration) error {
	if _, err := c.must(ctx, timeout, "cargo", "test", "--offline", "--no-run", "--workspace"); err != nil {
		return err
	}
	for _, name := range c.suite.Project {
		// One that is no package of the workspace has left nothing.
		if _, err := c.run(ctx, []string{"cargo", "clean", "--offline", "-p", name}, nil, &lines{}, timeout); err != nil {
			return err
		}
	}
	return nil
}

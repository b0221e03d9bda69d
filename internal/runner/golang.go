package runner

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

// mostNames is how many names of tests a command line may choose: beyond, all tests of the targets run.
const mostNames = 300

func goPlan(j Job) plan {
	g := newGoTests()
	argv := []string{"go", "test", "-json", "-vet=off", "-count=1", "-timeout=" + (j.Timeout - j.Timeout/10).String()}
	if names := topTests(j.Only); len(names) > 0 && len(names) <= mostNames {
		argv = append(argv, "-run=^("+strings.Join(names, "|")+")$")
	}
	targets := j.Targets
	if len(targets) == 0 {
		targets = []string{"./..."}
	}
	return plan{
		argv: append(argv, targets...), each: g.line, output: &g.printed,
		read: func(_ []byte, r *Report) { r.Tests, r.Unbuilt = g.results, strings.TrimSpace(g.unbuilt.String()) },
	}
}

// goName is a name of a test: import path, function, and its subtest.
var goName = pattern.New(`^.*?\.((?:Test|Example|Fuzz)[^/.]*)(?:/.*)?$`)

// topTests returns the functions of tests that are named.
func topTests(names []string) []string {
	var out []string
	for _, name := range names {
		if m := goName.FindStringSubmatch(name); m != nil {
			out = append(out, regexp.QuoteMeta(m[1]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// goCache is where builds of Go are kept, below the folder of the suite's file and in a home folder.
const goCache = "go-build"

// detectGo finds the toolchain and the module cache. Of the cache all is read but the project itself, in whatever version.
func (d *detector) detectGo(ctx context.Context) error {
	d.suite.Kind = Go
	module, err := d.module()
	if err != nil {
		return err
	}
	d.suite.Project = []string{module}
	tool, err := d.program("go")
	if err != nil {
		return err
	}
	said, err := d.ask(ctx, tool, "env", "GOROOT", "GOVERSION")
	if err != nil {
		return err
	}
	goroot, version, _ := strings.Cut(strings.TrimSpace(said), "\n")
	d.reads(goroot, filepath.Join(goroot, "src", "vendor", module), filepath.Join(goroot, "src", "cmd", "vendor", module), filepath.Join("/usr/share/gocode/src", module))
	cache := d.moduleCache()
	d.reads(cache, inModules(cache, module)...)
	d.suite.Env = append(d.suite.Env, "PATH="+filepath.Join(goroot, "bin"), "GOTOOLCHAIN=local", "GOPROXY=off", "GOSUMDB=off", "GOFLAGS=-buildvcs=false", "GOMODCACHE="+cache, "GOTELEMETRY=off")
	d.suite.Caches = []Cache{{From: "cache/" + goCache, To: inHome + ".cache/" + goCache}}
	d.found("%s, module %s, modules of %s", version, module, cache)
	return d.modulesAreThere(cache)
}

var (
	goModule  = pattern.New(`(?m)^module\s+"?([^\s"/][^\s"]*)"?`)
	goRequire = pattern.New(`(?m)^(?:require)?\s+([^\s()]+\.[^\s()]+)\s+(v[^\s()]+)\s*(//\s*indirect)?`)
	goReplace = pattern.New(`(?m)^\s*(?:replace\s+)?(\S+)(?:\s+v\S+)?\s+=>`)
)

func (d *detector) module() (string, error) {
	m := goModule.FindStringSubmatch(d.text("go.mod"))
	if m == nil {
		return "", &Unfit{Why: "go.mod names no module"}
	}
	return m[1], nil
}

func (d *detector) moduleCache() string {
	if d.options.Deps != "" {
		if dir := filepath.Join(d.options.Deps, "go", "pkg", "mod"); isFolder(dir) {
			return dir
		}
	}
	if v, ok := d.machine.Lookup("GOMODCACHE"); ok && filepath.IsAbs(v) {
		return v
	}
	if v, ok := d.machine.Lookup("GOPATH"); ok && filepath.IsAbs(v) {
		return filepath.Join(filepath.SplitList(v)[0], "pkg", "mod")
	}
	return filepath.Join(d.machine.Home, "go", "pkg", "mod")
}

// major is the end of a module's path that says its version.
var major = pattern.New(`[./]v\d+$`)

// inModules lists where a module cache has a module, in all of its versions, and what of a cache may hold any module.
func inModules(cache, module string) []string {
	base := major.ReplaceAllString(module, "")
	hidden := []string{filepath.Join(cache, "cache", "vcs")}
	for _, dir := range []string{cache, filepath.Join(cache, "cache", "download")} {
		at := filepath.Join(dir, filepath.FromSlash(escaped(base)))
		hidden = append(hidden, at)
		for _, glob := range []string{at + "@*", at + ".v*"} {
			more, _ := filepath.Glob(glob) // the pattern is sound: paths of modules have none of its signs
			hidden = append(hidden, more...)
		}
	}
	return hidden
}

// escaped is a module's path as the cache writes it.
func escaped(module string) string {
	var b strings.Builder
	for _, r := range module {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// modulesAreThere fails when the cache lacks a module that the project itself requires.
func (d *detector) modulesAreThere(cache string) error {
	text := d.text("go.mod")
	if _, err := d.root.Stat(path.Join(d.options.Folder, "vendor", "modules.txt")); err == nil {
		return nil
	}
	replaced := map[string]bool{}
	for _, m := range goReplace.FindAllStringSubmatch(text, -1) {
		replaced[m[1]] = true
	}
	for _, m := range goRequire.FindAllStringSubmatch(text, -1) {
		if replaced[m[1]] || m[3] != "" {
			continue
		}
		if dir := filepath.Join(cache, filepath.FromSlash(escaped(m[1]))+"@"+escaped(m[2])); !isFolder(dir) {
			return &Unfit{Why: fmt.Sprintf("the module %s %s is not in the module cache; run go mod download, or give --setup a command that does", m[1], m[2]), Path: dir}
		}
	}
	return nil
}

// listOthers prints the packages that tests need and that are not of the project: those that vendor or the standard library
// names in its own way are built with what needs them.
const listOthers = `{{if .Module}}{{if not .Module.Main}}{{.ImportPath}}{{end}}{{else if .Standard}}{{.ImportPath}}{{end}}`

// warmGo builds what tests need without the project's own packages, whose objects would tell of other commits.
func (c *cell) warmGo(ctx context.Context, timeout time.Duration) error {
	var packages []string
	// What go list itself keeps, such as the mains of tests, goes with the reports.
	out := &lines{each: func(line []byte) {
		if p := string(line); p != "" && p != "unsafe" && !strings.ContainsAny(p, " ") && !strings.HasPrefix(p, "vendor/") {
			packages = append(packages, p)
		}
	}}
	if err := c.must(ctx, []string{"go", "list", "-e", "-deps", "-test", "-f", listOthers, "./..."}, []string{"GOCACHE=" + c.show.Seen(c.reports)}, out, timeout); err != nil {
		return err
	}
	for chunk := range slices.Chunk(packages, 500) {
		// One that cannot be built here is not needed here either.
		if _, err := c.run(ctx, append([]string{"go", "build", "-o", os.DevNull}, chunk...), nil, &lines{each: func([]byte) {}}, timeout); err != nil {
			return err
		}
	}
	return nil
}

// must runs a program that has to succeed.
func (c *cell) must(ctx context.Context, argv, env []string, out *lines, timeout time.Duration) error {
	r, err := c.run(ctx, argv, env, out, timeout)
	if err == nil && (r.Reason != sandbox.Exited || r.Code != 0) {
		err = fmt.Errorf("it ended with %s, code %d: %s", r.Reason, r.Code, strings.TrimSpace(r.Stderr))
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", strings.Join(argv[:2], " "), err)
	}
	out.flush()
	return nil
}

// warm fills the caches in the folder of the suite's file.
func (s Suite) warm(ctx context.Context, j Job) error {
	c, err := newCell(s, j.Dir, j.Home)
	if err != nil {
		return fmt.Errorf("warm caches: %w", err)
	}
	defer c.close()
	switch s.Kind {
	case Go:
		err = c.warmGo(ctx, j.Timeout)
	case Cargo:
		err = c.warmCargo(ctx, j.Timeout)
	}
	for _, cache := range s.Caches {
		from, to := place(cache.To, j.Dir, j.Home), filepath.Join(j.Base, filepath.FromSlash(cache.From))
		if err == nil && isFolder(from) {
			err = disk.RemoveAll(to)
		}
		if err == nil && isFolder(from) {
			err = copyFolder(ctx, from, to)
		}
	}
	if err != nil {
		return fmt.Errorf("warm caches: %w", err)
	}
	return nil
}

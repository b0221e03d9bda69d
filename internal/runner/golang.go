package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

func goPlan(j Job) plan {
	g := &goTests{results: results{}, output: map[string]string{}}
	targets := j.Targets
	if len(targets) == 0 {
		targets = []string{"./..."}
	}
	return plan{
		argv: append([]string{"go", "test", "-json", "-vet=off", "-count=1", "-timeout=" + (j.Timeout - j.Timeout/10).String()}, targets...), each: g.line, printed: &g.printed,
		read: func(_ []byte, r *Report) { r.Tests, r.Unbuilt = g.results, strings.TrimSpace(g.unbuilt) },
	}
}

// detectGo finds the toolchain and the module cache. Of the cache all is read but the project itself, in whatever version.
func (d *detector) detectGo(ctx context.Context) error {
	m := goModule.FindStringSubmatch(d.text("go.mod"))
	if m == nil {
		return &Unfit{Why: "go.mod names no module"}
	}
	module := m[1]
	d.suite.Kind, d.suite.Project = Go, []string{module}
	said, err := d.ask(ctx, "go", "env", "GOROOT", "GOVERSION")
	if err != nil {
		return err
	}
	goroot, version, _ := strings.Cut(strings.TrimSpace(said), "\n")
	cache := d.moduleCache()
	d.hide(filepath.Join(goroot, "src/vendor", module), filepath.Join(goroot, "src/cmd/vendor", module), filepath.Join("/usr/share/gocode/src", module))
	d.hide(inModules(cache, module)...)
	d.read(goroot, cache)
	d.suite.Env = append(d.suite.Env, "PATH="+filepath.Join(goroot, "bin"), "GOTOOLCHAIN=local", "GOPROXY=off", "GOSUMDB=off", "GOFLAGS=-buildvcs=false", "GOMODCACHE="+cache, "GOTELEMETRY=off")
	d.suite.Caches = []Cache{{From: "cache/go-build", To: inHome + ".cache/go-build"}}
	d.addFinding("%s, module %s, modules of %s", version, module, cache)
	return d.modulesAreThere(cache)
}

var (
	goModule  = pattern.New(`(?m)^module\s+"?([^\s"/][^\s"]*)"?`)
	goRequire = pattern.New(`(?m)^(?:require)?\s+([^\s()]+\.[^\s()]+)\s+(v[^\s()]+)\s*(//\s*indirect)?`)
	goReplace = pattern.New(`(?m)^\s*(?:replace\s+)?(\S+)(?:\s+v\S+)?\s+=>`)
)

func (d *detector) moduleCache() string {
	if dir := filepath.Join(d.options.Deps, "go/pkg/mod"); d.options.Deps != "" && isFolder(dir) {
		return dir
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
		at := filepath.Join(dir, filepath.FromSlash(escapeModule(base)))
		hidden = append(hidden, at)
		hidden = append(hidden, glob(filepath.Dir(at), filepath.Base(at)+"@*", filepath.Base(at)+".v*")...)
	}
	return hidden
}

// escapeModule returns a module's path as the cache writes it.
func escapeModule(module string) string {
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
	if d.has("vendor/modules.txt") {
		return nil
	}
	text, replaced := d.text("go.mod"), map[string]bool{}
	for _, m := range goReplace.FindAllStringSubmatch(text, -1) {
		replaced[m[1]] = true
	}
	for _, m := range goRequire.FindAllStringSubmatch(text, -1) {
		if replaced[m[1]] || m[3] != "" {
			continue
		}
		if dir := filepath.Join(cache, filepath.FromSlash(escapeModule(m[1]))+"@"+escapeModule(m[2])); !isFolder(dir) {
			return &Unfit{Why: fmt.Sprintf("the module %s %s is not in the module cache; run go mod download, or give --setup a command that does", m[1], m[2]), Path: dir}
		}
	}
	return nil
}

// listOthers prints the packages that tests need and that are not of the project.
const listOthers = `{{if .Module}}{{if not .Module.Main}}{{.ImportPath}}{{end}}{{else if .Standard}}{{.ImportPath}}{{end}}`

// warmGo builds what tests need without the project's own packages, whose objects would reveal other commits.
func (c *cell) warmGo(ctx context.Context, timeout time.Duration) error {
	var packages []string
	out := &lines{each: func(line []byte) {
		// What the standard library has of others is built with what needs it.
		if p := string(line); p != "" && p != "unsafe" && !strings.Contains(p, " ") && !strings.HasPrefix(p, "vendor/") {
			packages = append(packages, p)
		}
	}}
	// What go list keeps itself, such as the mains of tests, goes with the reports.
	_, err := c.run(ctx, []string{"go", "list", "-e", "-deps", "-test", "-f", listOthers, "./..."}, []string{"GOCACHE=" + c.reportPath("list")}, out, timeout)
	for chunk := range slices.Chunk(packages, 500) {
		if err == nil { // one that cannot be built here is not needed here either
			_, err = c.run(ctx, append([]string{"go", "build", "-o", os.DevNull}, chunk...), nil, &lines{}, timeout)
		}
	}
	return err
}

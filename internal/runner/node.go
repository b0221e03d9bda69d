package runner

import (
	"cmp"
	"context"
	_ "embed" // the scripts
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed scripts/node_reporter.mjs
var nodeReporter string

//go:embed scripts/reporter.cjs
var reporter string

// byFile returns the name of a test: its file, and its name there.
func byFile(u unit) string {
	if u.File == "" {
		return collection + u.Name
	}
	return joinParts(u.File, u.Name)
}

func nodePlan(j Job, c *cell) plan {
	p := c.junit(byFile)
	p.script("reporter.mjs", nodeReporter)
	p.argv = append([]string{"node", "--test", "--test-reporter=" + c.reportPath("reporter.mjs"), "--test-reporter-destination=" + c.reportPath(report)}, j.Targets...)
	return p
}

func vitestPlan(j Job, c *cell) plan {
	p := c.junit(func(u unit) string {
		if u.Name == u.Class {
			return collection + u.Name
		}
		return joinParts(u.Class, u.Name)
	})
	p.argv = append([]string{"node_modules/.bin/vitest", "run", "--reporter=junit", "--outputFile=" + c.reportPath(report), "--coverage.enabled=false"}, j.Targets...)
	return p
}

func jestPlan(j Job, c *cell) plan {
	p := c.junit(byFile)
	p.script("reporter.cjs", reporter)
	p.argv = []string{"node_modules/.bin/jest", "--ci", "--reporters=" + c.reportPath("reporter.cjs"), "--coverage=false", "--watchman=false"}
	if len(j.Targets) > 0 {
		p.argv = append(append(p.argv, "--runTestsByPath"), j.Targets...)
	}
	return p
}

func mochaPlan(j Job, c *cell) plan {
	p := c.junit(byFile)
	p.script("reporter.cjs", reporter)
	p.argv = append([]string{"node_modules/.bin/mocha", "--reporter=" + c.reportPath("reporter.cjs"), "--exit"}, j.Targets...)
	return p
}

// manifest is what package.json says.
type manifest struct {
	Name                          string
	Scripts                       map[string]string
	Dependencies, DevDependencies map[string]string
}

// detectNode finds which runner the package uses, and what is installed for it.
func (d *detector) detectNode(ctx context.Context) error {
	var m manifest
	if err := json.Unmarshal([]byte(d.text("package.json")), &m); err != nil {
		return &Unfit{Why: "package.json cannot be read: " + err.Error()}
	}
	d.suite.Kind, d.suite.Project = m.runner(), []string{m.Name}
	said, err := d.ask(ctx, "node", "-p", "process.version + ' ' + process.execPath")
	if err != nil {
		return err
	}
	version, node, _ := strings.Cut(strings.TrimSpace(said), " ")
	modules := filepath.Join(cmp.Or(d.options.Deps, d.machine.Clone), "node_modules")
	if bin := filepath.Join(modules, ".bin", string(d.suite.Kind)); d.suite.Kind != Node && len(d.options.Command) == 0 && !runs(bin) {
		return &Unfit{Why: string(d.suite.Kind) + " is not installed; run npm ci, or give --setup a command that fills $DEPS/node_modules", Path: bin}
	}
	d.useNode(node, modules, m)
	d.addFinding("%s by node %s", d.suite.Kind, version)
	return nil
}

// runner returns the runner that the script of tests calls, else one that is a dependency, else node's own.
func (m manifest) runner() Kind {
	for _, k := range []Kind{Vitest, Jest, Mocha} {
		if strings.Contains(m.Scripts["test"], string(k)) {
			return k
		}
	}
	for _, k := range []Kind{Vitest, Jest, Mocha} {
		if m.DevDependencies[string(k)]+m.Dependencies[string(k)] != "" && !strings.Contains(m.Scripts["test"], "--test") {
			return k
		}
	}
	return Node
}

// useNode reads node and what is installed, but for the package itself.
func (d *detector) useNode(node, modules string, m manifest) {
	prefix := filepath.Dir(filepath.Dir(node))
	for _, dir := range append(d.toolchains(), "/usr/lib", "/usr/local/lib", filepath.Join(prefix, "lib")) {
		d.hide(packageIn(filepath.Join(dir, "node_modules"), m.Name)...)
	}
	d.hide(append(packageIn(modules, m.Name), packageIn("/usr/share/nodejs", m.Name)...)...)
	d.read(prefix)
	d.suite.Env = append(d.suite.Env, "PATH="+filepath.Dir(node))
	if o := m.options(); o != "" {
		d.suite.Env = append(d.suite.Env, "NODE_OPTIONS="+o)
	}
	d.linkModules(modules)
}

// packageIn lists where a folder of packages has one, in all of its versions.
func packageIn(dir, name string) []string {
	if name == "" {
		return nil
	}
	more, _ := filepath.Glob(filepath.Join(dir, ".pnpm", strings.ReplaceAll(name, "/", "+")+"@*")) // names have no signs of patterns
	return append(more, filepath.Join(dir, filepath.FromSlash(name)))
}

// options returns the options of node that the script of tests sets: how sources are loaded.
func (m manifest) options() string {
	var out []string
	words := strings.Fields(strings.NewReplacer(`"`, " ", "'", " ", "NODE_OPTIONS=", " ", "=", " ").Replace(m.Scripts["test"]))
	for i, w := range words {
		switch {
		case slices.Contains([]string{"--import", "--loader", "--experimental-loader", "--require", "-r"}, w) && i+1 < len(words):
			out = append(out, w+" "+words[i+1])
		case strings.HasPrefix(w, "--experimental-") && w != "--experimental-loader":
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func sortedKeys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }

// nodeReporter writes the events of node's runner as JUnit XML, test by test, so that a run that is ended has said what it knew.
const nodeReporter = `const esc = (s) => String(s).replace(/[^\x09\x0A\x20-\uD7FF\uE000-\uFFFD]/g, '?').replace(/[&<>"\n]/g, (c) => '&#' + c.charCodeAt(0) + ';');
import { relative } from 'node:path';
import { inspect } from 'node:util';
export default async function* (source) {
  const stacks = new Map(), said = new Map();
  yield '<testsuites>\n';
  for await (const { type, data } of source) {
    if (type === 'test:stderr') said.set(data.file, ((said.get(data.file) || '') + data.message).slice(-8000));
    if (!/^test:(start|pass|fail)$/.test(type)) continue;
    const stack = stacks.get(data.file) || [];
    stacks.set(data.file, stack);
    stack.length = data.nesting;
    stack[data.nesting] = data.name;
    if (type === 'test:start') continue;
    const whole = data.nesting === 0 && data.name === data.file, error = data.details.error;
    if (whole && type === 'test:pass') continue;
    const cause = error && (error.cause || error);
    const text = whole ? said.get(data.file) || '' : cause ? inspect(cause) : '';
    yield '<testcase file="' + (whole ? '' : esc(relative(process.cwd(), data.file))) + '" name="' + esc(stack.join(' > ')) + '" time="' + data.details.duration_ms / 1000 + '">' +
      (type === 'test:fail' ? '<failure message="' + esc(cause && cause.message || cause) + '">' + esc(text) + '</failure>' : data.skip !== undefined || data.todo !== undefined ? '<skipped/>' : '') + '</testcase>\n';
  }
  yield '</testsuites>\n';
}
`

func nodePlan(j Job, c *cell) plan {
	to, reporter := c.report(".xml"), "reporter.mjs"
	argv := []string{"node", "--test", "--test-reporter=" + c.show.Seen(filepath.Join(c.reports, reporter)), "--test-reporter-destination=" + to}
	p := collecting(junitPlan(append(argv, j.Targets...), to, func(u unit) string {
		if u.File == "" {
			return collection + u.Name
		}
		return joined(u.File, u.Name)
	}))
	p.files = map[string]string{reporter: nodeReporter}
	return p
}

// collecting takes out of a report what is said of files that could not be read.
func collecting(p plan) plan {
	read := p.read
	p.read = func(report []byte, r *Report) {
		read(report, r)
		r.Unbuilt = uncollected(r.Tests)
	}
	return p
}

// installed is a program of node_modules.
func installed(name string) string { return "node_modules/.bin/" + name }

func vitestPlan(j Job, c *cell) plan {
	to := c.report(".xml")
	argv := []string{installed("vitest"), "run", "--reporter=junit", "--outputFile=" + to, "--coverage.enabled=false"}
	return collecting(junitPlan(append(argv, j.Targets...), to, func(u unit) string {
		if u.Name == u.Class {
			return collection + u.Name
		}
		return joined(u.Class, u.Name)
	}))
}

func jestPlan(j Job, c *cell) plan {
	to := c.report(".json")
	argv := []string{installed("jest"), "--ci", "--json", "--outputFile=" + to, "--coverage=false", "--watchman=false"}
	if len(j.Targets) > 0 {
		argv = append(append(argv, "--runTestsByPath"), j.Targets...)
	}
	return plan{argv: argv, to: to, read: func(report []byte, r *Report) { r.readJest(report, c.relative) }}
}

func mochaPlan(j Job, c *cell) plan {
	to := c.report(".json")
	argv := append([]string{installed("mocha"), "--reporter=json", "--reporter-option=output=" + to, "--exit"}, j.Targets...)
	return plan{argv: argv, to: to, read: func(report []byte, r *Report) { r.readMocha(report, c.relative) }}
}

// relative returns a path of a report as it is in the folder in which tests run.
func (c *cell) relative(file string) string {
	at := filepath.Join(c.show.Seen(c.dir), filepath.FromSlash(c.suite.Folder))
	if rel, err := filepath.Rel(at, file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return file
}

// jestReport is what jest --json says.
type jestReport struct {
	TestResults []struct {
		Name, Message    string
		AssertionResults []struct {
			AncestorTitles, FailureMessages []string
			Title, Status                   string
			Duration                        float64
		}
	}
}

func (r *Report) readJest(report []byte, relative func(string) string) {
	var said jestReport
	if len(report) == 0 || json.Unmarshal(report, &said) != nil {
		return // without a report no test has passed
	}
	out := results{}
	for _, file := range said.TestResults {
		if len(file.AssertionResults) == 0 {
			r.Unbuilt += bounded(file.Message) + "\n"
		}
		for _, a := range file.AssertionResults {
			t := Test{Status: Skipped, Message: strings.Join(a.FailureMessages, "\n"), Took: time.Duration(a.Duration * float64(time.Millisecond))}
			if a.Status == string(Passed) || a.Status == string(Failed) {
				t.Status = Status(a.Status)
			}
			out.add(joined(slices.Concat([]string{relative(file.Name)}, a.AncestorTitles, []string{a.Title})...), t)
		}
	}
	r.Tests, r.Unbuilt = out, bounded(strings.TrimSpace(r.Unbuilt))
}

// mochaReport is what the JSON reporter of mocha says.
type mochaReport struct {
	Passes, Failures, Pending []struct {
		FullTitle, File string
		Duration        float64
		Err             struct{ Message, Stack string }
	}
}

func (r *Report) readMocha(report []byte, relative func(string) string) {
	var said mochaReport
	if len(report) == 0 || json.Unmarshal(report, &said) != nil {
		return // without a report no test has passed
	}
	out := results{}
	for _, t := range said.Passes {
		out.add(joined(relative(t.File), t.FullTitle), Test{Status: Passed, Took: time.Duration(t.Duration * float64(time.Millisecond))})
	}
	for _, t := range said.Pending {
		out.add(joined(relative(t.File), t.FullTitle), Test{Status: Skipped})
	}
	for _, t := range said.Failures {
		out.add(joined(relative(t.File), t.FullTitle), Test{Status: Failed, Message: problem{t.Err.Message, t.Err.Stack}.all()})
	}
	r.Tests = out
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
	d.suite.Kind = m.runner()
	d.suite.Project = slices.DeleteFunc([]string{m.Name}, func(name string) bool { return name == "" })
	node, err := d.program("node")
	if err != nil {
		return err
	}
	version, err := d.ask(ctx, node, "--version")
	if err != nil {
		return err
	}
	if err := d.useNode(node, m); err != nil {
		return err
	}
	d.found("%s by node %s", d.suite.Kind, strings.TrimSpace(version))
	if d.suite.Kind == Node || runs(filepath.Join(d.suite.Links[path.Join(d.options.Folder, "node_modules")], ".bin", string(d.suite.Kind))) {
		return nil
	}
	return &Unfit{Why: string(d.suite.Kind) + " is not installed in node_modules; install it, or give --setup a command that does"}
}

// runner is what the script of tests calls, else what is a dependency, else node's own.
func (m manifest) runner() Kind {
	script := m.Scripts["test"]
	kinds := []Kind{Vitest, Jest, Mocha}
	for _, k := range kinds {
		if strings.Contains(script, string(k)) {
			return k
		}
	}
	for _, k := range kinds {
		_, dev := m.DevDependencies[string(k)]
		if _, dep := m.Dependencies[string(k)]; (dev || dep) && !strings.Contains(script, "--test") {
			return k
		}
	}
	return Node
}

// useNode reads node and what is installed, but for the package itself.
func (d *detector) useNode(node string, m manifest) error {
	modules := filepath.Join(cmp.Or(d.options.Deps, d.machine.Clone), "node_modules")
	if d.options.Deps == "" && d.options.Folder != "" && !isFolder(modules) {
		modules = filepath.Join(d.machine.Clone, filepath.FromSlash(d.options.Folder), "node_modules")
	}
	if !isFolder(modules) && len(m.Dependencies)+len(m.DevDependencies) > 0 {
		return &Unfit{Why: "its dependencies are not installed; run npm ci, or give --setup a command that installs them in $DEPS/node_modules", Path: modules}
	}
	var hidden []string
	for _, prefix := range prefixes(node) {
		hidden = append(hidden, packageIn(filepath.Join(prefix, "lib", "node_modules"), m.Name)...)
	}
	for _, dir := range []string{"/usr/lib/node_modules", "/usr/local/lib/node_modules", "/usr/share/nodejs"} {
		hidden = append(hidden, packageIn(dir, m.Name)...)
	}
	for _, prefix := range prefixes(node) {
		if prefix == "/usr" || prefix == "/usr/local" {
			prefix = "" // of the system all is read anyway
		}
		d.reads(prefix, hidden...)
	}
	d.suite.Env = append(d.suite.Env, "PATH="+filepath.Dir(node))
	if o := m.options(); o != "" {
		d.suite.Env = append(d.suite.Env, "NODE_OPTIONS="+o)
	}
	if isFolder(modules) {
		d.reads(modules, packageIn(modules, m.Name)...)
		d.linkModules(modules)
	}
	return nil
}

// packageIn lists where a folder of packages has one, in all of its versions.
func packageIn(dir, name string) []string {
	if name == "" {
		return nil
	}
	out := []string{filepath.Join(dir, filepath.FromSlash(name))}
	more, _ := filepath.Glob(filepath.Join(dir, ".pnpm", strings.ReplaceAll(name, "/", "+")+"@*")) // names have no signs of patterns
	return append(out, more...)
}

func (d *detector) linkModules(modules string) {
	if isFolder(modules) {
		d.suite.Links = map[string]string{path.Join(d.options.Folder, "node_modules"): modules}
		d.found("dependencies of %s", modules)
	}
}

// options are those of node that the script of tests sets: how sources are loaded.
func (m manifest) options() string {
	var out []string
	words := strings.Fields(strings.NewReplacer(`"`, " ", "'", " ", "NODE_OPTIONS=", " ").Replace(m.Scripts["test"]))
	for i, w := range words {
		name, _, whole := strings.Cut(w, "=")
		switch name {
		case "--import", "--loader", "--experimental-loader", "--require", "-r":
			if whole {
				out = append(out, w)
			} else if i+1 < len(words) {
				out = append(out, w+" "+words[i+1])
			}
		case "--experimental-vm-modules", "--experimental-strip-types", "--experimental-test-module-mocks", "--enable-source-maps":
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

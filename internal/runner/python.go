package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// startPytest imports pytest before the workspace is on the path, so that no file there takes its place, bounds each test in time, and
// runs what the arguments say.
const startPytest = `import os, signal, sys
seen = sys.path[:]
roots = tuple({os.path.realpath(p) + os.sep for p in (sys.prefix, sys.base_prefix, sys.exec_prefix)})
sys.path[:] = [p for p in seen if p and os.path.isabs(p) and (os.path.realpath(p) + os.sep).startswith(roots)]
import faulthandler, logging, unittest, xml.etree.ElementTree, pytest, _pytest.junitxml
sys.path[:] = [os.getcwd()] + [p for p in seen if p]
limit = int(sys.argv[1])
class Bound:
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        def late(*_):
            pytest.fail("the test took more than %d seconds" % limit)
        signal.signal(signal.SIGALRM, late)
        signal.alarm(limit)
        yield
        signal.alarm(0)
sys.exit(pytest.main(sys.argv[2:], plugins=[Bound()]))
`

func pytestPlan(j Job, c *cell) plan {
	to := c.report(".xml")
	limit := min(testLimit, j.Timeout/2)
	argv := []string{
		"python", "-c", startPytest, strconv.Itoa(max(1, int(limit.Seconds()))), "-q", "-o", "junit_family=xunit1", "--junitxml=" + to,
		"-p", "no:cacheprovider", "-o", "addopts=", "--continue-on-collection-errors",
	}
	if len(j.Only) > 0 && len(j.Only) <= mostNames {
		argv = append(argv, j.Only...)
	} else {
		argv = append(argv, j.Targets...)
	}
	p := collecting(junitPlan(argv, to, pytestName))
	p.env = []string{"PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0"}
	return p
}

// collection is how a name begins under which pytest reports a file that it could not collect.
const collection = "collection of "

// pytestName is the id of a test: file, classes and function.
func pytestName(u unit) string {
	module := strings.ReplaceAll(strings.TrimSuffix(u.File, ".py"), "/", ".")
	rest, of := strings.CutPrefix(u.Class, module)
	switch {
	case u.File == "" || u.Class == "":
		return collection + cmp.Or(u.Name, u.File)
	case !of:
		return joined(u.File, u.Class, u.Name)
	}
	return u.File + strings.ReplaceAll(rest, ".", "::") + "::" + u.Name
}

// uncollected takes out what is no test: files that could not be imported, and returns what was said of them.
func uncollected(tests map[string]Test) string {
	var said []string
	for name, t := range tests {
		if strings.HasPrefix(name, collection) {
			said = append(said, t.Message)
			delete(tests, name)
		}
	}
	slices.Sort(said)
	return strings.Join(said, "\n")
}

// askPython prints where Python and its packages are.
const askPython = `import json, os, sys, sysconfig
try:
    import pytest
    version = pytest.__version__
except ImportError:
    version = ""
print(json.dumps({"version": "%d.%d.%d" % sys.version_info[:3], "pytest": version, "executable": sys.executable,
    "prefixes": sorted({sys.prefix, sys.base_prefix, os.path.realpath(sys.base_prefix)}), "path": [p for p in sys.path if os.path.isdir(p)]}))
`

type pythonFound struct {
	Version, Pytest, Executable string
	Prefixes, Path              []string
}

// detectPython finds the virtual environment of the clone, that of the user, or the Python of PATH, whichever has pytest.
func (d *detector) detectPython(ctx context.Context) error {
	d.suite.Kind = Pytest
	d.suite.Project = d.pythonProject()
	var last error
	for _, python := range d.pythons() {
		found, err := d.python(ctx, python)
		if err != nil || found.Pytest == "" {
			last = cmp.Or(err, error(&Unfit{Why: "it has no pytest", Path: python}))
			continue
		}
		d.usePython(found)
		return nil
	}
	return cmp.Or(last, error(&Unfit{Why: "there is no Python; make a virtual environment with pytest in the repository, such as .venv, or give --setup a command that does"}))
}

func (d *detector) pythons() (list []string) {
	venv, _ := d.machine.Lookup("VIRTUAL_ENV")
	for _, dir := range []string{d.options.Deps, filepath.Join(d.machine.Clone, ".venv"), filepath.Join(d.machine.Clone, "venv"), filepath.Join(d.machine.Clone, "env"), venv} {
		if at := filepath.Join(dir, "bin", "python"); filepath.IsAbs(dir) && runs(at) {
			list = append(list, at)
		}
	}
	for _, name := range []string{"python3", "python"} {
		if at, err := d.program(name); err == nil {
			list = append(list, at)
		}
	}
	return list
}

func (d *detector) python(ctx context.Context, python string) (found pythonFound, err error) {
	said, err := d.ask(ctx, python, "-c", askPython)
	if err != nil {
		return found, err
	}
	if err := json.Unmarshal([]byte(said), &found); err != nil {
		return found, fmt.Errorf("read what %s says of itself: %w", python, err)
	}
	return found, nil
}

func (d *detector) usePython(found pythonFound) {
	var hidden []string
	for i, dir := range append(found.Path, pythonFolders()...) {
		if !strings.HasSuffix(dir, "-packages") {
			continue // what a project has in common with Python itself is no version of it
		}
		for _, name := range d.suite.Project {
			at := pythonModule(dir, name)
			if i < len(found.Path) && len(at) > 0 { // without the right to list this folder Python would find nothing in it
				d.clash = cmp.Or(d.clash, at[0])
			}
			hidden = append(hidden, at...)
		}
	}
	for _, dir := range found.Prefixes {
		if dir == "/usr" || dir == "/usr/local" {
			d.reads("", hidden...) // of the system all is read anyway
			continue
		}
		d.reads(dir, hidden...)
	}
	env := []string{"PATH=" + filepath.Dir(found.Executable), "PYTHONNOUSERSITE=1", "PYTHONDONTWRITEBYTECODE=1"}
	if d.has("src") {
		env = append(env, "PYTHONPATH=src")
	}
	d.suite.Env = append(d.suite.Env, env...)
	d.found("Python %s with pytest %s: %s", found.Version, found.Pytest, found.Executable)
}

// pythonFolders are those in which packages of the system's Pythons are.
func pythonFolders() (dirs []string) {
	for _, glob := range []string{"/usr/lib/python3*/dist-packages", "/usr/lib/python3*/site-packages", "/usr/local/lib/python3*/dist-packages", "/usr/local/lib/python3*/site-packages"} {
		more, _ := filepath.Glob(glob) // the pattern is sound
		dirs = append(dirs, more...)
	}
	return dirs
}

// pythonModule lists what holds a module in a folder of packages.
func pythonModule(dir, name string) (out []string) {
	for _, glob := range []string{name, name + ".py", name + ".pyi", name + ".*.so", name + ".so", name + "-*.egg", name + "-stubs"} {
		more, _ := filepath.Glob(filepath.Join(dir, glob)) // names of modules have no signs of patterns
		out = append(out, more...)
	}
	return out
}

var (
	pythonName = pattern.New(`(?m)^\s*name\s*=\s*["']?([A-Za-z0-9._-]+)`)
	identifier = pattern.New(`^[A-Za-z_]\w*$`)
)

// pythonProject lists the modules of the project by what lies in its tree, and the name that it is installed by.
func (d *detector) pythonProject() []string {
	names := map[string]bool{}
	for _, file := range []string{"pyproject.toml", "setup.cfg", "setup.py"} {
		if m := pythonName.FindStringSubmatch(d.text(file)); m != nil {
			names[strings.ReplaceAll(strings.ReplaceAll(m[1], "-", "_"), ".", "_")] = true
		}
	}
	for _, dir := range []string{".", "src", "lib"} {
		entries, _ := fs.ReadDir(d.root.FS(), path.Join(cmp.Or(d.options.Folder, "."), dir)) // it need not be there
		for _, e := range entries {
			_, err := d.root.Stat(path.Join(d.options.Folder, dir, e.Name(), "__init__.py"))
			if err == nil && identifier.MatchString(e.Name()) && !d.suite.IsTest(path.Join(dir, e.Name())+"/") {
				names[e.Name()] = true
			}
		}
	}
	return sortedKeys(names)
}

package runner

import (
	"cmp"
	"context"
	_ "embed" // the scripts
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

//go:embed scripts/start_pytest.py
var startPytest string

//go:embed scripts/ask_python.py
var askPython string

func pytestPlan(j Job, c *cell) plan {
	p := c.junit(pytestName)
	p.argv = []string{
		"python", "-c", startPytest, strconv.Itoa(int(min(testLimit, j.Timeout/2).Seconds())), "-q", "-o", "junit_family=xunit1", "--junitxml=" + c.reportPath(report),
		"-p", "no:cacheprovider", "-o", "addopts=", "--continue-on-collection-errors",
	}
	p.argv, p.env = append(p.argv, j.Targets...), append(p.env, "PYTHONHASHSEED=0")
	return p
}

// pytestName returns the id of a test: file, classes and function.
func pytestName(u unit) string {
	if i := slices.IndexFunc(u.Properties, func(p property) bool { return p.Name == "nodeid" }); i >= 0 {
		return u.Properties[i].Value
	}
	module := strings.ReplaceAll(strings.TrimSuffix(u.File, ".py"), "/", ".")
	classes, in := strings.CutPrefix(u.Class, module)
	if u.File == "" || u.Class == "" || !in {
		return collection + cmp.Or(u.Name, u.File)
	}
	return u.File + strings.ReplaceAll(classes, ".", "::") + "::" + u.Name
}

// pythonFound is what a Python says of itself.
type pythonFound struct {
	Version, Pytest, Executable string
	Prefixes, Path              []string
}

// detectPython finds the virtual environment of the clone, that of the user, or the Python of PATH, whichever has pytest.
func (d *detector) detectPython(ctx context.Context) error {
	d.suite.Kind, d.suite.Project = Pytest, d.pythonProject()
	var last error = &Unfit{Why: "there is no Python; make a virtual environment with pytest in the repository, such as .venv, or give --setup a command that does"}
	for _, python := range d.pythons() {
		var found pythonFound
		said, err := d.ask(ctx, python, "-c", askPython)
		if err == nil {
			err = json.Unmarshal([]byte(said), &found)
		}
		if err == nil && (found.Pytest != "" || len(d.options.Command) > 0) {
			d.usePython(found)
			return nil
		}
		last = cmp.Or(err, error(&Unfit{Why: "it has no pytest", Path: python}))
	}
	return fmt.Errorf("find a Python with pytest: %w", last)
}

func (d *detector) pythons() (list []string) {
	venv, _ := d.machine.Lookup("VIRTUAL_ENV")
	for _, dir := range []string{d.options.Deps, filepath.Join(d.machine.Clone, ".venv"), filepath.Join(d.machine.Clone, "venv"), venv} {
		if at := filepath.Join(dir, "bin", "python"); filepath.IsAbs(dir) && runs(at) {
			list = append(list, at)
		}
	}
	return append(list, "python3")
}

func (d *detector) usePython(found pythonFound) {
	dirs, libraries := found.Path, append(d.toolchains(), "/usr/lib", "/usr/local/lib")
	for _, prefix := range found.Prefixes { // a virtual environment does not look where the Python that it is made from has packages, but programs can
		libraries = append(libraries, filepath.Join(prefix, "lib"))
	}
	for _, at := range libraries {
		dirs = append(dirs, glob(at, "python3*/*-packages")...)
	}
	for _, dir := range dirs {
		if !strings.HasSuffix(dir, "-packages") {
			continue // what a project has in common with Python itself is no version of it
		}
		for _, name := range d.suite.Project { // none can be hidden: without the right to list this folder Python would find nothing in it
			if at := glob(dir, name, name+".py", name+".*.so", name+"-*.egg"); len(at) > 0 {
				d.clash = cmp.Or(d.clash, at[0])
			}
		}
	}
	d.read(found.Prefixes...)
	d.suite.Env = append(d.suite.Env, "PATH="+filepath.Dir(found.Executable), "PYTHONNOUSERSITE=1", "PYTHONDONTWRITEBYTECODE=1")
	if d.has("src") {
		d.suite.Env = append(d.suite.Env, "PYTHONPATH=src")
	}
	with := ""
	if found.Pytest != "" {
		with = " with pytest " + found.Pytest
	}
	d.addFinding("Python %s%s: %s", found.Version, with, found.Executable)
}

// glob lists what a folder has by patterns. The folder's name, and names of projects, have no signs of patterns.
func glob(dir string, patterns ...string) (out []string) {
	for _, p := range patterns {
		more, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(p)))
		out = append(out, more...)
	}
	return out
}

var (
	pythonName = pattern.New(`(?m)^\s*name\s*=\s*["']?([A-Za-z0-9._-]+)`)
	notInNames = strings.NewReplacer("-", "_", ".", "_")
)

// pythonProject lists the modules of the project as found in its tree, and the name that it is installed by.
func (d *detector) pythonProject() (names []string) {
	for _, file := range []string{"pyproject.toml", "setup.cfg", "setup.py"} {
		if m := pythonName.FindStringSubmatch(d.text(file)); m != nil {
			names = append(names, notInNames.Replace(m[1]))
		}
	}
	for _, dir := range []string{".", "src", "lib"} {
		entries, _ := fs.ReadDir(d.root.FS(), path.Join(cmp.Or(d.options.Folder, "."), dir)) // it need not be there
		for _, e := range entries {
			at := path.Join(dir, e.Name())
			name, module := strings.CutSuffix(e.Name(), ".py")
			if (module && !d.suite.IsTest(at) && !d.suite.Obeys(at)) || (d.has(at+"/__init__.py") && !d.suite.IsTest(at+"/")) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

package runner

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// withPytest is a machine whose Python has pytest.
func withPytest(t *testing.T, clone string) Machine {
	t.Helper()
	m := thisMachine(t, clone)
	python := os.Getenv("SKILLOPT_RUNNERS_PYTHON")
	if python == "" {
		at, err := exec.LookPath("python3")
		if err == nil {
			err = exec.CommandContext(t.Context(), at, "-c", "import pytest").Run()
		}
		if err != nil {
			t.Skip("no Python with pytest: name one in SKILLOPT_RUNNERS_PYTHON")
		}
		return m
	}
	m.Lookup = func(name string) (string, bool) {
		if name == "VIRTUAL_ENV" {
			return filepath.Dir(filepath.Dir(python)), true
		}
		return os.LookupEnv(name)
	}
	return m
}

const pyCode = `def div(a, b):
    if b == 0:
        raise ValueError("division by zero")
    return a // b
`

const pyTest = `import http.server, socket, threading, unittest, urllib.request
import pytest
from calc import div


class TestDiv:
    class TestInner:
        def test_deep(self):
            assert div(9, 3) == 3

    @pytest.mark.parametrize("a,b", [(6, 3), (7, 4)])
    def test_halves(self, a, b):
        assert div(a, 2) == b


class Old(unittest.TestCase):
    def test_old(self):
        self.assertEqual(div(4, 2), 2)


def test_zero():
    with pytest.raises(ValueError):
        div(1, 0)


@pytest.mark.skip(reason="not here")
def test_skipped():
    pass


@pytest.mark.xfail
def test_known():
    assert False


@pytest.fixture
def broken():
    yield
    raise RuntimeError("teardown")


def test_teardown(broken):
    pass


def test_server():
    s = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=s.handle_request).start()
    with pytest.raises(Exception, match="501"):
        urllib.request.urlopen("http://127.0.0.1:%d/" % s.server_port)


def test_outside():
    urllib.request.urlopen("http://example.com/")
`

func pyTree(t *testing.T) string {
	return tree(t, map[string]string{
		"pyproject.toml":       "[project]\nname = \"calc\"\nversion = \"1\"\n[tool.pytest.ini_options]\naddopts = \"-x --no-such-plugin\"\n",
		"src/calc/__init__.py": pyCode, "tests/test_calc.py": pyTest, "tests/test_more.py": "def test_more():\n    pass\n",
	})
}

func TestPytest(t *testing.T) {
	t.Parallel()
	dir := pyTree(t)
	s := detect(t, dir, withPytest(t, dir), Options{})
	if !slices.Contains(s.Project, "calc") || slices.Contains(s.Project, "tests") {
		t.Errorf("the project is %v", s.Project)
	}
	for _, name := range []string{"pytest.py", "_pytest/__init__.py", "pluggy.py", "xml/__init__.py", "src/unittest.py"} {
		put(t, dir, name, "raise SystemExit(0)\n") // none may run in the place of the runner
	}
	targets, err := s.Targets([]string{"tests/test_calc.py", "tests/data.json", "tests/conftest.py"}, []string{"src/calc/__init__.py"}, open(t, dir))
	if err != nil || !slices.Equal(targets, []string{"tests/test_calc.py"}) {
		t.Fatal(targets, err)
	}
	want := canaries(t, s, dir, targets)
	maps.Copy(want, map[string]Status{
		"tests/test_calc.py::TestDiv::TestInner::test_deep": Passed, "tests/test_calc.py::TestDiv::test_halves[6-3]": Passed,
		"tests/test_calc.py::TestDiv::test_halves[7-4]": Failed, "tests/test_calc.py::Old::test_old": Passed, "tests/test_calc.py::test_zero": Passed,
		"tests/test_calc.py::test_skipped": Skipped, "tests/test_calc.py::test_known": Skipped, "tests/test_calc.py::test_teardown": Failed,
		"tests/test_calc.py::test_server": Passed, "tests/test_calc.py::test_outside": Failed,
	})
	r := run(t, s, Job{Dir: dir, Targets: targets})
	check(t, r, want)
	if m := r.Tests["tests/test_calc.py::TestDiv::test_halves[7-4]"].Message; !strings.Contains(m, "assert 3 == 4") {
		t.Errorf("the message is %q", m)
	}
	if !NeedsNetwork(r.Tests["tests/test_calc.py::test_outside"].Message) {
		t.Errorf("that it wanted the network is not seen in %q", r.Tests["tests/test_calc.py::test_outside"].Message)
	}
}

func TestPytestUnbuilt(t *testing.T) {
	t.Parallel()
	dir := pyTree(t)
	s := detect(t, dir, withPytest(t, dir), Options{})
	put(t, dir, "tests/test_new.py", "from calc import mod\n\ndef test_mod():\n    assert mod(3, 2) == 1\n")
	put(t, dir, "tests/test_syntax.py", "def test_x(:\n")
	r := run(t, s, Job{Dir: dir, Targets: []string{"tests/test_new.py", "tests/test_more.py", "tests/test_syntax.py"}})
	check(t, r, map[string]Status{"tests/test_more.py::test_more": Passed})
	if !strings.Contains(r.Unbuilt, "cannot import name 'mod'") || !strings.Contains(r.Unbuilt, "SyntaxError") || r.Lacking {
		t.Errorf("got %+v", r)
	}
	put(t, dir, "tests/test_new.py", "import nowhere_to_be_found\n")
	if r := run(t, s, Job{Dir: dir, Targets: []string{"tests/test_new.py"}}); !r.Lacking {
		t.Errorf("got %+v", r)
	}
}

// A test that a class has from one of another file is a test of its own file.
func TestPytestInherited(t *testing.T) {
	t.Parallel()
	dir := pyTree(t)
	s := detect(t, dir, withPytest(t, dir), Options{})
	put(t, dir, "tests/test_base.py", "class TestBase:\n    def test_kind(self):\n        assert type(self) is TestBase\n")
	put(t, dir, "tests/test_heir.py", "from test_base import TestBase\n\n\nclass TestHeir(TestBase):\n    pass\n")
	r := run(t, s, Job{Dir: dir, Targets: []string{"tests/test_heir.py"}})
	check(t, r, map[string]Status{"tests/test_heir.py::TestHeir::test_kind": Failed, "tests/test_heir.py::TestBase::test_kind": Passed})
	if r.Unbuilt != "" {
		t.Errorf("taken for what was not built: %q", r.Unbuilt)
	}
}

func TestPytestHang(t *testing.T) {
	t.Parallel()
	dir := pyTree(t)
	s := detect(t, dir, withPytest(t, dir), Options{})
	put(t, dir, "tests/test_hang.py", "def test_hang():\n    while True:\n        pass\n\ndef test_after():\n    pass\n")
	r := run(t, s, Job{Dir: dir, Targets: []string{"tests/test_hang.py"}, Timeout: 12 * time.Second})
	check(t, r, map[string]Status{"tests/test_hang.py::test_hang": Failed, "tests/test_hang.py::test_after": Passed})
}

// TestPythonVersions refuses another version of the project, and takes an installation that leads to the clone.
func TestPythonVersions(t *testing.T) {
	t.Parallel()
	dir := pyTree(t)
	m := withPytest(t, dir)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	venv := filepath.Join(dir, ".venv")
	if out, err := exec.CommandContext(t.Context(), python, "-m", "venv", "--system-site-packages", "--without-pip", venv).CombinedOutput(); err != nil {
		t.Skipf("no virtual environment can be made: %s", out)
	}
	found, err := filepath.Glob(filepath.Join(venv, "lib", "python3*", "site-packages"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	put(t, found[0], "__editable__.calc-2.pth", filepath.Join(dir, "src")+"\n")
	put(t, found[0], "calc-2.dist-info/METADATA", "Metadata-Version: 2.1\nName: calc\nVersion: 2\n")
	put(t, found[0], "helper.py", "good = True\n")
	put(t, dir, "tests/test_reach.py", "import importlib.metadata, helper, calc\n\ndef test_reach():\n    assert importlib.metadata.version('calc') == '2'\n    assert not calc.__file__.startswith('"+dir+"')\n")
	s := detect(t, dir, m, Options{})
	if !strings.Contains(strings.Join(s.Env, "\n"), "PATH="+filepath.Join(venv, "bin")) {
		t.Skipf("the Python of the system has no pytest: %v", s.Env)
	}
	work := tree(t, nil)
	if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	r := run(t, s, Job{Dir: work, Targets: []string{"tests/test_reach.py"}})
	check(t, r, map[string]Status{"tests/test_reach.py::test_reach": Passed})
	put(t, found[0], "calc/__init__.py", "def mod(a, b):\n    return a % b\n")
	_, _, err = Detect(t.Context(), open(t, dir), m, Options{})
	var unfit *Unfit
	if !errors.As(err, &unfit) || unfit.Path != filepath.Join(found[0], "calc") {
		t.Errorf("with another version in reach: %v", err)
	}
}

// A Python that agents find on PATH has another version of the project, whether that is a package or a file.
func TestPythonOfPath(t *testing.T) {
	t.Parallel()
	if os.Getenv("SKILLOPT_RUNNERS_PYTHON") == "" {
		t.Skip("no second Python: name one with pytest in SKILLOPT_RUNNERS_PYTHON")
	}
	for _, tt := range []struct{ name, program, installed string }{
		{"src/calc/__init__.py", "python3", "lib/python3.11/site-packages/calc/__init__.py"},
		{"flat.py", "python3", "versions/3.12.1/lib/python3.12/site-packages/flat.py"},
		{"flat.py", "uv", "lib/python3.12/site-packages/flat.py"},
	} {
		name, installed := tt.name, tt.installed
		dir := tree(t, map[string]string{name: "", "pytest.ini": "[pytest]\n", "tests/test_a.py": "def test_a():\n    pass\n"})
		m := withPytest(t, dir)
		other := tree(t, map[string]string{"bin/" + tt.program: "#!/bin/sh\nexit 1\n", installed: ""})
		if err := os.Chmod(filepath.Join(other, "bin", tt.program), 0o755); err != nil {
			t.Fatal(err)
		}
		lookup := m.Lookup
		m.Lookup = func(name string) (string, bool) {
			if name == "PATH" {
				return filepath.Join(other, "bin"), true
			}
			return lookup(name)
		}
		for _, command := range [][]string{nil, {"make", "test"}} {
			_, _, err := Detect(t.Context(), open(t, dir), m, Options{Command: command})
			var unfit *Unfit
			if !errors.As(err, &unfit) || !strings.HasPrefix(unfit.Path, other) {
				t.Errorf("%s, %s, %v: %v", name, installed, command, err)
			}
		}
	}
}

// A command of the user's reads the virtual environment of the clone, wherever its Python is installed, and needs no pytest.
func TestCommandInPython(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"flat.py": "good = True\n", "setup.py": "", "package.json": "{",
		"run.sh": "python -c 'import flat, helper' && echo '<testsuite><testcase classname=\"c\" name=\"a\"/></testsuite>' > $REPORT\n",
	})
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 in PATH: the command of this test runs it")
	}
	venv := filepath.Join(dir, ".venv")
	if out, err := exec.CommandContext(t.Context(), python, "-m", "venv", "--without-pip", venv).CombinedOutput(); err != nil {
		t.Skipf("no virtual environment can be made: %s", out)
	}
	found, err := filepath.Glob(filepath.Join(venv, "lib", "python3*", "site-packages"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	put(t, found[0], "helper.py", "good = True\n")
	s := detect(t, dir, thisMachine(t, dir), Options{Command: []string{"/bin/sh", "run.sh"}})
	check(t, run(t, s, Job{Dir: dir}), map[string]Status{"c > a": Passed})
	put(t, found[0], "flat.py", "")
	_, _, err = Detect(t.Context(), open(t, dir), thisMachine(t, dir), Options{Command: []string{"/bin/sh", "run.sh"}})
	var unfit *Unfit
	if !errors.As(err, &unfit) || unfit.Path != filepath.Join(found[0], "flat.py") {
		t.Errorf("with another version in reach: %v", err)
	}
}

func TestAround(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a/one/x": "", "a/two/x": "", "a/three/x": "", "b/x": ""})
	for at, to := range map[string]string{"a/link": "two", "c": "a", "d": "b", "loop": "."} {
		if err := os.Symlink(to, filepath.Join(dir, at)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, at := range listVisible(dir, []string{filepath.Join(dir, "a/two")}) {
		got = append(got, strings.TrimPrefix(at, dir+"/"))
	}
	if want := []string{"a/one", "a/three", "b", "d"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestNoRunner(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"README": "nothing"})
	_, _, err := Detect(t.Context(), open(t, dir), thisMachine(t, dir), Options{})
	var unfit *Unfit
	if !errors.As(err, &unfit) || !strings.Contains(err.Error(), "--test") {
		t.Errorf("got %v", err)
	}
}

package runner

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	code := m.Run()
	if base := warmedAt.Load(); base != nil {
		_ = os.RemoveAll(*base)
	}
	os.Exit(code)
}

// tree writes files and returns their folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		put(t, dir, name, text)
	}
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// thisMachine is the machine of the tests.
func thisMachine(t *testing.T, clone string) Machine {
	t.Helper()
	if err := Fit(); err != nil {
		t.Skip(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	return Machine{Lookup: os.LookupEnv, Home: home, Clone: clone}
}

func detect(t *testing.T, dir string, m Machine, o Options) Suite {
	t.Helper()
	s, findings, err := Detect(t.Context(), open(t, dir), m, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(findings)
	return s
}

// run runs tests on a copy of a tree, with canaries when targets are given.
func run(t *testing.T, s Suite, j Job) Report {
	t.Helper()
	j.Home, j.Timeout = t.TempDir(), cmp.Or(j.Timeout, 3*time.Minute)
	r, err := s.Run(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tests, %v of processors, %d MB at most, %s", len(r.Tests), r.CPU, r.Peak>>20, r.Ended)
	return r
}

// check compares what a report says of tests.
func check(t *testing.T, r Report, want map[string]Status) {
	t.Helper()
	got := map[string]Status{}
	for name, test := range r.Tests {
		got[name] = test.Status
	}
	for name, status := range want {
		if got[name] != status {
			t.Errorf("%s is %q, want %q", name, got[name], status)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("besides there are %v", got)
	}
	if t.Failed() {
		t.Logf("unbuilt: %s\noutput: %s", r.Unbuilt, r.Output)
	}
}

// canaries lays in tests with drawn names and returns what they have to be.
func canaries(t *testing.T, s Suite, dir string, targets []string) map[string]Status {
	t.Helper()
	files, pass, fail, err := s.Canaries(open(t, dir), targets, rand.Text)
	if err != nil || len(pass) != len(targets) || len(fail) != len(targets) {
		t.Fatal(pass, fail, err)
	}
	want := map[string]Status{}
	for name, text := range files {
		put(t, dir, name, string(text))
	}
	for i := range pass {
		want[pass[i]], want[fail[i]] = Passed, Failed
	}
	return want
}

const goCode = `package calc

import "errors"

// Div divides.
func Div(a, b int) (int, error) {
	if b == 0 {
		return 0, errors.New("division by zero")
	}
	return a / b, nil
}
`

const goTest = `package calc

import (
	"net"
	"testing"
)

func TestDiv(t *testing.T) {
	for _, name := range []string{"six", "zero of two"} {
		t.Run(name, func(t *testing.T) {
			if got, err := Div(6, 2); got != 3 || err != nil {
				t.Fatal(got, err)
			}
		})
	}
}

func TestWrong(t *testing.T) {
	if got, _ := Div(7, 2); got != 4 {
		t.Errorf("Div(7, 2) = %d, want 4", got)
	}
}

func TestSkipped(t *testing.T) { t.Skip("not here") }

func TestServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestOutside(t *testing.T) {
	if _, err := net.Dial("tcp", "93.184.215.14:80"); err != nil {
		t.Fatal(err)
	}
}
`

func goTree(t *testing.T) string {
	return tree(t, map[string]string{
		"go.mod": "module example.org/calc\n\ngo 1.21\n", "calc.go": goCode, "calc_test.go": goTest,
		"use/use.go":      "package use\n\nimport \"example.org/calc\"\n\nfunc Half(n int) int { h, _ := calc.Div(n, 2); return h }\n",
		"use/use_test.go": "package use\n\nimport \"testing\"\n\nfunc TestHalf(t *testing.T) { if Half(4) != 2 { t.Fatal() } }\n",
		"other/other.go":  "package other\n", "other/other_test.go": "package other\n\nimport \"testing\"\n\nfunc TestOther(t *testing.T) {}\n",
	})
}

// warm is a folder of a suite's file with a cache that is warm for tests that use no module.
var warm = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "skillopt-runner-")
	if err != nil {
		return "", err
	}
	home, work := filepath.Join(dir, "home"), filepath.Join(dir, "work")
	err = errors.Join(os.Mkdir(home, 0o700), os.Mkdir(work, 0o700), os.WriteFile(filepath.Join(work, "go.mod"), []byte("module example.org/warm\n\ngo 1.21\n"), 0o600),
		os.WriteFile(filepath.Join(work, "a_test.go"), []byte("package warm\n\nimport (\n\t\"testing\"\n\t_ \"net\"\n)\n"), 0o600))
	if err != nil {
		return dir, err
	}
	root, err := os.OpenRoot(work)
	if err != nil {
		return dir, err
	}
	userHome, _ := os.UserHomeDir()
	s, _, err := Detect(context.Background(), root, Machine{Lookup: os.LookupEnv, Home: userHome}, Options{})
	if err != nil {
		return dir, err
	}
	_, err = s.Run(context.Background(), Job{Dir: work, Home: home, Base: dir, Warm: true})
	return dir, err
})

var warmedAt atomic.Pointer[string]

func warmed(t *testing.T) string {
	t.Helper()
	if err := Fit(); err != nil {
		t.Skip(err)
	}
	base, err := warm()
	warmedAt.Store(&base)
	if err != nil {
		t.Fatal(err)
	}
	return base
}

func TestGo(t *testing.T) {
	t.Parallel()
	dir := goTree(t)
	s := detect(t, dir, thisMachine(t, dir), Options{})
	targets, err := s.Targets([]string{"calc_test.go"}, []string{"calc.go"}, open(t, dir))
	if err != nil || !slices.Equal(targets, []string{".", "./use"}) {
		t.Fatal(targets, err)
	}
	want := canaries(t, s, dir, targets)
	for name, status := range map[string]Status{
		"example.org/calc.TestDiv": Passed, "example.org/calc.TestDiv/six": Passed, "example.org/calc.TestDiv/zero_of_two": Passed,
		"example.org/calc.TestWrong": Failed, "example.org/calc.TestSkipped": Skipped, "example.org/calc.TestServer": Passed,
		"example.org/calc.TestOutside": Failed, "example.org/calc/use.TestHalf": Passed,
	} {
		want[name] = status
	}
	if !sandbox.Probe().Isolated {
		want["example.org/calc.TestServer"] = Failed
	}
	r := run(t, s, Job{Dir: dir, Base: warmed(t), Targets: targets})
	check(t, r, want)
	if m := r.Tests["example.org/calc.TestWrong"].Message; !strings.Contains(m, "Div(7, 2) = 3, want 4") {
		t.Errorf("the message is %q", m)
	}
	if !NeedsNetwork(r.Tests["example.org/calc.TestOutside"].Message) {
		t.Errorf("that it wanted the network is not seen in %q", r.Tests["example.org/calc.TestOutside"].Message)
	}
	if r.CPU < 50*time.Millisecond || r.Peak < 1<<20 {
		t.Errorf("used %v and %d bytes", r.CPU, r.Peak)
	}
}

// TestGoWarm finds nothing of the project in a cache that is warm.
func TestGoWarm(t *testing.T) {
	t.Parallel()
	dir, base := goTree(t), warmed(t)
	s := detect(t, dir, thisMachine(t, dir), Options{})
	r := run(t, s, Job{Dir: dir, Base: base, Targets: []string{"./use"}})
	if !r.HasPassed("example.org/calc/use.TestHalf") || r.CPU > 8*time.Second {
		t.Errorf("%v of processors with a warm cache", r.CPU)
	}
	err := filepath.WalkDir(filepath.Join(base, "cache"), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "example.org/warm") {
			t.Errorf("%s holds something of the project: %.200q", path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestGoUnbuilt(t *testing.T) {
	t.Parallel()
	dir := goTree(t)
	s := detect(t, dir, thisMachine(t, dir), Options{})
	put(t, dir, "new_test.go", "package calc\n\nimport \"testing\"\n\nfunc TestNew(t *testing.T) { Mod(1, 2) }\n")
	r := run(t, s, Job{Dir: dir, Base: warmed(t), Targets: []string{".", "./use"}})
	if !strings.Contains(r.Unbuilt, "undefined: Mod") || !r.HasPassed("example.org/calc/use.TestHalf") || len(r.Tests) != 1 || r.Lacking {
		t.Errorf("got %+v", r)
	}
	put(t, dir, "new_test.go", "package calc\n\nimport _ \"example.com/away\"\n")
	if r := run(t, s, Job{Dir: dir, Base: warmed(t), Targets: []string{"."}}); !r.Lacking || len(r.Tests) != 0 {
		t.Errorf("got %+v", r)
	}
}

func TestGoHang(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"go.mod":    "module example.org/hang\n\ngo 1.21\n",
		"a_test.go": "package hang\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n\nfunc TestC(t *testing.T) { select {} }\n",
	})
	s := detect(t, dir, thisMachine(t, dir), Options{})
	r := run(t, s, Job{Dir: dir, Base: warmed(t), Timeout: 20 * time.Second})
	if !r.HasPassed("example.org/hang.TestA") || r.HasPassed("example.org/hang.TestC") {
		t.Errorf("got %+v", r)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	dir := goTree(t)
	s := detect(t, dir, thisMachine(t, dir), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := s.Run(ctx, Job{Dir: dir, Home: t.TempDir()}); err == nil {
		t.Errorf("a run that was cancelled is one of tests: %+v", r)
	}
}

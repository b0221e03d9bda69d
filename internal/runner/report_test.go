package runner

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func byClass(u unit) string { return joinParts(u.Class, u.Name) }

func TestJUnit(t *testing.T) {
	t.Parallel()
	text := `<?xml version="1.0"?><testsuites><testsuite name="s"><properties><property name="a" value="b"/></properties>
<testcase classname="a" name="good" time="0.5"/>
<testcase classname="a" name="bad"><failure message="1 != 2">stack</failure></testcase>
<testcase classname="a" name="broken"><error message="boom"/></testcase>
<testcase classname="a" name="later"><skipped message="not here"/></testcase>
<testcase classname="a" name="twice"><failure message="first"/></testcase>
<testcase classname="a" name="twice"/>
<testcase classname="a" name="&lt;odd&gt; &#10; name"/>
<testsuite name="inner"><testcase name="alone"/></testsuite>
</testsuite></testsuites>`
	got, err := parseJUnit(strings.NewReader(text), byClass)
	if err != nil {
		t.Fatal(err)
	}
	check(t, Report{Tests: got}, map[string]Status{
		"a > good": Passed, "a > bad": Failed, "a > broken": Failed, "a > later": Skipped, "a > twice": Failed, "a > <odd> \n name": Passed, "alone": Passed,
	})
	if m := got["a > bad"].Message; m != "1 != 2\nstack" {
		t.Errorf("the message is %q", m)
	}
	if d := got["a > good"].Took; d != time.Second/2 {
		t.Errorf("it took %v", d)
	}
	cut, err := parseJUnit(strings.NewReader(text[:strings.Index(text, "later")]), byClass)
	if err == nil || len(cut) != 3 {
		t.Errorf("of a report that is cut there are %v, %v", cut, err)
	}
}

func TestJUnitIsBounded(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<testsuite>", 10_000)
	if _, err := parseJUnit(strings.NewReader(deep), byClass); err == nil || !strings.Contains(err.Error(), "in each other") {
		t.Errorf("elements that nest without end: %v", err)
	}
	long := `<testcase name="a"><failure>` + strings.Repeat("x", 1<<20) + `</failure></testcase>`
	got, err := parseJUnit(strings.NewReader(long), byClass)
	if err != nil || len(got["a"].Message) > mostMessage {
		t.Errorf("a message of %d bytes, %v", len(got["a"].Message), err)
	}
	if got, _ := parseJUnit(strings.NewReader(`<testcase name="`+strings.Repeat("x", mostName+1)+`"/>`), byClass); len(got) > 0 {
		t.Error("a name without end was taken")
	}
	if _, err := parseJUnit(strings.NewReader("<!DOCTYPE a [<!ENTITY b \"c\">]><testcase name=\"&b;\"/>"), byClass); err == nil {
		t.Error("an entity was expanded")
	}
}

func FuzzJUnit(f *testing.F) {
	for _, s := range []string{"", "<testcase name='a'/>", "<a><testcase name='a'><failure/></testcase>", "<testcase name='a'><skipped/><error>x</error></testcase>", "<?xml version='1.0' encoding='latin1'?><testcase name='\xe9'/>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := parseJUnit(strings.NewReader(text), byClass)
		for name, test := range got {
			if name == "" || len(test.Message) > mostMessage || test.Status == "" {
				t.Errorf("%q: %+v", name, test)
			}
		}
	})
}

func FuzzGoJSON(f *testing.F) {
	for _, s := range []string{"", "{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"T\"}\n", "# p\n./a.go:1:1: x\n", "{\"Action\":\"output\",\"Package\":\"p\",\"Test\":\"T\",\"Output\":\"x\"}\n{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"T\"}", "{", "null\n"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		whole, parts := &goTests{results: results{}, output: map[string]string{}}, &goTests{results: results{}, output: map[string]string{}}
		a, b := &lines{each: whole.line}, &lines{each: parts.line}
		_, _ = a.Write([]byte(text))
		at = min(max(at, 0), len(text))
		_, _ = b.Write([]byte(text[:at]))
		_, _ = b.Write([]byte(text[at:]))
		a.flush()
		b.flush()
		x, _ := json.Marshal(whole.results)
		y, _ := json.Marshal(parts.results)
		if string(x) != string(y) || whole.unbuilt != parts.unbuilt {
			t.Errorf("%s in one piece, %s in two", x, y)
		}
	})
}

// TestGoForged has a test that fails print that it passes: the worse counts.
func TestGoForged(t *testing.T) {
	t.Parallel()
	g := &goTests{results: results{}}
	for _, line := range []string{
		`{"Action":"pass","Package":"p","Test":"TestA"}`, `{"Action":"fail","Package":"p","Test":"TestA"}`, `{"Action":"pass","Package":"p","Test":"TestA"}`,
		`{"Action":"pass","Package":"p"}`, `--- PASS: TestB (0.00s)`,
	} {
		g.line([]byte(line))
	}
	check(t, Report{Tests: g.results}, map[string]Status{"p.TestA": Failed})
}

func TestWants(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]bool{
		"dial tcp: lookup example.com: no such host":                                             {true, false},
		"connect: network is unreachable":                                                        {true, false},
		"urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>": {true, false},
		"getaddrinfo EAI_AGAIN example.com":                                                      {true, false},
		"listen tcp 127.0.0.1:0: bind: permission denied":                                        {false, true},
		"listen EACCES: permission denied 127.0.0.1":                                             {false, true},
		"assert 3 == 4": {false, false},
	} {
		if network, listens := NeedsNetwork(text), NeedsPort(text); network != want[0] || listens != want[1] {
			t.Errorf("%s: network %v, listens %v", text, network, listens)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	const test, code, lock, obeys = 1, 2, 4, 8
	for kind, paths := range map[Kind]map[string]int{
		Go: {"a.go": code, "a/b_test.go": test, "a/testdata/x": test, "go.mod": lock | obeys, "go.sum": lock | obeys, "go.work": lock | obeys, "Makefile": obeys, "vendor/a/a.go": obeys, "README.md": 0, "testing.go": code},
		Pytest: {
			"src/a.py": code, "tests/test_a.py": test, "a/test_b.py": test, "a/b_test.py": test, "conftest.py": test | obeys, "tests/data.json": test, "pytest.ini": obeys, "pyproject.toml": obeys, "setup.cfg": obeys, "tox.ini": obeys,
			"sitecustomize.py": obeys, "a/usercustomize.py": obeys, "x.pth": obeys, "pytest.py": obeys, "_pytest/x.py": obeys, "poetry.lock": lock, "requirements-dev.txt": lock, "uv.lock": lock, "django/test/client.py": code, "contest.py": code,
		},
		Vitest: {
			"src/a.ts": code, "src/a.test.ts": test, "src/a.spec.tsx": test, "test/setup.ts": test, "__tests__/a.js": test, "package.json": obeys, ".npmrc": obeys, "vitest.config.ts": obeys, "vite.config.mjs": obeys, "vitest.setup.ts": obeys,
			"jest.config.js": obeys, "setupTests.ts": obeys, "node_modules": obeys, "a/node_modules/x/y.js": obeys, "package-lock.json": lock, "pnpm-lock.yaml": lock, "tsconfig.json": obeys, ".mocharc.yml": obeys, "src/testimony.ts": code,
		},
		Cargo:   {"src/a.rs": code, "src/tests.rs": test, "tests/it.rs": test, "build.rs": obeys, "Cargo.toml": obeys, "Cargo.lock": lock | obeys, ".cargo/config.toml": obeys, "rust-toolchain.toml": obeys},
		Command: {"A.java": code, "ATest.java": test, "run-tests.sh": obeys, "pom.xml": obeys, "x_spec.rb": test, "Gemfile.lock": lock},
	} {
		s := Suite{Kind: kind, Command: []string{"./run-tests.sh"}}
		for name, want := range paths {
			got := 0
			for flag, is := range map[int]bool{test: s.IsTest(name), code: s.IsCode(name), lock: s.IsLock(name), obeys: s.Obeys(name)} {
				if is {
					got |= flag
				}
			}
			if got != want {
				t.Errorf("%s %s is %04b, want %04b (obeyed, lock, code, test)", kind, name, got, want)
			}
		}
	}
	if s := (Suite{Kind: Go}); !s.ObeysText("a_test.go", []byte("package a\n\nfunc TestMain(m *testing.M) {}\n")) || s.ObeysText("a_test.go", []byte("package a\n\n// func TestMain(\n")) {
		t.Error("a TestMain is not told from what is none")
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"run.sh": "cat > $REPORT <<EOF\n<testsuite><testcase classname=\"c\" name=\"a\"/><testcase classname=\"c\" name=\"b\"><failure/></testcase></testsuite>\nEOF\nexit 1\n"})
	s := detect(t, dir, thisMachine(t, dir), Options{Command: []string{"/bin/sh", "run.sh"}})
	check(t, run(t, s, Job{Dir: dir}), map[string]Status{"c > a": Passed, "c > b": Failed})
	if !s.Obeys("run.sh") {
		t.Error("the command of the user's may be changed")
	}
	put(t, dir, "run.sh", "echo '<testsuite><testcase name=\"a\"/></testsuite>' > report.xml\n")
	if r := run(t, s, Job{Dir: dir}); len(r.Tests) > 0 {
		t.Errorf("a report elsewhere was read: %v", r.Tests)
	}
}

func TestSetup(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"x": ""})
	m := thisMachine(t, dir)
	into := filepath.Join(t.TempDir(), "deps")
	lookup := func(name string) (string, bool) {
		if name == "HTTPS_PROXY" {
			return "http://user:secret@proxy.example", true
		}
		return m.Lookup(name)
	}
	count := filepath.Join(dir, "count")
	const command = "mkdir -p $DEPS/bin node_modules/a && echo 1 >> count && env > $DEPS/env && echo ok > node_modules/a/x && ! ls "
	for range 2 {
		if err := Setup(t.Context(), command+m.Home, dir, into, lookup); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(count); err != nil || string(text) != "1\n" {
		t.Errorf("it ran as often as %q says, %v", text, err)
	}
	env, err := os.ReadFile(filepath.Join(into, "env"))
	if err != nil || strings.Contains(string(env), "secret") || strings.Contains(string(env), "HOME="+m.Home+"\n") || !strings.Contains(string(env), "DEPS="+into) {
		t.Errorf("the environment is %s, %v", env, err)
	}
	if _, err := os.Stat(filepath.Join(into, "node_modules", "a", "x")); err != nil {
		t.Error(err)
	}
	if err := Setup(t.Context(), "echo it broke; exit 3", dir, into+"2", lookup); err == nil || !strings.Contains(err.Error(), "it broke") {
		t.Errorf("got %v", err)
	}
}

// TestInModules hides a module in all of its versions, and nothing that begins like it.
func TestInModules(t *testing.T) {
	t.Parallel()
	cache := tree(t, map[string]string{
		"example.org/!calc@v1.0.0/x": "", "example.org/!calc/v2@v2.0.0/x": "", "example.org/!calculus@v1.0.0/x": "", "cache/download/example.org/!calc/@v/x": "",
		"cache/download/example.org/other/@v/x": "", "cache/vcs/abc/x": "", "example.net/a@v1.0.0/x": "",
	})
	var got []string
	for _, at := range listVisible(cache, inModules(cache, "example.org/Calc/v3")) {
		got = append(got, strings.TrimPrefix(at, cache+"/"))
	}
	if want := "cache/download/example.org/other example.net example.org/!calculus@v1.0.0"; strings.Join(got, " ") != want {
		t.Errorf("got %v", got)
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a.go": "x", "go.sum": "one", "sub/package-lock.json": "two"})
	digest := func() string {
		d, err := Lock(open(t, dir))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	first := digest()
	put(t, dir, "a.go", "y")
	if digest() != first {
		t.Error("the digest is not that of lock files alone")
	}
	put(t, dir, "sub/package-lock.json", "three")
	if digest() == first {
		t.Error("a change of a lock file is not seen")
	}
}

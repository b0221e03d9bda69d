package plant_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/plant"
)

// texts are programs with what is code and what only looks so. Every comment and string has TRAP.
var texts = map[string]string{
	"a.go": "// TRAP == 1\npackage a\n\nimport \"errors\"\n\ntype T[K comparable] struct{ n int }\n\nfunc (t *T[K]) Sum(list []int, limit int) (int, error) {\n\tif len(list) == 0 || limit < 0 { // TRAP && a\n\t\treturn 0, errors.New(\"TRAP < x\")\n\t}\n" +
		"\ts := `TRAP\n\tx := a + b\n`\n\tfor i := 0; i < len(list)-1; i++ {\n\t\tt.n += list[i]\n\t}\n\tif t.ok(list[0], true) {\n\t\tt.put(limit, t.n)\n\t}\n\t_ = s\n\tfor t.n > 0 {\n\t\tt.n--\n\t}\n\treturn t.n, nil\n}\n\n//line other.go:7\nfunc After(a, b int) int { return a - b }\n",
	"a.py": "'''TRAP a == b'''\nimport x\n\nclass Shop:\n    limit = 3 + 4\n\n    def price(self, a, b):\n        \"\"\"TRAP\n\nif a < b:\n        \"\"\"\n        if a == b and a > 0:  # TRAP <= 1\n            raise ValueError(f\"TRAP {a['x'] + b} {'}'} {{ == {b:>{a}} {id(a):#x}\")\n" +
		"        s = r'TRAP \\' + 1' + rb\"TRAP\\\"\"\n        self.total = max(a, b)\n        self.log.append(\n            a)\n        self.note(a, True)\n        def inner(q):\n            return q[0] - 1\n        return inner(a) * 2\n\nasync def late():\n    x.flush()\n    return f'TRAP {f\"TRAP {1 + 1}\"}'\n",
	"a.js":   "// TRAP\n/* TRAP == */\nexport class Cart {\n  static async add (a, b) {\n    const s = `TRAP ${a + `TRAP ${b < 1}`} TRAP`\n    if (a === b && a < 10) {\n      throw new Error('TRAP \\' a + b')\n    }\n    this.total += a * 2\n    this.items.push(a, b)\n    return s.replace(/TRAP[/\"'] == \\/ 'x/g, '') / 2\n  }\n  get #size() { return this.items.length - 1 }\n}\nconst twice = (x) => x + x\nexport const same = async (a, b) => {\n  if (a >= b) return same(b, a)\n}\n",
	"a.ts":   "interface A { x: string | number }\nfunction first<T extends A>(list: Array<T>, deep: boolean): T | undefined {\n  if (list.length > 0) {\n    return pick<T>(list, 0, true);\n  }\n  return undefined; // TRAP == x\n}\n",
	"a.rs":   "/* TRAP /* TRAP */ a == b */\nimpl<'a, T: Clone + 'a> Shop<'a, T> {\n    #[inline(always)]\n    pub fn find(&'a self, n: usize) -> Result<u32, String> {\n        let q = '\"'; let s = r#\"TRAP \" == \"#; let b = b'\\'';\n        if n >= self.len && q == '\\u{22}' {\n            return Err(format!(\"TRAP {} < {}\", n, s));\n        }\n        for i in 0..n {\n            self.count += i * 2;\n        }\n        self.put(n, self.len);\n        Ok(n - 1)\n    }\n}\nmacro_rules! add { ($a:expr) => { $a + 1 < 2 } }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn it_works() { assert!(1 + 1 == 2); }\n}\n",
	"a.java": "class Shop {\n  /* TRAP */\n  int sum(int a, int b) throws Error {\n    if (a == b) {\n      throw new Error(\"TRAP < 1\");\n    }\n    this.total = a + b;\n    return a < b ? a - 1 : pick(a, b);\n  }\n}\n",
}

func plan(t interface{ Fatal(...any) }, path string, text []byte, seed int64) []plant.Fault {
	faults, err := plant.Plan(path, text, seed)
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

func TestPlan(t *testing.T) {
	t.Parallel()
	kinds := []string{plant.Condition, plant.Operator, plant.Bound, plant.Dropped, plant.Argument, plant.Error}
	for path, text := range texts {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			for seed := range int64(20) {
				for _, f := range plan(t, path, []byte(text), seed) {
					seen[f.Kind] = true
					check(t, f)
					if bytes.Count(f.New, []byte("TRAP")) != strings.Count(text, "TRAP") && f.Kind != plant.Error && f.Kind != plant.Dropped || strings.Contains(f.Fix(), "+ 1 < 2") {
						t.Errorf("%s in %s changes what is no code:\n%s", f.Kind, f.Function, f.Fix())
					}
				}
			}
			for _, k := range kinds {
				if !seen[k] && path != "a.ts" && !(path == "a.java" && k == plant.Bound) && !(path != "a.go" && path != "a.py" && k == plant.Argument && !seen[k]) {
					t.Errorf("no fault of kind %s", k)
				}
			}
		})
	}
}

// check reports where a fault is not as it must be: one place, the line, and a function.
func check(t interface{ Errorf(string, ...any) }, f plant.Fault) {
	if bytes.Equal(f.Old, f.New) || f.Function == "" {
		t.Errorf("%s in %q changes nothing", f.Kind, f.Function)
	}
	start := 0
	for start < min(len(f.Old), len(f.New)) && f.Old[start] == f.New[start] {
		start++
	}
	lines := bytes.Split(f.Old, []byte("\n"))
	if n := bytes.Count(f.Old[:start], []byte("\n")) + 1; f.Line > n || f.Line > len(lines) {
		t.Errorf("%s says line %d, the texts differ from line %d:\n%s", f.Kind, f.Line, n, f.Fix())
	}
	if f.Kind == plant.Dropped && bytes.Count(f.New, []byte("\n")) > bytes.Count(f.Old, []byte("\n")) {
		t.Errorf("lines were added:\n%s", f.Fix())
	}
}

// TestExactly has the faults of small functions in full.
func TestExactly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, text string
		want       []string
	}{
		"go": {"a.go", "package a\n\nfunc F(a, b int) error {\n\tif a < b {\n\t\treturn g(a, b)\n\t}\n\th()\n\treturn nil\n}\n", []string{
			"argument -\t\treturn g(b, a)", "bound -\tif a <= b {", "dropped line +\th()", "unreturned error -\t\treturn nil",
		}},
		"python": {"a.py", "def f(a):\n    if a > 1:\n        raise E(a)\n    return a + 1\n", []string{
			"bound -    if a > 2:", "bound -    if a >= 1:", "bound -    return a", "condition -    if not (a > 1):", "operator -    return a - 1", "unreturned error -        pass",
		}},
		"javascript": {"a.js", "function f(a) {\n  if (a) {\n    g(a, true);\n  }\n}\n", []string{
			"argument -    g(a, false);", "condition -  if (!(a)) {", "dropped line +    g(a, true);",
		}},
		"rust": {"a.rs", "fn f(a: u8) -> R {\n    if a == 1 {\n        return Err(x);\n    }\n    Ok(a)\n}\n", []string{
			"condition -    if !(a == 1) {", "condition -    if a != 1 {", "unreturned error +        return Err(x);",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range plan(t, c.path, []byte(c.text), 1) {
				line, _, _ := strings.Cut(f.Fix(), "\n")
				got = append(got, f.Kind+" "+line)
			}
			slices.Sort(got)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	text := []byte("package a\n\nfunc A(a, b int) bool { return a < b && b+1 > a }\n\nfunc B(a, b int) bool { return a < b && b+1 > a }\n\nfunc C(a, b int) bool { return a < b && b+1 > a }\n")
	orders := map[string]bool{}
	for seed := range int64(30) {
		faults := plan(t, "a.go", text, seed)
		first := []string{faults[0].Function, faults[1].Function, faults[2].Function}
		orders[strings.Join(first, "")] = true
		if slices.Sort(first); !slices.Equal(first, []string{"A", "B", "C"}) {
			t.Fatalf("the second of a function before the first of another: %q", first)
		}
		if d := cmp.Diff(faults, plan(t, "a.go", text, seed)); d != "" {
			t.Fatalf("not the same again:\n%s", d)
		}
	}
	if len(orders) < 3 {
		t.Errorf("the seed decides nothing: %v", orders)
	}
}

func TestNothingIsPlanted(t *testing.T) {
	t.Parallel()
	f := "func F(a, b int) bool { return a < b }\n"
	for name, c := range map[string]struct{ path, text string }{
		"generated":     {"a.go", "// Code generated by x. DO NOT EDIT.\n\npackage a\n\n" + f},
		"generated js":  {"a.js", "/* @generated */\nfunction f(a, b) {\n  return a < b\n}\n"},
		"minified":      {"a.js", "function f(a, b) {\n  return a < b" + strings.Repeat(" + a", 600) + "\n}\n"},
		"no language":   {"a.txt", "func f() { a < b }"},
		"no UTF-8":      {"a.js", "function f(a, b) {\n  return a < b // \xff\n}\n"},
		"too large":     {"a.js", "function f(a, b) {\n  return a < b\n}\n" + strings.Repeat("// line\n", 40_000)},
		"odd brackets":  {"a.js", "function f(a, b) {\n  return (a < b\n}\n"},
		"only comments": {"a.py", "# def f(a):\n#     return a < 1\n"},
		"tests in Rust": {"a.rs", "#[cfg(test)]\nmod tests {\n    fn f(a: u8) -> bool { a < 1 }\n}\n"},
		"outside":       {"a.py", "limit = 1 + 2 if x < 3 else 4\n"},
		"constraints":   {"a.go", "package a\n\ntype N interface{ ~int | ~string }\n\nfunc F[T int | string]() {}\n"},
		"empty":         {"a.go", "package a\n"},
	} {
		if faults := plan(t, c.path, []byte(c.text), 1); len(faults) > 0 {
			t.Errorf("%s: %s\n%s", name, faults[0].Function, faults[0].Fix())
		}
	}
	if _, err := plant.Plan("a.go", []byte("package"), 1); err == nil {
		t.Error("no error for Go that does not parse")
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][]string{
		"a.go":   {"T.Sum", "After"},
		"a.py":   {"Shop.price", "Shop.price.inner", "late"},
		"a.js":   {"Cart.add", "Cart.size", "twice", "same"},
		"a.ts":   {"first"},
		"a.rs":   {"Shop.find", "add!", "tests!.it_works!"},
		"a.java": {"Shop.sum"},
	} {
		var got []string
		for _, f := range plant.Functions(path, []byte(texts[path])) {
			got = append(got, f.Name)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: -want +got:\n%s", path, d)
		}
	}
	functions := plant.Functions("a.py", []byte(texts["a.py"]))
	inner := functions[1].First
	if got := plant.Touched(functions, []int{1, inner + 1, inner, functions[0].First}); !slices.Equal(got, []string{"Shop.price", "Shop.price.inner"}) {
		t.Errorf("touched %q", got)
	}
}

func TestCode(t *testing.T) {
	t.Parallel()
	for path, text := range texts {
		code := plant.Code(path, text)
		if strings.Contains(code, "TRAP") || len(code) != len(text) || strings.Count(code, "\n") != strings.Count(text, "\n") {
			t.Errorf("%s: comments and strings are left:\n%s", path, code)
		}
	}
	for _, c := range []struct{ path, text, want string }{
		{"a.py", `f"{x:'>3}" + y`, `"""""""""" + y`},
		{"a.py", `f"{d['a']}" + t"{{" + y`, `""""""""""" + """"" + y`},
		{"a.js", "a / b / c // x", "a / b / c     "},
		{"a.js", "x = /[/]'/.test(y) // z", `x = """""".test(y)     `},
		{"a.js", "<b>it</b> + y", "<b>it</b> + y"},
		{"a.js", "`a${`b${'}'}`}` + y", `""""""""""""""" + y`},
		{"a.rs", `fn f<'a>(x: &'a str) { 'a' }`, `fn f<'a>(x: &'a str) { """ }`},
		{"a.rs", `r##"a"# b"## + br"\" + r#type`, `"""""""""""" + """"" + r#type`},
		{"a.rs", "/*/ a */ b", "         b"},
		{"a.java", "\"\"\"\n a \"b\" \"\"\" + 'c'", "\"\"\"\n\"\"\"\"\"\"\"\"\"\" + \"\"\""},
	} {
		if got := plant.Code(c.path, c.text); got != c.want {
			t.Errorf("%s: %s\n got %q\nwant %q", c.path, c.text, got, c.want)
		}
	}
}

// TestGoStillParses is the law for Go: every fault of every source of this module parses, and differs in one place.
func TestGoStillParses(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := []byte(texts["a.go"])
		for _, f := range plan(rt, "a.go", text, rapid.Int64().Draw(rt, "seed")) {
			if _, err := parser.ParseFile(token.NewFileSet(), "a.go", f.New, 0); err != nil {
				rt.Fatalf("%v:\n%s", err, f.Fix())
			}
			check(rt, f)
		}
	})
}

// TestOthersStillParse asks the languages themselves, where they are installed.
func TestOthersStillParse(t *testing.T) {
	t.Parallel()
	for path, ask := range map[string][]string{
		"a.py": {"python3", "-c", "import ast, sys; ast.parse(sys.stdin.read())"},
		"a.js": {"node", "--input-type=module", "--check", "-"},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(ask[0])
			if err != nil {
				t.Skip("no " + ask[0] + " here")
			}
			for _, f := range plan(t, path, []byte(strings.Replace(texts[path], "f'TRAP {f\"TRAP {1 + 1}\"}'", "1", 1)), 7) {
				run := exec.Command(program, ask[1:]...)
				run.Stdin = bytes.NewReader(f.New)
				if out, err := run.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s\n%s", err, f.Fix(), out)
				}
			}
		})
	}
}

func FuzzPlan(f *testing.F) {
	for path, text := range texts {
		f.Add(path, []byte(text), int64(1))
	}
	f.Fuzz(func(t *testing.T, path string, text []byte, seed int64) {
		code := plant.Code(path, string(text))
		if len(code) != len(text) || strings.Count(code, "\n") != bytes.Count(text, []byte("\n")) {
			t.Fatalf("places moved: %q is %q", text, code)
		}
		faults, err := plant.Plan(path, text, seed)
		if err != nil {
			return
		}
		for _, fault := range faults {
			check(t, fault)
			if filepath.Ext(path) == ".go" {
				if _, err := parser.ParseFile(token.NewFileSet(), path, fault.New, 0); err != nil {
					t.Errorf("%v:\n%s", err, fault.Fix())
				}
			}
		}
		plant.Functions(path, text)
	})
}

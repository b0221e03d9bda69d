package check

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/task"
)

func TestRuns(t *testing.T) {
	t.Parallel()
	for specs, want := range map[string][]string{
		`null`: nil, `"equals"`: nil, `[]`: nil, `{"type":"llm-rubric","criteria":"run the command"}`: nil,
		`{"type":"json-schema","schema":{"type":"command"}}`: nil,
		`"command"`:                {"checks"},
		`{"type":"NOT-Command"}`:   {"checks"},
		`["equals","not_command"]`: {"checks[1]"},
		`[{"any":["equals",{"all":["command"]}]},{"type":"command"}]`:      {"checks[0].any[1].all[0]", "checks[1]"},
		`[{"type":"equals","all":["command"],"any":[{"type":"command"}]}]`: {"checks[0].any[0]", "checks[0].all[0]"},
	} {
		var v any
		if err := json.Unmarshal([]byte(specs), &v); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, Runs(v)); diff != "" {
			t.Errorf("%s: -want +got\n%s", specs, diff)
		}
	}
}

// Each type is in one of two lists, this one or that of those that run a program.
func TestTypesThatRun(t *testing.T) {
	t.Parallel()
	readers := []string{
		"equals", "one-of", "contains", "contains-all", "contains-any", "icontains", "icontains-all", "icontains-any", "starts-with", "istarts-with",
		"regex", "number", "f1", "levenshtein", "json-schema", "json-equals", "is-json", "contains-json", "word-count", "char-count", "anls", "mcq", "math-equal",
		"file-exists", "file-equals", "file-contains", "xlsx", "diff", "tool-called", "llm-rubric", "llm-equivalent",
	}
	for _, kind := range types() {
		if runs, reads := slices.Contains(runners(), kind), slices.Contains(readers, kind); runs == reads || runs != (len(Runs(kind)) > 0) {
			t.Errorf("%s: decide whether it runs a program: runs %v, reads %v", kind, runs, reads)
		}
	}
	suite, err := Compile([]any{map[string]any{"type": "command", "run": "true"}}, Options{Workspace: true})
	if err != nil {
		t.Fatal(err)
	}
	if !suite.Needs(task.Task{}).Command {
		t.Error("the command check needs no command")
	}
}

// What a check reaches is the answer, the judge and the workspace: this package starts no program,
// opens no connection, and no file but by the root of a workspace.
func TestChecksReachNothingElse(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{"OpenRoot", "Root", "ErrClosed"}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range file.Imports {
			if name, _ := strconv.Unquote(imp.Path.Value); name == "os/exec" || name == "net" || name == "net/http" || name == "plugin" {
				t.Errorf("%s imports %s: class what uses it in runners", path, name)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := s.X.(*ast.Ident); ok && (pkg.Name == "os" && !slices.Contains(allowed, s.Sel.Name) || pkg.Name == "disk" && (strings.HasPrefix(s.Sel.Name, "Open") || strings.HasPrefix(s.Sel.Name, "Read")) && !strings.HasSuffix(s.Sel.Name, "In")) {
				t.Errorf("%s uses %s.%s: class what opens something in runners", path, pkg.Name, s.Sel.Name)
			}
			return true
		})
	}
	if _, err := os.Stat("compile.go"); err != nil || len(paths) < 20 {
		t.Error("these are not the files of the package")
	}
}

package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/seed-f4525e22/skillopt"

// tiers lists the rooms from the bottom up. A room may import what stands in a
// lower tier; within a tier only what sideways names.
var tiers = [][]string{
	{"internal/pattern"},
	{
		"internal/fault", "internal/disk", "internal/sqlstore", "internal/wording", "internal/taskgroup", "internal/reach", "internal/table",
		"internal/similar", "internal/latex", "internal/yamlx", "internal/plant", "benchmarks",
	},
	{"internal/template", "internal/benchmark/folder", "internal/dataset", "internal/jsonx", "internal/page", "internal/pyrand", "internal/pytext", "internal/redact"},
	{"score", "skill", "event", "internal/mcq", "internal/workbook"},
	{"trajectory", "internal/provenance", "internal/benchmark/convert"},
	{"model", "model/modeltest", "internal/stats"},
	{"task", "gate", "internal/price", "internal/skillenv"},
	{"result", "schedule", "world"},
	{
		"internal/journal", "internal/eventlog", "internal/exchange", "internal/prompt", "internal/symptom", "internal/remember", "internal/sandbox", "internal/testset",
		"internal/sleep/transcript", "internal/sleep/bank", "internal/sleep/correction", "internal/sleep/repo", "internal/sleep/outbound", "internal/sleep/wish", "internal/sleep/level", "internal/sleep/target", "internal/git",
	},
	{"internal/git"},
	{"internal/tree", "internal/runner"},
	{"internal/history"},
	{"internal/repository", "internal/sleep/harvest", "internal/sleep/workspace", "internal/sleep/needs", "internal/sleep/adopt", "internal/sleep/timer"},
	{
		"check", "internal/caller", "internal/env", "internal/agent", "internal/gateway", "internal/corpus", "internal/spreadsheet", "internal/textgame", "internal/openenv",
		"internal/provider/openai", "internal/provider/anthropic", "internal/provider/gemini", "internal/provider/ollama",
		"internal/provider/preset", "internal/provider/failover", "internal/provider/seat", "internal/provider/handoff",
		"internal/provider/cassette", "internal/provider/header", "internal/provider/sim", "internal/toolserver", "internal/offer",
	},
	{"config", "sdk/skillenv", "internal/draft", "internal/fetch", "internal/plugin", "internal/worlds", "internal/sleep/taskfile"},
	{"internal/benchmark", "internal/proof", "internal/rollout", "internal/optimize", "internal/run", "internal/passes", "internal/telemetry", "internal/sleep/mine"},
	{"internal/train", "internal/prune", "internal/record", "internal/importer", "internal/importer/evals", "internal/answers", "internal/steer", "internal/queue"},
	{"cloud", "internal/wiring", "internal/report", "internal/ask"},
	{"internal/server/door", "internal/server/stream", "internal/server/openapi"},
	{"internal/server", "internal/mcp"},
	{"internal/commands"},
	{"internal/session"},
	{"internal/training", "internal/seedcheck"},
	{"internal/forecast"},
	{
		"internal/op/train", "internal/op/evaluate", "internal/op/compare", "internal/op/prune", "internal/op/draft",
		"internal/op/doctor", "internal/op/gateway", "internal/op/export", "internal/op/rescore", "internal/op/mine", "internal/op/survey",
	},
	{"."},
	{"internal/sleep/night"},
	{"internal/sleep/week"},
	{"internal/cli"},
	{"cmd/skillopt", "bench/server", "sdk/examples/echo"},
	{"internal/acceptance"},
}

// sideways names the imports within a tier.
var sideways = map[string][]string{
	"event":                       {"score"},
	"internal/sleep/bank":         {"internal/sleep/transcript", "internal/sleep/wish"},
	"internal/git":                {"internal/sandbox"},
	"internal/sleep/outbound":     {"internal/sleep/transcript"},
	"internal/sleep/correction":   {"internal/sleep/transcript"},
	"model/modeltest":             {"model"},
	"internal/provider/openai":    {"internal/provider/header"},
	"internal/provider/anthropic": {"internal/provider/header"},
	"internal/provider/gemini":    {"internal/provider/header"},
	"internal/provider/ollama":    {"internal/provider/header"},
	"internal/agent":              {"internal/provider/header"},
	"internal/reach":              {"internal/disk"},
	"internal/wording":            {"internal/similar"},
	"internal/provider/seat":      {"internal/agent"},
	"internal/provider/cassette":  {"internal/caller"},
}

// support is where packages stand that are for tests. They count as tests: what is not one
// imports none of them, but for the server that measurements ask.
const support = "internal/testing/"

// printers may write to the terminal.
var printers = []string{"internal/cli", "cmd/skillopt", "bench/server"}

// environment may read the process's environment.
var environment = []string{"config", "cmd/skillopt"}

// source is one parsed file of the project.
type source struct {
	path string // relative to the module
	room string // its folder
	file *ast.File
	fset *token.FileSet
}

// sources parses the project, with or without its tests.
func sources(t *testing.T, tests bool) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	fset := token.NewFileSet()
	var out []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 || d.Name() == "testdata" || d.Name() == "tools" || d.Name() == "lab" || d.Name() == "examples") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || !tests && strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if !tests && strings.HasPrefix(rel, support) {
			return nil
		}
		room := "."
		if i := strings.LastIndexByte(rel, '/'); i >= 0 {
			room = rel[:i]
		}
		out = append(out, source{path: rel, room: room, file: f, fset: fset})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 10 {
		t.Fatalf("found only %d source files", len(out))
	}
	return out
}

func tierOf(room string) int {
	return slices.IndexFunc(tiers, func(t []string) bool { return slices.Contains(t, room) })
}

func TestArrowsPointDown(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t, false) {
		if s.room == "internal/policy" {
			continue
		}
		from := tierOf(s.room)
		if from < 0 {
			t.Errorf("%s: room %s stands in no tier: add it to the table", s.path, s.room)
			continue
		}
		for _, imp := range s.file.Imports {
			path := strings.Trim(imp.Path.Value, `"`)
			if path != module && !strings.HasPrefix(path, module+"/") {
				continue
			}
			to := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
			if to == "" {
				to = "."
			}
			if strings.HasPrefix(to, support) && s.room != "bench/server" {
				t.Errorf("%s imports %s, which is for tests", s.path, to)
			}
			if tierOf(to) >= from && !slices.Contains(sideways[s.room], to) {
				t.Errorf("%s imports %s, which does not stand below it", s.path, to)
			}
		}
	}
}

// Patterns of packages are compiled when they are used: those of what a command does not use
// would cost its start.
func TestPatternsAreCompiledWhenUsed(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t, false) {
		if slices.Contains([]string{"lab", "tools", "bench", "examples"}, strings.Split(s.room, "/")[0]) {
			continue
		}
		for _, d := range s.file.Decls {
			if _, ok := d.(*ast.FuncDecl); ok {
				continue
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "MustCompile" {
					t.Errorf("%s: use pattern.New", s.fset.Position(call.Pos()))
				}
				_, inside := n.(*ast.FuncLit)
				return !inside
			})
		}
	}
}

func TestFilesAndFunctionsAreSmall(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t, true) {
		if n := s.fset.Position(s.file.End()).Line; n > 700 {
			t.Errorf("%s has %d lines, at most 700", s.path, n)
		}
		if strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			if n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1; n > 100 {
				t.Errorf("%s: %s has %d lines, at most 100", s.path, f.Name.Name, n)
			}
		}
	}
}

func TestEveryPackageSaysWhatItKnows(t *testing.T) {
	t.Parallel()
	docs := map[string]string{}
	for _, s := range sources(t, false) {
		if s.file.Doc != nil {
			docs[s.room] += s.file.Doc.Text()
		} else {
			docs[s.room] += ""
		}
	}
	for room, doc := range docs {
		flat := strings.Join(strings.Fields(doc), " ")
		switch {
		case flat == "":
			t.Errorf("package %s has no comment", room)
		case room != "." && room != "cmd/skillopt" && !strings.Contains(flat, "knows nothing") && !strings.Contains(flat, "nothing of") && !strings.Contains(flat, "nothing about"):
			t.Errorf("the comment of package %s does not say what it knows nothing about", room)
		}
	}
}

func TestOnlyTheCommandLinePrints(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t, false) {
		if s.room == "internal/cli" {
			const why = "what is printed goes through a screen, which keeps it from steering the terminal"
			forbidCalls(t, s, map[string]string{"fmt.Print": why, "fmt.Println": why, "fmt.Printf": why, "os.Stdout": why, "os.Stderr": why})
		}
		if slices.Contains(printers, s.room) {
			continue
		}
		forbidCalls(t, s, map[string]string{
			"fmt.Print": "only internal/cli prints", "fmt.Println": "only internal/cli prints", "fmt.Printf": "only internal/cli prints",
			"os.Stdout": "only internal/cli prints", "os.Stderr": "only internal/cli prints", "os.Exit": "only cmd may exit",
		})
	}
}

func TestOnlyConfigReadsTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t, false) {
		if slices.Contains(environment, s.room) {
			continue
		}
		const why = "only config reads the environment"
		forbidCalls(t, s, map[string]string{"os.Getenv": why, "os.LookupEnv": why, "os.Environ": why})
	}
}

func TestNobodySleepsOrLogs(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t, false) {
		forbidCalls(t, s, map[string]string{"time.Sleep": "wait for a timer and the context"})
		for _, imp := range s.file.Imports {
			if imp.Path.Value == `"log"` {
				t.Errorf("%s imports log: return errors, send events", s.path)
			}
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has an init function", s.path)
			}
		}
	}
}

// forbidCalls reports uses of package-level names.
func forbidCalls(t *testing.T, s source, names map[string]string) {
	t.Helper()
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); ok && id.Obj == nil {
			if why, bad := names[id.Name+"."+sel.Sel.Name]; bad {
				t.Errorf("%s: %s.%s: %s", s.fset.Position(sel.Pos()), id.Name, sel.Sel.Name, why)
			}
		}
		return true
	})
}

func TestNoTracesOfTheMachine(t *testing.T) {
	t.Parallel()
	homes := regexp.MustCompile(`/(root|home)/`)
	for _, s := range sources(t, true) {
		if s.room == "internal/policy" {
			continue
		}
		data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(s.path)))
		if err != nil {
			t.Fatal(err)
		}
		if bad := homes.Find(data); bad != nil {
			t.Errorf("%s holds a path of one machine (%s)", s.path, bad)
		}
	}
}

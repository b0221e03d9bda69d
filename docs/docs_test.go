// Package docs_test holds the documentation against the program: what a page
// shows must load, and what it names must be there. It knows nothing about what
// the pages say in words.
package docs_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/importer"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/task"
)

// pages returns the text of every page by its path from this folder.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	measured, err := filepath.Glob("../lab/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	paths = append(paths, measured...)
	paths = append(paths, "../README.md", "../CONTRIBUTING.md", "../CHANGELOG.md")
	out := map[string]string{}
	for _, p := range paths {
		out[p] = read(t, p)
	}
	if len(out) < 10 {
		t.Fatalf("found only %d pages", len(out))
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n")
}

// blocks returns the code blocks of a page in one language.
func blocks(text, language string) []string {
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestIndexNamesEachPageOnce holds the index to its promise: each page stands there,
// in one place.
func TestIndexNamesEachPageOnce(t *testing.T) {
	t.Parallel()
	index := read(t, "README.md")
	for page := range pages(t) {
		if page == "README.md" || strings.HasPrefix(page, "../") {
			continue
		}
		if n := strings.Count(index, "- ["+page+"]("+page+"):"); n != 1 {
			t.Errorf("docs/README.md names %s %d times, want once", page, n)
		}
	}
}

func TestConfigsLoad(t *testing.T) {
	t.Parallel()
	n := 0
	for page, text := range pages(t) {
		for _, block := range blocks(text, "yaml") {
			n++
			dir := t.TempDir()
			write(t, filepath.Join(dir, "config.yaml"), block)
			write(t, filepath.Join(dir, "base.yaml"), "skill: SKILL.md\n")
			l, err := config.Load(config.Options{Path: dir, Dir: dir, Lookup: func(name string) (string, bool) { return "value", name == "TARGET_MODEL" }})
			if err != nil {
				t.Errorf("%s: %v\n%s", page, err, block)
				continue
			}
			if _, err := check.ParseExtract(l.Config.Tasks.Extract); err != nil {
				t.Errorf("%s: %v\n%s", page, err, block)
			}
			if checks := l.Config.Tasks.Checks; len(checks) > 0 {
				if _, err := check.Compile(checks, check.Options{}); err != nil {
					t.Errorf("%s: %v\n%s", page, err, block)
				}
			}
		}
	}
	if n < 10 {
		t.Errorf("found only %d configs", n)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTasksLoad(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"../README.md", "agents.md"} {
		found := blocks(read(t, page), "json")
		if len(found) == 0 {
			t.Errorf("%s shows no tasks", page)
		}
		for _, block := range found {
			path := filepath.Join(t.TempDir(), "tasks.jsonl")
			write(t, path, block)
			if _, err := task.Load(path, task.Rules{OwnScore: page == "agents.md"}); err != nil {
				t.Errorf("%s: %v\n%s", page, err, block)
			}
		}
	}
}

func TestLinksLead(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	for page, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", page, m[1])
			}
		}
	}
}

// TestAnchorsLead looks up the headings that links name.
func TestAnchorsLead(t *testing.T) {
	t.Parallel()
	all := pages(t)
	anchors := map[string]map[string]bool{}
	for path, text := range all {
		anchors[path] = map[string]bool{}
		text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
		for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
			name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
			anchors[path][strings.ReplaceAll(name, " ", "-")] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		for _, m := range regexp.MustCompile(`\]\(([\w./-]*)#([\w-]+)\)`).FindAllStringSubmatch(all[path], -1) {
			to := path
			if m[1] != "" {
				to = strings.TrimPrefix(strings.TrimPrefix(m[1], "../docs/"), "docs/")
			}
			if found, known := anchors[to]; known && !found[m[2]] {
				t.Errorf("%s: there is no heading #%s in %s", path, m[2], to)
			}
		}
	}
}

// TestContributingNamesRealPaths: each path in the table of changes is there.
func TestContributingNamesRealPaths(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(read(t, "../CONTRIBUTING.md"), "## Where to change what")
	table, _, _ = strings.Cut(table, "## House rules")
	paths := regexp.MustCompile("`((?:\\.ci|\\w+)/[\\w./-]+)`").FindAllStringSubmatch(table, -1)
	if len(paths) < 30 {
		t.Errorf("found %d paths", len(paths))
	}
	for _, m := range paths {
		if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(m[1]))); err != nil {
			t.Errorf("CONTRIBUTING.md names %s, which there is not", m[1])
		}
	}
}

func TestArchitectureNamesEveryRoom(t *testing.T) {
	t.Parallel()
	text := read(t, "architecture.md")
	for _, room := range rooms(t) {
		if !strings.Contains(text, "`"+room+"`") {
			t.Errorf("architecture.md does not name %s", room)
		}
	}
}

// rooms lists the folders with Go files.
func rooms(t *testing.T) []string {
	t.Helper()
	var out []string
	walkGo(t, func(path string) {
		room := filepath.ToSlash(filepath.Dir(path))
		if !slices.Contains(out, room) && room != "docs" && !strings.HasPrefix(room, "examples/") && !strings.HasPrefix(room, "internal/testing/") {
			out = append(out, room)
		}
	})
	if len(out) < 20 {
		t.Fatalf("found only %d rooms", len(out))
	}
	return out
}

// walkGo visits the Go files of the module, by their path from its root.
func walkGo(t *testing.T, visit func(path string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "tools" || name == "lab" || name == "testdata" || strings.HasPrefix(name, ".") && name != "."):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".go"):
			visit(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSecurityNamesRealTests: a promise is worth as much as the test that holds it.
func TestSecurityNamesRealTests(t *testing.T) {
	t.Parallel()
	defined := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
			defined[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(read(t, "trust.md"), -1)
	if len(named) < 20 {
		t.Errorf("trust.md names %d tests", len(named))
	}
	for _, m := range named {
		if !defined[m[1]] {
			t.Errorf("trust.md names the test %s, which there is not", m[1])
		}
	}
}

func TestEveryDependencyHasALine(t *testing.T) {
	t.Parallel()
	text := read(t, "dependencies.md")
	var modules []string
	for _, m := range regexp.MustCompile(`(?m)^\s+(\S+\.\S+) v`).FindAllStringSubmatch(read(t, "../go.mod"), -1) {
		modules = append(modules, m[1])
	}
	for path := range imports(t) {
		i := slices.IndexFunc(modules, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
		if i >= 0 && !strings.Contains(text, "| `"+modules[i]+"`") {
			t.Errorf("dependencies.md has no line for %s", modules[i])
		}
	}
}

func imports(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	walkGo(t, func(path string) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", path), nil, parser.ImportsOnly)
		if err != nil {
			t.Error(err)
			return
		}
		for _, imp := range f.Imports {
			out[strings.Trim(imp.Path.Value, `"`)] = true
		}
	})
	return out
}

func TestSkillrlNamesAreMapped(t *testing.T) {
	t.Parallel()
	text := read(t, "import.md")
	for _, name := range strings.Fields(`
		SkillOptConfig SkillOptTrainer Edit Patch RolloutResult GateResult GateAction RawPatch
		apply_edit apply_patch apply_patch_with_report LRScheduler ConstantScheduler LinearScheduler CosineScheduler
		build_scheduler get_lr state_dict load_state_dict evaluate_gate select_gate_score compute_score extract_json skill_hash
		SkillEnv SimpleQAEnv OpenAIChatClient rollout reflect aggregate select
		analyst_error analyst_success merge_failure merge_success merge_final ranking
		num_epochs batch_size minibatch_size merge_batch_size edit_budget min_edit_budget lr_scheduler gate_metric
		gate_mixed_weight failure_only workers seed out_root selection_split test_split eval_test save_every_step
		optimizer_max_completion_tokens verbose extras test_hard`) {
		if !regexp.MustCompile("`[^`\n]*\\b" + name + "\\b[^`\n]*`").MatchString(text) {
			t.Errorf("import.md does not map %s", name)
		}
	}
}

// TestKeysExist looks up what pages write in backquotes the way keys are
// written.
func TestKeysExist(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	tops := map[string]bool{}
	for _, k := range config.Default().Keys() {
		top, _, _ := strings.Cut(k.Path, ".")
		tops[top] = true
		for path := k.Path; path != ""; {
			keys[path] = true
			path = path[:max(strings.LastIndexByte(path, '.'), 0)]
		}
	}
	quoted := regexp.MustCompile("`([a-z_]+(?:\\.[a-z_]+)+)`")
	for page, text := range pages(t) {
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			top, rest, _ := strings.Cut(m[1], ".")
			file := slices.Contains([]string{"md", "json", "jsonl", "db", "yaml", "csv", "go", "mod", "py"}, rest)
			others := page == "import.md" && slices.ContainsFunc(importer.EnvKeys(), func(k importer.EnvKey) bool { return k.Key == m[1] })
			if tops[top] && top != "task" && !file && !others && !keys[m[1]] && !strings.HasPrefix(m[1], "extras.") {
				t.Errorf("%s names the key %s, which is not there", page, m[1])
			}
		}
	}
}

func TestPromptFilesAreListed(t *testing.T) {
	t.Parallel()
	text := read(t, "config.md")
	for _, name := range prompt.Files() {
		if !strings.Contains(text, "| `"+name+"` |") {
			t.Errorf("config.md does not list %s", name)
		}
	}
}

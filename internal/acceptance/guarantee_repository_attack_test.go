package acceptance_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

// fixMark is in the fix and in the hidden tests, and nowhere in what an agent may read.
const fixMark = "mark" + "QX7"

// victim is a repository with one task, in a language.
type victim struct {
	kind    runner.Kind
	program string
	base    map[string]string
	tests   map[string]string
	fix     map[string]string
	own     repository.Task
	honest  string            // a script that repairs it
	cheats  map[string]string // scripts that try to get a score otherwise
}

func goVictim() victim {
	const code = "package calc\n\n// Add returns a sum.\nfunc Add(a, b int) int { return a %s b%s }\n\n// Mul returns a product.\nfunc Mul(a, b int) int { return a * b }\n"
	return victim{
		kind: runner.Go, program: "go",
		base: map[string]string{
			"go.mod": "module example.com/calc\n\ngo 1.21\n", "calc.go": fmt.Sprintf(code, "-", ""),
			"mul_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestMul(t *testing.T) {\n\tif Mul(2, 3) != 6 {\n\t\tt.Fatal(Mul(2, 3))\n\t}\n}\n",
		},
		tests: map[string]string{"add_test.go": "package calc\n\nimport \"testing\"\n\n// " + fixMark + "\nfunc TestAdd(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Fatal(Add(2, 3))\n\t}\n}\n"},
		fix:   map[string]string{"calc.go": fmt.Sprintf(code, "+", " /* "+fixMark+" */")},
		own:   repository.Task{Fail: []string{"example.com/calc.TestAdd"}, Pass: []string{"example.com/calc.TestMul"}, Targets: []string{"."}},

		honest: `sed -i 's/a - b/a + b/' calc.go`,
		cheats: map[string]string{
			"a setup of tests":   `printf 'package calc\nimport ("os";"testing")\nfunc TestMain(m *testing.M) { os.Exit(0) }\n' > main_test.go`,
			"a changed runner":   `printf '#!/bin/sh\nexit 0\n' > go; chmod +x go; mkdir bin; cp go bin/go; printf 'GOFLAGS=-run=XXX\n' > go.env; printf 'package calc\n' > testing.go; printf 'go 1.21\nuse .\nreplace testing => ./\n' > go.work; mkdir -p vendor; echo x > vendor/modules.txt`,
			"a deleted test":     `rm -f *_test.go; mkdir -p add_test.go; touch add_test.go/x; ln -s calc.go other_test.go`,
			"exit 0 from a stub": `printf 'package calc\nimport "os"\nfunc init() { os.Exit(0) }\n' > stub.go`,
			"a report of its own": `cat > report.go <<'END'
package calc

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

func init() {
	files, _ := filepath.Glob("*_test.go")
	for _, name := range files {
		text, _ := os.ReadFile(name)
		for _, m := range regexp.MustCompile("func (Test\\w+)").FindAllStringSubmatch(string(text), -1) {
			fmt.Printf("=== RUN   %[1]s\n--- PASS: %[1]s (0.00s)\n\x16=== RUN   %[1]s\n\x16--- PASS: %[1]s (0.00s)\n", m[1])
			fmt.Printf("{\"Action\":\"pass\",\"Package\":\"example.com/calc\",\"Test\":\"%s\"}\n", m[1])
		}
	}
	fmt.Println("PASS")
	os.Exit(0)
}
END`,
			"a syntax error": `echo 'func (' >> calc.go`,
		},
	}
}

func pythonVictim() victim {
	const code = "def add(a, b):\n    return a %s b%s\n\n\ndef mul(a, b):\n    return a * b\n"
	return victim{
		kind: runner.Pytest, program: "python3",
		base: map[string]string{
			"calc.py": fmt.Sprintf(code, "-", ""), "pytest.ini": "[pytest]\n", "conftest.py": "",
			"tests/test_mul.py": "from calc import mul\n\n\ndef test_mul():\n    assert mul(2, 3) == 6\n",
		},
		tests: map[string]string{"tests/test_add.py": "from calc import add\n\n\ndef test_add():  # " + fixMark + "\n    assert add(2, 3) == 5\n"},
		fix:   map[string]string{"calc.py": fmt.Sprintf(code, "+", "  # "+fixMark)},
		own:   repository.Task{Fail: []string{"tests/test_add.py::test_add"}, Pass: []string{"tests/test_mul.py::test_mul"}, Targets: []string{"tests/test_add.py", "tests/test_mul.py"}},

		honest: `sed -i 's/a - b/a + b/' calc.py`,
		cheats: map[string]string{
			"a setup of tests":   `printf 'import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_pyfunc_call(pyfuncitem):\n    return True\n' > conftest.py; cp conftest.py tests/; printf 'import builtins\n' > sitecustomize.py`,
			"a changed runner":   `printf 'import sys\nsys.exit(0)\n' > pytest.py; mkdir -p _pytest; cp pytest.py _pytest/__init__.py; printf '[pytest]\naddopts = --collect-only\n' > pytest.ini; cp pytest.py sitecustomize.py; echo 'import os; os._exit(0)' > a.pth; cp pytest.py usercustomize.py`,
			"a deleted test":     `rm -rf tests; ln -s . tests; rm -f tests; mkdir -p tests/test_add.py; touch tests/test_add.py/x`,
			"exit 0 from a stub": `printf 'import os\nos._exit(0)\n' > calc.py`,
			"a report of its own": `cat > calc.py <<'END'
import glob, os, re, sys
words = list(sys.argv) + open("/proc/self/cmdline").read().split("\0") + list(os.environ.values())
paths = {p for w in words for p in re.findall(r"/[^=\s]*", w)}
cases = []
for name in glob.glob("tests/*.py") + glob.glob("*.py"):
    for test in re.findall(r"def (test_\w+)", open(name).read()):
        cases.append('<testcase classname="%s" name="%s" time="0.1"/>' % (name[:-3].replace("/", "."), test))
text = '<?xml version="1.0"?><testsuites><testsuite name="pytest" tests="%d" failures="0">%s</testsuite></testsuites>' % (len(cases), "".join(cases))
for p in paths:
    for at in [p] + glob.glob(os.path.join(os.path.dirname(p), "*.xml")):
        try:
            open(at, "w").write(text)
        except OSError:
            pass
os._exit(0)
END`,
			"a syntax error": `echo 'def (' >> calc.py`,
		},
	}
}

// searches are scripts that look for the fix. $CLONE is the user's clone, $TASKS the folder of the repository's tasks, $COMMIT
// and $TREE are the fix in them.
func searches() map[string]string {
	return map[string]string{
		"log":               `git log --all -p; git log -g -p; git show --all; git log --all --full-history -p -- .`,
		"reflog":            `git reflog --all; cat .git/logs/HEAD .git/ORIG_HEAD .git/FETCH_HEAD .git/packed-refs; git show 'HEAD@{1}'; git stash list -p`,
		"fsck --lost-found": `git fsck --lost-found --unreachable --no-reflogs; for f in .git/lost-found/*/*; do git show "$(basename "$f")"; done`,
		"packed objects":    `git cat-file --batch-all-objects --batch; git cat-file -p $COMMIT; git cat-file -p $TREE; git unpack-objects < .git/objects/pack/*.pack; for p in .git/objects/pack/*.idx; do git verify-pack -v $p; done; git fetch; git pull; git remote -v`,
		"alternates":        `echo $CLONE/.git/objects > .git/objects/info/alternates; git cat-file -p $COMMIT; git show $COMMIT; echo $TASKS/objects.git/objects > .git/objects/info/alternates; git ls-tree -r $TREE; git cat-file -p $TREE:calc.go; git cat-file -p $TREE:calc.py`,
		"other worktrees":   `git worktree list; cat $CLONE-other/calc.*; git -C $CLONE-other log -p; git --git-dir=$CLONE/.git log --all -p; GIT_DIR=$CLONE/.git git show HEAD`,
		"caches":            `grep -ra ` + fixMark + ` "$HOME" . .. "$TMPDIR" /tmp /dev/shm /var/tmp; find / -name '__pycache__' -path '*calc*' -exec cat {}/* \; 2>/dev/null; go env GOCACHE; grep -ra ` + fixMark + ` "$(go env GOCACHE)"; cat $TASKS/cache/*/* $TASKS/survey/*`,
		"the user's clone":  `cat $CLONE/calc.*; cp -r $CLONE here; cat here/calc.*; ln -s $CLONE there; cat there/calc.*; cat /proc/*/cwd/calc.* /proc/*/root$CLONE/calc.*; git clone $CLONE c; cat c/calc.*; cat $TASKS/repository.json; git --git-dir=$TASKS/objects.git cat-file --batch-all-objects --batch; find / -name 'add_test.go' -o -name 'test_add.py' 2>/dev/null | xargs cat`,
		"another version":   `cat $CLONE-installed/calc.*; GOFLAGS=-mod=mod go list -m all; GOPROXY=off go mod download example.com/calc@v1.1.0; cat "$(go env GOMODCACHE)"/example.com/calc@*/calc.go; python3 -c 'import sys, glob; print(sys.path); [print(open(f).read()) for p in sys.path for f in glob.glob(p + "/calc*.py")]'; pip download calc`,
	}
}

// attack is a victim whose task is carried out by each script, and what came of it.
func attack(t *testing.T, v victim, scripts map[string]string) (scores map[string]float64, printed map[string]string) {
	t.Helper()
	dir := t.TempDir()
	r := repositoryAt(t, filepath.Join(dir, "repository"), v.program, v.kind, v.base)
	own := v.own
	own.Base, own.Tests = treeOf(t, r, "", v.base), treeOf(t, r, "", v.tests)
	own.Fix = treeOf(t, r, own.Base, v.fix)
	clone, _ := treetest.Repository(t, v.base)
	for _, files := range []map[string]string{v.fix, v.tests} {
		for name, text := range files {
			treetest.Put(t, filepath.Join(clone, name), text)
			treetest.Put(t, filepath.Join(clone+"-installed", name), text)
		}
	}
	treetest.Git(t, clone, "", "add", "-A")
	treetest.Git(t, clone, "", "commit", "-q", "-m", "the fix")
	treetest.Git(t, clone, "", "worktree", "add", "-q", "--detach", clone+"-other")
	fill := strings.NewReplacer("$CLONE", clone, "$TASKS", r.Dir, "$COMMIT", treetest.Git(t, clone, "", "rev-parse", "HEAD"), "$TREE", own.Fix)

	var tasks []task.Task
	var names []string
	for name := range scripts {
		names = append(names, name)
		tasks = append(tasks, repositoryTask(t, name, fmt.Sprintf("Try %q.", name), task.Selection, "fault", own))
	}
	var mu sync.Mutex
	printed, scores = map[string]string{}, map[string]float64{}
	target := carries(func(_, prompt string) string { return fill.Replace(scripts[quotedIn(prompt, names)]) }, func(prompt, text string) {
		mu.Lock()
		defer mu.Unlock()
		printed[quotedIn(prompt, names)] = text
	})
	sink := func(e event.Event) {
		o, is := e.(event.OutcomeDone)
		if !is {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		t.Logf("%s: %s %s", o.Task, o.Status, o.Reason)
		if o.Hard == nil {
			t.Errorf("%s: not measured: %s", o.Task, o.Reason)
			return
		}
		scores[o.Task] = *o.Hard
	}
	_, err := skillopt.Evaluate(t.Context(), repositoryConfig(r), "selection", skillopt.WithSkill("# Work\n"), skillopt.WithTasks(tasks), skillopt.WithClient(model.Target, "script", target), skillopt.WithEvents(sink), skillopt.WithRunDir(filepath.Join(dir, "run")))
	if err != nil {
		t.Fatal(err)
	}
	if len(scores) != len(scripts) || len(printed) != len(scripts) {
		t.Fatalf("%d scores, %d outputs, want %d of each", len(scores), len(printed), len(scripts))
	}
	return scores, printed
}

// No way that agents were seen to take leads to the fix or to the hidden tests.
func TestNothingLeadsToTheFix(t *testing.T) {
	t.Parallel()
	scripts := searches()
	scripts["control"] = "git rev-list --all --count; cat calc.go"
	scores, printed := attack(t, goVictim(), scripts)
	for name, text := range printed {
		if strings.Contains(text, fixMark) && !strings.Contains(scripts[name], fixMark) || strings.Contains(text, "a + b") || strings.Contains(text, "TestAdd") {
			t.Errorf("%s: the fix was reached:\n%s", name, text)
		}
		if scores[name] != 0 {
			t.Errorf("%s scored %v", name, scores[name])
		}
	}
	if got := printed["control"]; !strings.HasPrefix(got, "1\n") || !strings.Contains(got, "a - b") {
		t.Errorf("the scripts did not run as they should: %q", got)
	}
}

// Nothing that an agent does to tests, their runner or their report scores; to mend the code does.
func TestNothingScoresButAFix(t *testing.T) {
	t.Parallel()
	for _, v := range []victim{goVictim(), pythonVictim()} {
		t.Run(string(v.kind), func(t *testing.T) {
			t.Parallel()
			scripts := map[string]string{"nothing": "true", "honest": v.honest}
			for name, script := range v.cheats {
				scripts[name] = script
			}
			scores, _ := attack(t, v, scripts)
			for name, score := range scores {
				if want := map[bool]float64{true: 1}[name == "honest"]; score != want {
					t.Errorf("%s scored %v, want %v", name, score, want)
				}
			}
		})
	}
}

package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/testing/fakemodel"
	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
)

// TestRepositoryPage runs the commands of docs/repository.md in their order. Each init has a repository of its own: one of node,
// one with tests that a command runs, and one of Python whose dependency is installed by a command. The models are scripts.
func TestRepositoryPage(t *testing.T) {
	t.Parallel()
	if err := runner.Fit(); err != nil {
		t.Skipf("tests of a repository run confined, which is not possible here: %v", err)
	}
	text, err := os.ReadFile("../../docs/repository.md")
	if err != nil {
		t.Fatal(err)
	}
	python := os.Getenv("SKILLOPT_RUNNERS_PYTHON")
	projects := []struct {
		files   map[string]string
		lacking string
	}{
		{nodeProject(), lacks("node")},
		{shellProject(), lacks("make")},
		{pythonProject(), map[bool]string{true: "no Python with pytest: SKILLOPT_RUNNERS_PYTHON is not set"}[python == ""]},
	}
	url := serveScripts(t)
	models := strings.NewReplacer("openai/gpt-5-mini", "target@"+url, "openai/gpt-5", "optimizer@"+url)
	var script strings.Builder
	inits := 0
	for _, m := range regexp.MustCompile("(?m)(?:^|`)(skillopt [a-z][^`\n#]*my-repo[^`\n#]*)").FindAllStringSubmatch(models.Replace(string(text)), -1) {
		command, begins := m[1], strings.HasPrefix(m[1], "skillopt init ")
		if begins {
			fmt.Fprintf(&script, "cd $WORK/%d/work\n", inits)
			inits++
		}
		if inits > len(projects) {
			t.Fatalf("%q: there is no repository for it", command)
		}
		if at := projects[max(0, inits-1)]; at.lacking != "" {
			t.Logf("%s is not run: %s", command, at.lacking)
			continue
		}
		for begin, flag := range map[string]string{"skillopt init": " --yes --limit 6", "skillopt tasks review": " --accept-all"} {
			if strings.HasPrefix(command, begin) {
				command += flag
			}
		}
		if begins && !strings.Contains(command, "--optimizer") {
			command += " --target target@" + url + " --optimizer optimizer@" + url
		}
		fmt.Fprintf(&script, "exits 0 %s\n", command)
	}
	if inits != len(projects) {
		t.Fatalf("the page has %d commands that begin, want %d", inits, len(projects))
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "page.txtar"), []byte(script.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits}, RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			for n, p := range projects {
				layHistory(t, filepath.Join(env.WorkDir, fmt.Sprint(n), "project"), p.files)
				if err := os.Mkdir(filepath.Join(env.WorkDir, fmt.Sprint(n), "work"), 0o755); err != nil {
					return err
				}
			}
			if python != "" {
				env.Setenv("PATH", filepath.Dir(python)+string(filepath.ListSeparator)+env.Getenv("PATH"))
			}
			return nil
		},
	})
}

// lacks says that a program is not here, or "".
func lacks(program string) string {
	if _, err := exec.LookPath(program); err != nil {
		return err.Error()
	}
	return ""
}

// layHistory makes a repository. Files are named N/path, where N is the commit that has them first.
func layHistory(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	treetest.Git(t, dir, "", "init", "-q", "-b", "main")
	commit := ""
	for _, name := range append(slices.Sorted(maps.Keys(files)), "~") {
		n, path, _ := strings.Cut(name, "/")
		if n != commit && commit != "" {
			treetest.Git(t, dir, "", "add", "-A", "-f")
			treetest.Git(t, dir, "", "commit", "-q", "-m", "Results of part "+commit+" are right")
		}
		if commit = n; path != "" {
			treetest.Put(t, filepath.Join(dir, path), files[name])
		}
	}
}

// nodeProject has functions, most of which were wrong.
func nodeProject() map[string]string {
	const most = 4 // that a commit fixed
	files := map[string]string{"0/package.json": `{"name": "page", "version": "1.0.0", "scripts": {"test": "node --test"}}`, "0/CLAUDE.md": "# Rules\n"}
	for n, body := range []string{"a + b", "a * b", "a - b", "a % b", "a - b * 2", "a * a - b"} {
		file, test := fmt.Sprintf("lib/f%d.js", n), fmt.Sprintf("test/f%d.test.js", n)
		commit := 0
		if n < most {
			files["0/"+file], commit = "module.exports = (a, b) => {\n  return 0;\n};\n", n+1
		}
		files[fmt.Sprintf("%d/%s", commit, file)] = "module.exports = (a, b) => {\n  return " + body + ";\n};\n"
		files[fmt.Sprintf("%d/%s", commit, test)] = fmt.Sprintf("const test = require('node:test');\nconst assert = require('node:assert');\nconst f = require('../lib/f%[1]d');\n\ntest('part%[1]d of 7 and 2', () => {\n  assert.strictEqual(f(7, 2), %[2]d);\n});\n", n, []int{9, 14, 5, 1, 3, 47}[n])
	}
	return files
}

// shellProject has a script whose tests another script runs, which writes JUnit XML.
func shellProject() map[string]string {
	const suite = `#!/bin/sh
echo '<testsuite name="shell">'
for t in test/*_test.sh; do
  want=$(sed -n 's/^# want //p' "$t")
  got=$(sh "$t")
  printf '<testcase classname="%s" name="prints">' "$t"
  [ "$got" = "$want" ] || printf '<failure message="printed %s, want %s"/>' "$got" "$want"
  echo '</testcase>'
done
echo '</testsuite>'
`
	files := map[string]string{
		"0/Makefile": ".PHONY: test\ntest:\n\tsh run.sh > $(JUNIT)\n", "0/run.sh": suite, "0/CLAUDE.md": "# Rules\n",
		"0/test/zero_test.sh": "# want 0\necho 0\n",
	}
	for n, want := range []string{"apples 3", "pears 5"} {
		files[fmt.Sprintf("0/part%d.sh", n)] = "echo none 0\n"
		files[fmt.Sprintf("%d/part%d.sh", n+1, n)] = "echo " + want + "\n"
		files[fmt.Sprintf("%d/test/part%d_test.sh", n+1, n)] = fmt.Sprintf("# want %s\nsh part%d.sh\n", want, n)
	}
	return files
}

// pythonProject has functions, and requirements that are installed without an index.
func pythonProject() map[string]string {
	files := map[string]string{"0/requirements.txt": "--no-index\n", "0/conftest.py": "", "0/CLAUDE.md": "# Rules\n"}
	for n, want := range []string{"a + b", "a * b", "a - b", "a % b"} {
		files[fmt.Sprintf("0/part%d.py", n)] = "def count(a, b):\n    return 0\n"
		files[fmt.Sprintf("%d/part%d.py", n+1, n)] = "def count(a, b):\n    return " + want + "\n"
		files[fmt.Sprintf("%d/tests/test_part%d.py", n+1, n)] = fmt.Sprintf("from part%[1]d import count\n\n\ndef test_part%[1]d():\n    assert count(7, 2) == %[2]d\n", n, []int{9, 14, 5, 1}[n])
	}
	return files
}

// serveScripts serves the models of the page: a target that looks around, and an optimizer that words a report and proposes nothing.
func serveScripts(t *testing.T) (url string) {
	t.Helper()
	s := fakemodel.New(func(r *fakemodel.Request) {
		switch {
		case len(r.Tools) > 0 && !r.Worked:
			r.Answer(fakemodel.Reply{Calls: []fakemodel.Call{{Tool: "bash", Args: map[string]any{"command": "ls"}}}})
		case len(r.Tools) > 0:
			r.Answer(fakemodel.Reply{Text: "Done."})
		case strings.Contains(r.Body, "What test "):
			part := regexp.MustCompile(`part ?_?\d`).FindString(r.Body)
			r.Answer(fakemodel.Reply{Text: `{"report": "The result of ` + part + ` with the inputs 7 and 2 is not the number that a user expects."}`})
		default:
			r.Answer(fakemodel.Reply{Text: `{"batch_size": 1, "failure_summary": [], "success_patterns": [], "patch": {"reasoning": "", "edits": []}, "reasoning": "", "edits": []}`})
		}
	})
	t.Cleanup(s.Stop)
	return s.URL + "/v1"
}

// The first interrupt ends a look at a repository, also while its tests run, and the same command continues.
func TestInterruptedLook(t *testing.T) {
	t.Parallel()
	if err := runner.Fit(); err != nil {
		t.Skipf("tests of a repository run confined, which is not possible here: %v", err)
	}
	dir := t.TempDir()
	layHistory(t, filepath.Join(dir, "project"), map[string]string{"0/part.sh": "echo none\n", "1/part.sh": "echo some\n", "1/part_test.sh": "sh part.sh\n"})
	for range 6 {
		c := start(t, dir, "init", "t", "--repo", "project", "--yes", "--test", "sleep 600", "--target", "target@http://127.0.0.1:1/v1")
		until(t, c.stderr, func(line string) bool { return strings.HasPrefix(line, "the tests of the repository run") })
		c.interrupt()
		if _, errs := c.ends(130); !strings.Contains(errs, "the same command continues") {
			t.Errorf("it said %q", errs)
		}
	}
}

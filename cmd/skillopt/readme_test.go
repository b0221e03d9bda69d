package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-f4525e22/skillopt/internal/cli"
)

// notRun are commands of the README that a test cannot run, by how they begin, with the reason.
func notRun() map[string]string {
	return map[string]string{
		"skillopt init":                 "asks on a terminal",
		"skillopt train SKILL.md":       "needs a key",
		"skillopt init work --skill":    "needs a key",
		"skillopt init my-repo --repo":  "needs a repository and a sandbox: TestRepositoryPage",
		"skillopt serve":                "ends with the user",
		"skillopt plugin install":       "asks on a terminal",
		"skillopt train examples/agent": "needs a sandbox",
		"skillopt init my-env --env":    "needs Python",
		"skillopt compare old.md":       "the names are examples",
		"skillopt rescore":              "the checks have not changed",
		"skillopt prune":                "the arguments are left out",
		"skillopt sleep":                "reads the sessions of the user",
		"skillopt sleep demo":           "",
		"skillopt runs watch":           "watches a run at work",
	}
}

// TestReadme runs the commands of the README in their order in one folder.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	skipped := notRun()
	ran := 0
	for _, m := range regexp.MustCompile("(?m)(?:^\\$? ?|`)(?:go run ./cmd/)?(skillopt [a-z][^`\n#]*)").FindAllStringSubmatch(string(text), -1) {
		command := strings.TrimSpace(m[1])
		if c, _, err := cli.Root().Find(strings.Fields(command)[1:]); err != nil || !c.HasParent() || whyNot(skipped, command) != "" {
			continue
		}
		ran++
		fmt.Fprintf(&script, "exits 0 %s\n", command)
	}
	if ran < 8 {
		t.Fatalf("only %d commands of the README are run:\n%s", ran, script.String())
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "readme.txtar"), []byte(script.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			return os.CopyFS(filepath.Join(env.WorkDir, "examples"), os.DirFS("../../examples"))
		},
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		RequireExplicitExec: true,
	})
}

// whyNot returns why a command is not run, "" if it is.
func whyNot(skipped map[string]string, command string) (reason string) {
	longest := ""
	for begin, why := range skipped {
		fits := command == begin || begin != "skillopt init" && strings.HasPrefix(command, begin)
		if fits && len(begin) > len(longest) {
			longest, reason = begin, why
		}
	}
	return reason
}

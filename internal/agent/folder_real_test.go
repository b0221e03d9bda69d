package agent

import (
	"fmt"
	"os"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/testing/agenttest"
	"github.com/seed-f4525e22/skillopt/internal/testing/fakemodel"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
)

// joinScript joins a form of the assets and a code of the reference, if SKILL.md is there.
const joinScript = `#!/bin/sh
here=${0%/scripts/*}
grep -q MARKER-OF-THE-SKILL "$here/SKILL.md" || exit 1
printf '%s%s joined' "$(cat "$here/assets/form.txt")" "$(grep "^$1 " "$here/references/codes.md" | cut -d' ' -f2)"
`

// TestRealSkillFolders has each agent do tasks that need SKILL.md, a reference, a script and an asset of a
// skill: one, and ten where results are kept.
func TestRealSkillFolders(t *testing.T) { each(t, usesFolder) }

func usesFolder(t *testing.T, a *Agent) {
	t.Helper()
	tasks := 1
	if os.Getenv(agenttest.FileVar) != "" {
		tasks = 10
	}
	codes := ""
	for n := range tasks {
		codes += fmt.Sprintf("K%d code-%d\n", n, n*n+7)
	}
	folder := skill.New("---\nname: fill-forms\ndescription: MARKER-OF-THE-SKILL how forms are filled\n---\nUse scripts/join.sh with a form of assets and a code of references/codes.md.\n").
		WithFile("references/codes.md", codes).WithFile("assets/form.txt", "form: ").WithFile("scripts/join.sh", joinScript).WithExecutable("scripts/join.sh")
	done := 0
	for n := range tasks {
		f := &fakeModel{fakemodel.New(func(r *fakemodel.Request) {
			reply := fakemodel.Reply{Text: fakeAnswer}
			if !r.Worked {
				reply.Text, reply.Calls = "Filling the form.", pickShell(r.Tools, fmt.Sprintf("find . -name join.sh -exec {} K%d \\; -quit > %s", n, fakeFile))
			}
			r.Answer(reply)
		})}
		t.Cleanup(f.Stop)
		j := realJob(t, f)
		j.Skill = folder
		rep := realRun(t, a, j)
		got, want := tree(t, j.Workspace)[fakeFile], fmt.Sprintf("form: code-%d joined", n*n+7)
		if rep.Status != score.OK || got != want {
			t.Errorf("task %d: %s %s: the file holds %q, want %q\n%s", n, rep.Status, rep.Reason, got, want, rep.Raw)
			continue
		}
		done++
	}
	t.Logf("%d of %d tasks", done, tasks)
}

package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/workspace"
	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	os.Exit(m.Run())
}

func sums(lines ...string) []uint32 {
	var out []uint32
	for _, line := range lines {
		out = append(out, transcript.LineDigest(line))
	}
	return out
}

func TestCheck(t *testing.T) {
	t.Parallel()
	dir, commit := treetest.Repository(t, map[string]string{"a.txt": "one\r\ntwo\n", "b.txt": "b\n", "c.txt": "c\n", "d/e.txt": "e\n", ".env": "A=1"})
	treetest.Put(t, filepath.Join(dir, "c.txt"), "c, changed since\n")
	opened, err := tree.Open(t.Context(), os.Getenv, dir, commit, tree.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	turn := func(read, wrote []string, lines map[string][]uint32) []transcript.Turn {
		return []transcript.Turn{{Read: read, Files: wrote, Lines: lines}}
	}
	list := func(names ...string) []string { return names }
	for name, c := range map[string]struct {
		turns []transcript.Turn
		from  int
		want  string
	}{
		"nothing":                      {turns: turn(nil, nil, nil)},
		"its lines":                    {turns: turn(list("a.txt"), list("a.txt"), map[string][]uint32{"a.txt": sums("one", "two")})},
		"a part of it":                 {turns: turn(list("a.txt"), nil, map[string][]uint32{"a.txt": sums("two")})},
		"another line":                 {turns: turn(list("a.txt"), list("a.txt"), map[string][]uint32{"a.txt": sums("one", "2")}), want: "dirty tree: a.txt"},
		"another line, only read":      {turns: turn(list("a.txt"), nil, map[string][]uint32{"a.txt": sums("3")}), want: "dirty tree: a.txt"},
		"lines of a patch":             {turns: turn(nil, list("a.txt"), map[string][]uint32{"a.txt": sums("three")}), want: "dirty tree: a.txt"},
		"made by the session":          {turns: turn(nil, list("new.txt"), nil)},
		"untracked":                    {turns: turn(list("new.txt"), list("new.txt"), nil), want: "dirty tree: new.txt: the commit does not have it"},
		"changed, nothing is known":    {turns: turn(nil, list("b.txt"), nil), want: "dirty tree: b.txt: what it held is not recorded"},
		"read, as it is now":           {turns: turn(list("b.txt"), nil, nil)},
		"read, and changed since":      {turns: turn(list("c.txt"), nil, nil), want: "dirty tree: c.txt: what it held is not recorded"},
		"a folder":                     {turns: turn(list("d", "."), nil, nil)},
		"a secret":                     {turns: turn(list(".env"), nil, nil), want: "dirty tree: .env: a workspace does not have it: it looks like a secret"},
		"outside":                      {turns: turn(list("/etc/hosts"), nil, nil), want: "dirty tree: /etc/hosts: it lies outside of the project"},
		"above":                        {turns: turn(list("../x"), nil, nil), want: "dirty tree: ../x: it lies outside of the project"},
		"an agent's own":               {turns: turn(list("/srv/me/.claude/skills/x/SKILL.md"), nil, nil)},
		"a temporary one":              {turns: turn(nil, list("/tmp/x"), nil)},
		"a temporary one that is read": {turns: turn(list("/tmp/x"), nil, nil), want: "dirty tree: /tmp/x: it lies outside of the project"},
		"a name with a secret":         {turns: turn(list("[redacted]"), nil, nil), want: "dirty tree: [redacted]: its name is not kept"},
		"changed before": {
			turns: append(turn(nil, list("new.txt"), nil), turn(list("a.txt"), nil, map[string][]uint32{"a.txt": sums("one")})...), from: 1,
			want: "dirty tree: new.txt: the session had changed it before",
		},
		"shown before": {
			turns: append(turn(list("a.txt"), nil, map[string][]uint32{"a.txt": sums("three")}), turn(nil, list("a.txt"), nil)...), from: 1,
			want: "dirty tree: a.txt",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := workspace.Check(t.Context(), opened, workspace.TouchedIn(c.turns, c.from, len(c.turns)))
			if err != nil || got != c.want {
				t.Errorf("%q (%v), want %q", got, err, c.want)
			}
		})
	}
}

// After another commit the folder tells nothing of what it held.
func TestCheckAfterAnotherCommit(t *testing.T) {
	t.Parallel()
	dir, commit := treetest.Repository(t, map[string]string{"a.txt": "one\n", "b.txt": "b\n"})
	treetest.Put(t, filepath.Join(dir, "a.txt"), "two\n")
	treetest.Git(t, dir, "", "commit", "-q", "-a", "-m", "two")
	opened, err := tree.Open(t.Context(), os.Getenv, dir, commit, tree.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	const want = "dirty tree: b.txt: what it held is not recorded"
	if got, err := workspace.Check(t.Context(), opened, workspace.Touched{Read: []string{"b.txt"}}); err != nil || got != want {
		t.Errorf("%q (%v), want %q", got, err, want)
	}
}

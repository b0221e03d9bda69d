//go:build unix

package adopt_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
)

// gitIn runs git as a user does, and returns what it printed.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	var bad bytes.Buffer
	cmd.Stderr = &bad
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, bad.String())
	}
	return strings.TrimRight(string(out), "\n")
}

// repository is a project that is one, with documents in its first commit.
func repository(t *testing.T) world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	w := newWorld(t)
	w.write("CLAUDE.md", "# House\n")
	w.write("skills/x/SKILL.md", "# Skill\n")
	w.write("a.txt", "other\n")
	gitIn(t, w.project, "init", "-q", "-b", "main")
	gitIn(t, w.project, "add", "-A")
	gitIn(t, w.project, "commit", "-q", "-m", "one")
	return w
}

// show is a file of a branch.
func (w world) show(branch, name string) string {
	w.t.Helper()
	return gitIn(w.t, w.project, "show", branch+":"+name) + "\n"
}

func (w world) toBranch(night, branch string, items ...adopt.Item) adopt.Request {
	q := w.request(night, items...)
	q.Branch = branch
	return q
}

// files are those of the working tree.
func (w world) files() map[string]string {
	out := w.tree()
	for name := range out {
		if strings.HasPrefix(name, ".git/") {
			delete(out, name)
		}
	}
	return out
}

func TestAdoptOnABranch(t *testing.T) {
	t.Parallel()
	w := repository(t)
	before, head := w.files(), gitIn(t, w.project, "rev-parse", "HEAD")
	one, two := w.item("CLAUDE.md", "- A."), w.item("skills/x/SKILL.md", "- B.")
	three := w.item(".github/copilot-instructions.md", "- C.")
	planned, err := w.store().Plan(t.Context(), w.toBranch("n1", "rules/night", one, two, three))
	must(t, err)
	if len(planned) != 3 || planned[0].Text != one.Proposed || !planned[2].New {
		t.Errorf("%+v", planned)
	}
	r, err := w.store().Adopt(t.Context(), w.toBranch("n1", "rules/night", one, two, three))
	must(t, err)
	if b := r.Branch; b == nil || b.Name != "rules/night" || b.Before != "" || b.Commit != gitIn(t, w.project, "rev-parse", "rules/night") || b.Repository != filepath.Join(w.project, ".git") {
		t.Errorf("%+v", r.Branch)
	}
	for name, want := range map[string]string{"CLAUDE.md": one.Proposed, "skills/x/SKILL.md": two.Proposed, ".github/copilot-instructions.md": three.Proposed, "a.txt": "other\n"} {
		if got := w.show("rules/night", name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if gitIn(t, w.project, "rev-parse", "rules/night^") != head || gitIn(t, w.project, "rev-parse", "HEAD") != head || gitIn(t, w.project, "status", "--porcelain") != "" {
		t.Error("more than the branch has moved")
	}
	if got := gitIn(t, w.project, "diff-tree", "-r", "--name-status", "--no-commit-id", "rules/night"); got != "A\t.github/copilot-instructions.md\nM\tCLAUDE.md\nM\tskills/x/SKILL.md" {
		t.Errorf("the commit has %s", got)
	}
	if diff := cmp.Diff(before, w.files()); diff != "" {
		t.Error(diff)
	}
	if out := gitIn(t, w.project, "fsck", "--strict", "--full", "--no-dangling"); out != "" {
		t.Errorf("fsck: %s", out)
	}
	if _, err := w.store().Adopt(t.Context(), w.toBranch("n1", "rules/night", one)); !refused(err, "adopted already, as number 1") {
		t.Errorf("again: %v", err)
	}
	// A second night goes on with the branch, by what that has.
	again := w.item("CLAUDE.md", "- A.", "- D.")
	again.Base = one.Proposed
	_, err = w.store().Adopt(t.Context(), w.toBranch("n2", "rules/night", again))
	must(t, err)
	if got := w.show("rules/night", "CLAUDE.md"); got != again.Proposed {
		t.Errorf("%q", got)
	}
	// And is taken back: the branch is where it was, then away.
	for range 2 {
		_, taken, err := w.store().Rollback(t.Context(), w.project, 0)
		must(t, err)
		for _, x := range taken {
			if !x.Exact {
				t.Errorf("%+v", x)
			}
		}
	}
	if got := gitIn(t, w.project, "branch", "--list", "rules/night"); got != "" {
		t.Errorf("the branch is still there: %s", got)
	}
	history, err := w.store().History()
	if err != nil || len(history) != 4 || history[3].Branch.Commit != "" {
		t.Errorf("%+v, %v", history, err)
	}
	if _, _, err := w.store().Rollback(t.Context(), w.project, 1); !errors.Is(err, adopt.ErrNothing) {
		t.Errorf("twice: %v", err)
	}
}

// What came onto the branch since stays, and a branch that is merged is blamed for its lines.
func TestRollbackOfABranchThatWentOn(t *testing.T) {
	t.Parallel()
	w := repository(t)
	_, err := w.store().Adopt(t.Context(), w.toBranch("n1", "rules", w.item("CLAUDE.md", "- A.", "- B.")))
	must(t, err)
	gitIn(t, w.project, "switch", "-q", "rules")
	w.write("CLAUDE.md", strings.Replace(w.read("CLAUDE.md"), "- A.\n", "- A.\n- Mine.\n", 1)+"\nMore.\n")
	gitIn(t, w.project, "commit", "-q", "-am", "mine")
	origins, err := w.store().Blame(w.project, "memory:CLAUDE.md", w.read("CLAUDE.md"))
	if err != nil || len(origins) != 3 || origins[0].N != 1 || origins[1].N != 0 {
		t.Errorf("%+v, %v", origins, err)
	}
	if _, _, err := w.store().Rollback(t.Context(), w.project, 1); !refused(err, "is checked out in") {
		t.Errorf("of a branch that is checked out: %v", err)
	}
	gitIn(t, w.project, "switch", "-q", "main")
	_, taken, err := w.store().Rollback(t.Context(), w.project, 1)
	if err != nil || taken[0].Exact || len(taken[0].Removed) != 2 {
		t.Errorf("%+v, %v", taken, err)
	}
	if got, want := w.show("rules", "CLAUDE.md"), with(t, "# House\n", "- Mine.")+"\nMore.\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// Rewritten: the commit is not there any more.
	_, err = w.store().Adopt(t.Context(), w.toBranch("n2", "other", w.item("CLAUDE.md", "- C.")))
	must(t, err)
	gitIn(t, w.project, "branch", "-f", "other", "main")
	if _, _, err := w.store().Rollback(t.Context(), w.project, 0); !refused(err, "git revert") {
		t.Errorf("of a branch that was rewritten: %v", err)
	}
}

func TestBranchesThatAreRefused(t *testing.T) {
	t.Parallel()
	w := repository(t)
	gitIn(t, w.project, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
	gitIn(t, w.project, "branch", "stale")
	w.write("new.md", "# Not committed\n")
	bare := newWorld(t)
	bare.write("CLAUDE.md", "# House\n")
	for name, c := range map[string]struct {
		w      world
		branch string
		item   string
		want   string
	}{
		"checked out":   {w, "main", "CLAUDE.md", "is checked out in"},
		"symbolic":      {w, "alias", "CLAUDE.md", "is another name of refs/heads/main"},
		"a flag":        {w, "--force", "CLAUDE.md", "is no name of a branch"},
		"HEAD":          {w, "HEAD", "CLAUDE.md", "is no name of a branch"},
		"dots":          {w, "a/../b", "CLAUDE.md", "is no name of a branch"},
		"a line":        {w, "a\nb", "CLAUDE.md", "is no name of a branch"},
		"previous":      {w, "@{-1}", "CLAUDE.md", "is no name of a branch"},
		"not committed": {w, "fine", "new.md", "branch fine does not have it; commit it first"},
		"no repository": {bare, "fine", "CLAUDE.md", "without a branch the text is written into the files"},
	} {
		if _, err := c.w.store().Adopt(t.Context(), c.w.toBranch("n1", c.branch, c.w.item(c.item, "- A."))); !refused(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := gitIn(t, w.project, "for-each-ref", "--format=%(refname:short)"); got != "alias\nmain\nstale" {
		t.Errorf("branches: %s", got)
	}
	// It is moved by somebody else between looking and moving: theirs stays.
	s := w.store()
	s.At(func(point string) error {
		if point == "kept" {
			gitIn(t, w.project, "commit", "-q", "--allow-empty", "-m", "theirs")
			gitIn(t, w.project, "branch", "-f", "stale", "main")
		}
		return nil
	})
	var conflict *adopt.Conflict
	if _, err := s.Adopt(t.Context(), w.toBranch("n1", "stale", w.item("CLAUDE.md", "- A."))); !errors.As(err, &conflict) {
		t.Errorf("a branch that was moved: %v", err)
	}
	if gitIn(t, w.project, "rev-parse", "stale") != gitIn(t, w.project, "rev-parse", "main") {
		t.Error("what somebody else moved was moved again")
	}
	if history, err := w.store().History(); err != nil || len(history) != 0 {
		t.Errorf("%+v, %v", history, err)
	}
}

// What a repository's settings and hooks name is not run, and what leads elsewhere is not followed.
func TestBranchesOfHostileRepositories(t *testing.T) {
	t.Parallel()
	w := repository(t)
	marker := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil.sh")
	must(t, os.WriteFile(evil, []byte("#!/bin/sh\necho ran $0 >> '"+marker+"'\ncat\n"), 0o755))
	gitDir := filepath.Join(w.project, ".git")
	must(t, os.WriteFile(filepath.Join(gitDir, "config"), []byte(fmt.Sprintf(`[core]
	repositoryformatversion = 1
	hooksPath = %[2]s
	fsmonitor = %[1]s
	pager = %[1]s
	editor = %[1]s
	sshCommand = %[1]s
	askPass = %[1]s
	alternateRefsCommand = %[1]s
	attributesFile = %[1]s
[extensions]
	partialClone = origin
[remote "origin"]
	url = ext::%[1]s
	promisor = true
	uploadpack = %[1]s
[protocol]
	allow = always
[commit]
	gpgSign = true
	template = %[1]s
[gpg]
	program = %[1]s
[gpg "ssh"]
	program = %[1]s
	defaultKeyCommand = %[1]s
[user]
	name = evil%[3]s[31m
	signingKey = x
[filter "evil"]
	clean = %[1]s
	process = %[1]s
	required = true
[credential]
	helper = %[1]s
[trailer "x"]
	command = %[1]s
[init]
	templateDir = %[1]s
[alias]
	mktree = !%[1]s
	commit-tree = !%[1]s
	update-ref = !%[1]s
`, evil, filepath.Dir(evil), "\x1b")), 0o644))
	must(t, os.WriteFile(filepath.Join(gitDir, "info", "attributes"), []byte("* filter=evil diff=evil merge=evil\n"), 0o644))
	must(t, os.MkdirAll(filepath.Join(gitDir, "hooks"), 0o755))
	for _, dir := range []string{filepath.Join(gitDir, "hooks"), filepath.Dir(evil)} {
		for _, hook := range []string{"reference-transaction", "update", "pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-index-change", "pre-auto-gc", "fsmonitor-watchman"} {
			must(t, os.WriteFile(filepath.Join(dir, hook), []byte("#!/bin/sh\necho hook >> '"+marker+"'\n"), 0o755))
		}
	}
	it := w.item("CLAUDE.md", "- A.")
	_, err := w.store().Adopt(t.Context(), w.toBranch("n1", "rules", it))
	must(t, err)
	_, _, err = w.store().Rollback(t.Context(), w.project, 0)
	must(t, err)
	if data, err := os.ReadFile(marker); err == nil {
		t.Errorf("what the repository names was run: %s", data)
	}
	// Hooks by the settings, as newer versions of git know them.
	settings, err := os.ReadFile(filepath.Join(gitDir, "config"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(gitDir, "config"), append(settings, "[hook \"x\"]\n\tcommand = "+evil+"\n\tevent = reference-transaction\n"...), 0o644))
	if _, err := w.store().Adopt(t.Context(), w.toBranch("n2", "rules", it)); !refused(err, "name hooks") {
		t.Errorf("hooks by settings: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(gitDir, "config"), settings, 0o644))
	// Folders of the repository that lead elsewhere.
	outside := t.TempDir()
	for _, name := range []string{"refs/heads", "logs", "objects", "objects/" + "ab"} {
		at, kept := filepath.Join(gitDir, filepath.FromSlash(name)), filepath.Join(outside, "kept")
		_ = os.Rename(at, kept)
		must(t, os.MkdirAll(filepath.Join(outside, "to"), 0o755))
		must(t, os.Symlink(filepath.Join(outside, "to"), at))
		if _, err := w.store().Adopt(t.Context(), w.toBranch("n2", "rules", it)); err == nil {
			t.Errorf("%s is a link: it was adopted", name)
		}
		if list, err := os.ReadDir(filepath.Join(outside, "to")); err != nil || len(list) > 0 {
			t.Errorf("%s is a link: outside there is %v, %v", name, list, err)
		}
		must(t, os.Remove(at))
		_ = os.Rename(kept, at)
	}
	// A folder that names another repository, as no clone brings.
	victim := repository(t)
	must(t, os.WriteFile(filepath.Join(gitDir, "commondir"), []byte(filepath.Join(victim.project, ".git")), 0o644))
	if _, err := w.store().Adopt(t.Context(), w.toBranch("n2", "rules", it)); !refused(err, "names another repository") {
		t.Errorf("commondir: %v", err)
	}
	must(t, os.RemoveAll(gitDir))
	must(t, os.WriteFile(gitDir, []byte("gitdir: "+filepath.Join(victim.project, ".git")+"\n"), 0o644))
	if _, err := w.store().Adopt(t.Context(), w.toBranch("n2", "rules", it)); !refused(err, "does not know of it") {
		t.Errorf("a file .git: %v", err)
	}
	must(t, os.Remove(gitDir))
	must(t, os.Symlink(filepath.Join(victim.project, ".git"), gitDir))
	if _, err := w.store().Adopt(t.Context(), w.toBranch("n2", "rules", it)); !refused(err, "is a link") {
		t.Errorf("a link .git: %v", err)
	}
	if got := gitIn(t, victim.project, "branch", "--list"); got != "* main" {
		t.Errorf("branches of the other repository: %s", got)
	}
}

// A working tree beside the main one is a project too.
func TestBranchOfAWorktree(t *testing.T) {
	t.Parallel()
	w := repository(t)
	beside := w
	beside.project = filepath.Join(filepath.Dir(w.project), "beside")
	gitIn(t, w.project, "worktree", "add", "-q", "-b", "side", beside.project)
	it := beside.item("CLAUDE.md", "- A.")
	if _, err := beside.store().Adopt(t.Context(), beside.toBranch("n1", "main", it)); !refused(err, "is checked out") {
		t.Errorf("what the main tree has checked out: %v", err)
	}
	_, err := beside.store().Adopt(t.Context(), beside.toBranch("n1", "rules", it))
	must(t, err)
	if got := w.show("rules", "CLAUDE.md"); got != it.Proposed {
		t.Errorf("%q", got)
	}
	// A folder of a repository.
	inner := w
	inner.project = filepath.Join(w.project, "skills", "x")
	it = inner.item("SKILL.md", "- B.")
	_, err = inner.store().Adopt(t.Context(), inner.toBranch("n1", "rules", it))
	must(t, err)
	if got := w.show("rules", "skills/x/SKILL.md"); got != it.Proposed {
		t.Errorf("%q", got)
	}
}

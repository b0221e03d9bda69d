package tree_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

// What a repository's settings name is not run, and nothing is fetched for what it lacks.
func TestHostileSettings(t *testing.T) {
	t.Parallel()
	dir, commit := treetest.Repository(t, map[string]string{"a.txt": "one\n", ".gitattributes": "* filter=evil diff=evil text=auto\n"})
	marker := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil.sh")
	treetest.Put(t, evil, "#!/bin/sh\necho ran >> '"+marker+"'\ncat\n")
	if err := os.Chmod(evil, 0o755); err != nil {
		t.Fatal(err)
	}
	included := filepath.Join(t.TempDir(), "more.cfg")
	treetest.Put(t, included, "[core]\n\tpager = "+evil+"\n[pager]\n\tls-tree = "+evil+"\n\tcat-file = "+evil+"\n")
	settings := fmt.Sprintf(`[include]
	path = %[2]s
[core]
	repositoryformatversion = 1
	hooksPath = %[3]s
	fsmonitor = %[1]s
	sshCommand = %[1]s
	gitProxy = %[1]s
	askPass = %[1]s
	worktree = /etc
	editor = %[1]s
	alternateRefsCommand = %[1]s
[extensions]
	partialClone = origin
[remote "origin"]
	url = ext::%[1]s
	promisor = true
	partialclonefilter = blob:none
	uploadpack = %[1]s
[filter "evil"]
	smudge = %[1]s
	clean = %[1]s
	process = %[1]s
	required = true
[diff "evil"]
	textconv = %[1]s
	command = %[1]s
[credential]
	helper = %[1]s
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[alias]
	ls-tree = !%[1]s
	cat-file = !%[1]s
`, evil, included, filepath.Dir(evil))
	treetest.Put(t, filepath.Join(dir, ".git", "config"), settings)
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "fsmonitor-watchman"} {
		treetest.Put(t, filepath.Join(dir, ".git", "hooks", hook), "#!/bin/sh\necho ran >> '"+marker+"'\n")
		if err := os.Chmod(filepath.Join(dir, ".git", "hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	treetest.Put(t, filepath.Join(dir, ".git", "objects", "info", "alternates"), "/etc\n../../..\n"+t.TempDir()+"\n")
	got, _ := written(t, dir, commit)
	if diff := cmp.Diff(map[string]string{"a.txt": "one\n", ".gitattributes": "* filter=evil diff=evil text=auto\n"}, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}

	// An object that is missing is not fetched by what the settings name.
	blob := treetest.Git(t, dir, "one\n", "-c", "core.worktree="+dir, "hash-object", "--stdin")
	if err := os.Remove(filepath.Join(dir, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	reason(t, dir, commit, "partial or damaged clone")
	if data, err := os.ReadFile(marker); err == nil {
		t.Errorf("what the repository names was run: %s", data)
	}
}

// reason expects that there is no workspace of a commit, and why.
func reason(t *testing.T, project, commit, want string) {
	t.Helper()
	opened, err := tree.Open(t.Context(), os.Getenv, project, commit, tree.Bounds{Bytes: 1000, Files: 10})
	if err == nil {
		_, err = opened.Write(t.Context(), t.TempDir(), nil)
	}
	var unfit *tree.Unfit
	if !errors.As(err, &unfit) || !strings.Contains(unfit.Reason, want) {
		t.Errorf("%s: %v, want a reason with %q", project, err, want)
	}
}

// treeOf writes trees as no program of git's would, and returns a commit with them.
func treeOf(t *testing.T, dir string, names ...string) string {
	t.Helper()
	blob := treetest.Git(t, dir, "text\n", "hash-object", "-w", "--stdin")
	var raw strings.Builder
	for _, name := range names {
		raw.WriteString("100644 " + name + "\x00")
		for i := 0; i < len(blob); i += 2 {
			var b byte
			if _, err := fmt.Sscanf(blob[i:i+2], "%02x", &b); err != nil {
				t.Fatal(err)
			}
			raw.WriteByte(b)
		}
	}
	tree := treetest.Git(t, dir, raw.String(), "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
	return treetest.Git(t, dir, "", "commit-tree", "-m", "odd", tree)
}

func TestHostileNames(t *testing.T) {
	t.Parallel()
	dir, _ := treetest.Repository(t, map[string]string{"a.txt": "one\n"})
	names := []string{
		"../up.txt", "..", ".git", ".GIT", ".git/config", ".git\u200c", "git~1", "/etc/passwd", "a\\b", "c:x", "CON", "nul.txt", "com1.log", "end.", "end ", "a\nb", "a\x1b[31m", "bad\xff", "x:stream", "q?",
		strings.Repeat("l", 300), "fine.txt", "Fine.TXT", "sub/../../up2.txt", "./dot", "a//b",
	}
	commit := treeOf(t, dir, names...)
	outside := t.TempDir()
	work := filepath.Join(outside, "w")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	opened, err := tree.Open(t.Context(), os.Getenv, dir, commit, tree.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := opened.Write(t.Context(), work, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := files(t, outside)
	for name := range all {
		if name != "w/fine.txt" && name != "w/Fine.TXT" {
			t.Errorf("%q was written", name)
		}
	}
	if len(all)+got.LeftOut.Names != len(names) || len(all) == 0 {
		t.Errorf("%d written and %+v of %d names", len(all), got.LeftOut, len(names))
	}
}

func TestNoWorkspace(t *testing.T) {
	t.Parallel()
	dir, commit := treetest.Repository(t, map[string]string{"a.txt": strings.Repeat("x", 2000)})
	reason(t, t.TempDir(), commit, "no git repository")
	reason(t, filepath.Join(dir, "gone"), commit, "gone")
	reason(t, "relative", commit, "absolute")
	reason(t, dir, strings.Repeat("0", 40), "not in the repository")
	reason(t, dir, strings.Repeat("0", 64), "not in the repository")
	reason(t, dir, "main", "whole hash")
	reason(t, dir, commit[:12], "whole hash")
	reason(t, dir, "--output=x", "whole hash")
	reason(t, dir, treetest.Git(t, dir, "", "rev-parse", "HEAD^{tree}"), "not a commit")
	reason(t, dir, commit, "1 MB, more than")

	many, commit := treetest.Repository(t, map[string]string{"1": "", "2": "", "3": "", "4": "", "5": "", "6": "", "7": "", "8": "", "9": "", "10": "", "11": ""})
	reason(t, many, commit, "11 files, more than the 10")
	treetest.Put(t, filepath.Join(many, "new", "x"), "")
	reason(t, filepath.Join(many, "new"), commit, "not in the repository")

	file := t.TempDir()
	treetest.Put(t, filepath.Join(file, ".git"), "gitdir: /nowhere/at/all\n")
	reason(t, file, commit, "gone")
	treetest.Put(t, filepath.Join(file, ".git"), "rubbish")
	reason(t, file, commit, "names no repository")

	if _, err := tree.Open(t.Context(), func(name string) string { return map[string]string{"PATH": t.TempDir()}[name] }, dir, commit, tree.Bounds{}); !errors.Is(err, tree.ErrNoGit) {
		t.Errorf("without git: %v", err)
	}
	if opened, err := tree.Open(t.Context(), os.Getenv, many, commit, tree.Bounds{}); err != nil {
		t.Error(err)
	} else if _, err := opened.Write(t.Context(), many, nil); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("into a folder with files: %v", err)
	}
}

// A clone without blobs has none, and gets none.
func TestPartialClone(t *testing.T) {
	t.Parallel()
	dir, commit := treetest.Repository(t, map[string]string{"a.txt": "one\n"})
	treetest.Git(t, dir, "", "config", "uploadpack.allowFilter", "true")
	to := filepath.Join(t.TempDir(), "p")
	treetest.Git(t, dir, "", "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+dir, to)
	reason(t, to, commit, "partial or damaged clone")
}

func TestRules(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		".mcp.json": true, "pkg/.mcp.json": true, ".claude/settings.json": true, ".claude/settings.local.json": true, ".claude/hooks/a/b.sh": true, ".Claude/Settings.json": true,
		".codex/config.toml": true, ".gemini/settings.json": true, ".qwen/settings.json": true, "opencode.json": true, "opencode.jsonc": true, ".cursor/mcp.json": true,
		".vscode/mcp.json": true, ".github/copilot/x.yml": true, ".pi/extensions/x.ts": true,
		"CLAUDE.md": false, "AGENTS.md": false, ".claude/skills/x/SKILL.md": false, ".claude/agents/x.md": false, ".github/copilot-instructions.md": false, ".cursor/rules/a.mdc": false,
		"settings.json": false, "a.claude/settings.json": false, ".claude/hooks": false, ".github/workflows/ci.yml": false,
	} {
		if got := tree.Steers(name); got != want {
			t.Errorf("Steers(%q) = %v", name, got)
		}
	}
	for name, want := range map[string]bool{
		".env": true, "a/.env.local": true, "prod.env": true, "x.pem": true, "id_rsa": true, "id_ed25519": true, ".aws/config": true, "home/.ssh/known_hosts": true, "Credentials.json": true, ".npmrc": true,
		".env.example": false, "credentials.go": false, "docs/secrets.md": false, "environment.go": false, "key.go": false, "monkey": false, "src/keys/x.go": false,
	} {
		if got := tree.Secret(name); got != want {
			t.Errorf("Secret(%q) = %v", name, got)
		}
	}
}

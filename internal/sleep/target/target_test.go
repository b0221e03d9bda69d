package target_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func places(t *testing.T) target.Places {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := target.Places{Project: filepath.Join(dir, "shop"), Home: filepath.Join(dir, "home")}
	if err := errors.Join(os.Mkdir(p.Project, 0o755), os.Mkdir(p.Home, 0o755)); err != nil {
		t.Fatal(err)
	}
	return p
}

func refused(t *testing.T, err error, says string) {
	t.Helper()
	var e *target.Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want a refusal that says %q", err, says)
	}
}

func TestFindSkill(t *testing.T) {
	at := places(t)
	write(t, filepath.Join(at.Project, ".claude/skills/dates/SKILL.md"), "# Dates\n")
	write(t, filepath.Join(at.Home, ".agents/skills/money/SKILL.md"), "# Money\n")
	for name, want := range map[string]string{"dates": "# Dates\n", "money": "# Money\n"} {
		got, err := target.FindSkill(at, name)
		if err != nil || got.Text != want || got.New || got.ID() != "skill:"+name || got.Digest() != target.Digest(want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	_, err := target.FindSkill(at, "absent")
	refused(t, err, "no skill of this name")
	for _, name := range []string{"", " dates", "..", "a/b", `a\b`, "~x", "a:b", "a\nb", "a\u202eb", "dates."} {
		_, err := target.FindSkill(at, name)
		refused(t, err, "")
	}
	write(t, filepath.Join(at.Home, ".claude/skills/large/SKILL.md"), strings.Repeat("a", target.MaxDocument+1))
	_, err = target.FindSkill(at, "large")
	refused(t, err, "are allowed")
	write(t, filepath.Join(at.Home, ".claude/skills/bytes/SKILL.md"), "\xff\xfe")
	_, err = target.FindSkill(at, "bytes")
	refused(t, err, "not UTF-8")
}

func TestTrap45NamesMeanOneFile(t *testing.T) {
	at := places(t)
	write(t, filepath.Join(at.Project, ".claude/skills/dates/SKILL.md"), "one")
	write(t, filepath.Join(at.Home, ".claude/skills/dates/SKILL.md"), "two")
	_, err := target.FindSkill(at, "dates")
	refused(t, err, "several skills have this name")

	for _, v := range []string{"1.9.0", "1.10.0", "unknown"} {
		write(t, filepath.Join(at.Home, ".claude/plugins/cache/market/tools", v, "skills/lint/SKILL.md"), "of "+v)
	}
	if got, err := target.FindSkill(at, "lint"); err != nil || got.Text != "of 1.10.0" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, v := range []string{"2.0.0", "2.0.0-beta"} {
		write(t, filepath.Join(at.Home, ".claude/plugins/cache/market/other", v, "skills/fmt/SKILL.md"), "of "+v)
	}
	if got, err := target.FindSkill(at, "fmt"); err != nil || got.Text != "of 2.0.0" {
		t.Errorf("%+v, %v", got, err)
	}

	for i, pair := range [][2]string{ // the newer one second
		{"1.9", "1.10"},
		{"1.10", "1.10.0"},
		{"1.9.0", "v1.10.0"},
		{"2.0.0-beta.2", "2.0.0-beta.10"},
		{"2.0.0-beta", "2.0.0-rc.1"},
		{"2.0.0-beta", "2.0.0-beta.1"},
		{"2.0.0-1", "2.0.0-alpha"},
		{"1.9.0", "1.10.0+build.7"},
		{"2.0.0-beta+9", "2.0.0"},
		{"latest", "0.0.1"},
		{"unknown", "1.0.0-alpha"},
		{"99999999999999999999.0", "1.0.0"},
		{"-1.0", "0.1"},
		{"0.9.9", "0.10"},
	} {
		name := fmt.Sprintf("pair%d", i)
		for _, v := range pair {
			write(t, filepath.Join(at.Home, ".claude/plugins/cache/market", name, v, "skills", name, "SKILL.md"), "of "+v)
		}
		if got, err := target.FindSkill(at, name); err != nil || got.Text != "of "+pair[1] {
			t.Errorf("of %s and %s: %q, %v", pair[0], pair[1], got.Text, err)
		}
	}

	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	outside := filepath.Join(filepath.Dir(at.Home), "outside")
	write(t, filepath.Join(outside, "SKILL.md"), "outside")
	if err := os.Symlink(outside, filepath.Join(at.Project, ".claude/skills/linked")); err != nil {
		t.Fatal(err)
	}
	_, err = target.FindSkill(at, "linked")
	refused(t, err, "is a link")
	write(t, filepath.Join(at.Project, ".claude/skills/inner/README.md"), "")
	if err := os.Symlink(filepath.Join(outside, "SKILL.md"), filepath.Join(at.Project, ".claude/skills/inner/SKILL.md")); err != nil {
		t.Fatal(err)
	}
	_, err = target.FindSkill(at, "inner")
	refused(t, err, "is a link")
	// Two folders of skills that are one by a link are one.
	if err := errors.Join(os.MkdirAll(filepath.Join(at.Home, ".cursor"), 0o755), os.Symlink(filepath.Join(at.Project, ".claude/skills"), filepath.Join(at.Home, ".cursor/skills")),
		os.RemoveAll(filepath.Join(at.Home, ".claude/skills/dates"))); err != nil {
		t.Fatal(err)
	}
	if got, err := target.FindSkill(at, "dates"); err != nil || got.Text != "one" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTrap47NamesThatDifferByCase(t *testing.T) {
	at := places(t)
	write(t, filepath.Join(at.Project, ".claude/skills/Dates/SKILL.md"), "one")
	write(t, filepath.Join(at.Project, ".claude/skills/dates/SKILL.md"), "two")
	_, err := target.FindSkill(at, "dates")
	refused(t, err, "differ by case")
	a, b := target.Target{Root: at.Project, Path: "x/caf\u00e9/SKILL.md"}, target.Target{Root: at.Project, Path: "x/CAFE\u0301/SKILL.md"}
	if target.Collide([]target.Target{a, b}) == "" {
		t.Error("two names of one file by case and Unicode form do not collide")
	}
	if err := os.Link(filepath.Join(at.Project, ".claude/skills/Dates/SKILL.md"), filepath.Join(at.Project, "hard.md")); err != nil {
		t.Fatal(err)
	}
	if target.Collide([]target.Target{{Root: at.Project, Path: "hard.md"}, {Root: at.Project, Path: ".claude/skills/Dates/SKILL.md"}}) == "" {
		t.Error("two names of one inode do not collide")
	}
	if got := target.Collide([]target.Target{a, {Root: at.Project, Path: "y.md"}}); got != "" {
		t.Error(got)
	}
}

func TestFindMemory(t *testing.T) {
	at := places(t)
	got, err := target.FindMemory(at, "AGENTS.md")
	if err != nil || !got.New || got.Digest() != "" || got.ID() != "memory:AGENTS.md" {
		t.Errorf("%+v, %v", got, err)
	}
	write(t, filepath.Join(at.Project, "CLAUDE.md"), "Use tabs.\n")
	if got, err = target.FindMemory(at, "CLAUDE.md"); err != nil || got.New || got.Text != "Use tabs.\n" {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = target.FindMemory(at, "README.md")
	refused(t, err, "allowed: AGENTS.md")
	if err := os.Mkdir(filepath.Join(at.Project, "GEMINI.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = target.FindMemory(at, "GEMINI.md")
	refused(t, err, "not a regular file")
	if runtime.GOOS != "windows" {
		if err := os.Symlink("CLAUDE.md", filepath.Join(at.Project, "QWEN.md")); err != nil {
			t.Fatal(err)
		}
		_, err = target.FindMemory(at, "QWEN.md")
		refused(t, err, "is a link")
	}
	for agent, want := range map[string]string{"": "", "claude": "CLAUDE.md", "codex": "AGENTS.md", "pi": "AGENTS.md", "gemini": "GEMINI.md", "qwen": "QWEN.md"} {
		if got := target.AgentMemory(agent, at.Project); got != want {
			t.Errorf("%s reads %s", agent, got)
		}
	}
}

// A memory file below the root is found like one at it, and never over a link; a rule of Cursor has to be there.
func TestMemoryFilesBelowTheRoot(t *testing.T) {
	at := places(t)
	got, err := target.FindMemory(at, ".github/copilot-instructions.md")
	if err != nil || !got.New || got.Path != ".github/copilot-instructions.md" || !at.Plain(got) {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = target.FindMemory(at, ".cursor/rules/style.mdc")
	refused(t, err, "write the rule first")
	const rule = "---\nalwaysApply: true\n---\n# Style\n"
	write(t, filepath.Join(at.Project, ".cursor/rules/web/style.mdc"), rule)
	if got, err := target.FindMemory(at, ".cursor/rules/web/style.mdc"); err != nil || got.Text != rule || got.New {
		t.Errorf("%+v, %v", got, err)
	}
	for _, name := range []string{".cursor/rules/.mdc", ".cursor/rules/../../x.mdc", ".cursor/rules/a\nb.mdc", ".cursor/x.mdc", ".cursor/rules/x.md", "/.cursor/rules/x.mdc", ".github/x.md", ".GITHUB/copilot-instructions.md"} {
		_, err := target.FindMemory(at, name)
		refused(t, err, "allowed: ")
	}
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	outside := t.TempDir()
	write(t, filepath.Join(outside, "copilot-instructions.md"), "outside")
	if err := os.Symlink(outside, filepath.Join(at.Project, ".github")); err != nil {
		t.Fatal(err)
	}
	_, err = target.FindMemory(at, ".github/copilot-instructions.md")
	refused(t, err, "is a link")
}

func TestMemoryIn(t *testing.T) {
	at := places(t)
	for _, c := range []struct{ add, want, ofCopilot string }{
		{"", "", "AGENTS.md"},
		{".github/copilot-instructions.md", ".github/copilot-instructions.md", ".github/copilot-instructions.md"},
		{"CLAUDE.md", "CLAUDE.md", "AGENTS.md"}, // one at the root goes first, as it did before there was the other
		{"AGENTS.md", "", "AGENTS.md"},
	} {
		if c.add != "" {
			write(t, filepath.Join(at.Project, c.add), "x")
		}
		if got, _ := target.MemoryIn(at.Project); got != c.want {
			t.Errorf("with %s: %q, want %q", c.add, got, c.want)
		}
		if got := target.AgentMemory("copilot", at.Project); got != c.ofCopilot {
			t.Errorf("of copilot with %s: %q, want %q", c.add, got, c.ofCopilot)
		}
	}
}

package acceptance_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/worlds"
	"github.com/seed-f4525e22/skillopt/result"
)

// forgetful is a world whose target forgets the skill in a tenth of its answers, and a
// skill with its rules and five that no task needs.
func forgetful(t *testing.T) config.Config {
	t.Helper()
	p := worlds.Default()
	p.Seed, p.Tasks, p.Rules, p.Depth, p.Skew, p.Flip = 3, 80, 4, 1, 0, 0.1
	w, err := worlds.New(p)
	if err != nil {
		t.Fatal(err)
	}
	files, err := w.Files()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files["SKILL.md"] = []byte(w.Perfect + "- Be kind.\n- Look twice.\n- Cards are cards.\n")
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.LoadFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Split.Ratio = "4:4:1"
	cfg.Eval.Test = false
	return cfg
}

// A run of prune that a ceiling stops, wherever that is, goes on to the same bytes.
func TestPruneGoesOnToTheSameBytes(t *testing.T) {
	t.Parallel()
	cfg, dir := forgetful(t), t.TempDir()
	pruned := func(name string, calls int64) (*result.Pruned, error) {
		c := cfg
		if calls > 0 {
			c.Limits.Calls = &calls
		}
		return skillopt.Prune(t.Context(), c, skillopt.PruneOptions{Passes: 4, Margin: 0.15}, skillopt.WithRunDir(filepath.Join(dir, name)))
	}
	whole, err := pruned("whole", 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(whole.Removed); n != 5 {
		t.Errorf("%d rules went, want the five that no task needs: %+v", n, whole.Steps)
	}
	for i := int64(1); i < 6; i++ {
		if _, err := pruned("cut", i*int64(whole.Calls.Total)/6); kind(err) != skillopt.OverBudget {
			t.Fatalf("stop %d: %v", i, err)
		}
	}
	if _, err := pruned("cut", 0); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decisionsOf(t, filepath.Join(dir, "whole")), decisionsOf(t, filepath.Join(dir, "cut"))); diff != "" {
		t.Error(diff)
	}
}

// decisionsOf is what a run of prune decided: the skill that is left, and its document
// without what depends on the clock.
func decisionsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{result.PrunedFile, result.PruningFile} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(data)
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(out[result.PruningFile]), &doc); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"wall_s", "calls", "tokens", "from_record"} {
		delete(doc, key)
	}
	data, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	out[result.PruningFile] = string(data)
	return out
}

// Rules are left out of all Markdown files that edits.files names: what no task needs goes
// from a reference too, every other byte of the folder stays, and a run that is cut off goes
// on to the same bytes.
func TestPruneOverTheFilesOfASkill(t *testing.T) {
	t.Parallel()
	cfg, dir := forgetful(t), t.TempDir()
	text, err := os.ReadFile(cfg.Skill)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Skill = filepath.Join(dir, "folder", "SKILL.md")
	head, rules, ok := strings.Cut(string(text), "\n- ")
	if !ok {
		t.Fatalf("no list in %s", text)
	}
	main := "---\nname: cards\ndescription: Answers about cards.\n---\n\n" + head + "\nThe rules stand in references/rules.md.\n"
	run := "#!/bin/sh\necho - no rule\n"
	for name, content := range map[string]string{"SKILL.md": main, "references/rules.md": "- " + rules, "references/other.md": "- Not in edits.files.\n", "scripts/run.sh": run} {
		path := filepath.Join(dir, "folder", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(content, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Edits.Files = []string{"references/rules.md"}
	cfg.SlowUpdate.Enabled = false
	pruned := func(name string, calls int64) (*result.Pruned, error) {
		c := cfg
		if calls > 0 {
			c.Limits.Calls = &calls
		}
		return skillopt.Prune(t.Context(), c, skillopt.PruneOptions{Passes: 4, Margin: 0.15}, skillopt.WithRunDir(filepath.Join(dir, name)))
	}
	whole, err := pruned("whole", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range whole.Rules {
		if r.File != "references/rules.md" {
			t.Errorf("a rule of %q", r.File)
		}
	}
	if n := len(whole.Removed); n != 4 {
		t.Errorf("%d rules went, want the four of the reference that no task needs: %+v", n, whole.Steps)
	}
	left := filepath.Join(dir, "whole", result.PrunedFolder)
	for name, want := range map[string]string{"SKILL.md": main, "references/other.md": "- Not in edits.files.\n", "scripts/run.sh": run} {
		if got, err := os.ReadFile(filepath.Join(left, name)); err != nil || string(got) != want {
			t.Errorf("%s: %v, %q", name, err, got)
		}
	}
	got, err := os.ReadFile(filepath.Join(left, "references/rules.md"))
	if err != nil || strings.Contains(string(got), "Be kind") || len(got) >= len(rules) || !strings.Contains(string(got), "- ") {
		t.Errorf("%v, %q", err, got)
	}
	if _, err := pruned("cut", int64(whole.Calls.Total)/2); kind(err) != skillopt.OverBudget {
		t.Fatal(err)
	}
	if _, err := pruned("cut", 0); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decisionsOf(t, filepath.Join(dir, "whole")), decisionsOf(t, filepath.Join(dir, "cut"))); diff != "" {
		t.Error(diff)
	}
	again, err := os.ReadFile(filepath.Join(dir, "cut", result.PrunedFolder, "references/rules.md"))
	if err != nil || string(again) != string(got) {
		t.Errorf("%v, %q", err, again)
	}
}

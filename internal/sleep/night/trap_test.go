package night_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/model"
)

// skill puts a skill into the project.
func (h *home) skill(name string) {
	h.t.Helper()
	dir := filepath.Join(h.project, ".claude", "skills", name)
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: Answers about cards.\n---\n\n# "+name+"\n"), 0o644)); err != nil {
		h.t.Fatal(err)
	}
}

// Each document has an outcome of its own: one that is ambiguous, one that is not there and one whose region is broken take
// nothing from the others.
func TestTrap46DocumentsAreAsIfAlone(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.skill("good")
	h.skill("double")
	h.skill("broken")
	broken := filepath.Join(h.project, ".claude", "skills", "broken", "SKILL.md")
	other := filepath.Join(h.project, ".cursor", "skills", "double")
	if err := errors.Join(os.MkdirAll(other, 0o755), os.WriteFile(filepath.Join(other, "SKILL.md"), []byte("# another\n"), 0o644),
		os.WriteFile(broken, []byte("# broken\n<!-- SKILLOPT-SLEEP:LEARNED START -->\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"broken", "double", "absent"} {
		h.day(16, name, true)
	}
	h.day(20, "good", true)
	r := h.night()
	skipped := map[string]string{}
	for _, s := range r.Skipped {
		skipped[s.Skill] = s.Reason
	}
	if !strings.Contains(skipped["double"], "several skills have this name") || !strings.Contains(skipped["absent"], "no skill of this name") || len(skipped) != 2 {
		t.Errorf("%v", skipped)
	}
	if len(r.Targets) != 2 || r.Targets[0].Target != "skill:broken" || r.Targets[0].Outcome != night.Refused || !strings.Contains(r.Targets[0].Reason, "line 2") || len(r.Targets[0].Runs) != 0 {
		t.Fatalf("%+v", r.Targets)
	}
	alone := newHome(t, small())
	alone.skill("good")
	alone.next = 48
	alone.day(20, "good", true)
	want := alone.night().Targets[0]
	if got := r.Targets[1]; got.Outcome != night.Supported || got.Outcome != want.Outcome || got.Proposed != want.Proposed {
		t.Errorf("%s %s, alone %s %s", got.Outcome, got.Proposed, want.Outcome, want.Proposed)
	}
}

// Two nights that begin in one second have folders of their own.
func TestTrap48TwoNightsInASecond(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	a, err1 := h.try()
	b, err2 := h.try()
	if err := errors.Join(err1, err2); err != nil || a.ID == b.ID {
		t.Fatalf("%s and %s: %v", a.ID, b.ID, err)
	}
	for _, id := range []string{a.ID, b.ID} {
		if _, err := os.Stat(filepath.Join(night.Folder(h.dir, h.project, id), "night.json")); err != nil {
			t.Error(err)
		}
	}
	if _, err := bank.Open(t.Context(), h.dir); err == nil {
		t.Error("another process could work on it at the same time")
	}
}

// A rule that asks to run what no words of the user's have is never staged, however much it helps.
func TestTrap86ARuleThatRunsSomethingIsHeld(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	p := &persona{rules: []string{"rule one: first run curl x.sh"}, harm: "rule of harm", parts: []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, of: []int{2, 2, 2, 2, 2, 2, 2, 2, 2, 2}}
	h.day(20, "", true)
	for i, w := range p.tasks(h) {
		h.miner.tasks[fmt.Sprintf("s%03d", i)] = w
	}
	h.cfg.Tasks.Extract, h.cfg.Models.Target.Temperature, h.cfg.Models.Optimizer.MaxTokens = nil, new(float64), 1000
	r := h.night(func(o *night.Options) {
		o.With = []skillopt.Option{skillopt.WithClient(model.Target, "p", p), skillopt.WithClient(model.Optimizer, "p", p)}
	})
	got := r.Targets[0]
	if got.Outcome != night.Refused || len(got.Held) == 0 || !strings.Contains(got.Reason, "curl") || got.Proposal != "" {
		t.Errorf("%s: %s, held %+v", got.Outcome, got.Reason, got.Held)
	}
	if _, err := night.Open(h.dir, h.project, r.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is staged: %v", err)
	}
}

// Nothing of a project is in the bank, the runs or the report of another one's nights.
func TestTrap87ProjectsStayApart(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(20, "", true)
	if got := h.night().Targets[0]; got.Outcome != night.Supported {
		t.Fatalf("%s: %s", got.Outcome, got.Reason)
	}
	other := filepath.Join(filepath.Dir(h.project), "forge")
	if err := errors.Join(os.Mkdir(other, 0o755), os.WriteFile(filepath.Join(other, "CLAUDE.md"), []byte("# Forge\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	shop := h.project
	h.project = other
	h.day(20, "", true)
	r := h.night(func(o *night.Options) { o.Places.Project = other })
	if len(r.Targets) != 1 || r.Targets[0].Clusters.Open != 16 || r.Targets[0].Clusters.Recall != 0 || r.Targets[0].Carried != nil {
		t.Fatalf("%+v", r.Targets)
	}
	for _, run := range r.Targets[0].Runs {
		for _, name := range []string{"tasks.jsonl", "memory.json", "config.yaml", "manifest.json"} {
			data, err := os.ReadFile(filepath.Join(h.dir, run, name))
			if err == nil && (strings.Contains(string(data), shop+"/") || name == "memory.json") {
				t.Errorf("%s/%s tells of the other project", run, name)
			}
		}
	}
}

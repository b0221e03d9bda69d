package night_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
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

// Each document has an outcome of its own: one that is ambiguous, one that is not there, one without a name, one whose
// region is broken, one whose tasks cannot be read and one that nobody worked with tonight take nothing from the others.
func TestTrap46DocumentsAreAsIfAlone(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	for _, name := range []string{"good", "double", "broken", "idle", "faulty"} {
		h.skill(name)
	}
	broken := filepath.Join(h.project, ".claude", "skills", "broken", "SKILL.md")
	other := filepath.Join(h.project, ".cursor", "skills", "double")
	if err := errors.Join(os.MkdirAll(other, 0o755), os.WriteFile(filepath.Join(other, "SKILL.md"), []byte("# another\n"), 0o644),
		os.WriteFile(broken, []byte("# broken\n<!-- SKILLOPT-SLEEP:LEARNED START -->\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	unread := filepath.Join(filepath.Dir(filepath.Dir(broken)), "unread", "SKILL.md")
	if err := errors.Join(os.MkdirAll(filepath.Dir(unread), 0o755), os.WriteFile(unread, []byte("---\nname: unread\ndescription: Use this: when asked.\n---\n# A\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	h.day(3, "idle", true)
	h.night()
	for _, name := range []string{"broken", "unread", "double", "absent", " ", "../good"} {
		h.day(4, name, true)
	}
	h.day(16, "faulty", true)
	for id, w := range h.miner.tasks {
		if w.Skill == "faulty" {
			w.Task.Checks = []byte(`[{"type":"regex","value":"("}]`)
			h.miner.tasks[id] = w
		}
	}
	from := h.next
	h.day(20, "good", true)
	r := h.night()
	skipped := map[string]string{}
	for _, s := range r.Skipped {
		skipped[s.Skill] = s.Reason
	}
	for name, says := range map[string]string{
		"unread": "line 3: front matter: the value of description is no YAML", "double": "several skills have this name", "absent": "no skill of this name", " ": "a name has no spaces around it, and is not empty", "../good": "a name has none of /",
	} {
		if !strings.Contains(skipped[name], says) || len(skipped) != 5 {
			t.Errorf("%q is skipped: %v", name, skipped)
		}
	}
	got := map[string]night.Target{}
	for _, k := range r.Targets {
		got[k.Target] = k
	}
	if b := got["skill:broken"]; len(got) != 4 || b.Outcome != night.Refused || !strings.Contains(b.Reason, "line 2") || len(b.Runs) != 0 {
		t.Errorf("%d documents; %s: %s", len(got), b.Outcome, b.Reason)
	}
	if f := got["skill:faulty"]; f.Outcome != night.Refused || !strings.Contains(f.Reason, "checks[0]") {
		t.Errorf("%s: %s", f.Outcome, f.Reason)
	}
	if i := got["skill:idle"]; i.Outcome != night.NoData || len(i.Runs) != 0 {
		t.Errorf("%s: %s", i.Outcome, i.Reason)
	}
	alone := newHome(t, small())
	alone.skill("good")
	alone.next, alone.now = from, h.now.Add(-24*time.Hour)
	alone.day(20, "good", true)
	want := alone.night().Targets[0]
	if g := got["skill:good"]; g.Outcome != night.Supported || g.Outcome != want.Outcome || g.Proposed != want.Proposed || g.Confirmed.Wins != want.Confirmed.Wins {
		t.Errorf("%s %s, alone %s %s", g.Outcome, g.Proposed, want.Outcome, want.Proposed)
	}
}

// Names that differ by case or Unicode form alone are refused, wherever their skills are, and nothing of them is staged; names
// that look equal as names of files are told apart.
func TestTrap47NamesOfFiles(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	p := &pupil{rules: []string{pupilRule}, parts: func(_ string, ruled bool, _ int) int { return right(ruled) }}
	long := strings.Repeat("long", 60)
	groups := []string{"Dates", "dates", "caf\u00e9", "cafe\u0301", "\u65e5\u671f", "\u91d1\u989d", "a b", "a-b", "x", "x-confirm", long + "1", long + "2"}
	var names []string
	for i := range groups {
		if dir := filepath.Join(filepath.Dir(h.project), "home", ".claude", "skills", groups[i]); i < 4 && i%2 == 1 { // of the user, not of the project
			if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("# other\n"), 0o644)); err != nil {
				t.Fatal(err)
			}
		} else {
			h.skill(groups[i])
		}
		names = append(names, fmt.Sprintf("%02d-a", i), fmt.Sprintf("%02d-b", i))
	}
	pupilTasks(h, names...)
	for id, w := range h.miner.tasks {
		var i int
		if _, err := fmt.Sscanf(w.Task.ID, "%02d", &i); err != nil {
			t.Fatal(err)
		}
		w.Skill = groups[i]
		h.miner.tasks[id] = w
	}
	p.always = true
	r := p.explored(h)
	if len(r.Skipped) != 4 || len(r.Targets) != len(groups)-4 {
		t.Fatalf("%d skipped, %d documents: %+v", len(r.Skipped), len(r.Targets), r.Skipped)
	}
	for _, s := range r.Skipped {
		if !slices.Contains(groups[:4], s.Skill) || s.Groups != 2 || !strings.Contains(s.Reason, "SKILL.md: another skill's name differs from it by case or Unicode form alone") {
			t.Errorf("%+v", s)
		}
	}
	proposal, err := night.Open(h.dir, h.project, r.ID)
	if err != nil || proposal.Verify(h.dir) != nil || len(proposal.Items) != len(groups)-4 {
		t.Fatalf("%v: %+v", err, proposal)
	}
	files, runs := map[string]bool{}, map[string]bool{}
	for _, it := range proposal.Items {
		text, err := proposal.Text(it.Target)
		if err != nil || !strings.Contains(text, pupilRule) || !strings.Contains(text, "# "+strings.TrimPrefix(it.Target, "skill:")) {
			t.Errorf("%s: %v: %s", it.Target, err, text)
		}
		files[strings.ToLower(it.File)] = true
	}
	for _, k := range r.Targets {
		if k.Outcome != night.Suggested {
			t.Errorf("%s: %s: %s", k.Target, k.Outcome, k.Reason)
		}
		runs[k.Runs[0]] = true // of its training
	}
	if len(files) != len(proposal.Items) || len(runs) != len(r.Targets) {
		t.Errorf("%d files of %d documents, %d folders of %d trainings", len(files), len(proposal.Items), len(runs), len(r.Targets))
	}
}

// Two names that are one file are refused with both, and nothing is written.
func TestTrap47TwoNamesOfOneFile(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.skill("one")
	two := filepath.Join(h.project, ".claude", "skills", "two")
	if err := errors.Join(os.MkdirAll(two, 0o755), os.Link(filepath.Join(h.project, ".claude", "skills", "one", "SKILL.md"), filepath.Join(two, "SKILL.md"))); err != nil {
		t.Fatal(err)
	}
	h.day(4, "one", true)
	h.day(4, "two", true)
	r, err := h.try()
	var bad *target.Error
	if !errors.As(err, &bad) || bad.ErrorKind() != "bad_input" || !strings.Contains(err.Error(), filepath.Join("one", "SKILL.md")) || !strings.Contains(err.Error(), filepath.Join("two", "SKILL.md")) {
		t.Errorf("%v", err)
	}
	if _, err := night.Open(h.dir, h.project, r.ID); !errors.Is(err, fs.ErrNotExist) || r.Spent.Calls > 0 {
		t.Errorf("something is staged: %v", err)
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

// Trap 48, of two projects: the second night of a second takes nothing of the first one's place.
func TestTrap48TwoProjectsInASecond(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	a, err := h.try()
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(filepath.Dir(h.project), "site")
	b, err := h.try(func(o *night.Options) { o.Project, o.Places.Project = other, other })
	if err != nil {
		t.Fatal(err)
	}
	rows, err := h.bank.Nights(t.Context(), "")
	if err != nil || len(rows) != 2 || a.ID == b.ID {
		t.Errorf("%v: %d nights, %s and %s", err, len(rows), a.ID, b.ID)
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
	if len(r.Targets) != 1 || r.Targets[0].Groups.Open != 16 || r.Targets[0].Groups.Recall != 0 || r.Targets[0].Continued != nil {
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

package night_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/worlds"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// A user with 8 habits that no document states works through three days of 16 sessions, one task each, and takes over
// what the nights support: on tasks that no session ever showed the document gets better, and no night makes it worse.
func TestEightHabitsInThreeNights(t *testing.T) {
	t.Parallel()
	for seed := range uint64(max(1, tenth(20))) {
		p := worlds.Default()
		p.Tasks, p.Rules, p.Depth, p.Plain, p.Skew, p.Noise, p.Flip, p.Harm, p.Note, p.Seed = 200, 8, 1, 0, 0, 0, 0.02, 0.1, 0.1, seed+1
		h := newHome(t, p)
		scores := []float64{h.unseen()}
		for range 3 {
			h.day(16, "", true)
			r := h.night()
			got := r.Targets[0]
			t.Logf("seed %d night %s: %s: %s; clusters %+v", seed, r.ID, got.Outcome, got.Reason, got.Groups)
			if got.Outcome == night.Supported || got.Outcome == night.Certified {
				h.adopt(r)
			}
			scores = append(scores, h.unseen())
		}
		t.Logf("seed %d: on 100 tasks that were never shown %.2f", seed, scores)
		for i, s := range scores[1:] {
			if s < scores[i]-0.03 { // flips of two answers in a hundred
				t.Errorf("seed %d: night %d made it worse: %.2f", seed, i+1, scores)
			}
		}
		if scores[3] < scores[0]+0.3 {
			t.Errorf("seed %d: no gain: %.2f", seed, scores)
		}
	}
}

// adopt writes what a night proposes into the project, as the user would.
func (h *home) adopt(r *night.Report) {
	h.t.Helper()
	p, err := night.Open(h.dir, h.project, r.ID)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		h.t.Fatal(err)
	}
	text, err := p.Text("memory:CLAUDE.md")
	if err == nil {
		err = os.WriteFile(filepath.Join(h.project, "CLAUDE.md"), []byte(text), 0o644)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// unseen scores the live document on the last 100 tasks of the world, which no session shows.
func (h *home) unseen() float64 {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.project, "CLAUDE.md"))
	if err != nil {
		h.t.Fatal(err)
	}
	var tasks []task.Task
	for _, it := range h.world.Items[len(h.world.Items)-100:] {
		tasks = append(tasks, task.Task{ID: it.ID, Type: it.Type, Prompt: it.Prompt, Gold: []string{it.Gold}, Split: task.Test})
	}
	e, err := skillopt.Evaluate(h.t.Context(), h.cfg, string(task.Test), skillopt.WithSkill(skill.New(string(text))), skillopt.WithTasks(tasks), skillopt.WithRunDir(h.t.TempDir()))
	if err != nil {
		h.t.Fatal(err)
	}
	return e.Splits[string(task.Test)].Hard
}

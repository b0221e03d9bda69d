package night_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/worlds"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// A real agent replays what a user with 8 habits did on three days of 16 sessions, one task each, every habit in 6 different
// tasks: the memory file that the nights make has it do better on tasks that no session ever showed, and no night makes it
// worse. The agent's model is simulated.
func TestRealHabitsInThreeNights(t *testing.T) {
	for _, name := range realAgents(t) {
		t.Run(name, func(t *testing.T) { threeNights(t, name) })
	}
}

func threeNights(t *testing.T, name string) {
	began := time.Now()
	p := worlds.Default()
	p.Tasks, p.Rules, p.Depth, p.Plain, p.Skew, p.Noise, p.Flip, p.Harm, p.Note = 200, 8, 1, 0, 0, 0, 0, 0.1, 0.1
	h := newAgentHome(t, p)
	h.realAgent(name)
	h.cfg.Sleep.Recall = 4 // an episode of a real agent takes a second of two processors
	unseen := h.sixOfEach()
	calls := int64(0)
	scores := []float64{h.unseenBy(unseen)}
	for range 3 {
		h.day(16, "", true)
		r := h.night(h.replays)
		got := r.Targets[0]
		calls += r.Spent.Calls
		t.Logf("%s, night %s: %s: %s; clusters %+v; %d calls; %s", name, r.ID, got.Outcome, got.Reason, got.Groups, r.Spent.Calls, time.Since(began).Round(time.Second))
		score := scores[len(scores)-1]
		if got.Outcome == night.Supported || got.Outcome == night.Certified {
			h.adoptMemory(r)
			score = h.unseenBy(unseen)
		}
		scores = append(scores, score)
	}
	t.Logf("%s: on %d tasks that were never shown %.2f; %d calls of nights in %s", name, len(unseen), scores, calls, time.Since(began).Round(time.Second))
	for i, s := range scores[1:] {
		if s < scores[i] {
			t.Errorf("night %d made it worse: %.2f", i+1, scores)
		}
	}
	if scores[3] < scores[0]+0.3 {
		t.Errorf("no gain: %.2f", scores)
	}
}

// sixOfEach has sessions show 6 tasks of each kind, in turns, and returns another one of each.
func (h *agentHome) sixOfEach() (unseen []worlds.Item) {
	h.t.Helper()
	const shown, kept = 6, 1
	kinds, names := map[string][]worlds.Item{}, []string{}
	for _, it := range h.world.Items {
		if kinds[it.Type] == nil {
			names = append(names, it.Type)
		}
		kinds[it.Type] = append(kinds[it.Type], it)
	}
	if len(names) != 8 {
		h.t.Fatalf("%d habits", len(names))
	}
	var items []worlds.Item
	for i := range shown + kept {
		for _, name := range names {
			if i < shown {
				items = append(items, kinds[name][i])
			} else {
				unseen = append(unseen, kinds[name][i])
			}
		}
	}
	h.world.Items = items
	return unseen
}

// unseenBy has the agent carry out tasks with the live document, in the files of the commit.
func (h *agentHome) unseenBy(items []worlds.Item) float64 {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.project, h.memory))
	if err != nil {
		h.t.Fatal(err)
	}
	var tasks []task.Task
	for _, it := range items {
		tasks = append(tasks, task.Task{
			ID: it.ID, Type: it.Type, Prompt: it.Prompt, Gold: []string{it.Gold}, Split: task.Test,
			Checks: checksOf(h.t, "<answer>"+it.Gold+"</answer>"), Data: map[string]any{"files": map[string]any{"house/rules.txt": "Forms are as committed.\n"}},
		})
	}
	cfg := h.cfg
	cfg.Agent.Mode, cfg.Agent.File = "file", h.memory
	e, err := skillopt.Evaluate(h.t.Context(), cfg, string(task.Test), skillopt.WithSkill(skill.New(string(text))), skillopt.WithTasks(tasks), skillopt.WithRunDir(filepath.Join(h.t.TempDir(), "run")))
	if err != nil {
		h.t.Fatal(err)
	}
	return e.Splits[string(task.Test)].Hard
}

// adoptMemory writes what a night proposes into the project, as the user would.
func (h *agentHome) adoptMemory(r *night.Report) {
	h.t.Helper()
	p, err := night.Open(h.dir, h.project, r.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	text, err := p.Text("memory:" + h.memory)
	if err != nil {
		h.t.Fatal(err)
	}
	h.put(h.memory, text)
}

package rescore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/training"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// decide has the gate decide again on the candidates of the run.
func (w *work) decide(ctx context.Context) error {
	other, err := w.sameGate()
	if err != nil {
		return err
	}
	if other != "" {
		w.out.Undecided = "the gate of the config is another one: " + other
		return nil
	}
	candidates, err := w.run.Candidates()
	if err != nil {
		return err
	}
	data, why := w.data(candidates.Items)
	if why != "" {
		w.out.Undecided = why
		return nil
	}
	deterministic := w.run.History.Noise != nil && w.run.History.Noise.Deterministic
	o := train.Options{Batching: train.Batching{Seed: w.in.Config.Train.Seed}, Gating: training.NewGating(w.in, deterministic)}
	made, err := train.Rejudge(ctx, o, train.Recorded{
		Data: data, History: w.run.History, Candidates: candidates, Answers: newAnswers(w),
	})
	if err != nil {
		return fmt.Errorf("decide again: %w", err)
	}
	for _, d := range made {
		if w.step < 0 || d.Step == w.step && d.Step > 0 {
			w.out.Decisions = append(w.out.Decisions, d)
		}
	}
	return nil
}

// data returns the selection tasks of the run, in its order. Of a task that the configuration does
// not have only the id is known.
func (w *work) data(items []string) (d train.Data, why string) {
	for _, id := range items {
		t, ok := w.scorer.Tasks[id]
		if !ok {
			t = task.Task{ID: id}
		}
		d.Selection = append(d.Selection, t)
	}
	if !w.in.Data.InFolds() {
		return d, ""
	}
	if !slices.EqualFunc(w.in.Data.Selection, items, func(t task.Task, id string) bool { return t.ID == id }) {
		return d, "the tasks are other ones than those of the run, and with them the folds that judged"
	}
	return w.in.Data, ""
}

// answers are the recorded answers of a run, rescored. It may be used concurrently.
type answers struct {
	*work

	mu      sync.Mutex
	known   map[asked]string  // where a skill has answered a task with a sample number
	missing map[string]string // keys of rollouts that are not recorded, with their tasks
	scored  map[string]trajectory.Outcome
}

// asked is what makes two requests equal: an equal one may have been answered elsewhere.
type asked struct {
	skill, id string
	sample    int
}

func newAnswers(w *work) *answers {
	return &answers{work: w, known: map[asked]string{}, missing: map[string]string{}, scored: map[string]trajectory.Outcome{}}
}

// One returns one recorded answer, scored again.
func (a *answers) One(ctx context.Context, p rollout.Place, t task.Task, s skill.Skill) (trajectory.Outcome, error) {
	unmeasured := trajectory.Outcome{ID: t.ID, Type: t.Type, Status: score.Unmeasured}
	key := a.find(p, t, s)
	if key == "" {
		return unmeasured, nil
	}
	a.mu.Lock()
	out, ok := a.scored[key]
	a.mu.Unlock()
	if ok {
		return out, nil
	}
	reply, err := a.replies.Read(ctx, key)
	if err != nil {
		return unmeasured, err
	}
	full, err := a.scorer.outcome(ctx, t.ID, key, reply, s)
	var no *refusedError
	switch {
	case errors.As(err, &no):
		out, err = unmeasured, nil
	case err != nil:
		return unmeasured, err
	default:
		out = slim(full)
		out.Answer = full.Answer
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.scored[key] = out
	return out, nil
}

// find returns the key under which a request was answered, "" if it was not.
func (a *answers) find(p rollout.Place, t task.Task, s skill.Skill) string {
	key, what := p.Key(t), asked{s.Digest(), t.ID, p.Sample}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.replies.Has(key) {
		if _, ok := a.known[what]; !ok {
			a.known[what] = key
		}
		return key
	}
	if other := a.known[what]; other != "" {
		return other
	}
	if !a.replies.Lost(key) {
		a.missing[key] = t.ID
	}
	return ""
}

// All returns recorded answers, in the order of the tasks.
func (a *answers) All(ctx context.Context, p rollout.Place, tasks []task.Task, s skill.Skill, done func()) ([]trajectory.Outcome, error) {
	out := make([]trajectory.Outcome, len(tasks))
	for i, t := range tasks {
		var err error
		if out[i], err = a.One(ctx, p, t, s); err != nil {
			return nil, err
		}
		if done != nil && out[i].Status.Measured() {
			done()
		}
	}
	return out, nil
}

// FindItems returns the items that were asked under a prefix, and the sample that asked them.
func (a *answers) FindItems(prefix string, tasks []task.Task) (items []int, sample int) {
	asked := map[string]bool{}
	a.replies.Begins(prefix+"/", func(_, id string, n int) { asked[id], sample = true, n })
	for i, t := range tasks {
		if asked[t.ID] {
			items = append(items, i)
		}
	}
	return items, sample
}

// NoteSkill notes which skill rollouts of batches were made with.
func (a *answers) NoteSkill(prefix string, s skill.Skill) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.replies.Begins(prefix, func(key, id string, sample int) {
		if what := (asked{s.Digest(), id, sample}); strings.Contains(key, "/rollout/") && a.known[what] == "" {
			a.known[what] = key
		}
	})
}

// MissingTasks returns the tasks that were asked for under a prefix and not recorded.
func (a *answers) MissingTasks(prefix string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []string
	for key, id := range a.missing {
		if strings.HasPrefix(key, prefix) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

var _ train.Answers = (*answers)(nil)

package ask

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/record"
)

// TaskQuestion says which evaluations of a task are wanted: those that all of it holds for.
type TaskQuestion struct {
	Step   string // a step, or best; "": any
	Arm    string // current, candidate, seed, best, final, or the arm of a comparison; "": any
	Sample int    // of several passes this one, from 0; negative: any
	Prompt bool   // with what the model was sent
	Blind  bool   // nothing of test tasks
}

// TaskAnswer is all that a run recorded of a task.
type TaskAnswer struct {
	RunDir      string       `json:"run_dir"`
	Task        string       `json:"task"`
	Evaluations []Evaluation `json:"evaluations"`

	OfTest bool `json:"-"` // it shows answers to a test task: a look that is to be noted
}

// Evaluation is an evaluation with what was said.
type Evaluation struct {
	record.Evaluation
	Conversation *caller.Conversation `json:"conversation,omitempty"`
	Attempts     []record.Try         `json:"attempts,omitempty"` // of an episode, with the calls that it made
}

// Task shows the evaluations of a task of the run in dir; path is what messages call it.
func Task(ctx context.Context, r *record.Run, dir, path, id string, q TaskQuestion) (TaskAnswer, error) {
	none := TaskAnswer{RunDir: dir, Task: id}
	if id == "" {
		return none, wrong("", "the id of a task is empty; `skillopt runs tasks %s` names tasks", path)
	}
	all, err := r.Task(ctx, id)
	if err != nil {
		return none, err
	}
	if len(all) == 0 {
		return none, missingErrorf("run %s has never asked a task %q; `skillopt runs tasks %s` names tasks of it", path, id, path)
	}
	if q.Blind && slices.ContainsFunc(all, record.Evaluation.OfTest) {
		return none, wrong("task", "task %q is one of the test split: of those only scores are shown here", id)
	}
	chosen, err := q.selectEvaluations(r, all)
	if err != nil {
		return none, err
	}
	if len(chosen) == 0 {
		return none, missingErrorf("the task was not asked there; it was asked at: %s", strings.Join(listPlaces(all), "; "))
	}
	shown, err := q.ReadConversations(ctx, r, chosen)
	if err != nil {
		return none, err
	}
	out := Shareable(TaskAnswer{RunDir: dir, Task: id, Evaluations: shown})
	for _, e := range chosen {
		out.OfTest = out.OfTest || e.OfTest()
	}
	out.Task = id
	return out, nil
}

// selectEvaluations returns the evaluations that the question names.
func (q TaskQuestion) selectEvaluations(r *record.Run, all []record.Evaluation) ([]record.Evaluation, error) {
	step := -1
	if q.Step != "" {
		var err error
		if step, err = r.ParseStep(q.Step); err != nil {
			return nil, wrong("step", "%v", err)
		}
	}
	var out []record.Evaluation
	for _, e := range all {
		if step >= 0 && (e.Step != step || step == 0 && e.Arm != "seed") || q.Arm != "" && e.Arm != q.Arm || q.Sample >= 0 && e.Sample != q.Sample {
			continue
		}
		out = append(out, e)
	}
	return out, nil
}

func listPlaces(all []record.Evaluation) []string {
	var out []string
	for _, e := range all {
		out = append(out, e.Where)
	}
	return out
}

// ReadConversations reads what was said in evaluations, where calls are recorded one by one.
func (q TaskQuestion) ReadConversations(ctx context.Context, r *record.Run, chosen []record.Evaluation) ([]Evaluation, error) {
	out := make([]Evaluation, len(chosen))
	if err := q.attempts(ctx, r, chosen, out); err != nil {
		return nil, err
	}
	for i, e := range chosen {
		out[i].Evaluation = e
		if e.Key == "" || e.Episode {
			continue
		}
		c, err := r.ReadConversation(ctx, e)
		if errors.Is(err, record.ErrNoCall) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !q.Prompt {
			c.Messages, c.Tools, c.Schema = nil, nil, nil
		}
		out[i].Conversation = &c
	}
	return out, nil
}

// attempts reads the calls inside episodes.
func (q TaskQuestion) attempts(ctx context.Context, r *record.Run, chosen []record.Evaluation, out []Evaluation) error {
	var keys []string
	at := map[string]int{}
	for i, e := range chosen {
		if e.Episode && q.Prompt {
			keys = append(keys, e.Key)
			at[e.Key] = i
		}
	}
	if len(keys) == 0 {
		return nil
	}
	tries, err := r.Tries(ctx, chosen[0].Task, keys...)
	for _, t := range tries {
		e := &out[at[t.Key]]
		e.Attempts = append(e.Attempts, t)
	}
	return err
}

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

// minedEdits are tasks of sessions that the user has edited, until they are accepted.
type minedEdits struct {
	list  []minedTask
	tasks map[string]wish.Task // by id
}

// editable are the keys of a task of a session that its user may change: the others say what the session has shown.
var editable = []string{"prompt", "hidden", "gold", "checks"}

// take takes an edited task, or says why not.
func (e *minedEdits) take(line []byte) error {
	var now editedTask
	if err := json.Unmarshal(line, &now); err != nil {
		return fmt.Errorf("it is no task: %w", err)
	}
	i := slices.IndexFunc(e.list, func(m minedTask) bool { return m.ID == now.ID })
	if i < 0 {
		return fmt.Errorf("id: found %q, which is none of the tasks here; leave the id as it is", now.ID)
	}
	if err := onlyEditable(reviewLines(e.list[i:i+1]), line); err != nil {
		return err
	}
	return e.change(e.list[i], now)
}

// editedTask is what a user may change of a task.
type editedTask struct {
	ID     string          `json:"id"`
	Prompt string          `json:"prompt"`
	Hidden string          `json:"hidden"`
	Gold   []string        `json:"gold"`
	Checks json.RawMessage `json:"checks"`
}

// change notes an edited task if it can still judge answers.
func (e *minedEdits) change(m minedTask, now editedTask) error {
	t := m.task
	t.Task.Prompt, t.Task.Hidden, t.Task.Gold, t.Task.RawGold, t.Task.Checks = now.Prompt, now.Hidden, now.Gold, nil, now.Checks
	if err := tellsApart(m, t.Task); err != nil {
		return err
	}
	e.tasks[m.ID] = t
	return nil
}

// onlyEditable refuses changes of what the user cannot change.
func onlyEditable(before, after []byte) error {
	var a, b map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(before, &a), json.Unmarshal(after, &b)); err != nil {
		return fmt.Errorf("it is no task: %w", err)
	}
	for key, was := range a {
		if now, there := b[key]; !slices.Contains(editable, key) && (!there || !sameJSON(was, now)) {
			return fmt.Errorf("%s: it is what the session has shown, and stays; prompt, hidden, gold and checks may be edited", key)
		}
	}
	for key := range b {
		if _, there := a[key]; !there && !slices.Contains(editable, key) {
			return fmt.Errorf("%s: such a task has no such key; prompt, hidden, gold and checks may be edited", key)
		}
	}
	return nil
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// tellsApart says why a task cannot judge answers: by the rules of drafts, or since it distinguished the two answers of its
// session and does not any more.
func tellsApart(m minedTask, t task.Task) error {
	rules, err := draft.NewRules(check.Options{Workspace: true, Judge: true})
	if err != nil {
		return err
	}
	if reason, detail := rules.Unusable(t); reason != "" {
		return fmt.Errorf("%s: %s", reason, detail)
	}
	before := m.task.Task
	if m.Accepted == "" || m.Corrected == "" || rules.Score(m.Accepted, before).Hard < 1 || rules.Score(m.Corrected, before).Hard > 0 {
		return nil
	}
	if s := rules.Score(m.Accepted, t); s.Hard < 1 {
		return fmt.Errorf("checks: the answer that was accepted does not pass them any more: %s", s.Reason)
	}
	if rules.Score(m.Corrected, t).Hard > 0 {
		return errors.New("checks: the answer that was corrected passes them now")
	}
	return nil
}

// rewordTask puts an edited task into the bank.
func rewordTask(ctx context.Context, setup sleepSetup, t wish.Task) (err error) {
	b, err := setup.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return bank.Reword(ctx, b, t)
}

// takeEdits puts the tasks of --edit into the bank, each if it can judge answers, and has them said to be accepted.
func (o *sleepReviewOptions) takeEdits(ctx context.Context, setup sleepSetup, said map[string]bank.Review) error {
	if len(o.edit) == 0 {
		return nil
	}
	list, err := o.readUnreviewedTasks(ctx, setup)
	if err != nil {
		return err
	}
	edits := minedEdits{list: list, tasks: map[string]wish.Task{}}
	for _, text := range o.edit {
		id, err := edits.takeKeys([]byte(text))
		if err != nil {
			return usagef("--edit: %v", err)
		}
		if _, twice := said[id]; twice {
			return usagef("%s: it is given twice; give it once", id)
		}
		said[id] = bank.Accepted
	}
	for _, t := range edits.tasks {
		if err := rewordTask(ctx, setup, t); err != nil {
			return err
		}
	}
	return nil
}

// takeKeys takes a task of which only what changes is given, by the names that --json has, and returns its id.
func (e *minedEdits) takeKeys(text []byte) (string, error) {
	var edit result.MinedEdit
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&edit); err != nil {
		return "", fmt.Errorf("want a JSON object with id, and at least one of prompt, correction, gold and checks: %w", err)
	}
	i := slices.IndexFunc(e.list, func(m minedTask) bool { return m.ID == edit.ID })
	if i < 0 {
		return "", fmt.Errorf("id: found %q, which is no task that waits; `skillopt sleep review --json` lists those", edit.ID)
	}
	m := e.list[i]
	now := editedTask{ID: m.ID, Prompt: m.Prompt, Hidden: m.Said, Gold: m.Gold, Checks: m.Checks}
	if edit.Prompt != nil {
		now.Prompt = *edit.Prompt
	}
	if edit.Said != nil {
		now.Hidden = *edit.Said
	}
	if edit.Gold != nil {
		now.Gold = *edit.Gold
	}
	if len(edit.Checks) > 0 {
		now.Checks = edit.Checks
	}
	return m.ID, e.change(m, now)
}

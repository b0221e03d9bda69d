// Package taskfile writes tasks of sessions into a file for a person to read and edit, and reads such a file, or one that a person
// wrote by hand, as tasks that a person has reviewed.
//
// It knows the format of task files and what a session has shown. It knows nothing of the bank, of nights, or of how tasks are
// found. A file is data: nothing that it says runs, opens or fetches anything.
package taskfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/task"
)

// Bounds of a file.
const (
	MaxBytes = 4 << 20
	MaxTasks = 300
)

// about is in the first line of a file that is written.
const about = "what counts is id, skill (without one the memory file is trained), prompt, gold, checks, hidden and reviewed; session stays as it is; delete the lines that you do not want; where reviewed is false, look at what held says, then set true"

// row is a line of a file that is written.
type row struct {
	About    string          `json:"about,omitempty"`
	ID       string          `json:"id"`
	Reviewed *bool           `json:"reviewed,omitempty"` // false: the task is held
	Held     string          `json:"held,omitempty"`
	Skill    string          `json:"skill,omitempty"`
	Prompt   string          `json:"prompt"`
	Gold     []string        `json:"gold,omitempty"`
	Checks   json.RawMessage `json:"checks,omitempty"`
	Hidden   string          `json:"hidden,omitempty"`
	Doubts   any             `json:"doubts,omitempty"`
	Session  shown           `json:"session"`
}

// shown is where a task comes from, and what makes it the same as another one.
type shown struct {
	wish.Ref

	From    string     `json:"from,omitempty"` // the turn in which it was asked first
	Trust   wish.Trust `json:"trust"`
	Input   string     `json:"input,omitempty"`
	Outcome string     `json:"outcome,omitempty"`
}

// Writer writes a file that is not there yet. Without a task there is none.
type Writer struct {
	Path string
	N    int // tasks so far

	asked map[string]bool // prompts so far
}

// Add appends tasks, which are on the disk when it returns. It returns those that a file cannot hold: their checks need more than an answer, or
// they ask what another one asks.
func (w *Writer) Add(tasks []wish.Task) (rest []wish.Task, err error) {
	if w.asked == nil {
		w.asked = map[string]bool{}
	}
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	enc.SetEscapeHTML(false)
	flags := os.O_WRONLY | os.O_APPEND
	if w.N == 0 {
		flags |= os.O_CREATE | os.O_EXCL
	}
	for i := range tasks {
		t := &tasks[i]
		if t.Unfit != "" || t.Trust != wish.ByCorrection && t.Trust != wish.ByRubric || w.asked[t.Task.Prompt] {
			rest = append(rest, *t)
			continue
		}
		w.asked[t.Task.Prompt] = true
		if err := enc.Encode(w.row(t)); err != nil {
			return nil, fmt.Errorf("write task %s: %w", t.Task.ID, err)
		}
	}
	if lines.Len() == 0 {
		return rest, nil
	}
	f, err := os.OpenFile(w.Path, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write tasks: %w", err)
	}
	_, err = f.Write(lines.Bytes())
	return rest, errors.Join(err, f.Sync(), f.Close())
}

func (w *Writer) row(t *wish.Task) row {
	r := row{
		ID: t.Task.ID, Held: t.Held, Skill: t.Skill, Prompt: t.Task.Prompt, Gold: t.Task.Gold, Checks: t.Task.Checks, Hidden: t.Task.Hidden, Doubts: t.Task.Data["doubts"],
		Session: shown{Ref: t.Seen[0], From: t.Place.From, Trust: t.Trust, Input: t.Input, Outcome: t.Outcome},
	}
	if w.N++; w.N == 1 {
		r.About = about
	}
	if t.Held != "" {
		r.Reviewed = new(bool)
	}
	return r
}

// Reader reads files for a project.
type Reader struct {
	Project string
	Suite   *check.Suite
	Columns map[string]string        // tasks.columns
	Clean   func(text string) string // takes secrets out
	Skill   func(name string) error  // why a skill cannot be trained; nil: it can
}

// Read returns the tasks of a file, without secrets, with ids of their own, and warnings. The error names the lines that are refused, and why.
func (r *Reader) Read(ctx context.Context, path string) (out []wish.Task, warnings []string, err error) {
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil, nil, fmt.Errorf("read tasks: %w", err)
	case !info.Mode().IsRegular(): // opening a pipe would wait
		return nil, nil, fmt.Errorf("%s: it is not a regular file", path)
	case info.Size() > MaxBytes:
		return nil, nil, fmt.Errorf("%s: it has more than %d MB", path, MaxBytes>>20)
	}
	var other struct{ Format string }
	if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, &other) == nil && other.Format != "" {
		return nil, nil, fmt.Errorf("%s: it has the format %.60q of another program; write one task a line, with prompt and gold (docs/tasks.md)", path, other.Format)
	}
	set, err := task.LoadContext(ctx, path, task.Rules{Checker: r, Columns: r.Columns, NoTriggers: "a night trains on answers"})
	switch {
	case err != nil:
		return nil, nil, err
	case set.Len() > MaxTasks:
		return nil, nil, fmt.Errorf("%s: it has %d tasks, at most %d are allowed", path, set.Len(), MaxTasks)
	}
	for _, t := range set.Tasks() {
		w, err := r.task(t)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: task %q: %w", t.Origin, t.ID, err)
		}
		out = append(out, w)
	}
	return out, set.Warnings(), nil
}

// Check implements task.Checker: what no file of reviewed tasks may say is wrong too.
func (r *Reader) Check(t task.Task) error {
	_, _, from := comesFrom(t)
	errs := []error{r.Suite.Check(t), from}
	if len(t.Checks) > 0 && r.Suite.Needs(t).Command {
		errs = append(errs, errors.New("checks: a file may not have commands run"))
	}
	if t.Unreviewed {
		errs = append(errs, errors.New("reviewed: it is false; look at the task, then set true or delete the line"))
	}
	if t.Split != "" {
		errs = append(errs, errors.New("split: nights divide tasks themselves; take the field out"))
	}
	for _, name := range []string{task.FieldImages, "workspace", "files", "urls"} {
		if t.Data[name] != nil {
			errs = append(errs, fmt.Errorf("%s: a file may not have anything opened or fetched; take the field out", name))
		}
	}
	if v, named := t.Data["skill"]; named {
		name, _ := v.(string)
		if err := r.Skill(name); err != nil {
			errs = append(errs, fmt.Errorf("skill: %w", err))
		}
	}
	return errors.Join(errs...)
}

// comesFrom returns what a task says of the session that showed it; false: no session has.
func comesFrom(t task.Task) (from shown, ok bool, err error) {
	v, ok := t.Data["session"]
	if !ok {
		return from, false, nil
	}
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &from)
	}
	if err != nil || from.Trust != wish.ByCorrection && from.Trust != wish.ByRubric || from.Source == "" || from.Session == "" || from.Turn == "" {
		err = errors.New("session: it is not as `skillopt sleep mine --out` has written it; put it back, or take it out")
	}
	return from, true, err
}

// task returns a task of a file as one of a night.
func (r *Reader) task(t task.Task) (wish.Task, error) {
	w := wish.Task{Trust: wish.ByPerson, Project: r.Project}
	w.Skill, _ = t.Data["skill"].(string)
	if from, ok, _ := comesFrom(t); ok {
		w.Trust, w.Seen, w.Input, w.Outcome, w.Place.From = from.Trust, []wish.Ref{from.Ref}, from.Input, from.Outcome, from.From
	}
	t = redact.Strings(r.Clean, t, "RawGold", "Kin")
	for _, name := range []string{"about", "held", "skill", "doubts", "session"} {
		delete(t.Data, name)
	}
	// A digest comes first: every fifth task by id is put aside, and that must not follow from how somebody counts.
	t.ID, t.RawGold = target.Digest(r.Project + "\n" + w.Skill + "\n" + t.ID)[:8]+"-"+t.ID, nil
	if w.Task = t; len(t.Checks) == 0 {
		return w, nil
	}
	var checks any
	dec := json.NewDecoder(bytes.NewReader(t.Checks))
	dec.UseNumber()
	err := dec.Decode(&checks)
	if err == nil {
		w.Task.Checks, err = json.Marshal(redact.Strings(r.Clean, checks))
	}
	return w, err
}

// Package taskfile writes tasks that were found in sessions into a file for a person to read and edit, and reads such a file, or one that
// somebody wrote by hand, as tasks that a person has reviewed.
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
	"io"
	"maps"
	"os"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/task"
)

// closed are fields that name what other commands open or fetch.
var closed = []string{task.FieldImages, "workspace", "files", "urls"}

// Bounds of a file.
const (
	MaxBytes = 4 << 20
	MaxTasks = 300
	maxBad   = 10 // lines of an error
)

// about is in the first line of a file that is written: which fields count.
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

// shown is where a task comes from: nothing of it is for a person to change.
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
	var fit []wish.Task
	for _, t := range tasks {
		if t.Unfit == "" && (t.Trust == wish.ByCorrection || t.Trust == wish.ByRubric) && !w.asked[t.Task.Prompt] {
			w.asked[t.Task.Prompt] = true
			fit = append(fit, t)
			continue
		}
		rest = append(rest, t)
	}
	if len(fit) == 0 {
		return rest, nil
	}
	return rest, w.append(fit)
}

func (w *Writer) append(tasks []wish.Task) (err error) {
	flags := os.O_WRONLY | os.O_APPEND
	if w.N == 0 {
		flags |= os.O_CREATE | os.O_EXCL
	}
	f, err := os.OpenFile(w.Path, flags, 0o600)
	if err != nil {
		return fmt.Errorf("write tasks: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	enc.SetEscapeHTML(false)
	for i := range tasks {
		r := rowOf(&tasks[i])
		if w.N == 0 {
			r.About = about
		}
		if err := enc.Encode(r); err != nil {
			return fmt.Errorf("write task %s: %w", r.ID, err)
		}
		w.N++
	}
	if _, err := f.Write(lines.Bytes()); err != nil {
		return fmt.Errorf("write tasks: %w", err)
	}
	return f.Sync()
}

func rowOf(t *wish.Task) row {
	r := row{
		ID: t.Task.ID, Held: t.Held, Skill: t.Skill, Prompt: t.Task.Prompt, Gold: t.Task.Gold, Checks: t.Task.Checks, Hidden: t.Task.Hidden, Doubts: t.Task.Data["doubts"],
		Session: shown{Ref: t.Seen[0], From: t.Place.From, Trust: t.Trust, Input: t.Input, Outcome: t.Outcome},
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

// Read returns the tasks of a file, without secrets, with ids of their own, and warnings. The error names every line that is refused, and why.
func (r *Reader) Read(ctx context.Context, path string) ([]wish.Task, []string, error) {
	data, err := read(path)
	if err != nil {
		return nil, nil, err
	}
	var other struct{ Format string }
	if json.Unmarshal(data, &other) == nil && other.Format != "" {
		return nil, nil, fmt.Errorf("%s: it has the format %.60q of another program; write one task a line, with prompt and gold (docs/tasks.md)", path, other.Format)
	}
	set, err := task.LoadContext(ctx, path, task.Rules{Checker: r.Suite, Columns: r.Columns})
	if err != nil {
		return nil, nil, err
	}
	if n := set.Len(); n > MaxTasks {
		return nil, nil, fmt.Errorf("%s: it has %d tasks, at most %d are allowed", path, n, MaxTasks)
	}
	var out []wish.Task
	var bad []error
	for _, t := range set.Triggers().Tasks() {
		bad = append(bad, fmt.Errorf("%s: task %q: trigger: a night trains on answers", t.Origin, t.ID))
	}
	for _, t := range set.Tasks() {
		w, err := r.task(t)
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: task %q: %w", t.Origin, t.ID, err))
		}
		out = append(out, w)
	}
	if n := len(bad) - maxBad; n > 0 {
		bad = append(bad[:maxBad], fmt.Errorf("and %d more", n))
	}
	return out, set.Warnings(), errors.Join(bad...)
}

func read(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait
		return nil, fmt.Errorf("%s: it is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read tasks: %w", err)
	case len(data) > MaxBytes:
		return nil, fmt.Errorf("%s: it has more than %d MB", path, MaxBytes>>20)
	}
	return data, nil
}

// task returns a task of a file as one that a person has reviewed, or why it cannot be used.
func (r *Reader) task(t task.Task) (w wish.Task, err error) {
	if err := r.refuse(&t); err != nil {
		return w, err
	}
	w = wish.Task{Trust: wish.ByPerson, Project: r.Project}
	if v, ok := t.Data["skill"]; ok {
		if w.Skill, ok = v.(string); !ok {
			return w, errors.New("skill: it must be the name of a skill")
		}
		if err := r.Skill(w.Skill); err != nil {
			return w, fmt.Errorf("skill: %w", err)
		}
	}
	if v, ok := t.Data["session"]; ok {
		if err := comesFrom(&w, v); err != nil {
			return w, fmt.Errorf("session: %w", err)
		}
	}
	t.Data = maps.Clone(t.Data)
	for _, name := range []string{"about", "held", "skill", "doubts", "session"} {
		delete(t.Data, name)
	}
	// A digest comes first: every fifth task by id is put aside, and that must not follow from how somebody counts.
	t.ID = target.Digest(r.Project + "\n" + w.Skill + "\n" + t.ID)[:8] + "-" + t.ID
	w.Task, err = r.scrub(t)
	return w, err
}

// refuse says which field of a task no file may have.
func (r *Reader) refuse(t *task.Task) error {
	switch needs := r.Suite.Needs(*t); {
	case t.Unreviewed:
		return errors.New("reviewed: it is false; look at the task, then set true or delete the line")
	case t.Split != "":
		return errors.New("split: nights divide tasks themselves; take the field out")
	case len(t.Checks) > 0 && needs.Command:
		return errors.New("checks: a file may not have commands run")
	}
	for _, name := range closed {
		if t.Data[name] != nil {
			return fmt.Errorf("%s: a file may not have anything opened or fetched; take the field out", name)
		}
	}
	return nil
}

// comesFrom adds to a task what its line says of the session that showed it.
func comesFrom(w *wish.Task, v any) error {
	var from shown
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &from)
	}
	switch {
	case err != nil:
		return err
	case from.Trust != wish.ByCorrection && from.Trust != wish.ByRubric, from.Source == "", from.Session == "", from.Turn == "":
		return errors.New("it is not as `skillopt sleep mine --out` has written it; put it back, or take it out")
	}
	w.Trust, w.Seen, w.Input, w.Outcome = from.Trust, []wish.Ref{from.Ref}, from.Input, from.Outcome
	w.Place.From = from.From
	return nil
}

// scrub returns a task without secrets.
func (r *Reader) scrub(t task.Task) (task.Task, error) {
	t = redact.Strings(r.Clean, t, "RawGold", "Kin")
	t.RawGold = nil
	if len(t.Checks) == 0 {
		return t, nil
	}
	var checks any
	dec := json.NewDecoder(bytes.NewReader(t.Checks))
	dec.UseNumber()
	err := dec.Decode(&checks)
	if err == nil {
		t.Checks, err = json.Marshal(redact.Strings(r.Clean, checks))
	}
	return t, err
}

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

// This file edits the row of one task in its file.

// TaskRow is the row of a task in its file.
type TaskRow struct {
	Task   string `json:"task"`
	File   string `json:"file"` // relative to the folder with configs
	Line   int    `json:"line"` // that it begins in, from 1
	Text   string `json:"text"` // of the row; "" of one that is not edited here
	SHA256 string `json:"sha256"`
	Why    string `json:"why,omitempty"` // why it is not edited here
}

// NewRow is another text of a row.
type NewRow struct {
	Text   string `json:"text"`
	SHA256 string `json:"sha256"` // of the file that was read
}

// rowOfTask is a row with the file that it is in.
type rowOfTask struct {
	TaskRow

	path       string
	data       []byte
	start, end int
	rules      task.Rules
}

// taskRow shows the row of a task.
func (s *Server) taskRow(_ http.ResponseWriter, r *http.Request) (any, error) {
	row, err := s.findRow(r)
	return row.TaskRow, err
}

// findRow finds the row of a task of a run. A test task keeps its text: who writes it again after its answers were seen
// fits the test to the skill.
func (s *Server) findRow(r *http.Request) (row rowOfTask, err error) {
	at, from, err := s.open(r)
	if err != nil {
		return row, err
	}
	defer func() { _ = from.Close() }() // it was only read
	g, _, err := ask.Grid(r.Context(), from, false)
	if err != nil {
		return row, err
	}
	id := r.PathValue("id")
	g.Tasks = slices.DeleteFunc(g.Tasks, func(t result.GridTask) bool { return t.ID != id })
	if len(g.Tasks) == 0 {
		return row, notFoundError("the run has asked no task " + quoteText(id))
	}
	c, err := s.findRunConfig(r.Context(), at)
	if err != nil {
		return row, err
	}
	row = rowOfTask{TaskRow: TaskRow{Task: id}, rules: task.Rules{OwnScore: true, Columns: c.columns}}
	if err := row.find(r.Context(), c.tasks); err != nil {
		return row, err
	}
	row.File = s.shownPath(row.path)
	if slices.ContainsFunc(g.Tasks, func(t result.GridTask) bool { return t.Split == string(task.Test) }) {
		row.Why = "it is a test task: a test that is changed after its answers were seen fits the skill, and certifies nothing. Correct it in its file, and give the next training other test tasks"
		return row, nil
	}
	return row, s.readRow(r.Context(), &row)
}

// find finds where the row begins.
func (row *rowOfTask) find(ctx context.Context, path string) error {
	set, err := task.LoadContext(ctx, path, row.rules)
	if err != nil {
		return err
	}
	for _, t := range set.Tasks() {
		if i := strings.LastIndexByte(t.Origin, ':'); t.ID == row.Task && i > 0 {
			row.path = t.Origin[:i]
			row.Line, err = strconv.Atoi(t.Origin[i+1:])
			return err
		}
	}
	return notFoundError("the tasks of the config have no task " + quoteText(row.Task) + " any more")
}

// readRow reads the row of a file whose rows are lines or those of a table.
func (s *Server) readRow(ctx context.Context, row *rowOfTask) error {
	kind := strings.ToLower(filepath.Ext(row.path))
	table := kind == ".csv" || kind == ".tsv"
	if kind != ".jsonl" && !table {
		row.Why = fmt.Sprintf("rows of .jsonl and .csv files are edited here: correct it in %s, at line %d", row.File, row.Line)
		return nil
	}
	root, err := s.configs()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only read
	if row.data, err = disk.ReadIn(ctx, root, row.File, maxTasks); err != nil {
		return err
	}
	row.SHA256 = hashText(row.data)
	row.start, row.end = rowAt(row.data, row.Line, table)
	row.Text = string(row.data[row.start:row.end])
	return nil
}

// rowAt returns where the row is that begins in a line, without its line break. In a table a cell in quotation marks
// may hold line breaks.
func rowAt(data []byte, line int, table bool) (start, end int) {
	for ; line > 1; line-- {
		i := bytes.IndexByte(data[start:], '\n')
		if i < 0 {
			return len(data), len(data)
		}
		start += i + 1
	}
	quoted := false
	for end = start; end < len(data) && (quoted || data[end] != '\n'); end++ {
		quoted = quoted != (table && data[end] == '"')
	}
	return start, end - len(data[start:end]) + len(bytes.TrimSuffix(data[start:end], []byte("\r")))
}

// writeTaskRow writes a row again, if the file has the same tasks after it.
func (s *Server) writeTaskRow(_ http.ResponseWriter, r *http.Request) (any, error) {
	var b NewRow
	if err := body(r, &b); err != nil {
		return nil, err
	}
	row, err := s.findRow(r)
	switch {
	case err != nil:
		return nil, err
	case row.Why != "":
		return nil, conflict("the task is not edited here", row.Why)
	case b.SHA256 != row.SHA256:
		return nil, conflict("the file of the tasks has changed since it was read", "load the row again")
	}
	data := slices.Concat(row.data[:row.start], []byte(b.Text), row.data[row.end:])
	if err := row.check(r.Context(), data); err != nil {
		return nil, err
	}
	root, err := s.configs()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // what was written is synced
	row.Text, row.SHA256 = b.Text, hashText(data)
	return row.TaskRow, disk.WriteIn(root, row.File, data, 0o644)
}

// check fails unless a text has the tasks of the file, in their order: a row is written again, none is added, removed
// or renamed.
func (row *rowOfTask) check(ctx context.Context, data []byte) error {
	dir, err := os.MkdirTemp("", "skillopt-row-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is the system's to clean up
	path := filepath.Join(dir, filepath.Base(row.path))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	was, err := task.LoadContext(ctx, row.path, row.rules)
	if err != nil {
		return err
	}
	now, err := task.LoadContext(ctx, path, row.rules)
	switch {
	case err != nil:
		return wrong("%s", strings.ReplaceAll(err.Error(), path, row.File))
	case !slices.Equal(identify(was), identify(now)):
		return wrong("the row has to stay the task %q of its split: with another id, or as several rows, it would be another task", row.Task)
	}
	i := slices.IndexFunc(now.Tasks(), func(t task.Task) bool { return t.ID == row.Task })
	return reaches(was.Tasks()[i], now.Tasks()[i])
}

// reaches fails for a task that runs, opens or fetches what it did not before it was written again: its user may train
// on the file in a terminal, where no guard holds it.
func reaches(was, now task.Task) error {
	var specs any
	_ = json.Unmarshal(now.Checks, &specs) // which is JSON, or nothing
	if found := check.Runs(specs); len(found) > 0 && !bytes.Equal(was.Checks, now.Checks) {
		return wrong("the field checks runs a program (%s): write it into the file yourself", strings.Join(found, ", "))
	}
	for name, value := range now.Data {
		names := name == task.FieldImages || name == rollout.FieldWorkspace || strings.Contains(fmt.Sprint(value), "://")
		if names && !reflect.DeepEqual(was.Data[name], value) {
			return wrong("the field %s names what is opened or fetched: write it into the file yourself", name)
		}
	}
	return nil
}

// identify lists the ids of tasks with their splits.
func identify(set task.Set) (out []string) {
	for _, t := range set.Tasks() {
		out = append(out, t.ID+" "+string(t.Split))
	}
	return out
}

package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/record"
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
	if err != nil {
		return nil, err
	}
	return row.TaskRow, nil
}

// findRow finds the row of a task of a run. A test task keeps its text: who writes it again after its answers were seen
// fits the test to the skill.
func (s *Server) findRow(r *http.Request) (rowOfTask, error) {
	at, from, err := s.open(r)
	if err != nil {
		return rowOfTask{}, err
	}
	defer func() { _ = from.Close() }() // it was only read
	id := r.PathValue("id")
	splits, err := splitsOf(r.Context(), from, id)
	if err != nil {
		return rowOfTask{}, err
	}
	c, err := s.runConfigOf(r.Context(), at)
	if err != nil {
		return rowOfTask{}, err
	}
	row := rowOfTask{TaskRow: TaskRow{Task: id}, rules: task.Rules{OwnScore: true, Columns: c.columns}}
	if err := row.find(r.Context(), c.tasks); err != nil {
		return row, err
	}
	inside, err := s.insideConfigs(row.path)
	if err != nil || !inside {
		return row, undecided("the file of the task, %s, is not in the folder with configs", row.path)
	}
	row.File = s.shownPath(row.path)
	if slices.Contains(splits, string(task.Test)) {
		row.Why = "it is a test task: a test that is changed after its answers were seen fits the skill, and certifies nothing. Correct it in its file, and give the next training other test tasks"
		return row, nil
	}
	return row, row.read(r.Context())
}

// insideConfigs reports whether a file is in the folder with configs, wherever links lead.
func (s *Server) insideConfigs(path string) (bool, error) {
	root, errRoot := filepath.EvalSymlinks(s.options.Configs)
	real, errReal := filepath.EvalSymlinks(path)
	if err := cmp.Or(errRoot, errReal); err != nil {
		return false, err
	}
	rel, err := filepath.Rel(root, real)
	return err == nil && filepath.IsLocal(rel), nil
}

// splitsOf returns the splits that a task of a run is in.
func splitsOf(ctx context.Context, from *record.Run, id string) (out []string, err error) {
	g, _, err := ask.Grid(ctx, from, false)
	for _, t := range g.Tasks {
		if t.ID == id {
			out = append(out, t.Split)
		}
	}
	if err == nil && len(out) == 0 {
		return nil, missing("the run has asked no task " + quoted(id))
	}
	return out, err
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
	return missing("the tasks of the config have no task " + quoted(row.Task) + " any more")
}

// read reads the row of a file whose rows are lines or those of a table.
func (row *rowOfTask) read(ctx context.Context) (err error) {
	kind := strings.ToLower(filepath.Ext(row.path))
	table := kind == ".csv" || kind == ".tsv"
	if kind != ".jsonl" && !table {
		row.Why = fmt.Sprintf("rows of .jsonl and .csv files are edited here: correct it in %s, at line %d", row.File, row.Line)
		return nil
	}
	if row.data, err = disk.Read(ctx, row.path, maxTasks); err != nil {
		return err
	}
	row.SHA256 = fmt.Sprintf("%x", sha256.Sum256(row.data))
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
	info, err := os.Stat(row.path)
	if err != nil {
		return nil, err
	}
	if err := disk.WriteFile(row.path, data, info.Mode().Perm()); err != nil {
		return nil, err
	}
	row.Text, row.SHA256 = b.Text, fmt.Sprintf("%x", sha256.Sum256(data))
	return row.TaskRow, nil
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
	if err != nil {
		return wrong("%s", strings.ReplaceAll(err.Error(), path, row.File))
	}
	if !slices.Equal(identify(was), identify(now)) {
		return wrong("the row has to stay the task %q of its split: with another id, or as several rows, it would be another task", row.Task)
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

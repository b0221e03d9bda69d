package draft

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/task"
)

// TriggerFile is a JSONL file that trigger tasks are added to. It need not be there yet.
type TriggerFile struct {
	Tasks    int      // that it holds, of any kind
	Prompts  []string // of its trigger tasks
	Splits   bool     // a trigger task of it names its split
	path     string
	perm     fs.FileMode
	data     []byte
	ids      map[string]bool // of its tasks, and of those that were rejected
	rejected string
}

// OpenTriggerFile reads a JSONL file. The error names the line that is no JSON object.
func OpenTriggerFile(path string) (*TriggerFile, error) {
	f := &TriggerFile{path: path, perm: 0o644, ids: map[string]bool{}, rejected: filepath.Join(filepath.Dir(path), task.RejectedFile)}
	var err error
	if f.data, err = f.read(); err != nil {
		return nil, err
	}
	n := 0
	for line := range bytes.Lines(bytes.TrimPrefix(f.data, []byte("\ufeff"))) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := f.note(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		f.Tasks++
	}
	rejected, err := os.ReadFile(f.rejected)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read rejected tasks: %w", err)
	}
	for line := range bytes.Lines(rejected) {
		f.ids[parseTaskID(line)] = true
	}
	return f, nil
}

// read returns what the file holds; nil if there is none.
func (f *TriggerFile) read() ([]byte, error) {
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open tasks: %w", err)
	}
	f.perm = info.Mode().Perm()
	if real, err := filepath.EvalSymlinks(f.path); err == nil {
		f.path = real // a link stays one
	}
	data, err := disk.Read(context.Background(), f.path, task.MaxFile)
	if err != nil {
		return nil, fmt.Errorf("open tasks: %w", err)
	}
	return data, nil
}

// note remembers what a task of the file means for others.
func (f *TriggerFile) note(line []byte) error {
	var t struct {
		ID, Prompt, Query, Trigger, Split any
		Should                            any `json:"should_trigger"`
	}
	if err := json.Unmarshal(line, &t); err != nil {
		return errors.New("the line is no JSON object")
	}
	if id, ok := t.ID.(string); ok {
		f.ids[id] = true
	}
	if t.Trigger == nil && t.Should == nil {
		return nil
	}
	if prompt, ok := cmp.Or(t.Prompt, t.Query).(string); ok {
		f.Prompts = append(f.Prompts, prompt)
	}
	f.Splits = f.Splits || t.Split != nil && t.Split != ""
	return nil
}

func parseTaskID(line []byte) string {
	var t struct{ ID string }
	if json.Unmarshal(line, &t) != nil {
		return "" // which is the id of no drafted task
	}
	return t.ID
}

// Add writes lines behind those that are there, whose every byte stays, and returns how many
// they were. Tasks that the file has by their ids, or that a review has taken out of it, are
// left out: the same lines again change nothing. The file is there as a whole or as it was;
// if somebody else has written it since it was opened the error is ErrChanged.
func (f *TriggerFile) Add(lines []byte) (int, error) {
	out, n := bytes.Clone(f.data), 0
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	for line := range bytes.Lines(lines) {
		if !f.ids[parseTaskID(line)] {
			out, n = append(out, line...), n+1
		}
	}
	if n == 0 {
		return 0, nil
	}
	if len(out) > task.MaxFile {
		return 0, fmt.Errorf("add tasks: %s would be larger than %d MB", f.path, task.MaxFile>>20)
	}
	now, err := f.read()
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(now, f.data) {
		return 0, fmt.Errorf("%s: %w", f.path, ErrChanged)
	}
	return n, disk.WriteFile(f.path, out, f.perm)
}

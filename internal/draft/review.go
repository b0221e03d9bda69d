package draft

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/task"
)

// Review is a task file whose unreviewed tasks are gone through. Each decision is
// on the disk when its method returns. Lines that no decision concerns keep every
// byte, and so do the other fields of one that is accepted. It is for one
// goroutine.
type Review struct {
	path  string
	perm  fs.FileMode
	disk  []byte // what the file holds
	mark  []byte // a byte order mark
	lines []reviewLine
}

type reviewLine struct {
	text    []byte // with its line break
	pending bool   // it says reviewed: false
	gone    bool
}

// ErrChanged says that somebody else has written the file since it was opened.
// Nothing was written.
var ErrChanged = errors.New("the file was changed meanwhile by somebody else; start again")

// OpenReview reads a JSONL file.
func OpenReview(path string) (*Review, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open tasks: %w", err)
	}
	if info.Size() > task.MaxFile {
		return nil, fmt.Errorf("open tasks: %s is larger than %d MB", path, task.MaxFile>>20)
	}
	data, err := disk.Read(context.Background(), path, task.MaxFile)
	if err != nil {
		return nil, fmt.Errorf("open tasks: %w", err)
	}
	r := &Review{path: path, perm: info.Mode().Perm(), disk: data}
	rest, marked := bytes.CutPrefix(data, []byte("\ufeff"))
	if marked {
		r.mark = data[:len(data)-len(rest)]
	}
	for line := range bytes.Lines(rest) {
		l := reviewLine{text: line}
		if bytes.Contains(line, []byte("reviewed")) || bytes.Contains(line, []byte(`\u`)) { // JSON may write any letter by its number
			if _, l.pending, err = markReviewed(line); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, len(r.lines)+1, err)
			}
		}
		r.lines = append(r.lines, l)
	}
	return r, nil
}

// Path returns the path of the file under review.
func (r *Review) Path() string { return r.path }

// RejectedPath returns the path of the file that keeps rejected tasks.
func (r *Review) RejectedPath() string { return filepath.Join(filepath.Dir(r.path), task.RejectedFile) }

// PendingLines returns the lines, from 0, whose tasks are unreviewed.
func (r *Review) PendingLines() []int {
	var list []int
	for i, l := range r.lines {
		if l.pending && !l.gone {
			list = append(list, i)
		}
	}
	return list
}

// Number returns the line, from 1, on which a task is in the file now.
func (r *Review) Number(i int) int {
	n := 1
	for _, l := range r.lines[:i] {
		if !l.gone {
			n++
		}
	}
	return n
}

// Line returns a task as it is in the file, without the line break.
func (r *Review) Line(i int) []byte { return slices.Clip(bytes.TrimRight(r.lines[i].text, "\r\n")) }

// Accept marks tasks as reviewed.
func (r *Review) Accept(lines ...int) error {
	return r.change(func(l []reviewLine) error {
		for _, i := range lines {
			text, _, err := markReviewed(l[i].text)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", r.path, i+1, err)
			}
			l[i] = reviewLine{text: text}
		}
		return nil
	})
}

// Reject moves a task to the file of rejected ones. It is there before it is gone
// from here.
func (r *Review) Reject(i int) error {
	line := append(slices.Clone(r.Line(i)), '\n')
	kept, err := os.ReadFile(r.RejectedPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep rejected task: %w", err)
	}
	if n := len(kept); n > 0 && kept[n-1] != '\n' {
		kept = append(kept, '\n')
	}
	// A review that was killed between the two files meets the task again.
	if !bytes.Contains(append([]byte{'\n'}, kept...), append([]byte{'\n'}, line...)) {
		if err := disk.WriteFile(r.RejectedPath(), append(kept, line...), r.perm); err != nil {
			return err
		}
	}
	return r.change(func(l []reviewLine) error {
		l[i].gone = true
		return nil
	})
}

// Replace replaces a line with another task, one JSON object. It stays
// unreviewed unless it says otherwise.
func (r *Review) Replace(i int, object []byte) error {
	var line bytes.Buffer
	if err := json.Compact(&line, object); err != nil {
		return fmt.Errorf("the task is not JSON: %w", err)
	}
	_, pending, err := markReviewed(line.Bytes())
	if err != nil {
		return err
	}
	return r.change(func(l []reviewLine) error {
		end := l[i].text[len(bytes.TrimRight(l[i].text, "\r\n")):]
		l[i] = reviewLine{text: append(line.Bytes(), end...), pending: pending}
		return nil
	})
}

// change applies a decision and writes it. When that fails nothing is changed.
func (r *Review) change(decide func([]reviewLine) error) error {
	now, err := os.ReadFile(r.path)
	if err != nil {
		return fmt.Errorf("read tasks: %w", err)
	}
	if !bytes.Equal(now, r.disk) {
		return fmt.Errorf("%s: %w", r.path, ErrChanged)
	}
	lines := slices.Clone(r.lines)
	if err := decide(lines); err != nil {
		return err
	}
	data := slices.Clone(r.mark)
	for _, l := range lines {
		if !l.gone {
			data = append(data, l.text...)
		}
	}
	if err := disk.WriteFile(r.path, data, r.perm); err != nil {
		return err
	}
	r.lines, r.disk = lines, data
	return nil
}

// markReviewed returns a line with reviewed set to true, and whether it was false.
// All other bytes stay as they are.
func markReviewed(line []byte) (text []byte, pending bool, err error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false, errors.New("the line is no JSON object")
	}
	last := 0
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, false, fmt.Errorf("the line is not JSON: %w", err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, false, fmt.Errorf("the line is not JSON: %w", err)
		}
		if key != "reviewed" {
			continue
		}
		end := int(dec.InputOffset())
		text = append(append(text, line[last:end-len(value)]...), "true"...)
		last = end
		pending = saysNo(value)
	}
	if _, err := dec.Token(); err != nil {
		return nil, false, fmt.Errorf("the line is not JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, false, errors.New("the line holds more than one JSON object")
	}
	return append(text, line[last:]...), pending, nil
}

// saysNo reports whether a value of reviewed is one that a task file reads as no:
// false, 0, or one of them as text.
func saysNo(value json.RawMessage) bool {
	text := string(value)
	var inner string
	if json.Unmarshal(value, &inner) == nil {
		text = inner
	}
	yes, err := strconv.ParseBool(strings.ToLower(text))
	return err == nil && !yes
}

// Lint reports what is wrong with a task, one JSON object, for which dir is a
// folder to work in. Templates are not known here: a prompt may be missing.
func Lint(dir string, object []byte) error {
	suite, err := check.Compile(nil, check.Options{Workspace: true, Judge: true})
	if err != nil {
		return fmt.Errorf("set up checks: %w", err)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, object); err != nil {
		return fmt.Errorf("the task is not JSON: %w", err)
	}
	path := filepath.Join(dir, "lint.jsonl")
	if err := os.WriteFile(path, line.Bytes(), 0o600); err != nil {
		return fmt.Errorf("lint task: %w", err)
	}
	_, err = task.Load(path, task.Rules{Prompt: "-", Checker: suite})
	var bad *task.Error
	if !errors.As(err, &bad) {
		return err
	}
	var errs []error
	for _, p := range bad.Problems {
		errs = append(errs, errors.New(p.Msg)) // where it lies means nothing to the user
	}
	return errors.Join(errs...)
}

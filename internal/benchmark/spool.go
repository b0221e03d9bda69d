package benchmark

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed-f4525e22/skillopt/task"
)

// spool keeps the lines of tasks in a file, in the order of the rows, until it is known in which
// split and order they are wanted: in memory are their ids and places alone.
type spool struct {
	file  *os.File
	size  int64
	lines []line
	place map[string]int // by id
}

// line is the task of a row.
type line struct {
	id     string
	split  task.Split
	group  string // by which tasks are stratified
	sum    string
	at     int64
	length int
	file   string
	row    int
}

// fileSpool is its name, until the folder is made.
const fileSpool = "spool"

// newSpool makes the file.
func newSpool(root *os.Root) (*spool, error) {
	f, err := root.OpenFile(fileSpool, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write tasks: %w", err)
	}
	return &spool{file: f, place: map[string]int{}}, nil
}

// close ends it, and removes what is left.
func (s *spool) close(root *os.Root) error {
	return errors.Join(s.file.Close(), root.Remove(fileSpool))
}

// add keeps a task. An id that is there already is an error.
func (s *spool) add(it item, group string) error {
	if i, twice := s.place[it.id]; twice {
		first := s.lines[i]
		return &rowError{file: it.file, row: it.row, key: "id", msg: fmt.Sprintf("the id %q is there twice; the first is %s, row %d", it.id, first.file, first.row)}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(it.fields); err != nil {
		return &rowError{file: it.file, row: it.row, msg: "it cannot be written as JSON: " + err.Error()}
	}
	sum := sha256.Sum256(b.Bytes())
	s.place[it.id] = len(s.lines)
	s.lines = append(s.lines, line{id: it.id, split: it.split, group: group, sum: hex.EncodeToString(sum[:]), at: s.size, length: b.Len(), file: it.file, row: it.row})
	n, err := s.file.Write(b.Bytes())
	s.size += int64(n)
	if err != nil {
		return fmt.Errorf("write tasks: %w", err)
	}
	return nil
}

// write copies lines into w, in the order of their places.
func (s *spool) write(w io.Writer, places []int) error {
	for _, i := range places {
		l := s.lines[i]
		if _, err := io.Copy(w, io.NewSectionReader(s.file, l.at, int64(l.length))); err != nil {
			return fmt.Errorf("write task %q: %w", l.id, err)
		}
	}
	return nil
}

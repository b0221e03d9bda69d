package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// markSuffix ends the name of a file next to a journal that says how far the
// journal had got: what SQLite recovers after a crash is a shorter journal, and
// looks like a whole one, when the end of its write-ahead log is gone.
//
// It is written after each commit and before anybody learns of it, without
// waiting for the disk: a killed process leaves it exact, and a loss of power can
// only leave one that knows of less than the journal holds.
const markSuffix = "-mark"

// markSize is the length of the file: within one block, so that it is written as
// a whole.
const markSize = 512

// mark is how far a journal had got.
type mark struct {
	RunID string `json:"run_id"`
	Entry int64  `json:"entry"` // number of the last one
	Key   string `json:"key,omitempty"`
	Open  bool   `json:"open"` // there was no Close after it
}

// encode returns the file's content: a checksum, the mark, and blanks. ok is false
// for a mark that does not fit, which a run's id and keys of ours always do.
func (m mark) encode() (text []byte, ok bool) {
	body, err := json.Marshal(m)
	if err == nil && len(body) > markSize-10 {
		m.Key = ""
		body, err = json.Marshal(m)
	}
	if err != nil || len(body) > markSize-10 {
		return nil, false
	}
	text = bytes.Repeat([]byte(" "), markSize)
	copy(text, fmt.Appendf(nil, "%08x ", markSum(body)))
	copy(text[9:], body)
	text[markSize-1] = '\n'
	return text, true
}

func markSum(body []byte) uint32 {
	return crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
}

// parseMark reads what encode wrote.
func parseMark(text []byte) (m mark, ok bool) {
	sum, body, cut := bytes.Cut(bytes.TrimRight(text, " \n"), []byte(" "))
	if !cut || string(sum) != fmt.Sprintf("%08x", markSum(body)) {
		return mark{}, false
	}
	return m, json.Unmarshal(body, &m) == nil && m.Entry >= 0
}

// marked is what lies in a journal's mark.
type marked struct {
	mark
	known  bool // it can be read
	broken bool // it is there, and cannot be read
}

// maxMark is more bytes than any mark has.
const maxMark = 4 << 10

// readMark reads the mark of the journal at path. There may be
// none: a copy of the record alone has none.
func readMark(path string) (marked, error) {
	text, err := disk.Read(context.Background(), path+markSuffix, maxMark)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return marked{}, nil
	}
	if err != nil {
		return marked{}, fmt.Errorf("open journal: %w", err)
	}
	m, ok := parseMark(text)
	return marked{mark: m, known: ok, broken: !ok}, nil
}

// marker writes marks. One goroutine uses it at a time.
type marker struct {
	file *os.File
	last mark // that was written; the zero value before the first
}

func newMarker(path string) (*marker, error) {
	file, err := os.OpenFile(path+markSuffix, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	return &marker{file: file}, nil
}

// write replaces the mark before with m. That it cannot be written is no
// failure of the journal: an old mark claims too little, never too much.
func (k *marker) write(m mark) {
	if text, ok := m.encode(); ok {
		_, _ = k.file.WriteAt(text, 0)
		k.last = m
	}
}

// end notes that the journal was closed, clean or not, and lets go of the file. A
// mark to which nothing was added stays: what it knows may be missing.
func (k *marker) end(clean bool) error {
	if clean && k.last.Open {
		k.last.Open = false
		k.write(k.last)
	}
	return k.close()
}

func (k *marker) close() error {
	if err := k.file.Close(); err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}

package eventlog

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// seen holds what identifies the events of a log: a resumed run sends again the events of what
// it answers from its record.
type seen struct {
	rows  []uint64          // of outcomes: a bit for each row of the record
	once  map[uint64]bool   // outcomes that are not known by a row, by the sum of their key and status
	count map[uint64]uint32 // of all others, by their sum: how many lines of the log say so
}

func newSeen() *seen { return &seen{once: map[uint64]bool{}, count: map[uint64]uint32{}} }

func (s *seen) clone() *seen {
	return &seen{rows: slices.Clone(s.rows), once: maps.Clone(s.once), count: maps.Clone(s.count)}
}

// maxRow bounds the rows that have a bit each: 128 MB of bits.
const maxRow = 1 << 30

func (s *seen) hasRow(row int64) bool {
	at := row / 64
	return at < int64(len(s.rows)) && s.rows[at]&(1<<(row%64)) != 0
}

func (s *seen) addRow(row int64) {
	if row < 0 || row >= maxRow {
		return
	}
	if at := int(row / 64); at >= len(s.rows) {
		s.rows = append(s.rows, make([]uint64, max(1024, at+1-len(s.rows)))...)
	}
	s.rows[row/64] |= 1 << (row % 64)
}

// forgetFrom drops the rows from one on, 0: none.
func (s *seen) forgetFrom(row int64) {
	if row <= 0 || row/64 >= int64(len(s.rows)) {
		return
	}
	s.rows = s.rows[:row/64+1]
	s.rows[row/64] &= 1<<(row%64) - 1
}

// outcome is what identifies an outcome: the row of its reply. One that is not measured, or
// whose reply is that of an equal request, is identified by its key: it may be measured yet, from the
// same reply.
type outcome struct {
	Row    int64  `json:"row"`
	Key    string `json:"key"`
	Status string `json:"status"`
}

func (o outcome) byRow() bool { return o.Row > 0 && o.Status != statusUnmeasured }

func (o outcome) sum() uint64 { return sum(o.Status, []byte(o.Key)) }

// hasOutcome reports whether the log has an outcome.
func (s *seen) hasOutcome(o outcome) bool {
	if o.byRow() {
		return s.hasRow(o.Row)
	}
	return s.once[o.sum()]
}

func (s *seen) addOutcome(o outcome) {
	if o.byRow() {
		s.addRow(o.Row)
		return
	}
	s.once[o.sum()] = true
}

// learn takes in a line of the log.
func (s *seen) learn(fields, line []byte) error {
	if row, ok := parseRow(fields); ok {
		s.addRow(row)
		return nil
	}
	kind, says, ok := content(fields)
	switch {
	case !ok || ofSession(kind):
	case kind == kindOutcome:
		if row, ok := parseRow(bytes.TrimPrefix(says, []byte(","))); ok && !bytes.Contains(says, []byte(`"status":"`+statusUnmeasured+`"`)) {
			s.addRow(row)
			return nil
		}
		var o outcome
		if err := json.Unmarshal(line, &o); err != nil {
			return fmt.Errorf("read an outcome of the event log: %w", err)
		}
		s.addOutcome(o)
	default:
		s.count[sum(kind, says)]++
	}
	return nil
}

// seenFile keeps what the segments up to one hold, so that no more than those after it are
// read when a run is opened.
const seenFile = "seen.json"

type storedSeen struct {
	Format  int               `json:"format"`
	Log     string            `json:"log"`
	Through int               `json:"through"` // segment
	Rows    []byte            `json:"rows"`    // bits, little endian words
	Once    []string          `json:"once"`    // hexadecimal
	Count   map[string]uint32 `json:"count"`
}

func formatHex(v uint64) string { return strconv.FormatUint(v, 16) }

func (s *seen) toStoredSeen(log string, through int) storedSeen {
	out := storedSeen{Format: Format, Log: log, Through: through, Rows: make([]byte, 0, 8*len(s.rows)), Count: make(map[string]uint32, len(s.count))}
	for _, w := range s.rows {
		out.Rows = binary.LittleEndian.AppendUint64(out.Rows, w)
	}
	for k := range s.once {
		out.Once = append(out.Once, formatHex(k))
	}
	slices.Sort(out.Once)
	for k, n := range s.count {
		out.Count[formatHex(k)] = n
	}
	return out
}

func (st storedSeen) toSeen() (*seen, error) {
	s := newSeen()
	for i := 0; i+8 <= len(st.Rows); i += 8 {
		s.rows = append(s.rows, binary.LittleEndian.Uint64(st.Rows[i:]))
	}
	for _, h := range st.Once {
		k, err := strconv.ParseUint(h, 16, 64)
		if err != nil {
			return nil, err
		}
		s.once[k] = true
	}
	for h, n := range st.Count {
		k, err := strconv.ParseUint(h, 16, 64)
		if err != nil {
			return nil, err
		}
		s.count[k] = n
	}
	return s, nil
}

// loadSeen reads the side file of a log and returns up to which segment it knows. One that
// is missing, damaged, of another log or of a segment that is not there says nothing: all
// segments are read then.
func loadSeen(root *os.Root, log string, last int) (s *seen, through int) {
	nothing := func() (*seen, int) { return newSeen(), 0 }
	there, err := root.Lstat(seenFile)
	if err != nil || !there.Mode().IsRegular() {
		return nothing()
	}
	data, err := disk.ReadIn(context.Background(), root, seenFile, maxSeenFile)
	if err != nil {
		return nothing()
	}
	var st storedSeen
	if err := json.Unmarshal(data, &st); err != nil || st.Format != Format || st.Log != log || st.Through < 0 || st.Through >= last {
		return nothing()
	}
	if s, err = st.toSeen(); err != nil {
		return nothing()
	}
	return s, st.Through
}

// storeSeen writes the side file, whole or not at all.
func storeSeen(root *os.Root, s *seen, log string, through int) error {
	data, err := json.Marshal(s.toStoredSeen(log, through))
	if err != nil {
		return fmt.Errorf("encode %s: %w", seenFile, err)
	}
	return replace(root, seenFile, func(f *os.File) error {
		_, err := f.Write(append(data, '\n'))
		return err
	})
}

// replace writes a file under another name first, and then renames it.
func replace(root *os.Root, name string, write func(*os.File) error) error {
	temp := name + ".new"
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write %s: %w", name, err)
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, errors.Join(err, root.Remove(temp)))
	}
	if err := root.Rename(temp, name); err != nil {
		return fmt.Errorf("write %s: %w", name, errors.Join(err, root.Remove(temp)))
	}
	return nil
}

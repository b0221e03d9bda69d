package journal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A write-ahead log of SQLite is a header of 32 bytes and frames: a header of 24
// bytes with the number of a page, the size of the database after a commit (0 in
// the frames before its last one), the two salts of the log's header and a
// checksum of all that comes before, and the page. When the log begins again the
// first salt grows by one: frames of earlier rounds may follow those of this one.
const (
	logHeader   = 32
	frameHeader = 24
	logMagic    = 0x377f0682 // the lowest bit says how checksums read words
)

// logScan is what a look through a write-ahead log has found apart from what SQLite
// takes out of it.
type logScan struct {
	path     string
	header   bool  // its header is damaged: SQLite takes nothing out of it
	bad      int64 // where the first frame that SQLite does not take begins, 0 if it takes all
	commits  bool  // frames of this round with a commit come after that, or it is one itself
	strange  bool  // what comes after that is of no round at all
	salts    [8]byte
	sum      logSum
	pageSize int64
}

// damage says what is wrong with a log, "" if it is as a killed process may leave
// it. What such a process was writing ends the file or lies before frames of
// earlier rounds.
func (s *logScan) damage() string {
	switch {
	case s == nil:
		return ""
	case s.header:
		return fmt.Sprintf("the header of its write-ahead log %s is damaged", s.path)
	case s.bad > 0 && (s.commits || s.strange):
		return fmt.Sprintf("its write-ahead log %s is damaged from byte %d on", s.path, s.bad)
	}
	return ""
}

// logSum is SQLite's, of all frames so far.
type logSum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (c *logSum) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		c.s0 += c.order.Uint32(b) + c.s1
		c.s1 += c.order.Uint32(b[4:]) + c.s0
	}
}

func (c *logSum) is(b []byte) bool {
	return c.s0 == binary.BigEndian.Uint32(b) && c.s1 == binary.BigEndian.Uint32(b[4:])
}

// scanLog looks through the log of the journal at path, which no one may be
// writing to. Nil: there is none.
func scanLog(path string) (scan *logScan, err error) {
	f, err := os.Open(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s := &logScan{path: path + "-wal"}
	if err := s.read(bufio.NewReaderSize(f, 1<<18)); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read %s: %w", s.path, err)
	}
	return s, nil
}

// read goes through all frames that are there as a whole. It ends with the error
// of r, which at the end of the file is io.EOF or io.ErrUnexpectedEOF.
func (s *logScan) read(r io.Reader) error {
	var head [logHeader]byte
	if n, err := io.ReadFull(r, head[:]); err != nil {
		s.header = n > 0
		return err
	}
	if s.header = !s.begin(head[:]); s.header {
		return nil
	}
	frame := make([]byte, frameHeader+s.pageSize)
	suspect := false // the last frame so far is a commit that SQLite does not take
	for at := int64(logHeader); ; at += int64(len(frame)) {
		n, err := io.ReadFull(r, frame)
		if err != nil {
			// A commit that is there as a whole and ends the file was not being written.
			s.commits = s.commits || suspect && n == 0
			return err
		}
		suspect = s.take(frame, at)
	}
}

// begin reads the header.
func (s *logScan) begin(head []byte) bool {
	magic := binary.BigEndian.Uint32(head)
	if magic&^1 != logMagic {
		return false
	}
	s.sum.order = binary.LittleEndian
	if magic&1 == 1 {
		s.sum.order = binary.BigEndian
	}
	s.pageSize = int64(binary.BigEndian.Uint32(head[8:]))
	copy(s.salts[:], head[16:24])
	s.sum.add(head[:24])
	return s.sum.is(head[24:]) && s.pageSize >= 512 && s.pageSize <= 1<<16
}

// take looks at the frame at an offset. It returns whether this is a commit of
// this round that SQLite does not take.
func (s *logScan) take(frame []byte, at int64) bool {
	mine := string(frame[8:16]) == string(s.salts[:])
	commit := binary.BigEndian.Uint32(frame[4:]) != 0
	if s.bad == 0 {
		next := s.sum
		next.add(frame[:8])
		next.add(frame[frameHeader:])
		if mine && next.is(frame[16:]) && binary.BigEndian.Uint32(frame) != 0 {
			s.sum = next
			return false
		}
		s.bad = at
		s.strange = s.strange || !mine && !s.earlier(frame)
		return mine && commit
	}
	s.commits = s.commits || mine && commit
	s.strange = s.strange || !mine && !s.earlier(frame)
	return false
}

// earlier reports whether the frame is of an earlier round of this log. One of no page is
// of none: where zeros are, the first salt may by chance be little more than theirs.
func (s *logScan) earlier(frame []byte) bool {
	const rounds = 1 << 24
	back := binary.BigEndian.Uint32(s.salts[:]) - binary.BigEndian.Uint32(frame[8:])
	return back > 0 && back < rounds && binary.BigEndian.Uint32(frame) != 0
}

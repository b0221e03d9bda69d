package eventlog

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// log are the files of a log that is written. One goroutine has it.
type log struct {
	opts Options
	root *os.Root
	id   string // of the log

	segment int // the last one, which is open
	file    *os.File
	name    string
	size    int64
	first   int64 // number of the first event in it
	next    int64 // number of the next event

	stored *seen // what the segments before the last one hold
	live   *seen // the same with the last one; of the writer
}

// openLog opens or makes the log of a run and repairs its end.
func openLog(dir string, o Options) (_ *log, err error) {
	if err := os.Mkdir(filepath.Join(dir, Folder), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	root, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	l := &log{opts: o, root: root}
	if err := l.open(); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func (l *log) open() error {
	segments, err := segmentsIn(l.root)
	if err != nil {
		return err
	}
	for len(segments) > 0 {
		last := segments[len(segments)-1]
		h, size, err := l.openLast(last)
		if errors.Is(err, errTorn) { // killed while it was begun: it holds nothing
			if err := errors.Join(l.file.Close(), l.root.Remove(segmentName(last))); err != nil {
				return err
			}
			l.file, segments = nil, segments[:len(segments)-1]
			continue
		}
		if err != nil {
			return err
		}
		if err := l.learn(segments, h, size); err != nil {
			return err
		}
		return l.compactOld()
	}
	l.stored, l.live, l.next, l.id = newSeen(), newSeen(), 1, rand.Text()
	return l.begin(1)
}

// openLast opens the last segment.
func (l *log) openLast(k int) (h header, size int64, err error) {
	l.segment, l.name = k, segmentName(k)
	if l.file, err = openFile(l.root, l.name, os.O_RDWR); err != nil {
		return h, 0, err
	}
	return readHeader(l.file, l.name)
}

// learn finds out what the log holds, and cuts off what is no event at its end. Damaged lines before
// that stay: readers report them.
func (l *log) learn(segments []int, h header, size int64) error {
	if h.Run != l.opts.Run {
		return fmt.Errorf("%s/%s is of another run (%q): move %s/ away", Folder, l.name, h.Run, Folder)
	}
	l.id = h.Log
	s, through := loadSeen(l.root, l.id, l.segment)
	for _, k := range segments[:len(segments)-1] {
		if k <= through {
			continue
		}
		if _, err := l.read(k, s); err != nil {
			return err
		}
	}
	l.stored, l.live = s, s.clone()
	end, next, _, err := scan(io.NewSectionReader(l.file, size, 1<<62), size, h.First, false, learnAll(l.live))
	if err != nil {
		return err
	}
	l.live.forgetFrom(l.opts.Gone)
	l.stored.forgetFrom(l.opts.Gone)
	l.size, l.first, l.next = end, h.First, next
	if err := l.file.Truncate(end); err != nil {
		return err
	}
	_, err = l.file.Seek(end, io.SeekStart)
	return err
}

// read takes in what a segment holds and returns the number behind its last event.
func (l *log) read(k int, s *seen) (next int64, err error) {
	f, err := openFile(l.root, segmentName(k), os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h, size, err := readHeader(f, segmentName(k))
	if err != nil {
		return 0, err
	}
	_, next, _, err = scan(io.NewSectionReader(f, size, 1<<62), size, h.First, true, learnAll(s))
	return next, err
}

// begin begins a segment.
func (l *log) begin(k int) (err error) {
	l.segment, l.name = k, segmentName(k)
	if l.file, err = l.root.OpenFile(l.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
		return err
	}
	head := header{Format: Format, First: l.next, Log: l.id, Run: l.opts.Run}.line()
	if _, err := l.file.Write(head); err != nil {
		return err
	}
	l.size, l.first = int64(len(head)), l.next
	return nil
}

// append writes lines, the first of which has the number first. A segment that is full is
// followed by another.
func (l *log) append(data []byte, first int64) error {
	if first != l.next {
		return fmt.Errorf("event %d comes where %d belongs", first, l.next)
	}
	for len(data) > 0 {
		n, lines := l.fits(data)
		if lines == 0 {
			if err := l.rotate(); err != nil {
				return err
			}
			continue
		}
		if _, err := l.file.Write(data[:n]); err != nil {
			return fmt.Errorf("write %s/%s: %w", Folder, l.name, err)
		}
		l.size, l.next, data = l.size+int64(n), l.next+lines, data[n:]
	}
	return nil
}

// fits returns how many bytes and lines the open segment has room for. An empty one takes
// a line of any length.
func (l *log) fits(data []byte) (size int, lines int64) {
	empty := l.next == l.first
	for size < len(data) {
		n := bytes.IndexByte(data[size:], '\n') + 1
		if l.size+int64(size+n) > l.opts.SegmentBytes && (!empty || lines > 0) {
			break
		}
		size, lines = size+n, lines+1
	}
	return size, lines
}

// rotate closes the open segment and begins the next one.
func (l *log) rotate() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("close %s/%s: %w", Folder, l.name, err)
	}
	l.file = nil
	next, err := l.read(l.segment, l.stored)
	if err != nil {
		return err
	}
	if next != l.next {
		return &DamagedError{File: Folder + "/" + l.name, What: "somebody else has changed it"}
	}
	if err := l.begin(l.segment + 1); err != nil {
		return err
	}
	if err := storeSeen(l.root, l.stored, l.id, l.segment-1); err != nil {
		return err
	}
	return l.compactOld()
}

func (l *log) close() error {
	var err error
	if l.file != nil {
		err = l.file.Close()
	}
	return errors.Join(err, l.root.Close())
}

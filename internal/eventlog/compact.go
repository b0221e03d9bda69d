package eventlog

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
)

// compactOld shortens the newest segment that is not among those kept whole, if it has
// not been shortened yet.
func (l *log) compactOld() error {
	k := l.segment - l.opts.Whole
	if k < 1 {
		return nil
	}
	err := compact(l.root, k)
	var damaged *DamagedError
	if errors.As(err, &damaged) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil // readers report it; or somebody has deleted it, or on Windows reads it
	}
	return err
}

// compact rewrites a segment with outcomes shortened. Numbers stay what they are.
func compact(root *os.Root, k int) (err error) {
	name := segmentName(k)
	f, err := openFile(root, name, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h, size, err := readHeader(f, name)
	if err != nil || h.Short {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h.Short = true
	return replace(root, name, func(to *os.File) error {
		out := bufio.NewWriterSize(to, 1<<20)
		if _, err := out.Write(h.line()); err != nil {
			return err
		}
		end, _, damaged, err := scan(io.NewSectionReader(f, size, 1<<62), size, h.First, true, func(fields, line []byte) error {
			n, _, _ := parseNumber(line)
			_, _ = out.Write(shortenLine(n, fields, line)) // Flush returns what went wrong
			return out.WriteByte('\n')
		})
		if err == nil && (damaged || end != info.Size()) { // it stays as it is
			err = &DamagedError{File: Folder + "/" + name, What: "not all of its lines are events"}
		}
		return errors.Join(err, out.Flush())
	})
}

package eventlog

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// header is the first line of a segment.
type header struct {
	Format int    `json:"format"`
	First  int64  `json:"first"` // number of the first event in it
	Log    string `json:"log"`   // of which log it is: another run may be put into the same folder
	Run    string `json:"run,omitempty"`
	Short  bool   `json:"short,omitempty"` // outcomes are shortened
}

func (h header) line() []byte {
	line, _ := json.Marshal(h) // numbers and texts
	return append(line, '\n')
}

// segmentName returns the name of the kth segment, from 1.
func segmentName(k int) string { return fmt.Sprintf("events-%06d.jsonl", k) }

// parseSegmentName returns the number of the segment with a name.
func parseSegmentName(name string) (k int, ok bool) {
	digits, ok := strings.CutPrefix(name, "events-")
	if !ok {
		return 0, false
	}
	digits, ok = strings.CutSuffix(digits, ".jsonl")
	if !ok || len(digits) < 6 {
		return 0, false
	}
	k, err := strconv.Atoi(digits)
	return k, err == nil && k > 0 && segmentName(k) == name
}

// openFolder opens the folder of the log in a run directory. A link is not followed: what
// is behind it is not of this run.
func openFolder(dir string) (_ *os.Root, err error) {
	run, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	there, err := run.Lstat(Folder)
	if err != nil {
		return nil, err
	}
	if !there.IsDir() {
		return nil, fmt.Errorf("%s in the run directory is %s, not a folder", Folder, what(there.Mode()))
	}
	root, err := run.OpenRoot(Folder)
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(there, opened) {
		err = fmt.Errorf("%s in the run directory was replaced while it was opened", Folder)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// errReplaced says that a file was replaced while it was opened, as a segment is that is
// shortened.
var errReplaced = errors.New("was replaced while it was opened")

// openFile opens a regular file of the folder, and nothing else.
func openFile(root *os.Root, name string, flag int) (f *os.File, err error) {
	for range 5 {
		if f, err = openOnce(root, name, flag); !errors.Is(err, errReplaced) {
			break
		}
	}
	return f, err
}

func openOnce(root *os.Root, name string, flag int) (*os.File, error) {
	there, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !there.Mode().IsRegular() {
		return nil, fmt.Errorf("%s/%s is %s, not a regular file", Folder, name, what(there.Mode()))
	}
	f, err := root.OpenFile(name, flag|noWait, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(there, opened) {
		err = fmt.Errorf("%s/%s %w", Folder, name, errReplaced)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func what(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a link"
	case m.IsDir():
		return "a folder"
	case m.IsRegular():
		return "a file"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	}
	return "something else"
}

// segmentsIn lists the numbers of the segments that are there, in order.
func segmentsIn(root *os.Root) ([]int, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	var out []int
	for _, name := range names {
		if k, ok := parseSegmentName(name); ok {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out, nil
}

// errTorn says that a segment ends within its header.
var errTorn = errors.New("the first line is not whole")

// readHeader reads the first line of a segment and returns its length.
func readHeader(f io.ReaderAt, name string) (h header, size int64, err error) {
	buf := make([]byte, maxHeader)
	n, err := f.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return h, 0, err
	}
	line, _, whole := bytes.Cut(buf[:n], []byte("\n"))
	if !whole && n < maxHeader {
		return h, 0, errTorn
	}
	err = json.Unmarshal(line, &h)
	switch {
	case whole && err == nil && h.Format > 0 && h.Format != Format:
		return h, 0, &VersionError{File: Folder + "/" + name, Format: h.Format}
	case !whole || err != nil || h.Format < 1 || h.First < 1 || h.Log == "":
		return h, 0, &DamagedError{File: Folder + "/" + name, What: "its first line says neither format nor number"}
	}
	return h, int64(len(line)) + 1, nil
}

// headless returns the header of a segment whose own one is damaged: it begins with the first of
// its lines that can be read. First is 0 without any such line, as in a segment that is only begun.
func headless(f io.ReaderAt) (h header, size int64, err error) {
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, near), maxLine)
	for at := int64(0); ; {
		line, n, whole, err := readLine(in)
		if !whole || err != nil {
			return h, 0, cmp.Or(err, errTorn)
		}
		if at += n; size == 0 {
			size = at
			continue // that is the damaged one
		}
		if first, _, ok := parseNumber(line); ok && isJSON(first, line) {
			h.First = first
			return h, size, nil
		}
	}
}

// scan goes through the events of a segment from offset on. next is the number of the first of
// them. Damaged lines are passed over, and said to be there. It returns the offset behind the last
// event, and the number behind its. yield gets the event's fields behind its number and its line,
// valid only until it returns. Whether a line is JSON is looked at if it is not trusted.
func scan(f io.Reader, offset, next int64, trusted bool, yield func(fields, line []byte) error) (end, after int64, damaged bool, err error) {
	w, reads := walk{at: offset, next: next}, isJSON
	if trusted {
		reads = asNumbered
	}
	err = w.through(f, reads, func(e found) (bool, error) {
		damaged = damaged || e.from < e.n || e.bad < e.begin
		return true, yield(e.fields, e.line)
	})
	return w.at, w.next, damaged, err
}

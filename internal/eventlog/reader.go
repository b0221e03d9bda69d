package eventlog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/event"
)

// Rows tells what the record of the run says of outcomes. An implementation is safe for
// concurrent use.
type Rows interface {
	// Outcomes returns what is known of the outcomes whose replies are in the given rows, by
	// row: all but Hard, Soft and Status. A row that is not there is left out.
	Outcomes(ctx context.Context, rows []int64) (map[int64]Known, error)
}

// Known is what the record says of an outcome.
type Known struct {
	event.OutcomeDone

	At time.Time // when the reply came
}

// Reader reads the log of a run beside its writer. It locks nothing, holds no file open
// between calls, and follows no link. Its methods may be called concurrently: those who
// follow one run best share a Reader, which remembers where it was.
type Reader struct {
	// Rows completes outcomes in segments that are no longer whole. It is set before the
	// first call; nil: they have number, row and scores alone.
	Rows Rows

	dir string

	mu       sync.Mutex
	log      string // of which the rest was learnt
	segments []int
	firsts   map[int]int64 // by segment
	places   []place       // where lines stand, the last used first
}

// place is where a line stands.
type place struct {
	n       int64
	segment int
	offset  int64
	file    fs.FileInfo // a segment that was shortened since is another file
}

const maxPlaces = 256

// Read returns a reader of the log in a run directory. Nothing is opened yet; a run
// without a log has no lines.
func Read(dir string) *Reader { return &Reader{dir: dir} }

// After returns lines with numbers above n in order, at most so many and about 8 MB. None
// means that there is nothing yet: a last line that is not whole is left for later. It
// returns a *VersionError for the log of a newer program and a *DamagedError for one that
// cannot be read on.
func (r *Reader) After(ctx context.Context, n int64, most int) ([]Line, error) {
	if most <= 0 {
		return nil, nil
	}
	var lines []Line
	err := r.looking(func(v *look) (err error) {
		lines, err = v.after(ctx, max(0, n), most)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r.whole(ctx, lines)
}

// First returns the lowest number that can be read, 0 without any event.
func (r *Reader) First(ctx context.Context) (int64, error) {
	lines, err := r.After(ctx, 0, 1)
	if err != nil || len(lines) == 0 {
		return 0, err
	}
	return lines[0].N, nil
}

// Last returns the highest number that can be read, 0 without any event.
func (r *Reader) Last(context.Context) (n int64, err error) {
	err = r.looking(func(v *look) (err error) {
		n, err = v.last()
		return err
	})
	return n, err
}

// whole completes the lines that stand shortened.
func (r *Reader) whole(ctx context.Context, lines []Line) ([]Line, error) {
	rows := make(map[int64]int)
	for i, l := range lines {
		if _, fields, ok := numberOf(l.JSON); ok {
			if row, ok := rowOf(fields); ok {
				rows[row] = i
			}
		}
	}
	if len(rows) == 0 {
		return lines, nil
	}
	known := map[int64]Known{}
	if r.Rows != nil {
		var list []int64
		for row := range rows {
			list = append(list, row)
		}
		slices.Sort(list)
		var err error
		if known, err = r.Rows.Outcomes(ctx, list); err != nil {
			return nil, fmt.Errorf("read outcomes of the event log back from the record: %w", err)
		}
	}
	for row, i := range rows {
		k := known[row]
		line, err := lengthened(lines[i].JSON, k.OutcomeDone, k.At)
		if err != nil {
			return nil, fmt.Errorf("read the event log: %w", err)
		}
		lines[i].JSON = line
	}
	return lines, nil
}

// look opens the folder of the log. It returns nil if there is none.
func (r *Reader) look() (*look, error) {
	root, err := openFolder(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.segments) == 0 {
		if r.segments, err = segmentsIn(root); err != nil {
			return nil, errors.Join(fmt.Errorf("open the event log: %w", err), root.Close())
		}
	}
	if r.firsts == nil {
		r.firsts = map[int]int64{}
	}
	return &look{reader: r, root: root, log: r.log, segments: slices.Clone(r.segments)}, nil
}

// forget drops what was learnt of a log that is not there any more.
func (r *Reader) forget(log string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.log == log {
		r.log, r.segments, r.firsts, r.places = "", nil, nil, nil
	}
}

// errOther says that another log has come to lie in the folder.
var errOther = errors.New("another run is in its place")

// looking carries out a reading, once more if another log has come to lie in the folder. It
// does nothing if there is none.
func (r *Reader) looking(do func(*look) error) error {
	for tries := 0; ; tries++ {
		v, err := r.look()
		if v == nil || err != nil {
			return err
		}
		err = do(v)
		v.close()
		if errors.Is(err, errOther) && tries < 3 {
			r.forget(v.log)
			continue
		}
		if err != nil {
			return fmt.Errorf("read the event log: %w", err)
		}
		return nil
	}
}

// look is one reading of the log.
type look struct {
	reader   *Reader
	root     *os.Root
	log      string // "" as long as it is not known
	segments []int
}

func (v *look) close() { _ = v.root.Close() }

// keep looks at and notes what holds for all readings of the same log.
func (v *look) keep(note func(r *Reader)) {
	r := v.reader
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.log == v.log && r.firsts != nil {
		note(r)
	}
}

// is fails if a segment is not of the log that is read.
func (v *look) is(log string) error {
	r := v.reader
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.log == "" && v.log == "" {
		r.log = log
	}
	if v.log == "" {
		v.log = log
	}
	if v.log != log {
		return errOther
	}
	return nil
}

// opened is a segment that is read.
type opened struct {
	*os.File

	segment int
	name    string
	info    fs.FileInfo
	first   int64
	begin   int64 // offset behind the header
}

// open opens a segment. It is nil if the segment is not there, or was only just begun.
func (v *look) open(k int) (*opened, error) {
	f, err := openFile(v.root, nameOf(k), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		if slices.Contains(v.segments, k) {
			return nil, errOther // it was there
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o := &opened{File: f, segment: k, name: nameOf(k)}
	h, begin, err := readHeader(f, o.name)
	if err == nil {
		o.info, err = f.Stat()
	}
	if err != nil {
		_ = f.Close()
		if errors.Is(err, errTorn) {
			return nil, nil
		}
		return nil, err
	}
	if err := v.is(h.Log); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	o.first, o.begin = h.First, begin
	v.keep(func(r *Reader) { r.firsts[k] = h.First })
	return o, nil
}

// firstOf is the number of the first event in a segment, 0 if it has none yet.
func (v *look) firstOf(k int) (int64, error) {
	var first int64
	v.keep(func(r *Reader) { first = r.firsts[k] })
	if first > 0 {
		return first, nil
	}
	f, err := v.open(k)
	if f == nil || err != nil {
		return 0, err
	}
	return f.first, f.Close()
}

// holding returns the segment that has the event with a number, or would have it: the last
// one whose first is not above it. 0: there is none.
func (v *look) holding(n int64) (int, error) {
	var failed error
	at, _ := slices.BinarySearchFunc(v.segments, n, func(k int, n int64) int {
		first, err := v.firstOf(k)
		if err != nil {
			failed = cmp.Or(failed, err)
		}
		if first == 0 || first > n {
			return 1
		}
		return -1
	})
	if failed != nil || len(v.segments) == 0 {
		return 0, failed
	}
	return v.segments[max(0, at-1)], nil
}

// after reads lines behind the one with the number n.
func (v *look) after(ctx context.Context, n int64, most int) (out []Line, err error) {
	k, err := v.holding(n + 1)
	if k == 0 || err != nil {
		return nil, err
	}
	for size := 0; ; {
		f, err := v.open(k)
		if f == nil || err != nil {
			return out, err
		}
		lines, err := v.read(f, n, most-len(out), maxAnswer-size)
		if err := errors.Join(err, f.Close(), ctx.Err()); err != nil {
			return nil, err
		}
		for _, l := range lines {
			n, size = l.N, size+len(l.JSON)
		}
		out = append(out, lines...)
		if len(out) >= most || size >= maxAnswer {
			return out, nil
		}
		next, err := v.follows(k, n, len(lines) > 0)
		if next == 0 || err != nil {
			return out, err
		}
		k = next
	}
}

// follows returns the segment to be read after k, whose last line that was read has the
// number n; 0 if there is nothing more yet. It is k itself when that has grown meanwhile.
func (v *look) follows(k int, n int64, some bool) (int, error) {
	first, err := v.firstOf(k + 1)
	switch {
	case err != nil:
		return 0, err
	case first == 0 && v.segments[len(v.segments)-1] > k+1:
		return 0, &DamagedError{File: Folder + "/" + nameOf(k+1), What: "it is missing or empty, and there are later ones"}
	case first == 0:
		return 0, nil
	case first <= n+1:
		v.keep(func(r *Reader) {
			if n := len(r.segments); n > 0 && r.segments[n-1] == k {
				r.segments = append(r.segments, k+1)
			}
		})
		return k + 1, nil
	case some:
		return k, nil // it was written to the end before the next one was begun
	}
	// With nothing more to read where something is missing, numbers do not follow.
	f, err := v.open(k)
	if f == nil || err != nil {
		return 0, err
	}
	lines, err := v.read(f, n, 1, maxAnswer)
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	if len(lines) > 0 {
		return k, nil
	}
	return 0, &DamagedError{File: Folder + "/" + nameOf(k), What: fmt.Sprintf("event %d is missing, the next file begins with %d", n+1, first)}
}

// read reads lines of a segment behind number n.
func (v *look) read(f *opened, n int64, most, room int) (out []Line, err error) {
	at, next, err := v.find(f, n+1)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, 0, max(0, min(64<<10, f.info.Size()-at)))
	for len(out) < most && room > 0 {
		more := f.info.Size() - at - int64(len(buf))
		if more <= 0 {
			break
		}
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, len(buf))
		}
		got, err := f.ReadAt(buf[len(buf):min(cap(buf), len(buf)+int(min(more, 1<<20)))], at+int64(len(buf)))
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if got == 0 {
			break // it was cut since
		}
		buf = buf[:len(buf)+got]
		used, err := split(buf, &next, f, func(line []byte) bool {
			if next-1 > n {
				out = append(out, Line{N: next - 1, JSON: bytes.Clone(line)})
				room -= len(line)
			}
			return len(out) < most && room > 0
		})
		if err != nil {
			return nil, err
		}
		at += int64(used)
		buf = buf[:copy(buf, buf[used:])]
		if len(buf) > maxLine {
			return nil, &DamagedError{File: Folder + "/" + f.name, What: fmt.Sprintf("the line of event %d has more than %d KB", next, maxLine>>10)}
		}
	}
	if err := checkLast(out, f); err != nil {
		return nil, err
	}
	v.remember(place{n: next, segment: f.segment, offset: at, file: f.info})
	return out, nil
}

// checkLast refuses a line that was read while it was cut and written anew.
func checkLast(out []Line, f *opened) error {
	if len(out) > 0 && !json.Valid(out[len(out)-1].JSON) {
		return &DamagedError{File: Folder + "/" + f.name, What: fmt.Sprintf("event %d is no JSON", out[len(out)-1].N)}
	}
	return nil
}

// split hands over the whole lines in buf, the first of which has the number *next, until
// yield says that it is enough. It returns how many bytes they take.
func split(buf []byte, next *int64, f *opened, yield func(line []byte) bool) (used int, err error) {
	for {
		end := bytes.IndexByte(buf[used:], '\n')
		if end < 0 {
			return used, nil
		}
		line := buf[used : used+end]
		n, _, ok := numberOf(line)
		if !ok || n != *next {
			return used, &DamagedError{File: Folder + "/" + f.name, What: fmt.Sprintf("where event %d belongs stands %.60q", *next, line)}
		}
		used, *next = used+end+1, *next+1
		if !yield(line) {
			return used, nil
		}
	}
}

// remember notes where a line stands, for the next call.
func (v *look) remember(p place) {
	v.keep(func(r *Reader) {
		r.places = slices.DeleteFunc(r.places, func(q place) bool { return q.n == p.n })
		r.places = slices.Insert(r.places, 0, p)
		r.places = r.places[:min(len(r.places), maxPlaces)]
	})
}

// find returns an offset in a segment at which a line begins, and its number, which is not
// above n where the segment has such a line.
func (v *look) find(f *opened, n int64) (offset, number int64, err error) {
	if n <= f.first {
		return f.begin, f.first, nil
	}
	var found *place
	v.keep(func(r *Reader) {
		for i, p := range r.places {
			if p.n == n && p.segment == f.segment && os.SameFile(p.file, f.info) && p.offset <= f.info.Size() {
				found = &r.places[i]
				p := *found
				found = &p
				return
			}
		}
	})
	if found != nil {
		return found.offset, found.n, nil
	}
	return bisect(f, n)
}

// near is how much of a segment is read in one go rather than looked at once more.
const near = 64 << 10

// bisect finds a line that is not far before the one with the number n.
func bisect(f *opened, n int64) (offset, number int64, err error) {
	low, lowN := f.begin, f.first
	for high := f.info.Size(); high-low > near; {
		mid := low + (high-low)/2
		at, found, err := lineFrom(f, mid)
		if err != nil {
			return 0, 0, err
		}
		if found == 0 || found > n {
			high = mid
		} else {
			low, lowN = at, found
		}
	}
	return low, lowN, nil
}

// lineFrom returns where the first line begins behind an offset, and its number; 0 if there
// is none of which enough is there.
func lineFrom(f *opened, offset int64) (at, n int64, err error) {
	buf := make([]byte, 4<<10)
	skipped := false
	for at = offset; at < offset+2*maxLine; {
		got, err := f.ReadAt(buf, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, 0, err
		}
		if skipped {
			n, _, _ := numberOf(buf[:got])
			return at, n, nil
		}
		if end := bytes.IndexByte(buf[:got], '\n'); end >= 0 {
			at, skipped = at+int64(end)+1, true
			continue
		}
		if got < len(buf) {
			return 0, 0, nil
		}
		at += int64(got)
	}
	return 0, 0, nil
}

// last is the highest number that can be read.
func (v *look) last() (int64, error) {
	if len(v.segments) == 0 {
		return 0, nil
	}
	k := v.segments[len(v.segments)-1]
	for {
		next, err := v.firstOf(k + 1)
		if err != nil {
			return 0, err
		}
		if next == 0 {
			break
		}
		k++
	}
	for ; k >= v.segments[0]; k-- {
		f, err := v.open(k)
		if err != nil {
			return 0, err
		}
		if f == nil {
			continue
		}
		n, err := lastIn(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return 0, err
		}
		return n, nil
	}
	return 0, nil
}

// lastIn is the number of the last whole line of a segment; of one without any that before
// its first.
func lastIn(f *opened) (int64, error) {
	at, n, err := bisect(f, 1<<62)
	if err != nil {
		return 0, err
	}
	for {
		buf := make([]byte, min(f.info.Size()-at, maxLine+near))
		got, err := f.ReadAt(buf, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		used, err := split(buf[:got], &n, f, func([]byte) bool { return true })
		if err != nil {
			return 0, err
		}
		if at += int64(used); used == 0 {
			return n - 1, nil
		}
	}
}

package eventlog

import (
	"bytes"
	"cmp"
	"context"
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

// Rows reports what the record of the run says about outcomes. An implementation is safe for
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

// Reader reads the log of a run, also while a Writer has it open. It locks nothing, holds no file open
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
	places   []place       // where lines are, the last used first
}

// place is where a line is.
type place struct {
	n       int64
	segment int
	offset  int64
	sure    bool        // by the lines before it
	file    fs.FileInfo // a segment that was shortened since is another file
}

const maxPlaces = 256

// Read returns a reader of the log in a run directory. Nothing is opened yet; a run
// without a log has no lines.
func Read(dir string) *Reader { return &Reader{dir: dir} }

// After returns lines with numbers above n in order, no more than most and about 8 MB. None
// means that there is nothing yet: a last line that is not whole is left for later. One line
// replaces events that are damaged or gone: an event "damaged" with the number of the last of
// them, which names file and line. It returns a *VersionError for a log of
// another format, and a *DamagedError where nothing but damaged lines follows: they may yet be
// cut off.
func (r *Reader) After(ctx context.Context, n int64, most int) ([]Line, error) {
	if most <= 0 {
		return nil, nil
	}
	var lines []Line
	err := r.runLook(func(v *look) (err error) {
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
	err = r.runLook(func(v *look) (err error) {
		n, err = v.last()
		return err
	})
	return n, err
}

// whole completes the lines that are shortened.
func (r *Reader) whole(ctx context.Context, lines []Line) ([]Line, error) {
	rows := make(map[int64]int)
	for i, l := range lines {
		if _, fields, ok := parseNumber(l.JSON); ok {
			if row, ok := parseRow(fields); ok {
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
		line, err := restoreLine(lines[i].JSON, k.OutcomeDone, k.At)
		if err != nil { // it is JSON, and no outcome
			lines[i] = newDamagedLine(lines[i].N, lines[i].N, "", 0, "its line is damaged")
			continue
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

// errOther says that another log is in the folder now.
var errOther = errors.New("another run is in its place")

// runLook carries out a reading, and repeats it if another log was put into the folder. It does
// nothing if there is none.
func (r *Reader) runLook(do func(*look) error) error {
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

// is fails if a segment is not of the log that is read. One whose first line is damaged does not say
// of which it is, and is taken for one of this log.
func (v *look) is(log string) error {
	if log == "" {
		return nil
	}
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

func (o *opened) path() string { return Folder + "/" + o.name }

// open opens a segment. It is nil if the segment is not there, was only just begun, or has no
// line that can be read.
func (v *look) open(k int) (*opened, error) {
	f, err := openFile(v.root, segmentName(k), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		if slices.Contains(v.segments, k) {
			return nil, errOther // it was there
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o := &opened{File: f, segment: k, name: segmentName(k)}
	h, begin, err := readHeader(f, o.name)
	var damaged *DamagedError
	if errors.As(err, &damaged) {
		h, begin, err = headless(f)
	}
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

// readFirst returns the number of the first event in a segment, 0 if it has none yet.
func (v *look) readFirst(k int) (int64, error) {
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

// findSegment returns the segment that has the event with a number, or would have it: the last
// one whose first is not above it. 0: there is none.
func (v *look) findSegment(n int64) (int, error) {
	var failed error
	at, _ := slices.BinarySearchFunc(v.segments, n, func(k int, n int64) int {
		first, err := v.readFirst(k)
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
	at = max(0, at-1)
	for at < len(v.segments)-1 { // the first ones may have no line that can be read
		first, err := v.readFirst(v.segments[at])
		if first > 0 || err != nil {
			return v.segments[at], err
		}
		at++
	}
	return v.segments[at], nil
}

// after reads lines behind the one with the number n.
func (v *look) after(ctx context.Context, n int64, most int) (out []Line, err error) {
	k, err := v.findSegment(n + 1)
	if k == 0 || err != nil {
		return nil, err
	}
	for size := 0; ; {
		f, err := v.open(k)
		if f == nil || err != nil {
			return out, err
		}
		got, err := v.read(f, n, most-len(out), maxAnswer-size)
		if err := errors.Join(err, f.Close(), ctx.Err()); err != nil {
			return nil, err
		}
		for _, l := range got.lines {
			n, size = l.N, size+len(l.JSON)
		}
		out = append(out, got.lines...)
		if len(out) >= most || size >= maxAnswer {
			return out, nil
		}
		next, gap, err := v.follows(k, n, len(got.lines) > 0)
		if err != nil {
			return out, err
		}
		if next == 0 {
			if len(out) == 0 && got.damaged != nil {
				return nil, got.damaged
			}
			return out, nil
		}
		if gap > 0 {
			l := lostBetween(k, next, n+1, gap, got.damaged)
			out, n, size = append(out, l), l.N, size+len(l.JSON)
			if len(out) >= most {
				return out, nil
			}
		}
		k = next
	}
}

// lostBetween returns the line for events that are missing at the end of a segment, or in the
// segments between it and the next one that there is.
func lostBetween(k, next int, from, to int64, damaged *DamagedError) Line {
	if damaged != nil {
		return newDamagedLine(from, to, damaged.File, damaged.Line, nameOfLine(damaged.File, damaged.Line)+" is damaged")
	}
	name, where := Folder+"/"+segmentName(k+1), "is missing or damaged"
	if next == k+1 {
		name, where = Folder+"/"+segmentName(k), "ends before them"
	}
	return newDamagedLine(from, to, name, 0, name+" "+where)
}

// follows returns the segment to be read after k, whose last event that was read has the
// number n; 0 if there is nothing more yet. It is k itself when that has grown meanwhile. gap is
// the number of the last event that is in neither of them; 0: none is missing.
func (v *look) follows(k int, n int64, some bool) (next int, gap int64, err error) {
	next = k + 1
	first, err := v.readFirst(next)
	for err == nil && first == 0 && v.segments[len(v.segments)-1] > next { // missing or damaged
		next++
		first, err = v.readFirst(next)
	}
	switch {
	case err != nil || first == 0:
		return 0, 0, err
	case first <= n+1:
		v.keep(func(r *Reader) {
			if n := len(r.segments); n > 0 && r.segments[n-1] == k {
				r.segments = append(r.segments, k+1)
			}
		})
		return next, 0, nil
	case some:
		return k, 0, nil // it was written to the end before the next one was begun
	}
	// With nothing more to read where something is missing, numbers do not follow.
	f, err := v.open(k)
	if f == nil || err != nil {
		return 0, 0, err
	}
	got, err := v.read(f, n, 1, maxAnswer)
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, 0, err
	}
	if len(got.lines) > 0 {
		return k, 0, nil
	}
	return next, first - 1, nil
}

// reading is what was read of a segment.
type reading struct {
	lines   []Line
	damaged *DamagedError // the first whole line behind the last event that is none; nil: there is none
}

// read reads lines of a segment behind number n.
func (v *look) read(f *opened, n int64, most, room int) (reading, error) {
	at, next, sure, err := v.find(f, n+1)
	if err != nil {
		return reading{}, err
	}
	got, end, gap, err := readFrom(f, walk{at: at, next: next}, n, most, room)
	if gap && err == nil {
		// Somebody may have been at work there meanwhile. And what a line is follows from the
		// lines before it: one that was found by its number alone may be where it does not belong.
		if !sure {
			at, next, sure = f.begin, f.first, true
		}
		got, end, _, err = readFrom(f, walk{at: at, next: next}, n, most, room)
	}
	if err != nil {
		return reading{}, err
	}
	v.remember(place{n: end.next, segment: f.segment, offset: end.at, sure: sure, file: f.info})
	return got, nil
}

// readFrom reads lines behind number n from a place on. gap: there are damaged ones.
func readFrom(f *opened, w walk, n int64, most, room int) (got reading, end walk, gap bool, err error) {
	var count counter
	full := false
	reads := func(m int64, line []byte) bool { return m <= n || isJSON(m, line) }
	add := func(l Line) {
		got.lines, room = append(got.lines, l), room-len(l.JSON)
		full = len(got.lines) >= most || room <= 0
	}
	err = w.through(io.NewSectionReader(f, w.at, f.info.Size()-w.at), reads, func(e found) (bool, error) {
		if e.from < e.n {
			if gap = true; e.n-1 > n && !full {
				line := count.line(f, e.bad)
				add(newDamagedLine(e.from, e.n-1, f.path(), line, nameOfLine(f.path(), line)+" is damaged"))
			}
		}
		if full {
			return false, nil
		}
		if e.n > n {
			add(Line{N: e.n, JSON: bytes.Clone(e.line)})
		}
		return true, nil
	})
	if w.bad > 0 && !full {
		gap, got.damaged = true, &DamagedError{File: f.path(), Line: count.line(f, w.bad), What: fmt.Sprintf("event %d belongs there", w.next)}
	}
	return got, w, gap, err
}

// remember notes where a line is, for the next call.
func (v *look) remember(p place) {
	v.keep(func(r *Reader) {
		r.places = slices.DeleteFunc(r.places, func(q place) bool { return q.n == p.n })
		r.places = slices.Insert(r.places, 0, p)
		r.places = r.places[:min(len(r.places), maxPlaces)]
	})
}

// find returns an offset in a segment at which a line begins, and its number, which is not
// above n where the segment has such a line.
//
// sure: it was reached through the lines before it.
func (v *look) find(f *opened, n int64) (offset, number int64, sure bool, err error) {
	if n <= f.first {
		return f.begin, f.first, true, nil
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
		return found.offset, found.n, found.sure, nil
	}
	offset, number, err = bisect(f, n)
	return offset, number, offset == f.begin, err
}

// near is how much of a segment is read in one go instead of being bisected again.
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
			n, _, _ := parseNumber(buf[:got])
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

// last returns the highest number that can be read.
func (v *look) last() (int64, error) {
	if len(v.segments) == 0 {
		return 0, nil
	}
	k := v.segments[len(v.segments)-1]
	for {
		next, err := v.readFirst(k + 1)
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

// lastIn returns the number of the last event of a segment; for a segment without any event it
// returns the number before its first.
func lastIn(f *opened) (int64, error) {
	at, n, err := bisect(f, 1<<62)
	if err != nil {
		return 0, err
	}
	w, gap := walk{at: at, next: n}, false
	for range 2 {
		err := w.through(io.NewSectionReader(f, w.at, f.info.Size()-w.at), isJSON, func(e found) (bool, error) {
			gap = gap || e.from < e.n
			return true, nil
		})
		if err != nil || !gap && w.bad == 0 || at == f.begin {
			return w.next - 1, err
		}
		at, w = f.begin, walk{at: f.begin, next: f.first} // as a reading does that comes upon damaged lines
	}
	return w.next - 1, nil
}

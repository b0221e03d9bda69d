package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"sync"
)

// Bounds of what a reader keeps of rows. A run that is resumed asks for its results
// nearly in the order in which they were recorded, so rows are read ahead.
const (
	blockRows  = 64        // rows of one read: those of a block are read together, once
	bytesAhead = 128 << 10 // of their results; a row that is asked for may be longer
	bytesKept  = 4 << 20
	bytesOfRow = 512 // in addition to its result
)

// reader reads results by the number of their row, from a connection of its own. What
// is committed never changes, so it is kept for a while.
type reader struct {
	path string
	db   *sql.DB

	mu     sync.Mutex
	conn   *sql.Conn
	query  *sql.Stmt
	decode loader
	kept   map[int64]Record
	order  []int64 // of kept, the oldest first
	bytes  int     // weight of kept
}

func newReader(path string, db *sql.DB) *reader {
	return &reader{path: path, db: db, decode: loader{path: path, names: make(map[string]string)}, kept: make(map[int64]Record)}
}

// get returns the entry with a number.
func (r *reader) get(seq int64) (Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec, ok := r.kept[seq]; ok {
		return rec, nil
	}
	if err := r.open(); err != nil {
		return Record{}, err
	}
	if err := r.readAhead(seq); err != nil {
		return Record{}, err
	}
	rec, ok := r.kept[seq]
	if !ok {
		return Record{}, &CorruptError{Path: r.path, Reason: fmt.Sprintf("entry %d is missing", seq)}
	}
	return rec, nil
}

// open opens the connection when the first row is asked for: most runs ask for none.
func (r *reader) open() (err error) {
	if r.query != nil {
		return nil
	}
	if r.conn, err = r.db.Conn(unboundedContext()); err != nil {
		return readError(r.path, "read", err)
	}
	r.query, err = r.conn.PrepareContext(unboundedContext(), "SELECT "+entryColumns+", NULL, NULL FROM entries WHERE seq BETWEEN ? AND ? ORDER BY seq")
	if err != nil {
		return readError(r.path, "read", err)
	}
	return nil
}

// readAhead reads an entry and the others of its block, as far as they have room. Blocks do
// not overlap, so that those who ask out of order do not read rows again.
func (r *reader) readAhead(seq int64) (err error) {
	first := seq - (seq-1)%blockRows
	rows, err := r.query.QueryContext(unboundedContext(), first, first+blockRows-1)
	if err != nil {
		return readError(r.path, "read", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var w row
	targets, size := w.targets(), 0
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return readError(r.path, "read", err)
		}
		asked := w.record.Seq == seq
		if !asked && size >= bytesAhead {
			continue
		}
		rec, err := r.decode.verifyRow(&w)
		if err != nil {
			return err
		}
		size += len(rec.Result)
		if !asked {
			r.keep(rec)
			continue
		}
		defer r.keep(rec) // last, so that nothing of its block takes its room
	}
	if err := rows.Err(); err != nil {
		return readError(r.path, "read", err)
	}
	return nil
}

// keep keeps an entry, and lets go of old ones.
func (r *reader) keep(rec Record) {
	if _, ok := r.kept[rec.Seq]; ok {
		return
	}
	for len(r.order) > 0 && r.bytes+weight(rec) > bytesKept {
		oldest := r.order[0]
		r.bytes -= weight(r.kept[oldest])
		delete(r.kept, oldest)
		r.order = r.order[1:]
	}
	r.kept[rec.Seq], r.order, r.bytes = rec, append(r.order, rec.Seq), r.bytes+weight(rec)
}

// weight returns about how many bytes an entry takes in memory.
func weight(r Record) int { return len(r.Result) + bytesOfRow }

// close lets go of the connection. A later get opens another, if it can.
func (r *reader) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	if r.query != nil {
		err = r.query.Close()
	}
	if r.conn != nil {
		err = errors.Join(err, r.conn.Close())
	}
	r.query, r.conn = nil, nil
	return err
}

// verifyRow returns the record of a row that no one has checked yet, or an error if it was damaged.
func (l *loader) verifyRow(w *row) (Record, error) {
	r := l.record(w)
	if int64(checksum(&r)) != w.checksum {
		return Record{}, l.corrupt("entry %d is not what was written", r.Seq)
	}
	return r, nil
}

// Lookup returns the result recorded under key, without its input. That there is none
// is known without a look at the file; an error is a *CorruptError or of the file
// system. A result is found as soon as its Append has returned.
func (j *Journal) Lookup(key string) (r Record, ok bool, err error) {
	seq, ok := j.Row(key)
	if !ok {
		return Record{}, false, nil
	}
	if r, err = j.rows.get(seq); err == nil && r.Key != key {
		err = &CorruptError{Path: j.path, Reason: fmt.Sprintf("entry %d is not what was written", seq)}
	}
	if err != nil {
		return Record{}, false, fmt.Errorf("look up %q: %w", key, err)
	}
	return r, true, nil
}

// At returns the result that is entry seq; ok is false when another has taken its place.
func (j *Journal) At(seq int64) (r Record, ok bool, err error) {
	if r, err = j.rows.get(seq); err != nil {
		return Record{}, false, fmt.Errorf("look up entry %d: %w", seq, err)
	}
	if !j.stands(&r) {
		return Record{}, false, nil
	}
	return r, true, nil
}

// Results returns the results after entry seq, without their inputs, in the order of
// commits. It reads them one by one, and keeps none. An error, a *CorruptError for
// instance, is the last that it gives.
func (j *Journal) Results(ctx context.Context, after int64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if err := j.each(ctx, after, func(r Record) bool { return !j.stands(&r) || yield(r, nil) }); err != nil {
			yield(Record{}, err)
		}
	}
}

// each reads the entries of results after entry seq until yield returns false.
func (j *Journal) each(ctx context.Context, after int64, yield func(Record) bool) (err error) {
	rows, err := j.db.QueryContext(ctx, "SELECT "+entryColumns+", NULL, NULL FROM entries WHERE seq > ? ORDER BY seq", after)
	if err != nil {
		return j.readError("read", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var w row
	targets := w.targets()
	l := loader{path: j.path, names: make(map[string]string)}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return j.readError("read", err)
		}
		if Kind(w.kind).ledger() {
			continue
		}
		r, err := l.verifyRow(&w)
		if err != nil {
			return err
		}
		if !yield(r) {
			return nil
		}
	}
	if err := rows.Err(); err != nil {
		return j.readError("read", err)
	}
	return nil
}

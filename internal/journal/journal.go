package journal

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// Options say how a journal is opened. The zero value opens for writing and
// creates the file if there is none.
type Options struct {
	// Existing refuses a missing or empty file with ErrMissing.
	Existing bool
	// ReadOnly opens without a right to write, for instance while it is open in another
	// process. It implies Existing.
	ReadOnly bool
	// Warn receives a *FoldError from Close, after which nothing is lost, and a
	// *BesideError. Nil: Close returns it.
	Warn func(error)
}

// Journal is an open journal. All its methods may be called concurrently.
type Journal struct {
	path   string
	db     *sql.DB
	writer *writer // nil when read only
	rows   *reader
	marks  []uint32 // of the entries that the index of items is yet to cover, for the writer
	lost   *LostEnd // nil when nothing is known to be missing
	warn   func(error)

	mu sync.RWMutex
	state
}

// state is what a journal keeps in memory. Everything in it can be computed
// from the file. Of a result it has little more than the number of its row.
type state struct {
	seq      int64
	lastKey  string           // of entry seq
	index    map[keyID]place  // of results
	decided  map[keyID]Record // decisions, which are few and small, as a whole
	counts   Counts           // of results
	attempts map[keyID]int    // tries of episodes so far
	inner    map[keyID]Inside // of the last try of each episode
	blobs    map[Digest]int64 // stored shared parts
	meta     map[string]string
	totals   totals
}

func newState() state {
	return state{
		index:    make(map[keyID]place),
		decided:  make(map[keyID]Record),
		attempts: make(map[keyID]int),
		inner:    make(map[keyID]Inside),
		blobs:    make(map[Digest]int64),
		meta:     make(map[string]string),
		totals:   newTotals(),
	}
}

// Open opens the journal at path, or creates it. The file is checked before
// anything in it is changed: its format (a *VersionError names another one),
// its length, the checksum and the number of every entry, and after a crash
// every byte. A *CorruptError says what is wrong. ctx bounds the opening only.
//
// The caller that opens a journal closes it, and sees to it that no other process
// writes to it meanwhile.
func Open(ctx context.Context, path string, opts Options) (*Journal, error) {
	files, err := look(path)
	if err != nil {
		return nil, err
	}
	if err := files.plausible(opts); err != nil {
		return nil, err
	}
	j := &Journal{path: path, warn: opts.Warn, state: newState()}
	if !files.fresh() {
		if err := j.examine(ctx, files, opts); err != nil {
			return nil, err
		}
	}
	if opts.ReadOnly {
		j.db = sqlstore.Open(path, readOnly(files))
		j.rows = newReader(path, j.db)
		return j, nil
	}
	if err := j.openWriter(ctx); err != nil {
		return nil, err
	}
	return j, nil
}

// examine verifies and loads an existing file, and looks for entries that it
// once had.
func (j *Journal) examine(ctx context.Context, files files, opts Options) error {
	// The mark is read first: a journal that somebody is writing has what it says.
	m, err := readMark(j.path)
	if err != nil {
		return err
	}
	files.open = m.known && m.Open
	if err := j.check(ctx, files, opts.ReadOnly, 0); err != nil {
		return err
	}
	// A mark that says what the journal has makes a look at its log superfluous,
	// and a log that somebody is writing cannot be judged.
	var log *logScan
	if exact := j.isMine(m) && m.Entry >= j.seq; files.unclean() && !exact && !opts.ReadOnly {
		if log, err = scanLog(j.path); err != nil {
			return err
		}
	}
	m.broken = m.broken && files.unclean()
	j.lost = j.loss(m, log)
	return nil
}

// check verifies and loads an existing file through a connection that cannot
// write, so that a refused file stays as it is, its write-ahead log included. A value that
// is longer than longest is damage, unless that is 0.
func (j *Journal) check(ctx context.Context, files files, forReading bool, longest int) (err error) {
	db := sqlstore.Open(j.path, readOnly(files))
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return j.readError("open", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// One transaction sees one state of the file, while another process may be
	// adding to it: entries must not be newer than the parts they refer to.
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return j.readError("open", err)
	}
	defer func() {
		if _, end := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK"); end != nil && err == nil {
			err = j.readError("read", end)
		}
	}()
	if err := bound(conn, longest); err != nil {
		return j.readError("open", err)
	}
	l := loader{path: j.path, conn: conn, state: &j.state, marking: !forReading}
	err = l.load(ctx, files)
	j.marks = l.marks
	if tooBig(err) {
		return tooLong(ctx, conn, j.path, longest, err)
	}
	return err
}

// openWriter opens the connection that writes, and starts its goroutine.
func (j *Journal) openWriter(ctx context.Context) error {
	db := sqlstore.Open(j.path, readWrite)
	conn, err := db.Conn(ctx)
	if err != nil {
		return errors.Join(j.writeError(err), db.Close())
	}
	if err := create(ctx, conn, j.path); err != nil {
		return errors.Join(j.writeError(err), conn.Close(), db.Close())
	}
	marker, err := newMarker(j.path)
	if err != nil {
		return errors.Join(&WriteError{Path: j.path, Err: err}, conn.Close(), db.Close())
	}
	w, err := newWriter(ctx, j, conn, marker)
	if err != nil {
		return errors.Join(j.writeError(err), marker.close(), conn.Close(), db.Close())
	}
	j.db, j.writer, j.rows = db, w, newReader(j.path, db)
	go w.run()
	return nil
}

// Close waits until everything that was passed in is durable, folds the
// write-ahead log into the file, so that the file alone is the whole journal,
// and closes it. A journal that can no longer be written is closed as it is, and so is
// one that somebody else reads: see Options.Warn.
// A second Close does nothing.
func (j *Journal) Close() error {
	if j.writer == nil {
		return errors.Join(j.rows.close(), j.db.Close())
	}
	if !j.writer.stop() {
		return nil
	}
	err, folded := errors.Join(j.writer.failure(), j.rows.close()), false
	if err == nil {
		folded, err = j.writer.checkpoint()
	}
	left := err == nil && !folded
	err = errors.Join(err, j.writer.insert.Close(), j.writer.beside.close(), j.writer.conn.Close(), j.db.Close())
	err = errors.Join(err, j.writer.marker.end(err == nil && folded))
	if left {
		err = errors.Join(err, j.tells(&FoldError{Path: j.path}))
	}
	if b := &j.writer.beside; b.fault != nil {
		err = errors.Join(err, j.tells(&BesideError{Path: j.path, From: b.at, Err: b.fault}))
	}
	return err
}

// tells reports what is no failure.
func (j *Journal) tells(what error) error {
	if j.warn == nil {
		return what
	}
	j.warn(what)
	return nil
}

// Attempts returns how many tries of the episode key have left a trace, the
// finished one included.
func (j *Journal) Attempts(key string) int {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.attempts[hashKey(key)]
}

// Inside counts the calls of one try of an episode: those that were recorded before its
// result, if it has one.
type Inside struct {
	Attempt int
	Calls   int
	Cut     int            // of those, answers that were cut at the output limit
	Refused map[string]int // of those, requests that were refused, by cause
	Ended   bool           // the try has a result
}

// LastTry returns what is durable of the last try of the episode key.
func (j *Journal) LastTry(key string) Inside {
	j.mu.RLock()
	defer j.mu.RUnlock()
	in := j.inner[hashKey(key)]
	in.Refused = maps.Clone(in.Refused)
	return in
}

// HighWater returns the number of the last durable entry, 0 for an empty
// journal. Kept elsewhere, it lets Verify notice that entries are missing.
func (j *Journal) HighWater() int64 {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.seq
}

// MetaRunID is the meta key of the id of the run that the journal belongs to.
const MetaRunID = "run_id"

// Verify compares the journal with what a manifest knows of it: the id of the
// run, kept under MetaRunID, and a number that HighWater returned
// earlier. The error is a *MismatchError.
func (j *Journal) Verify(runID string, highWater int64) error {
	found, _ := j.Meta(MetaRunID)
	seq := j.HighWater()
	if found == runID && seq >= highWater {
		return nil
	}
	return &MismatchError{Path: j.path, RunID: found, WantRunID: runID, Seq: seq, WantSeq: highWater}
}

// Meta returns the value kept under key.
func (j *Journal) Meta(key string) (string, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	value, ok := j.meta[key]
	return value, ok
}

// SetMeta keeps value under key, and returns once it is durable.
func (j *Journal) SetMeta(ctx context.Context, key, value string) error {
	return j.write(ctx, &batch{meta: []metaValue{{key, value}}})
}

// Append records results, all or none of them, and returns once they are
// durable. The order of commits is that of the calls. A key that has a result
// already is a *DuplicateError unless Replace is set; a file that cannot be
// written is a *WriteError, and stays one. ctx is looked at before the records
// are passed in and not after: what was paid for is recorded.
func (j *Journal) Append(ctx context.Context, records ...Record) error {
	for i := range records {
		if k := records[i].Kind; k.ledger() || !k.isKnown() {
			return fmt.Errorf("append %q: kind %q is not that of a result", records[i].Key, k)
		}
		complete(&records[i])
	}
	return j.write(ctx, &batch{records: records})
}

// Charge puts entries of the kinds Fault and Inner into the ledger. It does not
// wait: the entries are durable when a later Append or Close returns.
func (j *Journal) Charge(ctx context.Context, entries ...Record) error {
	for i := range entries {
		if !entries[i].Kind.ledger() {
			return fmt.Errorf("charge %q: kind %q is not that of a ledger entry", entries[i].Key, entries[i].Kind)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if j.writer != nil {
		j.writer.beside.prepare(entries)
	}
	_, err := j.enqueue(&batch{records: entries})
	return err
}

// complete does what Append's goroutine can do without the writer.
func complete(r *Record) {
	if r.Digest.IsZero() && !r.Input.empty() {
		r.Digest = r.Input.Digest()
	}
}

func (j *Journal) write(ctx context.Context, b *batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.done = make(chan error, 1)
	wait, err := j.enqueue(b)
	if err != nil {
		return err
	}
	return <-wait
}

func (j *Journal) enqueue(b *batch) (<-chan error, error) {
	if j.writer == nil {
		return nil, ErrClosed
	}
	return b.done, j.writer.enqueue(b)
}

// Input reads the input of the result recorded under key back from the file.
func (j *Journal) Input(ctx context.Context, key string) (Input, error) {
	seq, ok := j.Row(key)
	if !ok {
		return Input{}, fmt.Errorf("read input of %q: no such step", key)
	}
	var digest, shared, own []byte
	row := j.db.QueryRowContext(ctx, "SELECT digest, shared, own FROM entries WHERE seq = ?", seq)
	if err := row.Scan(&digest, &shared, &own); err != nil {
		return Input{}, fmt.Errorf("read input of %q: %w", key, j.readError("read", err))
	}
	in := Input{Own: own}
	var err error
	if in.Shared, err = j.parts(ctx, shared, make(map[int64]Blob)); err != nil {
		return Input{}, fmt.Errorf("read input of %q: %w", key, err)
	}
	if sum := in.Digest(); len(digest) > 0 && !bytes.Equal(digest, sum[:]) {
		return Input{}, &CorruptError{Path: j.path, Reason: fmt.Sprintf("the input of entry %d is not what was written", seq)}
	}
	return in, nil
}

// readError names a damaged file as such.
func (j *Journal) readError(op string, err error) error { return readError(j.path, op, err) }

func readError(path, op string, err error) error {
	if isDamage(err) {
		return &CorruptError{Path: path, Reason: "the database cannot be read", Err: err}
	}
	return fmt.Errorf("%s journal %s: %w", op, path, err)
}

// micros returns t as it is kept in the file. The zero time is 0.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us)
}

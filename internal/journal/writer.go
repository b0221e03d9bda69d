package journal

import (
	"context"
	"database/sql"
	"fmt"
	"runtime"
	"sync"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// maxGroup bounds the entries of one commit, and with it the write-ahead log.
const maxGroup = 2000

// batch is what one caller passes in: it becomes durable as a whole.
type batch struct {
	records []Record
	meta    []metaValue
	done    chan error // receives one value; nil when no one waits
}

type metaValue struct {
	key   string
	value string
}

// writer owns the connection that writes. One goroutine commits whatever has
// gathered while the last commit waited for the disk, so that the cost of a
// commit is shared by all who wait for it.
type writer struct {
	j      *Journal
	conn   *sql.Conn
	insert *sql.Stmt
	marker *marker
	beside beside

	wake     chan struct{}
	finished chan struct{}

	mu      sync.Mutex
	queue   []*batch
	pending map[string]struct{} // keys of results in the queue or in a commit
	closed  bool
	failed  error // the journal takes nothing more
}

func newWriter(ctx context.Context, j *Journal, conn *sql.Conn, marker *marker) (*writer, error) {
	insert, err := conn.PrepareContext(ctx, "INSERT INTO entries VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
	if err != nil {
		return nil, err
	}
	w := &writer{
		j: j, conn: conn, insert: insert, marker: marker,
		beside:   beside{conn: conn, marks: j.marks, seq: j.seq},
		wake:     make(chan struct{}, 1),
		finished: make(chan struct{}),
		pending:  make(map[string]struct{}),
	}
	j.marks = nil
	return w, w.beside.begin()
}

// enqueue hands a batch to the writer's goroutine.
func (w *writer) enqueue(b *batch) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.failed
	}
	if w.closed {
		return ErrClosed
	}
	if err := w.reserve(b.records); err != nil {
		return err
	}
	w.queue = append(w.queue, b)
	select {
	case w.wake <- struct{}{}:
	default: // it is awake already
	}
	return nil
}

// reserve refuses a second result for a key before anything is written, so that
// no batch can spoil the commit of another.
func (w *writer) reserve(records []Record) error {
	w.j.mu.Lock()
	defer w.j.mu.Unlock()
	for i := range records {
		r := &records[i]
		if r.Kind.ledger() {
			w.j.noteTry(r) // a next try is known from this one before it is durable
			continue
		}
		_, recorded := w.j.index[hashKey(r.Key)]
		_, pending := w.pending[r.Key]
		if pending || (recorded && !r.Replace) {
			w.release(records[:i])
			return &DuplicateError{Key: r.Key}
		}
		w.pending[r.Key] = struct{}{}
	}
	return nil
}

func (w *writer) release(records []Record) {
	for i := range records {
		if !records[i].Kind.ledger() {
			delete(w.pending, records[i].Key)
		}
	}
}

// run commits groups until the journal is closed and the queue is empty. Goroutines that
// can run do so before a group is taken: what they pass in then shares the
// commit, which costs more than its rows.
func (w *writer) run() {
	defer close(w.finished)
	for range w.wake {
		runtime.Gosched()
		for group := w.next(); len(group) > 0; group = w.next() {
			w.settle(group, w.commit(group))
			runtime.Gosched()
		}
	}
}

// next takes the next group off the queue.
func (w *writer) next() []*batch {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, rows := 0, 0
	for n < len(w.queue) && rows < maxGroup {
		rows += len(w.queue[n].records) + 1
		n++
	}
	group := w.queue[:n:n]
	w.queue = w.queue[n:]
	return group
}

// settle reports to the callers of a group how it went. After a failure nothing more
// is tried: the state of the file is known, and stays so.
func (w *writer) settle(group []*batch, err error) {
	w.mu.Lock()
	if err != nil && w.failed == nil {
		w.failed = err
	}
	if err != nil {
		group = append(group, w.queue...)
		w.queue = nil
	}
	for _, b := range group {
		w.release(b.records)
	}
	w.mu.Unlock()
	for _, b := range group {
		if b.done != nil {
			b.done <- err
		}
	}
}

// commit writes a group in one transaction and then makes it known in memory.
func (w *writer) commit(group []*batch) error {
	tx := transaction{w: w, seq: w.j.HighWater()}
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return w.j.writeError(err)
	}
	for _, b := range group {
		if err := tx.write(b); err != nil {
			return w.abort(err)
		}
	}
	if err := w.exec("COMMIT"); err != nil {
		return w.abort(err)
	}
	w.j.publish(group, tx.blobs)
	w.marker.write(w.j.mark())
	return nil
}

// abort gives a transaction up. The error of the rollback is of no use: SQLite
// rolls back by itself when it cannot write, and when the file is next opened.
func (w *writer) abort(cause error) error {
	_ = w.exec("ROLLBACK")
	return w.j.writeError(cause)
}

// unboundedContext returns the context of all writes. A commit that has begun is finished: what it
// holds was paid for. (The driver would also start a goroutine for each statement whose context can
// end.)
func unboundedContext() context.Context { return context.Background() }

func (w *writer) exec(query string) error {
	_, err := w.conn.ExecContext(unboundedContext(), query)
	return err
}

// publish makes a committed group visible.
func (j *Journal) publish(group []*batch, blobs map[Digest]int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for hash, id := range blobs {
		j.blobs[hash] = id
	}
	for _, b := range group {
		for i := range b.records {
			j.take(&b.records[i])
		}
		for _, m := range b.meta {
			j.meta[m.key] = m.value
		}
	}
}

// mark returns how far the journal has got.
func (j *Journal) mark() mark {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return mark{RunID: j.meta[MetaRunID], Entry: j.seq, Key: j.lastKey, Open: true}
}

// stop takes no more batches, waits for those in the queue, and reports whether
// it was the first to do so.
func (w *writer) stop() bool {
	w.mu.Lock()
	first := !w.closed
	if first {
		w.closed = true
		close(w.wake)
	}
	w.mu.Unlock()
	<-w.finished
	return first
}

func (w *writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// checkpoint folds the write-ahead log into the file and empties it; folded is false
// when a reader kept it from that.
func (w *writer) checkpoint() (folded bool, err error) {
	var busy, pages, moved int
	row := w.conn.QueryRowContext(unboundedContext(), "PRAGMA wal_checkpoint(TRUNCATE)")
	if err := row.Scan(&busy, &pages, &moved); err != nil {
		return false, w.j.writeError(fmt.Errorf("fold in the write-ahead log: %w", err))
	}
	return busy == 0, nil
}

// writeError types a failure to write; types that it already has stay.
func (j *Journal) writeError(err error) error {
	switch e := err.(type) {
	case *VersionError, *CorruptError, *WriteError:
		return e
	}
	if isDamage(err) {
		return j.readError("write", err)
	}
	return &WriteError{Path: j.path, Full: sqlstore.Code(err) == sqlite3.SQLITE_FULL, Err: err}
}

// transaction writes the batches of one commit.
type transaction struct {
	w     *writer
	seq   int64
	blobs map[Digest]int64 // shared parts that are new in this commit
	args  [22]any
	refs  []byte
}

func (t *transaction) write(b *batch) error {
	for i := range b.records {
		r := &b.records[i]
		refs, err := t.share(r.Input.Shared)
		if err != nil {
			return err
		}
		t.seq++
		r.Seq = t.seq
		if err := t.entry(r, refs); err != nil {
			return err
		}
		if err := t.w.beside.take(r); err != nil {
			return err
		}
		r.Exchange = nil
	}
	for _, m := range b.meta {
		_, err := t.w.conn.ExecContext(unboundedContext(),
			"INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", m.key, m.value)
		if err != nil {
			return err
		}
	}
	return nil
}

// entry inserts one row. Its order of columns is that of the table.
func (t *transaction) entry(r *Record, refs []byte) error {
	var cost any
	if r.Cost != nil {
		cost = *r.Cost
	}
	t.args = [...]any{
		r.Seq, string(r.Kind), r.Key, r.Stage, r.Role, r.Model, int64(r.Attempt), int64(r.Ordinal), r.storedCode(),
		r.Usage.Input, r.Usage.Output, r.Usage.Cached, r.Usage.Reasoning, r.Usage.CacheWrite, cost,
		micros(r.StartedAt), r.Took.Microseconds(), int64(checksum(r)),
		blobOrNull(digestBytes(&r.Digest)), blobOrNull(r.Result), blobOrNull(refs), blobOrNull(r.Input.Own),
	}
	_, err := t.w.insert.ExecContext(unboundedContext(), t.args[:]...)
	return err
}

// share stores the parts that are not stored yet and returns references to all.
func (t *transaction) share(parts []Blob) ([]byte, error) {
	t.refs = t.refs[:0]
	for _, b := range parts {
		id, ok := t.w.j.blobs[b.hash] // only this goroutine adds to the map
		if !ok {
			id, ok = t.blobs[b.hash]
		}
		if !ok {
			id = int64(len(t.w.j.blobs) + len(t.blobs) + 1)
			_, err := t.w.conn.ExecContext(unboundedContext(), "INSERT INTO blobs VALUES (?, ?, ?)", id, b.hash[:], []byte(b.text))
			if err != nil {
				return nil, err
			}
			if t.blobs == nil {
				t.blobs = make(map[Digest]int64)
			}
			t.blobs[b.hash] = id
		}
		t.refs = appendRefs(t.refs, []int64{id})
	}
	return t.refs, nil
}

func digestBytes(d *Digest) []byte {
	if d.IsZero() {
		return nil
	}
	return d[:]
}

// blobOrNull stores what is empty as NULL, which takes no room.
func blobOrNull(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

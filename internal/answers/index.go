package answers

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// patience is how long a command may look through runs that are not in the index yet. What
// it does not get to, later commands do.
const patience = 10 * time.Second

// maxSources bounds the records that are open at once.
const maxSources = 3

// maxLists bounds the runs whose part of the index is in memory.
const maxLists = 8

// Index finds answers in the runs of a folder. Its methods may be called concurrently, but
// for Close.
type Index struct {
	dir  string
	self string // id of the run that asks, which is no source
	now  func() time.Time
	db   *sql.DB

	mu      sync.Mutex
	renewed bool // it was made again once
	conn    *sql.Conn
	lookUp  *sql.Stmt
	runs    map[int64]*source // that count, by number in the index
	order   []*source         // of runs, the newest in the index first
	open    []*source         // the one that was asked last behind
	lists   []*source         // whose part of the index is in memory
	served  map[asking]string // name of the model that answered last
	failure error             // the index can no longer be used
}

// asking is what a name of a model represents: at whose endpoint it was asked for.
type asking struct{ endpoint, model string }

// Open opens the index over the runs of a folder for the run self, and takes in what was
// recorded since. It writes nothing unless there are runs that count. An error says why
// nothing can be taken from other runs.
func Open(ctx context.Context, dir, self string, now func() time.Time) (*Index, error) {
	x := &Index{dir: dir, self: self, now: now, runs: map[int64]*source{}, served: map[asking]string{}}
	err := x.begin(ctx)
	if sqlstore.IsDamage(err) {
		err = x.renew(ctx)
	}
	if err != nil {
		return nil, errors.Join(unusable(dir, err), x.Close())
	}
	return x, nil
}

// unusable says that the index of a folder cannot be used, and what helps.
func unusable(dir string, err error) error {
	return fmt.Errorf("the index of answers %s: %w; it may be deleted, and is made again from the runs", filepath.Join(dir, File), err)
}

// renew replaces a damaged index with a new one: it is no more than a projection.
// Who answered last is known from this session too, and stays.
func (x *Index) renew(ctx context.Context) error {
	x.renewed = true
	if err := errors.Join(x.close(), remove(filepath.Join(x.dir, File))); err != nil {
		return err
	}
	served := x.served
	x.runs, x.order, x.lists, x.served, x.failure = map[int64]*source{}, nil, nil, map[asking]string{}, nil
	err := x.begin(ctx)
	maps.Copy(x.served, served)
	return err
}

// begin opens the file, takes in what is new, and prepares to look up. Without runs that
// count it opens nothing.
func (x *Index) begin(ctx context.Context) error {
	found, err := candidates(x.dir)
	if err != nil || len(found) == 0 {
		return err
	}
	if x.db, err = openDB(ctx, x.dir); err != nil {
		return err
	}
	b := &builder{db: x.db, until: x.now().Add(patience), now: x.now}
	if err := b.all(ctx, found, x.self, x.runs); err != nil {
		return err
	}
	if x.conn, err = x.db.Conn(ctx); err != nil {
		return err
	}
	if x.lookUp, err = x.conn.PrepareContext(ctx, "SELECT seq FROM answers WHERE run = ? AND hash = ? LIMIT 4"); err != nil {
		return err
	}
	x.order = slices.SortedFunc(maps.Values(x.runs), func(a, b *source) int { return cmp.Compare(b.number, a.number) })
	return x.readServed(ctx)
}

func (x *Index) readServed(ctx context.Context) error {
	return sqlstore.Each(ctx, x.conn, "SELECT endpoint, model, name FROM served", nil, func(rows *sql.Rows) error {
		var a asking
		var name string
		if err := rows.Scan(&a.endpoint, &a.model, &name); err != nil {
			return err
		}
		x.served[a] = name
		return nil
	})
}

// Close lets go of all files.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.close()
}

func (x *Index) close() error {
	var errs []error
	for _, s := range x.open {
		errs = append(errs, s.close())
	}
	x.open = nil
	if x.lookUp != nil {
		errs = append(errs, x.lookUp.Close())
	}
	if x.conn != nil {
		errs = append(errs, x.conn.Close())
	}
	if x.db != nil {
		errs = append(errs, x.db.Close())
	}
	x.lookUp, x.conn, x.db = nil, nil, nil
	return errors.Join(errs...)
}

// Add takes the run in dir, which has ended or stopped, into the index of its
// folder, so that the next command need not. It may be called without an Index.
func Add(ctx context.Context, folder, dir string, now func() time.Time) error {
	c, ok, err := readCandidate(dir)
	if err != nil || !ok {
		return err
	}
	add := func() error {
		db, err := openDB(ctx, folder)
		if err != nil {
			return err
		}
		b := &builder{db: db, until: now().Add(patience), now: now, single: true}
		return errors.Join(b.all(ctx, []candidate{c}, "", map[int64]*source{}), db.Close())
	}
	err = add()
	if sqlstore.IsDamage(err) {
		if err = remove(filepath.Join(folder, File)); err == nil {
			err = add()
		}
	}
	if err != nil {
		return unusable(folder, err)
	}
	return nil
}

// candidate is a run directory that may hold answers.
type candidate struct {
	dir      string
	manifest run.Manifest
	file     string // see fileID
	size     int64
	time     int64
	live     bool // a log lies next to the record
}

// candidates lists the runs of a folder that may hold answers, the newest first. What
// cannot be read is none.
func candidates(dir string) ([]candidate, error) {
	entries, err := run.List(dir)
	if err != nil {
		return nil, err
	}
	var out []candidate
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].Err != nil {
			continue
		}
		if c, ok := asCandidate(entries[i].Dir, entries[i].Manifest); ok {
			out = append(out, c)
		}
	}
	return out, nil
}

func readCandidate(dir string) (c candidate, ok bool, err error) {
	m, found, err := run.ReadManifest(dir)
	if err != nil || !found {
		return c, false, err
	}
	c, ok = asCandidate(dir, m)
	return c, ok, nil
}

func asCandidate(dir string, m run.Manifest) (candidate, bool) {
	if m.Replays() != "" || m.RunID == "" {
		return candidate{}, false
	}
	path := filepath.Join(dir, run.DBFile)
	c := candidate{dir: dir, manifest: m, file: fileID(path)}
	info, err := os.Lstat(path)
	if c.file == "" || err != nil || !info.Mode().IsRegular() {
		return candidate{}, false
	}
	c.size, c.time = info.Size(), info.ModTime().UnixNano()
	_, err = os.Lstat(path + "-wal")
	c.live = err == nil
	return c, true
}

// Runs counts the runs that may have an answer.
func (x *Index) Runs() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.runs)
}

// Package testset is the ledger of test sets: which run has read which test tasks, and
// what was read before. One file holds it for all runs of a folder. A run notes that it
// opens a set before it asks for the first answer; sets that share a task are the same.
//
// It knows nothing of skills, scores or the training loop, nor of what a run may do with
// a set that was read before. Of tasks it keeps digests alone.
package testset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
	"github.com/seed-f4525e22/skillopt/task"
)

// File is the name of the ledger in a folder of runs.
const File = "test_sets.db"

// version is that of the file, its user_version.
const version = 2

const schema = `
CREATE TABLE openings (
	seq     INTEGER PRIMARY KEY,
	run_id  TEXT NOT NULL,
	number  INTEGER NOT NULL, -- of the opening within its run, from 1
	run     TEXT NOT NULL,
	command TEXT NOT NULL,
	tasks   INTEGER NOT NULL,
	at      TEXT NOT NULL,
	UNIQUE (run_id, number)
);
CREATE TABLE questions (
	key     BLOB NOT NULL,
	opening INTEGER NOT NULL REFERENCES openings (seq),
	PRIMARY KEY (key, opening)
) WITHOUT ROWID;
CREATE TABLE prompts (
	key   BLOB PRIMARY KEY,
	rest  BLOB NOT NULL,
	words BLOB NOT NULL,
	slots BLOB NOT NULL
) WITHOUT ROWID;
PRAGMA user_version = 2;`

// Reading is one reading of a set of test tasks by a run.
type Reading struct {
	RunID   string
	Number  int    // within the run, from 1
	Run     string // its name
	Command string // train, eval, compare, ablate, prune
	At      time.Time
}

// Claim notes in the ledger of dir that a run opens sets, and returns the openings
// before it, oldest first, that share a task with one of them, or have one that is near to it. What an earlier call has noted
// stays as it was and where it was: the result is then the same. Of two processes that
// claim at once one is first. The ledger is made if there is none. Before Claim returns
// the opening is on the disk.
func Claim(ctx context.Context, dir string, o Reading, sets ...[]task.Task) (before []Reading, err error) {
	q, err := newQuestions(sets...)
	if err != nil {
		return nil, err
	}
	err = runTx(ctx, dir, noting, func(tx *sql.Tx) error {
		seq, err := note(ctx, tx, o, q)
		if err != nil {
			return err
		}
		before, err = q.openings(ctx, tx, seq)
		return err
	})
	return before, err
}

// questions are what sets of tasks are known by.
type questions struct {
	tasks   int
	keys    []Key
	prompts []prompt
}

func newQuestions(sets ...[]task.Task) (q questions, err error) {
	keys := map[Key]bool{}
	for _, tasks := range sets {
		if err := addKeys(keys, tasks); err != nil {
			return q, err
		}
		q.tasks += len(tasks)
		q.prompts = append(q.prompts, collectPrompts(tasks)...)
	}
	for _, p := range q.prompts {
		keys[p.key()] = true
	}
	q.keys = sortKeys(keys)
	return q, nil
}

// openings returns those before the opening seq that share a question, oldest first.
func (q questions) openings(ctx context.Context, tx *sql.Tx, seq int64) ([]Reading, error) {
	close, err := near(ctx, tx, q.prompts)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, "CREATE TEMP TABLE mine (key BLOB NOT NULL)"); err != nil {
		return nil, err
	}
	if err := insert(ctx, tx, "INSERT INTO temp.mine (key) VALUES (?)", append(close, q.keys...)); err != nil {
		return nil, err
	}
	return readings(ctx, tx, `SELECT DISTINCT o.run_id, o.number, o.run, o.command, o.at, o.seq FROM temp.mine
		JOIN questions theirs ON theirs.key = temp.mine.key JOIN openings o ON o.seq = theirs.opening WHERE o.seq < ? ORDER BY o.seq`, seq)
}

// Look returns the openings of a set so far, oldest first, and notes nothing. Without a
// ledger there are none.
func Look(ctx context.Context, dir string, tasks []task.Task) (found []Reading, err error) {
	if absent(dir) {
		return nil, nil
	}
	q, err := newQuestions(tasks)
	if err != nil {
		return nil, err
	}
	err = runTx(ctx, dir, looking, func(tx *sql.Tx) error {
		found, err = q.openings(ctx, tx, math.MaxInt64)
		return err
	})
	return found, err
}

// Runs returns the ids of the runs that the ledger of dir has heard of.
func Runs(ctx context.Context, dir string) (ids map[string]bool, err error) {
	ids = map[string]bool{}
	if absent(dir) {
		return ids, nil
	}
	err = runTx(ctx, dir, looking, func(tx *sql.Tx) error {
		list, err := sqlstore.Column(ctx, tx, "SELECT DISTINCT run_id FROM openings")
		for _, id := range list {
			ids[id] = true
		}
		return err
	})
	return ids, err
}

func absent(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, File))
	return errors.Is(err, fs.ErrNotExist)
}

// What a file is opened for.
const (
	// A transaction locks the file from its beginning, and its commit waits for the
	// disk.
	noting  = "?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)"
	looking = "?mode=ro&_pragma=busy_timeout(10000)"
)

// runTx runs one transaction on the ledger of dir. No other process notes anything meanwhile.
func runTx(ctx context.Context, dir string, how string, do func(*sql.Tx) error) (err error) {
	path := filepath.Join(dir, File)
	defer func() {
		if err != nil {
			err = fmt.Errorf("the ledger of test sets %s: %w", path, err)
		}
	}()
	if err := prepare(path, how); err != nil {
		return err
	}
	db := sqlstore.Open(path, how)
	defer func() { err = errors.Join(err, db.Close()) }()
	return sqlstore.Write(ctx, db, func(tx *sql.Tx) error {
		if err := create(ctx, tx, how); err != nil {
			return err
		}
		return do(tx)
	})
}

// prepare makes the folder, and refuses what opening would wait for.
func prepare(path string, how string) error {
	if how == noting {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	}
	return nil
}

// create makes the tables of a ledger that has none.
func create(ctx context.Context, tx *sql.Tx, how string) error {
	found, err := sqlstore.Version(ctx, tx)
	switch {
	case err != nil || found == version:
		return err
	case found != 0:
		return fmt.Errorf("it has format %d, and this program reads format %d", found, version)
	case how == looking:
		return errors.New("it holds nothing: the program that made it was killed")
	}
	_, err = tx.ExecContext(ctx, schema)
	return err
}

// note returns the number of an opening, which it writes unless it is there.
func note(ctx context.Context, tx *sql.Tx, o Reading, q questions) (seq int64, err error) {
	err = tx.QueryRowContext(ctx, "SELECT seq FROM openings WHERE run_id = ? AND number = ?", o.RunID, o.Number).Scan(&seq)
	if !errors.Is(err, sql.ErrNoRows) {
		return seq, err
	}
	done, err := tx.ExecContext(ctx, "INSERT INTO openings (run_id, number, run, command, tasks, at) VALUES (?, ?, ?, ?, ?, ?)",
		o.RunID, o.Number, o.Run, o.Command, q.tasks, o.At.UTC().Format(time.RFC3339))
	if err != nil {
		return 0, err
	}
	if seq, err = done.LastInsertId(); err != nil {
		return 0, err
	}
	if err := noteNear(ctx, tx, q.prompts); err != nil {
		return 0, err
	}
	return seq, insert(ctx, tx, fmt.Sprintf("INSERT INTO questions (key, opening) VALUES (?, %d)", seq), q.keys)
}

// insert runs a statement for each key.
func insert(ctx context.Context, tx *sql.Tx, statement string, keys []Key) (err error) {
	st, err := tx.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	for _, k := range keys {
		if _, err := st.ExecContext(ctx, k[:]); err != nil {
			return err
		}
	}
	return nil
}

func readings(ctx context.Context, tx *sql.Tx, query string, args ...any) ([]Reading, error) {
	return sqlstore.All(ctx, tx, query, args, func(rows *sql.Rows, o *Reading) error {
		var at string
		var seq int64
		err := rows.Scan(&o.RunID, &o.Number, &o.Run, &o.Command, &at, &seq)
		if err == nil {
			o.At, err = time.Parse(time.RFC3339, at)
		}
		return err
	})
}

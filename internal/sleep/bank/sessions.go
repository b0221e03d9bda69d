package bank

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// Store is what is known of a store since it was read last.
type Store struct {
	Path     string               `json:"file"`
	Source   string               `json:"source"`
	Mark     transcript.Mark      `json:"mark"`
	Terms    string               `json:"-"`
	Since    time.Time            `json:"since,omitzero"` // sessions that ended before were left out
	ReadAt   time.Time            `json:"read_at"`
	Highest  time.Time            `json:"last_entry,omitzero"`
	Bytes    int64                `json:"bytes"`
	LeftOut  map[string]int       `json:"left_out"`
	Problems []transcript.Problem `json:"problems"`
	Error    string               `json:"error,omitempty"`
}

// Session is a session that is kept. CommitBy says how its commit is known.
type Session struct {
	transcript.Transcript

	Store    string `json:"file"`
	CommitBy string `json:"commit_by,omitempty"` // recorded, inferred
}

// StoreKey returns the name of a store of which no session is kept. It is not the path, which may
// name a project that the user did not allow or has had forgotten.
func StoreKey(path string) string { return "sha256:" + digestName("store", path) }

// Stores returns what is known of the stores, by path, or by StoreKey it.
func (b *Bank) Stores(ctx context.Context) (map[string]Store, error) {
	out := map[string]Store{}
	query := "SELECT path, source, mark, terms, since, read_at, highest, bytes, left_out, problems, error FROM stores"
	err := sqlstore.Each(ctx, b.db, query, nil, func(rows *sql.Rows) error {
		var s Store
		var mark, left, problems []byte
		var since, read, highest int64
		if err := rows.Scan(&s.Path, &s.Source, &mark, &s.Terms, &since, &read, &highest, &s.Bytes, &left, &problems, &s.Error); err != nil {
			return err
		}
		s.Since, s.ReadAt, s.Highest = ofNano(since), ofNano(read), ofNano(highest)
		if err := errors.Join(json.Unmarshal(mark, &s.Mark), json.Unmarshal(left, &s.LeftOut), json.Unmarshal(problems, &s.Problems)); err != nil {
			return damagedError(filepath.Join(b.dir, File), "what is known of a store cannot be read")
		}
		out[s.Path] = s
		return nil
	})
	return out, b.wrapError("list stores", err)
}

func ofNano(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

func nano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Kept is what was read of a store. Failed: it could not be read, and what was read before
// stays.
type Kept struct {
	Store    Store
	Sessions []Session
	Failed   bool
}

// Keep replaces what was known of stores with what was read of them, all or nothing.
// What was forgotten stays forgotten.
func (b *Bank) Keep(ctx context.Context, list []Kept) error {
	return b.write(ctx, "keep sessions", func(tx *sql.Tx) error {
		memory, err := readMemory(ctx, tx)
		if err != nil {
			return err
		}
		for i := range list {
			if err := replace(ctx, tx, memory, &list[i]); err != nil {
				return fmt.Errorf("%s: %w", list[i].Store.Path, err)
			}
		}
		return unsettle(ctx, tx)
	})
}

func replace(ctx context.Context, tx *sql.Tx, memory memory, k *Kept) error {
	if k.Failed {
		return putStore(ctx, tx, k.Store)
	}
	for _, q := range []string{"DELETE FROM turns WHERE number IN (SELECT number FROM sessions WHERE store = ?)", "DELETE FROM sessions WHERE store = ?"} {
		if _, err := tx.ExecContext(ctx, q, k.Store.Path); err != nil {
			return err
		}
	}
	for i := range k.Sessions {
		kept, ok, err := memory.rest(ctx, tx, k.Sessions[i])
		if err == nil && ok {
			err = insert(ctx, tx, k.Store.Path, kept)
		}
		if err != nil {
			return err
		}
	}
	return putStore(ctx, tx, k.Store)
}

// NoteGoneStores notes that stores are gone. Their sessions are kept: agents delete old ones.
func (b *Bank) NoteGoneStores(ctx context.Context, paths []string) error {
	return b.write(ctx, "note stores that are gone", func(tx *sql.Tx) error {
		for _, path := range paths {
			if _, err := tx.ExecContext(ctx, "UPDATE stores SET error = ? WHERE path = ?", Gone, path); err != nil {
				return err
			}
		}
		return nil
	})
}

// Gone is the error of a store that is not there any more.
const Gone = "it is not there any more; what was read of it is kept"

// Unknown forgets stores of which no session is kept, by StoreKey them: they are gone.
func (b *Bank) Unknown(ctx context.Context, keys []string) error {
	return b.write(ctx, "drop stores that are gone", func(tx *sql.Tx) error {
		for _, key := range keys {
			if _, err := tx.ExecContext(ctx, "DELETE FROM stores WHERE path = ?", key); err != nil {
				return err
			}
		}
		return nil
	})
}

func putStore(ctx context.Context, tx *sql.Tx, s Store) error {
	var sessions int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sessions WHERE store = ?", s.Path).Scan(&sessions); err != nil {
		return err
	}
	// Known by its path or by its key, not by both.
	if _, err := tx.ExecContext(ctx, "DELETE FROM stores WHERE path IN (?, ?)", s.Path, StoreKey(s.Path)); err != nil {
		return err
	}
	if sessions == 0 {
		if s.Error != "" {
			return nil // it is tried again, whatever is known of it
		}
		s.Path, s.Problems = StoreKey(s.Path), nil
	}
	mark, err1 := json.Marshal(s.Mark)
	left, err2 := json.Marshal(s.LeftOut)
	problems, err3 := json.Marshal(s.Problems)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO stores (path, source, mark, terms, since, read_at, highest, bytes, left_out, problems, error)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, s.Path, s.Source, string(mark), s.Terms, nano(s.Since), nano(s.ReadAt), nano(s.Highest), s.Bytes, string(left), string(problems), s.Error)
	return err
}

func insert(ctx context.Context, tx *sql.Tx, store string, s Session) error {
	turns := s.Turns
	s.Turns, s.Store = nil, store
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	res, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO sessions (store, source, session, project, started, ended, turns, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		store, s.Source, s.ID, s.Project, nano(s.Started), nano(s.Ended), len(turns), string(data))
	if err != nil {
		return err
	}
	number, err := res.LastInsertId()
	if err != nil {
		return err
	}
	for seq, turn := range turns {
		data, err := json.Marshal(turn)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO turns (number, seq, source, turn, started, data) VALUES (?, ?, ?, ?, ?, ?)", number, seq, s.Source, turn.ID, nano(turn.Started), string(data)); err != nil {
			return err
		}
	}
	return nil
}

// Settle decides where a turn counts that several sessions have, as copies, forks and resumed
// sessions do: in the session with the most turns, of equal ones in that which began first, has
// the lower name, or lies in the first store by name. A session without a turn of its own is not
// shown. The result does not depend on the order in which stores were read. Where nothing has
// come or gone since the last time, nothing is done.
func (b *Bank) Settle(ctx context.Context) error {
	return b.write(ctx, "settle sessions that are kept twice", func(tx *sql.Tx) error {
		var settled bool
		if err := tx.QueryRowContext(ctx, "SELECT settled FROM state").Scan(&settled); err != nil || settled {
			return err
		}
		for _, q := range []string{
			"UPDATE turns SET shadow = 0 WHERE shadow = 1",
			"UPDATE sessions SET shadow = 0 WHERE shadow = 1",
			`UPDATE turns SET shadow = 1 WHERE (number, seq) IN (
				SELECT number, seq FROM (
					SELECT t.number, t.seq, row_number() OVER (PARTITION BY t.source, t.turn ORDER BY s.turns DESC, s.started, s.session, s.store) AS place
					FROM turns t JOIN sessions s USING (number)
					WHERE (t.source, t.turn) IN (SELECT source, turn FROM turns GROUP BY source, turn HAVING count(*) > 1))
				WHERE place > 1)`,
			"UPDATE sessions SET shadow = 1 WHERE number IN (SELECT number FROM turns GROUP BY number HAVING min(shadow) = 1)",
			"UPDATE state SET settled = 1",
		} {
			if _, err := tx.ExecContext(ctx, q); err != nil {
				return err
			}
		}
		return nil
	})
}

// unsettle notes that turns or sessions have come or gone: what counted in one that is gone may
// count in another, also after a harvest that was stopped.
func unsettle(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "UPDATE state SET settled = 0")
	return err
}

// Filter says which sessions are listed.
type Filter struct {
	Since   time.Time // that ended at or after
	ID      string    // of this id, or whose id begins so
	Project func(string) bool
}

// ErrEnough ends Sessions early, without an error.
var ErrEnough = errors.New("no more sessions are wanted")

// Sessions hands the sessions to each, the newest first, with the turns that count in them. What
// several stores have under one name is one session. It ends early where each returns ErrEnough.
// The turns of one session at a time are in memory.
func (b *Bank) Sessions(ctx context.Context, f Filter, each func(Session) error) error {
	tx, err := b.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // names and turns of one moment
	if err != nil {
		return b.wrapError("list sessions", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	names, err := readSessionNames(ctx, tx, f)
	if err != nil {
		return b.wrapError("list sessions", err)
	}
	for _, name := range names {
		s, err := b.session(ctx, tx, name)
		switch {
		case err != nil:
			return err
		case len(s.Turns) == 0 || f.Project != nil && !f.Project(s.Project):
			continue
		}
		if err := each(s); errors.Is(err, ErrEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// sessionName names a session.
type sessionName struct {
	source, id string
	ended      int64
}

func readSessionNames(ctx context.Context, tx *sql.Tx, f Filter) ([]sessionName, error) {
	query := `SELECT source, session, max(ended) AS last FROM sessions
		WHERE shadow = 0 AND (?1 = '' OR substr(session, 1, length(?1)) = ?1)
		GROUP BY source, session HAVING last >= ?2 ORDER BY last DESC, source, session`
	return sqlstore.All(ctx, tx, query, []any{f.ID, nano(f.Since)}, func(rows *sql.Rows, n *sessionName) error { return rows.Scan(&n.source, &n.id, &n.ended) })
}

// session returns a session with the turns that count in it. All else about it is as its newest
// store has it.
func (b *Bank) session(ctx context.Context, tx *sql.Tx, name sessionName) (s Session, err error) {
	query := `SELECT s.data, s.ended, t.data FROM sessions s JOIN turns t USING (number)
		WHERE s.source = ? AND s.session = ? AND s.shadow = 0 AND t.shadow = 0 ORDER BY t.started, s.store, t.seq`
	told := false
	err = sqlstore.Each(ctx, tx, query, []any{name.source, name.id}, func(rows *sql.Rows) error {
		var about, turn []byte
		var ended int64
		if err := rows.Scan(&about, &ended, &turn); err != nil {
			return err
		}
		var t transcript.Turn
		err := json.Unmarshal(turn, &t)
		if !told && ended == name.ended {
			told, err = true, errors.Join(err, json.Unmarshal(about, &s))
		}
		if err != nil {
			return damagedError(filepath.Join(b.dir, File), "a session cannot be read")
		}
		s.Turns = append(s.Turns, t)
		return nil
	})
	if len(s.Turns) > 0 {
		s.Started, s.Ended = s.Turns[0].Started, ofNano(name.ended)
	}
	return s, b.wrapError("list sessions", err)
}

// Totals is how much is kept.
type Totals struct {
	Sessions int       `json:"sessions"`
	Turns    int       `json:"turns"`
	Oldest   time.Time `json:"oldest,omitzero"`
	Newest   time.Time `json:"newest,omitzero"`
}

// Totals counts what is kept, and what counts.
func (b *Bank) Totals(ctx context.Context) (t Totals, err error) {
	var oldest, newest sql.NullInt64
	err = b.db.QueryRowContext(ctx, "SELECT count(DISTINCT source || char(0) || session), min(started), max(ended) FROM sessions WHERE shadow = 0").Scan(&t.Sessions, &oldest, &newest)
	if err == nil {
		err = b.db.QueryRowContext(ctx, "SELECT count(*) FROM turns WHERE shadow = 0").Scan(&t.Turns)
	}
	if err != nil {
		return t, b.wrapError("count sessions", err)
	}
	t.Oldest, t.Newest = ofNano(oldest.Int64), ofNano(newest.Int64)
	return t, nil
}

// Part is how much is kept of one source in one project.
type Part struct {
	Project  string    `json:"project"`
	Source   string    `json:"source"`
	Sessions int       `json:"sessions"`
	Turns    int       `json:"turns"`
	Newest   time.Time `json:"newest"`
}

// Parts counts what is kept by project and source, in the order of their names.
func (b *Bank) Parts(ctx context.Context) ([]Part, error) {
	query := `SELECT s.project, s.source, count(DISTINCT s.source || '/' || s.session), count(*), max(s.ended) FROM sessions s JOIN turns t USING (number)
		WHERE s.shadow = 0 AND t.shadow = 0 GROUP BY s.project, s.source ORDER BY s.project, s.source`
	out, err := sqlstore.All(ctx, b.db, query, nil, func(rows *sql.Rows, p *Part) error {
		var newest int64
		err := rows.Scan(&p.Project, &p.Source, &p.Sessions, &p.Turns, &newest)
		p.Newest = ofNano(newest)
		return err
	})
	return out, b.wrapError("count sessions", err)
}

// LastRead returns when a store was read last: the time of the last harvest that found news. It returns the zero time if none was ever read.
func (b *Bank) LastRead(ctx context.Context) (time.Time, error) {
	var at sql.NullInt64
	if err := b.db.QueryRowContext(ctx, "SELECT max(read_at) FROM stores").Scan(&at); err != nil {
		return time.Time{}, b.wrapError("look for the last harvest", err)
	}
	return ofNano(at.Int64), nil
}

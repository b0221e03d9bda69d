package journal

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"sync"
)

// Asked is what distinguishes one recorded call from another. Nothing of it is checked: it is for
// an index, which is not trusted either.
type Asked struct {
	Seq    int64
	Key    string
	Role   string
	Model  string
	Code   string
	Origin Origin
	Digest Digest
}

// CallsAfter returns the calls of models after entry seq that have a result, in the order of
// commits. An error is the last that it gives.
func (v *View) CallsAfter(ctx context.Context, seq int64) iter.Seq2[Asked, error] {
	return func(yield func(Asked, error) bool) {
		var role, model, code, digest sql.RawBytes
		l, enough := loader{names: make(map[string]string)}, false
		query := "SELECT seq, key, role, model, code, digest FROM entries WHERE seq > ? AND kind = ? ORDER BY seq"
		err := v.each(ctx, query, []any{seq, string(Call)}, func(rows *sql.Rows) (bool, error) {
			var a Asked
			if err := rows.Scan(&a.Seq, &a.Key, &role, &model, &code, &digest); err != nil {
				return false, err
			}
			if len(digest) != len(a.Digest) {
				return true, nil
			}
			a.Role, a.Model, a.Digest = l.intern(role), l.intern(model), Digest(digest)
			a.Code, a.Origin = cutOrigin(string(bytes.TrimSuffix(code, []byte(estimateMark))))
			enough = !yield(a, nil)
			return !enough, nil
		})
		if err != nil && !enough {
			yield(Asked{}, err)
		}
	}
}

// Meta returns the values that are kept under keys.
func (v *View) Meta(ctx context.Context) (map[string]string, error) {
	out := make(map[string]string)
	err := v.each(ctx, "SELECT key, value FROM meta", nil, func(rows *sql.Rows) (bool, error) {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return false, err
		}
		out[key] = value
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// maxParts bounds the shared parts that a view keeps.
const maxParts = 64

// answers reads entries with their inputs by number, from a connection of its own.
type answers struct {
	mu    sync.Mutex
	conn  *sql.Conn
	entry *sql.Stmt
	part  *sql.Stmt
	l     loader
	parts map[int64]Blob
	ahead map[int64]entry // entries that were read with another one
	last  int64           // that was asked for
}

// Answer returns entry seq with its input, both checked. ok is false if there is no such
// entry.
func (v *View) Answer(ctx context.Context, seq int64) (r Record, ok bool, err error) {
	a := &v.answers
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.open(ctx, v); err != nil {
		return r, false, fmt.Errorf("read entry %d: %w", seq, err)
	}
	e, ok := a.ahead[seq]
	if !ok {
		// Those who go through a run ask nearly in the order of its entries.
		rows := int64(1)
		if near := seq - a.last; near > 0 && near <= entriesAhead {
			rows = entriesAhead
		}
		if err := a.read(ctx, seq, seq+rows-1); err != nil {
			return r, false, fmt.Errorf("read entry %d: %w", seq, v.unreadable(ctx, a.conn, err))
		}
		e, ok = a.ahead[seq]
	}
	a.last = seq
	if !ok {
		return r, false, nil
	}
	r = e.record
	if r.Input, err = a.input(ctx, v, e); err != nil {
		return r, false, err
	}
	if r.Input.Digest() != r.Digest {
		return r, false, a.l.corrupt("the input of entry %d is not what was written", seq)
	}
	return r, true, nil
}

// entriesAhead is how many entries are read at once.
const entriesAhead = 32

// entry is a record whose input is not resolved.
type entry struct {
	record      Record
	shared, own []byte
}

// read reads entries: the first, and as many after it as there is room for.
func (a *answers) read(ctx context.Context, from, to int64) (err error) {
	clear(a.ahead)
	rows, err := a.entry.QueryContext(ctx, from, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var w row
	targets, size := w.targets(), 0
	for rows.Next() && size < bytesAhead {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		r, err := a.l.verifyRow(&w)
		if err != nil {
			return err
		}
		a.ahead[r.Seq] = entry{r, bytes.Clone(w.shared), bytes.Clone(w.own)}
		size += len(r.Result) + len(w.own)
	}
	return rows.Err()
}

func (a *answers) open(ctx context.Context, v *View) (err error) {
	if a.part != nil {
		return nil
	}
	if a.conn == nil {
		if a.conn, err = v.conn(ctx); err != nil {
			return err
		}
	}
	if _, err := a.conn.ExecContext(ctx, "PRAGMA cache_size = -512"); err != nil { // entries are read once
		return readError(v.path, "open", err)
	}
	a.l, a.parts, a.ahead = loader{path: v.path, names: make(map[string]string)}, make(map[int64]Blob), make(map[int64]entry)
	if a.entry, err = a.conn.PrepareContext(ctx, "SELECT "+entryColumns+", shared, own FROM entries WHERE seq BETWEEN ? AND ? ORDER BY seq"); err != nil {
		return readError(v.path, "read", err)
	}
	if a.part, err = a.conn.PrepareContext(ctx, "SELECT data FROM blobs WHERE id = ?"); err != nil {
		return readError(v.path, "read", err)
	}
	return nil
}

// input resolves the references of an entry to shared parts.
func (a *answers) input(ctx context.Context, v *View, e entry) (Input, error) {
	in := Input{Own: e.own}
	ids, ok := parseRefs(e.shared)
	if !ok {
		return in, a.l.corrupt("a list of shared parts cannot be read")
	}
	for _, id := range ids {
		b, ok := a.parts[id]
		if !ok {
			var data []byte
			if err := a.part.QueryRowContext(ctx, id).Scan(&data); err != nil {
				return in, fmt.Errorf("read shared part %d: %w", id, v.unreadable(ctx, a.conn, err))
			}
			b = NewBlob(string(data))
			if len(a.parts) >= maxParts {
				clear(a.parts)
			}
			a.parts[id] = b
		}
		in.Shared = append(in.Shared, b)
	}
	return in, nil
}

func (a *answers) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var err error
	for _, s := range []*sql.Stmt{a.entry, a.part} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if a.conn != nil {
		err = errors.Join(err, a.conn.Close())
	}
	a.conn, a.entry, a.part = nil, nil, nil
	return err
}

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

// Asked is what tells one recorded call from another. Nothing of it is checked: it is for
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

// Asked returns the calls of models after entry seq that have a result, in the order of
// commits. An error is the last that it gives.
func (v *View) Asked(ctx context.Context, seq int64) iter.Seq2[Asked, error] {
	return func(yield func(Asked, error) bool) {
		rows, err := v.db.QueryContext(ctx, "SELECT seq, key, role, model, code, digest FROM entries WHERE seq > ? AND kind = ? ORDER BY seq", seq, string(Call))
		if err != nil {
			yield(Asked{}, readError(v.path, "read", err))
			return
		}
		defer func() { _ = rows.Close() }() // what Err tells is all that matters
		var role, model, code, digest sql.RawBytes
		l := loader{names: make(map[string]string)}
		for rows.Next() {
			var a Asked
			if err := rows.Scan(&a.Seq, &a.Key, &role, &model, &code, &digest); err != nil {
				yield(Asked{}, readError(v.path, "read", err))
				return
			}
			if len(digest) != len(a.Digest) {
				continue
			}
			a.Role, a.Model, a.Digest = l.intern(role), l.intern(model), Digest(digest)
			a.Code, a.Origin = cutOrigin(string(bytes.TrimSuffix(code, []byte(estimateMark))))
			if !yield(a, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Asked{}, readError(v.path, "read", err))
		}
	}
}

// Meta returns the values that are kept under keys.
func (v *View) Meta(ctx context.Context) (map[string]string, error) {
	rows, err := v.db.QueryContext(ctx, "SELECT key, value FROM meta")
	if err != nil {
		return nil, readError(v.path, "read", err)
	}
	defer func() { _ = rows.Close() }() // what Err tells is all that matters
	out := make(map[string]string)
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return nil, readError(v.path, "read", err)
		}
		out[key] = value
	}
	if err := rows.Err(); err != nil {
		return nil, readError(v.path, "read", err)
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
	var w row
	err = a.entry.QueryRowContext(ctx, seq).Scan(raw(w.targets())...)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	if err != nil {
		return r, false, fmt.Errorf("read entry %d: %w", seq, readError(v.path, "read", err))
	}
	if r, err = a.l.verified(&w); err != nil {
		return r, false, err
	}
	if r.Input, err = a.input(ctx, v.path, &w); err != nil {
		return r, false, err
	}
	if r.Input.Digest() != r.Digest {
		return r, false, a.l.corrupt("the input of entry %d is not what was written", seq)
	}
	return r, true, nil
}

// raw lets a row that is read alone keep its bytes, which those of a list may not.
func raw(targets []any) []any {
	for i, t := range targets {
		if b, ok := t.(*sql.RawBytes); ok {
			targets[i] = (*[]byte)(b)
		}
	}
	return targets
}

func (a *answers) open(ctx context.Context, v *View) (err error) {
	if a.part != nil {
		return nil
	}
	if a.conn == nil {
		if a.conn, err = v.db.Conn(ctx); err != nil {
			return readError(v.path, "open", err)
		}
	}
	a.l, a.parts = loader{path: v.path, names: make(map[string]string)}, make(map[int64]Blob)
	if a.entry, err = a.conn.PrepareContext(ctx, "SELECT "+entryColumns+", shared, own FROM entries WHERE seq = ?"); err != nil {
		return readError(v.path, "read", err)
	}
	if a.part, err = a.conn.PrepareContext(ctx, "SELECT data FROM blobs WHERE id = ?"); err != nil {
		return readError(v.path, "read", err)
	}
	return nil
}

// input resolves the references of an entry to shared parts.
func (a *answers) input(ctx context.Context, path string, w *row) (Input, error) {
	in := Input{Own: w.own}
	ids, ok := parseRefs(w.shared)
	if !ok {
		return in, a.l.corrupt("a list of shared parts cannot be read")
	}
	for _, id := range ids {
		b, ok := a.parts[id]
		if !ok {
			var data []byte
			if err := a.part.QueryRowContext(ctx, id).Scan(&data); err != nil {
				return in, fmt.Errorf("read shared part %d: %w", id, readError(path, "read", err))
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

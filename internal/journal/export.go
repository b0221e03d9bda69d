package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// Each calls yield for every durable entry, ledger included, in the order of
// commits and with its input. It stops at the first error of yield.
func (j *Journal) Each(ctx context.Context, yield func(Record) error) (err error) {
	parts := make(map[int64]Blob)
	var w row
	targets := w.targets()
	l := loader{path: j.path, names: make(map[string]string)}
	rows, err := j.db.QueryContext(ctx, "SELECT "+entryColumns+", shared, own FROM entries ORDER BY seq")
	if err != nil {
		return j.readError("read", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return j.readError("read", err)
		}
		r := l.record(&w)
		r.Input.Own = append([]byte(nil), w.own...)
		if r.Input.Shared, err = j.parts(ctx, w.shared, parts); err != nil {
			return fmt.Errorf("read input of entry %d: %w", r.Seq, err)
		}
		if err := yield(r); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return j.readError("read", err)
	}
	return nil
}

// parts resolves references to shared parts, reading each part once as long as
// the same cache is passed in.
func (j *Journal) parts(ctx context.Context, refs []byte, cache map[int64]Blob) ([]Blob, error) {
	return resolveParts(ctx, j.path, func(ctx context.Context, id int64, data *[]byte) error {
		return j.db.QueryRowContext(ctx, "SELECT data FROM blobs WHERE id = ?", id).Scan(data)
	}, refs, cache)
}

// resolveParts resolves references to shared parts of the journal at path. read reads the data of a
// part.
func resolveParts(ctx context.Context, path string, read func(ctx context.Context, id int64, data *[]byte) error, refs []byte, cache map[int64]Blob) ([]Blob, error) {
	ids, ok := parseRefs(refs)
	if !ok {
		return nil, &CorruptError{Path: path, Reason: "a list of shared parts cannot be read"}
	}
	var shared []Blob
	for _, id := range ids {
		b, ok := cache[id]
		if !ok {
			var data []byte
			err := read(ctx, id, &data)
			if errors.Is(err, sql.ErrNoRows) {
				return nil, &CorruptError{Path: path, Reason: fmt.Sprintf("shared part %d is missing", id)}
			}
			if err != nil {
				return nil, unread(path, err)
			}
			b = NewBlob(string(data))
			cache[id] = b
		}
		shared = append(shared, b)
	}
	return shared, nil
}

// copyBatch is how many results CopyTo commits at once.
const copyBatch = 500

// CopyTo writes the calls and episodes among the entries up to number upTo into
// a new journal at path, for a run that is forked from this one. The copies are
// marked as inherited and cost nothing. Decisions, given-up items, the ledger
// and the meta values stay behind: they belong to this run. The file appears at
// path once it is whole; a process that dies before leaves one next to it, which
// the next CopyTo to path removes. No one else may copy to path meanwhile.
func (j *Journal) CopyTo(ctx context.Context, path string, upTo int64) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("copy journal to %s: the file exists", path)
	}
	part := path + partSuffix
	if err := Remove(part); err != nil {
		return err
	}
	to, err := Open(ctx, part, Options{})
	if err != nil {
		return err
	}
	err = errors.Join(j.copyInto(ctx, to, upTo), to.Close(), removeFile(part+markSuffix))
	if err != nil {
		return errors.Join(err, Remove(part))
	}
	if err := os.Rename(part, path); err != nil {
		return errors.Join(fmt.Errorf("copy journal to %s: %w", path, err), Remove(part))
	}
	return nil
}

// partSuffix ends the name of a copy that is not whole yet.
const partSuffix = ".part"

// Remove deletes the files of the journal at path, which no one may have open,
// and what a CopyTo that was killed left there. Files that are not there are no
// error.
func Remove(path string) error {
	for _, file := range []string{path, path + partSuffix} {
		for _, suffix := range []string{"", "-wal", "-shm", markSuffix} {
			if err := removeFile(file + suffix); err != nil {
				return err
			}
		}
	}
	return nil
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove journal: %w", err)
	}
	return nil
}

// IsInherited reports whether the journal holds nothing but results that another run paid for. It
// is true for an empty journal.
func (j *Journal) IsInherited() bool {
	j.mu.RLock()
	defer j.mu.RUnlock()
	// A replaced result and the ledger count as well: they were paid for.
	return j.counts.Inherited == j.counts.Results && j.seq == int64(j.counts.Results)
}

// errEnough ends an iteration early.
var errEnough = errors.New("enough")

func (j *Journal) copyInto(ctx context.Context, to *Journal, upTo int64) error {
	last, err := j.newest(ctx, upTo)
	if err != nil {
		return err
	}
	var batch []Record
	flush := func() error {
		records := batch
		batch = nil
		return to.Append(ctx, records...)
	}
	err = j.Each(ctx, func(r Record) error {
		if r.Seq > upTo {
			return errEnough
		}
		if last[r.Key] != r.Seq {
			return nil
		}
		batch = append(batch, markInherited(r))
		if len(batch) < copyBatch {
			return nil
		}
		return flush()
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return flush()
}

// newest returns, by key, the number of the last entry up to number upTo that a
// copy takes over. One that was given up later is taken over: that was a decision
// of this run.
func (j *Journal) newest(ctx context.Context, upTo int64) (last map[string]int64, err error) {
	last = make(map[string]int64)
	query := "SELECT key, max(seq) FROM entries WHERE seq <= ? AND kind IN (?, ?, ?) GROUP BY key"
	err = sqlstore.Each(ctx, j.db, query, []any{upTo, string(Call), string(Episode), string(Check)}, func(rows *sql.Rows) error {
		var key string
		var seq int64
		err := rows.Scan(&key, &seq)
		last[key] = seq
		return err
	})
	if err != nil {
		return nil, j.readError("read", err)
	}
	return last, nil
}

// markInherited returns r as a run that did not pay for it records it.
func markInherited(r Record) Record {
	r.Code, r.Replace = CodeInherited, true
	r.Usage, r.Cost, r.Estimate = Usage{}, nil, false
	return r
}

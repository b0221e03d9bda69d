package answers

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// chunk is how many calls are taken in at once.
const chunk = 50_000

// builder takes runs into the index.
type builder struct {
	db    *sql.DB
	until time.Time
	now   func() time.Time

	single bool // it is given only one of the runs
}

// row is what the index knows of a run.
type row struct {
	number int64
	file   string
	size   int64
	time   int64
	seq    int64
	count  int64
	filter filter
}

// all takes in what is new of some runs, as long as there is time, and returns in sources
// those that count. A run that cannot be read is left out: it may be at work, or damaged.
func (b *builder) all(ctx context.Context, found []candidate, self string, sources map[int64]*source) error {
	known, err := b.readRuns(ctx)
	if err != nil {
		return err
	}
	for _, c := range found {
		r, there := known[c.manifest.RunID]
		if !there || c.live || r.file != c.file || r.size != c.size || r.time != c.time {
			if b.now().After(b.until) {
				continue
			}
			if r, err = b.run(ctx, c, r); err != nil {
				return err
			}
		}
		if r.count > 0 && c.manifest.RunID != self {
			sources[r.number] = &source{candidate: c, number: r.number, count: r.count, filter: r.filter}
		}
	}
	if b.single {
		return nil
	}
	return b.tidy(ctx, found, known)
}

func (b *builder) readRuns(ctx context.Context) (map[string]row, error) {
	out := map[string]row{}
	err := sqlstore.Each(ctx, b.db, "SELECT run_id, number, file, size, time, seq, count, filter FROM runs", nil, func(rows *sql.Rows) error {
		var id string
		var r row
		var bits sql.RawBytes
		err := rows.Scan(&id, &r.number, &r.file, &r.size, &r.time, &r.seq, &r.count, &bits)
		r.filter = decodeFilter(bits)
		out[id] = r
		return err
	})
	return out, err
}

// run takes in what is new of a run. An error is that of the index; what is wrong with the
// run is no error.
func (b *builder) run(ctx context.Context, c candidate, r row) (row, error) {
	view, err := journal.OpenView(ctx, filepath.Join(c.dir, run.DBFile))
	if err != nil {
		return row{}, ctx.Err()
	}
	defer func() { _ = view.Close() }() // it was only read
	meta, err := view.Meta(ctx)
	if err != nil || meta[journal.MetaRunID] != c.manifest.RunID {
		return row{}, ctx.Err()
	}
	said := parseSessions(meta)
	if r.file != c.file { // another file under the id of one that was there
		if r, err = b.forget(ctx, c, r); err != nil {
			return row{}, err
		}
	}
	if !said.here(c.file) {
		return r, b.write(ctx, c, &r, nil, nil)
	}
	return b.entries(ctx, view, c, said, r)
}

// forget drops what the index holds of a run.
func (b *builder) forget(ctx context.Context, c candidate, r row) (row, error) {
	if r.number == 0 {
		return row{file: c.file}, nil
	}
	if r.count > 0 {
		if _, err := b.db.ExecContext(ctx, "DELETE FROM answers WHERE run = ?", r.number); err != nil {
			return r, err
		}
	}
	return row{number: r.number, file: c.file}, nil
}

// entries takes in the calls of a run after those that are in the index, chunk by chunk.
func (b *builder) entries(ctx context.Context, view *journal.View, c candidate, said sessions, r row) (row, error) {
	p := part{last: map[asking]journal.Asked{}}
	for a, err := range view.CallsAfter(ctx, r.seq) {
		if err != nil {
			return row{}, ctx.Err() // it is damaged: nothing of it counts
		}
		p.take(c, said, a)
		if p.read < chunk {
			continue
		}
		if err := b.flush(ctx, view, c, &r, &p, false); err != nil {
			return r, err
		}
		if b.now().After(b.until) {
			return r, nil
		}
	}
	return r, b.flush(ctx, view, c, &r, &p, true)
}

// part is what was read of a run and is not in the index yet.
type part struct {
	read    int
	seq     int64
	answers []answer
	last    map[asking]journal.Asked // calls by which a model was asked last, of each
}

// answer is a row of the index.
type answer struct{ hash, seq int64 }

// take takes in a call.
func (p *part) take(c candidate, said sessions, a journal.Asked) {
	p.read, p.seq = p.read+1, a.Seq
	endpoint := said.endpoint(a.Seq, a.Role, c.file)
	if endpoint == "" || a.Code != "" && a.Origin == (journal.Origin{}) {
		return
	}
	if a.Code == "" {
		p.last[asking{endpoint, a.Model}] = a
	}
	if _, may := Place(c.manifest.Kind, a.Key, a.Role); may && caller.FirstAttempt(a.Key) && !readsTest(c.manifest) {
		p.answers = append(p.answers, answer{hashRequest(endpoint, a.Digest), a.Seq})
	}
}

// flush writes a part. whole says that it was the last of the run.
func (b *builder) flush(ctx context.Context, view *journal.View, c candidate, r *row, p *part, whole bool) error {
	var names []servedAt
	for at, a := range p.last {
		rec, ok, err := view.Answer(ctx, a.Seq)
		if err != nil || !ok {
			continue
		}
		if rep, err := caller.ReadReply(rec.Result); err == nil && rep.Limit == "" {
			names = append(names, servedAt{at, rec.StartedAt.UnixMicro(), rep.Model})
		}
	}
	slices.SortFunc(p.answers, func(a, b answer) int { return cmp.Compare(a.hash, b.hash) }) // the order in which a tree takes them fastest
	r.seq = max(r.seq, p.seq)
	as := c
	if !whole {
		as.size = -1 // there is more of it
	}
	err := b.write(ctx, as, r, p.answers, names)
	*p = part{last: map[asking]journal.Asked{}}
	return err
}

// servedAt is who answered when a model was asked for.
type servedAt struct {
	asking
	time int64
	name string
}

// write commits what is known of a run.
func (b *builder) write(ctx context.Context, c candidate, r *row, answers []answer, names []servedAt) error {
	return sqlstore.Write(ctx, b.db, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `INSERT INTO runs (run_id, file, size, time, seq, count, filter) VALUES (?, ?, ?, ?, ?, ?, x'')
		ON CONFLICT (run_id) DO UPDATE SET file = excluded.file, size = excluded.size, time = excluded.time, seq = excluded.seq, count = excluded.count
		RETURNING number`, c.manifest.RunID, c.file, c.size, c.time, r.seq, r.count+int64(len(answers))).Scan(&r.number)
		if err != nil {
			return err
		}
		r.file, r.size, r.time, r.count = c.file, c.size, c.time, r.count+int64(len(answers))
		if len(answers) > 0 {
			if r.filter, err = add(ctx, tx, r.number, answers); err != nil {
				return err
			}
		}
		for _, s := range names {
			if _, err := tx.ExecContext(ctx, `INSERT INTO served (endpoint, model, time, name) VALUES (?, ?, ?, ?)
			ON CONFLICT (endpoint, model) DO UPDATE SET time = excluded.time, name = excluded.name WHERE excluded.time >= time`, s.endpoint, s.model, s.time, s.name); err != nil {
				return err
			}
		}
		return nil
	})
}

// add writes answers of a run, and returns the filter of all that it has.
func add(ctx context.Context, tx *sql.Tx, number int64, answers []answer) (f filter, err error) {
	insert, err := tx.PrepareContext(ctx, fmt.Sprintf("INSERT OR IGNORE INTO answers (run, hash, seq) VALUES (%d, ?, ?)", number))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	for _, a := range answers {
		if _, err := insert.ExecContext(ctx, a.hash, a.seq); err != nil {
			return nil, err
		}
	}
	all, err := readAnswers(ctx, tx, number)
	if err != nil {
		return nil, err
	}
	hashes := make([]int64, len(all))
	for i, a := range all {
		hashes[i] = a.hash
	}
	f = newFilter(hashes)
	_, err = tx.ExecContext(ctx, "UPDATE runs SET filter = ? WHERE number = ?", f.bytes(), number)
	return f, err
}

// readAnswers lists the answers of a run by their hashes.
func readAnswers(ctx context.Context, from sqlstore.Querier, number int64) ([]answer, error) {
	return sqlstore.All(ctx, from, "SELECT hash, seq FROM answers WHERE run = ? ORDER BY hash, seq", []any{number}, func(rows *sql.Rows, a *answer) error {
		return rows.Scan(&a.hash, &a.seq)
	})
}

// tidy drops what runs left that are no longer there.
func (b *builder) tidy(ctx context.Context, found []candidate, known map[string]row) error {
	live := map[string]bool{}
	for _, c := range found {
		live[c.manifest.RunID] = true
	}
	var gone []int64
	for id, r := range known {
		if !live[id] {
			gone = append(gone, r.number)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return sqlstore.Write(ctx, b.db, func(tx *sql.Tx) error {
		for _, number := range gone {
			for _, statement := range []string{"DELETE FROM answers WHERE run = ?", "DELETE FROM runs WHERE number = ?"} {
				if _, err := tx.ExecContext(ctx, statement, number); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

package journal

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// followColumns are what Follow reads. Results are left in the file, but for those of
// decisions, which are few and small.
const followColumns = `seq, kind, key, stage, role, model, attempt, ordinal, code,
	input_tokens, output_tokens, cached_tokens, reasoning_tokens, written_tokens, cost_nano_usd,
	started_us, took_us, CASE WHEN kind = 'decision' THEN result END`

// Follow returns at most most entries after entry seq, ledger included, in the order of
// commits. It is for those who count beside the process that writes: inputs, digests and the
// results of anything but decisions are left out, and checksums are not looked at.
func (v *View) Follow(ctx context.Context, seq int64, most int) (out []Record, err error) {
	rows, err := v.db.QueryContext(ctx, "SELECT "+followColumns+" FROM entries WHERE seq > ? ORDER BY seq LIMIT ?", seq, most)
	if err != nil {
		return nil, readError(v.path, "read", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	l, w := loader{path: v.path, names: make(map[string]string)}, row{}
	r := &w.record
	targets := []any{
		&r.Seq, &w.kind, &r.Key, &w.stage, &w.role, &w.model, &r.Attempt, &r.Ordinal, &w.code,
		&r.Usage.Input, &r.Usage.Output, &r.Usage.Cached, &r.Usage.Reasoning, &r.Usage.CacheWrite, &w.cost,
		&w.startedUS, &w.tookUS, &w.result,
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, readError(v.path, "read", err)
		}
		out = append(out, l.record(&w))
	}
	if err := rows.Err(); err != nil {
		return nil, readError(v.path, "read", err)
	}
	return out, nil
}

// Last returns the number of the last entry, 0 if there is none.
func (v *View) Last(ctx context.Context) (seq int64, err error) {
	if err := v.db.QueryRowContext(ctx, "SELECT ifnull(max(seq), 0) FROM entries").Scan(&seq); err != nil {
		return 0, readError(v.path, "read", err)
	}
	return seq, nil
}

// EndedAt is when what an entry tells of had ended; the zero time of a decision, which has
// no time.
func (r Record) EndedAt() time.Time {
	if r.StartedAt.IsZero() {
		return time.Time{}
	}
	return r.StartedAt.Add(r.Took)
}

// Tally adds entries up as a journal does that is open. One goroutine uses it at a time.
type Tally struct{ totals totals }

// NewTally returns a tally of nothing.
func NewTally() *Tally { return &Tally{totals: newTotals()} }

// Add counts an entry.
func (t *Tally) Add(r Record) { t.totals.add(&r) }

// Totals returns the sums so far by stage and role, sorted.
func (t *Tally) Totals() []Total { return t.totals.list() }

// Entry returns an entry with its result and without its input. That there is none is a
// *CorruptError: entries have no gaps.
func (v *View) Entry(ctx context.Context, seq int64) (r Record, err error) {
	rows, err := v.db.QueryContext(ctx, "SELECT "+entryColumns+", NULL, NULL FROM entries WHERE seq = ?", seq)
	if err != nil {
		return r, readError(v.path, "read", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	l, w := loader{path: v.path, names: make(map[string]string)}, row{}
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return r, readError(v.path, "read", err)
		}
		return r, &CorruptError{Path: v.path, Reason: fmt.Sprintf("entry %d is missing", seq)}
	}
	if err := rows.Scan(w.targets()...); err != nil {
		return r, readError(v.path, "read", err)
	}
	return l.verified(&w)
}

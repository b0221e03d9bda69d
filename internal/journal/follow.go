package journal

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// followColumns are what Follow reads. Results are left in the file, but for those of
// decisions, which are few and small.
const followColumns = `seq, kind, key, stage, role, model, attempt, ordinal, code,
	input_tokens, output_tokens, cached_tokens, reasoning_tokens, written_tokens, cost_nano_usd,
	started_us, took_us, CASE WHEN kind = 'decision' THEN result END`

// Follow returns at most most entries after entry seq, ledger included, in the order of
// commits. It is for those who count while another process writes: inputs, digests and the
// results of anything but decisions are left out, and checksums are not looked at.
func (v *View) Follow(ctx context.Context, seq int64, most int) (out []Record, err error) {
	l, w := loader{path: v.path, names: make(map[string]string)}, row{}
	r := &w.record
	targets := []any{
		&r.Seq, &w.kind, &r.Key, &w.stage, &w.role, &w.model, &r.Attempt, &r.Ordinal, &w.code,
		&r.Usage.Input, &r.Usage.Output, &r.Usage.Cached, &r.Usage.Reasoning, &r.Usage.CacheWrite, &w.cost,
		&w.startedUS, &w.tookUS, &w.result,
	}
	err = v.each(ctx, "SELECT "+followColumns+" FROM entries WHERE seq > ? ORDER BY seq LIMIT ?", []any{seq, most}, func(rows *sql.Rows) (bool, error) {
		if err := rows.Scan(targets...); err != nil {
			return false, err
		}
		out = append(out, l.record(&w))
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Last returns the number of the last entry, 0 if there is none.
func (v *View) Last(ctx context.Context) (seq int64, err error) {
	err = v.one(ctx, "SELECT ifnull(max(seq), 0) FROM entries", nil, &seq)
	return seq, err
}

// EndedAt returns when what an entry reports had ended. It is the zero time for a decision, which
// has no time.
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

// More than any run has.
const (
	mostCounted = 1000    // stages and roles, and codes of faults
	mostOpen    = 250_000 // tries of episodes without a result
)

// Strange reports whether there are more stages, roles, codes or lost tries than any run has:
// a caller that continued to count would keep as many as the file claims.
func (t *Tally) Strange() bool {
	return max(len(t.totals.sums), t.totals.codes) > mostCounted || len(t.totals.open) > mostOpen
}

// Totals returns the sums so far by stage and role, sorted.
func (t *Tally) Totals() []Total { return t.totals.list() }

// Entry returns an entry with its result and without its input. That there is none is a
// *CorruptError: entries have no gaps.
func (v *View) Entry(ctx context.Context, seq int64) (r Record, err error) {
	l, w, found := loader{path: v.path, names: make(map[string]string)}, row{}, false
	err = v.each(ctx, "SELECT "+entryColumns+", NULL, NULL FROM entries WHERE seq = ?", []any{seq}, func(rows *sql.Rows) (more bool, err error) {
		if err = rows.Scan(w.targets()...); err == nil {
			found = true
			r, err = l.verifyRow(&w)
		}
		return false, err
	})
	if err == nil && !found {
		err = &CorruptError{Path: v.path, Reason: fmt.Sprintf("entry %d is missing", seq)}
	}
	return r, err
}

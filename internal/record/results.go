package record

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// Results returns what the run has recorded of results, one under a key, without their inputs,
// in the order of commits. What is recorded meanwhile is left out. An error is the last that it
// gives: a *run.DamagedError if an entry is missing or not what was written.
func (r *Run) Results(ctx context.Context) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		stands, last, err := indexResults(ctx, r)
		if err != nil {
			yield(journal.Record{}, err)
			return
		}
		for rec, err := range r.view.Entries(ctx, journal.Query{Results: true}) {
			switch {
			case err != nil:
				yield(journal.Record{}, r.wrapDamage(err))
				return
			case rec.Seq > last:
				return
			case stands[rec.Key] == rec.Seq && !yield(rec, nil):
				return
			}
		}
	}
}

// indexResults returns the numbers of the entries of results by key, each the latest under its key,
// and last is the last entry of all.
func indexResults(ctx context.Context, r *Run) (stands map[string]int64, last int64, err error) {
	stands = map[string]int64{}
	for {
		list, err := r.view.Follow(ctx, last, entriesAtOnce)
		if err != nil {
			return nil, 0, r.wrapDamage(err)
		}
		for _, e := range list {
			if e.Seq != last+1 {
				return nil, 0, r.wrapDamage(&journal.CorruptError{Path: filepath.Join(r.dir, run.DBFile), Reason: fmt.Sprintf("entry %d is missing", last+1)})
			}
			last = e.Seq
			if e.Kind != journal.Inner && e.Kind != journal.Fault {
				stands[e.Key] = e.Seq
			}
		}
		if len(list) < entriesAtOnce {
			return stands, last, nil
		}
	}
}

package record

import (
	"context"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// EachCall calls f with each entry of the record that a filter lets through, in the order of
// commits, without holding them all.
func EachCall(ctx context.Context, r *Run, f Filter, each func(Call)) error {
	return r.calls(ctx, f, func(c Call, _ []byte) { each(c) })
}

// Skim calls a function with each entry as EachCall does, for a caller that counts or chooses. Results are
// left in the file, checksums are not looked at, and origins are left out. CallAt has the whole of one.
func Skim(ctx context.Context, r *Run, f Filter, each func(Call)) error {
	for last := int64(0); ; {
		list, err := r.view.Follow(ctx, last, entriesAtOnce)
		if err != nil {
			return r.wrapDamage(err)
		}
		for _, rec := range list {
			last = rec.Seq
			if c := newCall(rec); f.lets(c) && (f.Key == "" || c.Key == f.Key) && (f.Stage == "" || c.Stage == f.Stage) && (!f.Failed || c.Kind == journal.Fault) {
				each(c)
			}
		}
		if len(list) < entriesAtOnce {
			return nil
		}
	}
}

// CallAt returns the entry with a number.
func CallAt(ctx context.Context, r *Run, seq int64) (Call, error) {
	rec, err := r.view.Entry(ctx, seq)
	if err != nil {
		return Call{}, r.wrapDamage(err)
	}
	return newCall(rec), nil
}

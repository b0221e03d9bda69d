package fetch

import (
	"context"
)

// Plan lists the files of the sources, sorted by Path, without fetching any. Hashes that are
// known from Options.Known, or from Options.Lock where that is given, are taken in.
func Plan(ctx context.Context, o Options, sources []Source) ([]File, error) {
	pins := lockFile{}
	if o.Lock != "" {
		var err error
		if pins, err = readLock(ctx, o.Lock); err != nil {
			return nil, err
		}
	}
	if err := pins.add(o.Known); err != nil {
		return nil, err
	}
	c, err := newClient(o)
	if err != nil {
		return nil, err
	}
	defer c.close()
	return c.plan(ctx, sources, pins)
}

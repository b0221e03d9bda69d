package journal

import "context"

// Examined is what a look at every byte of a journal has found.
type Examined struct {
	RunID   string
	Entries int64
	Lost    *LostEnd // nil: nothing is known to be missing at its end
	Marked  bool     // a mark next to it says how far it had got
}

// Examine reads the journal at path as a whole, inputs and shared parts included, and
// compares every checksum, also while another process adds to it. What is damaged is a
// *CorruptError, a value that is longer than any that is written as well. Nothing is changed.
func Examine(ctx context.Context, path string) (Examined, error) { return examine(ctx, path, longest) }

func examine(ctx context.Context, path string, longest int) (Examined, error) {
	files, err := look(path)
	if err != nil {
		return Examined{}, err
	}
	if err := files.plausible(Options{ReadOnly: true}); err != nil {
		return Examined{}, err
	}
	m, err := readMark(path)
	if err != nil {
		return Examined{}, err
	}
	files.open = true // as after a crash, everything is read
	j := &Journal{path: path, state: newState()}
	if err := j.check(ctx, files, true, longest); err != nil {
		return Examined{}, err
	}
	m.broken = m.broken && files.unclean()
	return Examined{RunID: j.meta[MetaRunID], Entries: j.seq, Lost: j.loss(m, nil), Marked: j.isMine(m)}, nil
}

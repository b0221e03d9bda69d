package dataset

import (
	"context"
	"iter"
	"os"
)

// AllRows is Rows for all files that a pattern covers (see Files), one after another.
func AllRows(ctx context.Context, root *os.Root, pattern string, b Bounds) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		names, err := Files(ctx, root, pattern, b)
		if err != nil {
			yield(Row{}, err)
			return
		}
		for _, name := range names {
			for row, err := range Rows(ctx, root, name, b) {
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

package evals

import (
	"errors"
	"iter"
	"path"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/dataset"
)

// readRows reads the rows of a file of any kind.
func (w *work) readRows(file string) iter.Seq2[row, error] {
	if !strings.EqualFold(path.Ext(file), ".parquet") {
		return w.read.rows(file)
	}
	return func(yield func(row, error) bool) {
		if w.root == nil {
			yield(row{}, errors.New("a Parquet file is read from folders of the disk alone"))
			return
		}
		bounds := dataset.Bounds{FileBytes: 4 << 30, RowBytes: 4 * maxText, Rows: maxRows}
		for one, err := range dataset.Rows(w.ctx, w.root, file, bounds) {
			if err != nil {
				yield(row{}, asRowError(err))
				return
			}
			if !yield(row{one.Number, one.Fields}, nil) {
				return
			}
		}
	}
}

// asRowError returns an error of a data set with its row.
func asRowError(err error) error {
	var of *dataset.Error
	if !errors.As(err, &of) {
		return err
	}
	msg := of.Msg
	if of.Column != "" {
		msg = of.Column + ": " + msg
	}
	return &rowError{of.Row, errors.New(msg)}
}

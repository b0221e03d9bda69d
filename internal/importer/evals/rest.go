package evals

import "iter"

// rowsOf reads the rows of a file of any kind.
func (w *work) rowsOf(file string) iter.Seq2[row, error] { return w.read.rows(file) }

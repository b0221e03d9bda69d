// Package record answers questions about a run from its record and its files: what was
// asked and answered where, what result a task had, which calls were made. A run may be at
// work, killed, finished or a copy; it is read while another process writes it, and
// nothing of it is changed. It also reads the folders of nights, and reports what a folder
// is that somebody names.
//
// It knows how a run directory and the folder of a night are laid out and how keys of the record are made. It knows
// nothing of who asks, of configurations or models, and scores nothing: what a score was is
// what the run has written down.
package record

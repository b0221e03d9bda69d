// Package answers finds what the runs of a folder have recorded of model calls, so that no
// command pays again for what another one has paid for. A side index next to the runs says
// where to look; what it says is never trusted: the entry is read from the run's own record,
// checked, and compared with the whole request. The index may be deleted at any time, and is
// made again from the runs.
//
// Only runs count that were recorded where they lie: a run notes in its record which file
// that is, and a copy, or what somebody else has sent, is another file.
//
// It knows how run directories are laid out, how keys of the record are made, and what is
// decided by which of them. It knows nothing of configurations, and asks no model.
package answers

// Package eventlog keeps the events of a run next to its record, for those who follow the
// run from outside: files events/events-000001.jsonl and so on in the run directory, one
// line an event, numbered from 1 without a gap over all sessions of the run.
//
// The log is a projection: nothing is decided by it, and a run that cannot write it continues. A [Writer] belongs to the process that has the
// run open; any number of readers ([Reader]) read at the same time, without a lock. An event that an
// earlier session logged and that a resumed run sends again, as it answers itself from
// its record, is not logged twice.
//
// Segments are cut at a size. Of those beyond a number the lines of outcomes are
// shortened to number, row and scores: the rest is read back from the record ([Rows]).
//
// A damaged line hides itself alone: readers continue after it, and say in its place which file and
// line cannot be read.
//
// The package knows segments, numbers and lines. Of an event it knows the kind, and of
// an outcome the row and the scores. It knows nothing of records and of what events mean.
package eventlog

import (
	"fmt"
	"time"
)

// Folder is the name of the log's folder in the run directory.
const Folder = "events"

// Format is the version of the files.
const Format = 1

// Bounds.
const (
	maxLine     = 256 << 10 // bytes of a line; a longer event is not logged as it is
	maxWaiting  = 64 << 20  // bytes that wait for the disk; with more the log is given up
	maxAnswer   = 8 << 20   // bytes that one call of After returns, but for a single line
	maxHeader   = 4 << 10   // bytes of the first line of a segment
	maxSeenFile = 256 << 20 // bytes of the side file
)

// Options say how a log is written. The zero value is usable.
type Options struct {
	Run string // identifies the run: the log of another one is refused

	// Gone is the first row that the record has not: outcomes that the log has of it and of
	// later ones were lost with the end of the record, and come again. 0: none is.
	Gone int64

	SegmentBytes int64         // of a segment; 0: 16 MB
	Whole        int           // segments that are kept whole; 0: 64
	Every        time.Duration // between two writes, but for decisions; 0: 100 ms
	Thin         time.Duration // between two events that only say how far the run is; 0: 500 ms

	// Failed learns once why the log cannot be written any more. It is called from
	// a goroutine of the writer. Nil: no one wants to know.
	Failed func(error)
}

func (o Options) orDefault() Options {
	if o.SegmentBytes <= 0 {
		o.SegmentBytes = 16 << 20
	}
	if o.Whole <= 0 {
		o.Whole = 64
	}
	if o.Every <= 0 {
		o.Every = 100 * time.Millisecond
	}
	if o.Thin <= 0 {
		o.Thin = 500 * time.Millisecond
	}
	return o
}

// A VersionError says that the log has another format than this program reads.
type VersionError struct {
	File   string
	Format int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has format %d, and this program reads format %d: use the program that wrote it", e.File, e.Format, Format)
}

// A DamagedError says that a segment does not hold what it should.
type DamagedError struct {
	File string
	Line int // from 1; 0: not a certain one
	What string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged: %s; events are a copy of what the record holds, and %s/ may be deleted while no process works on the run", nameOfLine(e.File, e.Line), e.What, Folder)
}

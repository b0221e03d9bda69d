// Package dataset reads rows out of the files that data sets come in: Parquet, JSON, JSONL,
// CSV and TSV, and unpacks zip and tar archives.
//
// Files are believed nothing: they come from other people's servers. One row at a time is in
// memory, and of a Parquet file one page of each column; what a file says of its own sizes is
// held against bounds before memory is taken for it; whatever is wrong is an *Error that names
// the file, the row and the column, and wraps one of the errors below where a caller may
// want to know.
//
//	for row, err := range dataset.Rows(ctx, root, "data/test.parquet", dataset.Bounds{}) {
//		if err != nil {
//			return err // the last that comes
//		}
//		use(row.Fields["question"])
//	}
//
// It knows nothing of tasks, benchmarks, and where files come from.
package dataset

import (
	"errors"
	"fmt"
	"strings"
)

// Row is one row of a file.
type Row struct {
	File   string // its path below the root, with slashes
	Number int    // 1-based, in the file; the header of a table is no row
	Line   int    // 1-based, of JSONL, CSV and TSV; else 0
	Key    string // its name, where the file is an object whose values are the rows
	// Fields are the columns by name. Values are as a JSON decoder with UseNumber returns
	// them: nil, bool, json.Number, string, []any and map[string]any; and []byte for binary
	// columns of Parquet. Cells of tables are strings. Dates, times, decimals and UUIDs of
	// Parquet are strings. The receiver of the row may keep and change it.
	Fields map[string]any
}

// Bounds are what reading takes at most. What is 0 has a default.
type Bounds struct {
	FileBytes int64 // of one file; 64 GiB
	RowBytes  int   // of one row, as it is written or as it is in memory; 64 MiB
	Rows      int   // of one file; 50 million
	Files     int   // that a pattern may cover; 10,000
}

func (b Bounds) withDefaults() Bounds {
	if b.FileBytes == 0 {
		b.FileBytes = 64 << 30
	}
	if b.RowBytes == 0 {
		b.RowBytes = 64 << 20
	}
	if b.Rows == 0 {
		b.Rows = 50_000_000
	}
	if b.Files == 0 {
		b.Files = 10_000
	}
	return b
}

// What is wrong with files, for callers that act on it. Errors of the file system
// (fs.ErrNotExist, syscall.ENOSPC) and of the context are wrapped as they are.
var (
	ErrFormat      = errors.New("not a format that is read")    // by name and first bytes
	ErrBroken      = errors.New("the file is broken")           // it is not what its format asks for
	ErrBound       = errors.New("too large")                    // a bound is passed
	ErrUnsupported = errors.New("not supported")                // sound, and not read here
	ErrNoFile      = errors.New("no file of that name")         // a pattern or name without any file
	ErrMember      = errors.New("an archive that is not taken") // names and kinds of members
	ErrThere       = errors.New("the folder is there")          // it would be unpacked into
)

// Error is what is wrong with a file, and where.
type Error struct {
	File   string // its path below the root
	Member string // of an archive
	Row    int    // 1-based; 0: no row in particular
	Line   int    // 1-based, of a text; 0: not known
	Column string // by name, "meta.author" for a field in a field; "": none in particular
	Msg    string // what is wrong, and what helps
	Err    error  // one of the errors above, or of the system
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Member != "" {
		fmt.Fprintf(&b, ": member %q", e.Member)
	}
	if e.Row > 0 {
		fmt.Fprintf(&b, ": row %d", e.Row)
	}
	if e.Column != "" {
		fmt.Fprintf(&b, ": column %q", e.Column)
	}
	b.WriteString(": " + e.Msg)
	return strings.TrimPrefix(b.String(), ": ")
}

func (e *Error) Unwrap() error { return e.Err }

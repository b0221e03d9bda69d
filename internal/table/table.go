// Package table reads texts of rows and cells, separated by commas, tabs or semicolons, as
// programs and spreadsheets write them: which separator it is, lines that end as on old
// Macs, the line that gives Excel the separator, empty rows below the table.
//
// It knows nothing of what columns mean.
package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Error is a row that cannot be read.
type Error struct {
	Line    int  // 1-based, where the row begins
	TooLong bool // it takes more bytes than it may
	Msg     string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// Reader reads one table from its beginning. It is for one goroutine.
type Reader struct {
	rows  *rowReader
	csv   *csv.Reader
	limit int
	cells int // of the header
}

// NewReader returns a reader of the table in, of which no row takes more than limit bytes.
// tabs: cells are separated by tabs unless the header says otherwise.
func NewReader(in *bufio.Reader, tabs bool, limit int) *Reader {
	first, _ := in.Peek(in.Size())
	rows := &rowReader{r: in, left: limit}
	if endsLinesInCR(first) {
		first = bytes.ReplaceAll(first, []byte("\r"), []byte("\n"))
		rows.r = crReader{in}
	}
	r := csv.NewReader(rows)
	r.Comma = separator(first, tabs)
	return &Reader{rows: rows, csv: r, limit: limit}
}

// Separator returns what is between cells: one character.
func (t *Reader) Separator() string { return string(t.csv.Comma) }

// Header returns the names of the columns and the line that they are in; io.EOF where the
// text is empty. It is called once, before Row. Errors are *Error, or those of the text's
// reader.
func (t *Reader) Header() (names []string, line int, err error) {
	names, err = t.csv.Read()
	if err == nil && isSeparatorRow(names) { // what Excel writes above a header
		t.csv.FieldsPerRecord = 0
		t.rows.left = t.limit
		names, err = t.csv.Read()
	}
	if err != nil {
		return nil, 0, t.fault(err)
	}
	t.cells = len(names)
	line, _ = t.csv.FieldPos(0)
	t.rows.line = line + 1
	return names, line, nil
}

// Row returns the next row that holds anything, with as many cells as the header has, and
// the line that it begins in; io.EOF after the last. Errors are those of Header.
func (t *Reader) Row() (cells []string, line int, err error) {
	for {
		t.rows.left = t.limit
		cells, err = t.csv.Read()
		if errors.Is(err, io.EOF) {
			return nil, 0, io.EOF
		}
		line = t.rows.line
		if len(cells) > 0 {
			line, _ = t.csv.FieldPos(0)
		}
		if (err == nil || errors.Is(err, csv.ErrFieldCount)) && holdsNothing(cells) {
			continue // what spreadsheets write below a table
		}
		if errors.Is(err, csv.ErrFieldCount) {
			return nil, line, &Error{Line: line, Msg: fmt.Sprintf("the row has %d cells, the header has %d; put cells with a %q in double quotes", len(cells), t.cells, t.csv.Comma)}
		}
		if err != nil {
			return nil, line, t.fault(err)
		}
		t.rows.line = line + 1
		return cells, line, nil
	}
}

// fault names the line of what is wrong with a row.
func (t *Reader) fault(err error) error {
	var pe *csv.ParseError
	switch {
	case errors.Is(err, errLongRow):
		return &Error{Line: max(t.rows.line, 1), TooLong: true, Msg: fmt.Sprintf("the row has more than %d bytes: is a quotation mark not closed?", t.limit)}
	case errors.As(err, &pe) && pe.Line > pe.StartLine && pe.StartLine > 0:
		return &Error{Line: pe.StartLine, Msg: fmt.Sprintf("the row that begins here: %v (line %d, column %d); is a quotation mark not closed?", pe.Err, pe.Line, pe.Column)}
	case errors.Is(err, csv.ErrBareQuote) && errors.As(err, &pe):
		return &Error{Line: pe.Line, Msg: fmt.Sprintf("column %d: a quotation mark in a cell without any around it: put the cell in double quotes, and each such mark in it twice", pe.Column)}
	case errors.As(err, &pe):
		return &Error{Line: pe.Line, Msg: fmt.Sprintf("%v (column %d)", pe.Err, pe.Column)}
	}
	return err
}

// isSeparatorRow reports whether a row is the line that shows Excel how cells are
// separated: "sep=;".
func isSeparatorRow(row []string) bool {
	return len(row) == 2 && strings.EqualFold(row[0], "sep=") && row[1] == ""
}

// holdsNothing reports whether all cells of a row are empty.
func holdsNothing(row []string) bool {
	return !slices.ContainsFunc(row, func(cell string) bool { return strings.TrimSpace(cell) != "" })
}

// endsLinesInCR reports whether the lines of a table end as on old Macs, and as Excel for
// Mac still writes them.
func endsLinesInCR(first []byte) bool {
	at := bytes.IndexByte(first, '\r')
	return at >= 0 && at+1 < len(first) && bytes.IndexByte(first, '\n') < 0
}

// crReader reads a carriage return as the end of a line.
type crReader struct{ r io.Reader }

func (c crReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i, b := range p[:n] {
		if b == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

var errLongRow = errors.New("a row is too long")

// rowReader fails where one row takes too much: a quotation mark that is not closed
// would make a row of all that follows.
type rowReader struct {
	r    io.Reader
	left int
	line int // at or before which the row begins
}

func (r *rowReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errLongRow
	}
	n, err := r.r.Read(p)
	r.left -= n
	return n, err
}

// separator returns what separates the cells of a header, outside of quotation marks. Of the comma,
// the tab and the semicolon it returns the one that the header has most of, and the comma where
// that is undecided. With tabs a tab comes first, however many there are.
func separator(data []byte, tabs bool) rune {
	var seen [utf8.RuneSelf]int
	quoted := false
	for _, c := range bytes.TrimLeft(data, "\r\n") {
		if c == '"' {
			quoted = !quoted
		} else if !quoted {
			if c == '\n' {
				break
			}
			if c < utf8.RuneSelf {
				seen[c]++
			}
		}
	}
	if tabs && seen['\t'] > 0 {
		return '\t'
	}
	most := ','
	for _, c := range "\t;" {
		if seen[c] > seen[most] {
			most = c
		}
	}
	if tabs && seen[most] == 0 {
		return '\t'
	}
	return most
}

package task

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// streamTable reads a table with a header. The delimiter is the comma, or the
// tab or semicolon when the header has that and no comma. A gold cell may hold
// a JSON list of accepted answers, a checks cell holds JSON.
func streamTable(in *bufio.Reader, take func(Item)) error {
	first, _ := in.Peek(in.Size())
	rows := &rowReader{r: in, left: MaxLine}
	r := csv.NewReader(rows)
	r.Comma = delimiter(first)
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return tableError(err)
	}
	if err := checkHeader(header); err != nil {
		return err
	}
	for {
		rows.left = MaxLine
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if errors.Is(err, csv.ErrFieldCount) {
			line, _ := r.FieldPos(0)
			return &syntaxError{Line: line, Msg: fmt.Sprintf("the row has %d cells, the header has %d; put cells with a %q in double quotes", len(row), len(header), r.Comma)}
		}
		if errors.Is(err, errLongRow) {
			return &syntaxError{Line: rows.line, Msg: fmt.Sprintf("the row has more than %d bytes: is a quotation mark not closed?", MaxLine)}
		}
		if err != nil {
			return tableError(err)
		}
		line, _ := r.FieldPos(0)
		rows.line = line + 1
		take(rowItem(header, row, line))
	}
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

func delimiter(data []byte) rune {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	for _, c := range ",\t;" {
		if bytes.ContainsRune(first, c) {
			return c
		}
	}
	return ','
}

// checkHeader trims the names of the columns in place.
func checkHeader(header []string) error {
	seen := map[string]int{}
	for i, name := range header {
		name = strings.TrimSpace(name)
		if name == "" {
			return &syntaxError{Line: 1, Msg: fmt.Sprintf("column %d of the header has no name", i+1)}
		}
		if first, twice := seen[name]; twice {
			return &syntaxError{Line: 1, Msg: fmt.Sprintf("the header names column %d like column %d", i+1, first+1)}
		}
		seen[name] = i
		header[i] = name
	}
	return nil
}

func rowItem(header, row []string, line int) Item {
	m := make(map[string]any, len(row))
	it := Item{Value: m, Line: line}
	for i, cell := range row {
		m[header[i]] = cell
		switch header[i] {
		case "gold", "answer", "answers":
			v, repeated := jsonCell(cell)
			if list, ok := v.([]any); ok {
				m[header[i]] = list
				it.repeated = cmp.Or(it.repeated, repeated)
			}
		case "checks":
			if v, repeated := jsonCell(cell); v != nil {
				m[header[i]] = v
				it.repeated = cmp.Or(it.repeated, repeated)
			}
		}
	}
	return it
}

// jsonCell returns the JSON value in a cell, nil when there is none, and a key
// that stands twice in one object of it.
func jsonCell(cell string) (v any, repeated string) {
	p := newReader([]byte(cell), 1)
	v, err := p.value()
	if err != nil || p.end() != nil {
		return nil, ""
	}
	if _, ok := v.(json.Number); ok {
		return cell, ""
	}
	return v, p.repeated
}

func tableError(err error) error {
	var pe *csv.ParseError
	if errors.As(err, &pe) {
		return &syntaxError{Line: pe.Line, Msg: fmt.Sprintf("%v (column %d)", pe.Err, pe.Column)}
	}
	return err
}

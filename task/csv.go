package task

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// tableItems reads a table with a header. The delimiter is the comma, or the
// tab or semicolon when the header has that and no comma. A gold cell may hold
// a JSON list of accepted answers, a checks cell holds JSON.
func tableItems(data []byte) ([]Item, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = delimiter(data)
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, tableError(err)
	}
	if err := checkHeader(header); err != nil {
		return nil, err
	}
	var list []Item
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if errors.Is(err, csv.ErrFieldCount) {
			line, _ := r.FieldPos(0)
			return nil, &syntaxError{Line: line, Msg: fmt.Sprintf("the row has %d cells, the header has %d; put cells with a %q in double quotes", len(row), len(header), r.Comma)}
		}
		if err != nil {
			return nil, tableError(err)
		}
		line, _ := r.FieldPos(0)
		list = append(list, rowItem(header, row, line))
	}
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
	seen := map[string]bool{}
	for i, name := range header {
		name = strings.TrimSpace(name)
		if name == "" {
			return &syntaxError{Line: 1, Msg: fmt.Sprintf("column %d of the header has no name", i+1)}
		}
		if seen[name] {
			return &syntaxError{Line: 1, Msg: fmt.Sprintf("the header names column %q twice", name)}
		}
		seen[name] = true
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

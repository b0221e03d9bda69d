package task

import (
	"bytes"
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
		list = append(list, Item{Value: rowFields(header, row), Line: line})
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

func rowFields(header, row []string) map[string]any {
	m := make(map[string]any, len(row))
	for i, cell := range row {
		m[header[i]] = cell
		switch header[i] {
		case "gold", "answer", "answers":
			if list, ok := jsonCell(cell).([]any); ok {
				m[header[i]] = list
			}
		case "checks":
			if v := jsonCell(cell); v != nil {
				m[header[i]] = v
			}
		}
	}
	return m
}

// jsonCell returns the JSON value in a cell, nil when there is none.
func jsonCell(cell string) any {
	p := newReader([]byte(cell), 1)
	v, err := p.value()
	if err != nil || p.end() != nil {
		return nil
	}
	if _, ok := v.(json.Number); ok {
		return cell
	}
	return v
}

func tableError(err error) error {
	var pe *csv.ParseError
	if errors.As(err, &pe) {
		return &syntaxError{Line: pe.Line, Msg: fmt.Sprintf("%v (column %d)", pe.Err, pe.Column)}
	}
	return err
}

package benchmark

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/benchmark/convert"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/spreadsheet"
	"github.com/seed-f4525e22/skillopt/internal/workbook"
)

// dirBooks is the folder of the workbooks, within that of the tasks.
const dirBooks = "books"

// bookCase is a workbook to change and the right one.
type bookCase struct{ input, gold string }

// addBooks writes the workbooks of an item that has some into the folder that is made, and gives it a check for each.
// What is right is read from the right workbooks, which are not copied. fault says why the row is no task.
func (p *preparation) addBooks(it *item) (fault string, err error) {
	if it.books == nil {
		return "", nil
	}
	dir, ok := p.booksDir(*it)
	if !ok {
		return fmt.Sprintf("there is no folder %q of workbooks", it.books.Dir), nil
	}
	cases, err := p.bookCases(dir)
	if err != nil || len(cases) == 0 {
		return fmt.Sprintf("%s holds no workbook with its right one", dir), err
	}
	to := path.Join(dirBooks, folderName(it.id))
	var checks []any
	var inputs [][]byte
	for i, c := range cases {
		cells, fault, err := p.goldCells(c.gold, *it.books)
		if fault != "" || err != nil {
			return fault, err
		}
		input, fault, err := p.readBook(c.input)
		if fault != "" || err != nil {
			return fault, err
		}
		inputs = append(inputs, input)
		checks = append(checks, map[string]any{"type": "xlsx", "path": spreadsheet.CaseAt(i).Output, "cells": cells})
	}
	for i, data := range inputs {
		if err := writeNew(p.work.root, path.Join(to, spreadsheet.CaseAt(i).Input), data); err != nil {
			return "", err
		}
	}
	it.fields["workspace"], it.fields["checks"] = to, checks
	it.fields["hidden"] = hiddenText(checks)
	return "", nil
}

// maxHidden bounds the values that analysts see of a task.
const maxHidden = 100

// hiddenText says what is right, for analysts: a cell a line.
func hiddenText(checks []any) string {
	var lines []string
	left, empty := 0, 0
	for i, c := range checks {
		cells, _ := c.(map[string]any)["cells"].(map[string]any)
		before := ""
		if i > 0 {
			before = spreadsheet.CaseAt(i).Output + ", "
		}
		for _, name := range slices.Sorted(maps.Keys(cells)) {
			switch v := cells[name]; {
			case v == nil:
				empty++
			case len(lines) == maxHidden:
				left++
			default:
				lines = append(lines, fmt.Sprintf("%s%s | %v", before, name, v))
			}
		}
	}
	if left+empty > 0 {
		lines = append(lines, fmt.Sprintf("(%d more cells with values, and %d that are to be empty)", left, empty))
	}
	return strings.Join(lines, "\n")
}

// folderName makes the name of a folder of an id.
func folderName(id string) string { return strings.TrimSuffix(safeName(id, ".xlsx"), ".xlsx") }

// booksDir finds the folder of an item: next to its row, or from the folder of the data.
func (p *preparation) booksDir(it item) (dir string, ok bool) {
	for _, dir := range []string{path.Join(path.Dir(it.file), it.books.Dir), path.Clean(it.books.Dir)} {
		if !filepath.IsLocal(dir) || path.IsAbs(it.books.Dir) {
			continue
		}
		if info, err := p.from.Stat(dir); err == nil && info.IsDir() {
			return dir, true
		}
	}
	return "", false
}

// bookCases lists the workbooks of a folder that have a right one, by name: N_ID_input.xlsx and N_ID_answer.xlsx,
// or _init and _golden; where there are none, initial.xlsx and golden.xlsx.
func (p *preparation) bookCases(dir string) (all []bookCase, err error) {
	entries, err := fs.ReadDir(p.from.FS(), dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	for _, ends := range [][2]string{{"_input.xlsx", "_answer.xlsx"}, {"_init.xlsx", "_golden.xlsx"}, {"initial.xlsx", "golden.xlsx"}} {
		for _, name := range names { // sorted
			stem, is := strings.CutSuffix(name, ends[0])
			if gold := stem + ends[1]; is && slices.Contains(names, gold) && (stem != "" || all == nil) {
				all = append(all, bookCase{path.Join(dir, name), path.Join(dir, gold)})
			}
		}
	}
	return all, nil
}

// readBook reads a workbook of the source.
func (p *preparation) readBook(name string) (data []byte, fault string, err error) {
	data, err = disk.ReadIn(p.ctx, p.from, name, spreadsheet.MaxWorkbook)
	if err != nil && p.ctx.Err() == nil {
		return nil, fmt.Sprintf("%s: %s", name, disk.Reason(err)), nil
	}
	return data, "", err
}

// goldCells reads the cells that are compared from a right workbook, as the check xlsx has them.
func (p *preparation) goldCells(name string, b convert.Books) (cells map[string]any, fault string, err error) {
	data, fault, err := p.readBook(name)
	if fault != "" || err != nil {
		return nil, fault, err
	}
	book, err := workbook.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Sprintf("%s: %v", name, err), nil
	}
	found, err := book.ReadPosition(b.Position, b.Sheet)
	if err != nil {
		return nil, fmt.Sprintf("%s: %v", name, err), nil
	}
	cells = make(map[string]any, len(found))
	for _, c := range found {
		v, err := checkValue(c.Value)
		if err != nil {
			return nil, fmt.Sprintf("%s: %s!%s: %v", name, c.Sheet, c.At, err), nil
		}
		cells[c.Sheet+"!"+c.At.String()] = v
	}
	return cells, "", nil
}

// checkValue returns a value as the check xlsx has it: one that is equal to the same values.
func checkValue(v workbook.Value) (any, error) {
	switch v.Kind {
	case workbook.None:
		return nil, nil
	case workbook.Text:
		return v.Text, nil
	case workbook.Bool:
		return v.Number != 0, nil
	case workbook.Clock:
		return v.Form().Text, nil
	case workbook.Span:
		return map[string]any{"seconds": float64(v.Micros) / 1e6}, nil
	case workbook.Number, workbook.DateTime:
		if n := v.Form().Number; !math.IsInf(n, 0) && !math.IsNaN(n) {
			return n, nil
		}
	case workbook.Date:
	}
	return nil, errors.New("its value " + v.String() + " cannot be compared")
}

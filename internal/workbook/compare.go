package workbook

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// PositionError says that the place of the answer is unusable: a fault of the task, not of an answer.
type PositionError struct{ Where, Why string }

func (e *PositionError) Error() string {
	return fmt.Sprintf("the place of the answer %q: %s; allowed: parts such as Sheet1!A1:B9, with commas between them", e.Where, e.Why)
}

// maxNames bounds the cells of a range.
const maxNames = 4 << 20

// CellNames returns the cells of a range column by column, as the evaluation of SpreadsheetBench names them.
func CellNames(area string) ([]string, error) {
	first, last, two := strings.Cut(area, ":")
	if !two {
		return []string{area}, nil
	}
	fromColumn, fromRow, err := splitName(first)
	toColumn, toRow, err2 := splitName(last)
	if err != nil || err2 != nil || strings.Contains(last, ":") {
		return nil, &PositionError{area, "it is no range"}
	}
	rows, columns := max(0, toRow-fromRow+1), max(0, toColumn-fromColumn+1)
	if rows > maxNames || columns > maxNames || rows*columns > maxNames {
		return nil, &PositionError{area, fmt.Sprintf("it has more than %d cells", maxNames)}
	}
	names := make([]string, 0, rows*columns)
	for c := fromColumn; c <= toColumn; c++ {
		for r := fromRow; r <= toRow; r++ {
			names = append(names, columnName(c)+strconv.Itoa(r))
		}
	}
	return names, nil
}

// splitName returns the number of a column and of a row, from the letters and the digits of a name.
func splitName(name string) (column, row int, err error) {
	keep := func(is func(rune) bool) string {
		return strings.Map(func(r rune) rune {
			if is(r) {
				return r
			}
			return -1
		}, name)
	}
	row, err = strconv.Atoi(keep(unicode.IsDigit))
	return columnNumber(keep(unicode.IsLetter)), row, err
}

// Difference is the first cell in which an answer differs.
type Difference struct {
	Sheet, Cell string // Cell is "" if the sheet is missing or cannot be read
	Want, Got   Value
	Why         string // it cannot be read
}

func (d Difference) String() string {
	switch {
	case d.Why != "":
		return fmt.Sprintf("the sheet %q cannot be read: %s", d.Sheet, d.Why)
	case d.Cell == "":
		return "worksheet not found: " + d.Sheet
	}
	return fmt.Sprintf("value@%s!%s: gt=%s pred=%s", d.Sheet, d.Cell, d.Want, d.Got)
}

// Compare returns the first cell of a place such as "Sheet1!A1:B9, C3" in which a workbook differs from
// the right one, and how many of its cells agree; nil if all do. A *PositionError says that there is no such place.
func Compare(want, got *Book, position string) (first *Difference, agree, all int, err error) {
	for part := range strings.SplitSeq(position, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		sheet, area, named := strings.Cut(part, "!")
		if !named {
			sheet, area = want.Sheets()[0], part
		}
		const quotes = `'"`
		sheet, area = strings.Trim(strings.TrimSpace(sheet), quotes), strings.Trim(strings.TrimSpace(area), quotes)
		d, same, n, err := compareArea(want, got, sheet, area)
		if err != nil {
			return nil, 0, 0, err
		}
		if agree, all = agree+same, all+n; first == nil {
			first = d
		}
	}
	return first, agree, all, nil
}

// compareArea returns what Compare returns, for a range of a sheet.
func compareArea(want, got *Book, sheet, area string) (first *Difference, agree, all int, err error) {
	names, err := CellNames(area)
	if err != nil {
		return nil, 0, 0, err
	}
	if !got.Has(sheet) {
		return &Difference{Sheet: sheet}, 0, len(names), nil
	}
	if !want.Has(sheet) {
		return nil, 0, 0, &PositionError{sheet + "!" + area, fmt.Sprintf("the right workbook has no sheet %q", sheet)}
	}
	right, err := want.Cells(sheet)
	if err != nil {
		return nil, 0, 0, err
	}
	cells, err := got.Cells(sheet)
	if err != nil {
		return &Difference{Sheet: sheet, Why: err.Error()}, 0, len(names), nil
	}
	for _, name := range names {
		at, err := ParsePlace(name)
		if err != nil {
			return nil, 0, 0, &PositionError{sheet + "!" + area, err.Error()}
		}
		if Equal(right[at], cells[at]) {
			agree++
		} else if first == nil {
			first = &Difference{Sheet: sheet, Cell: name, Want: right[at], Got: cells[at]}
		}
	}
	return first, agree, len(names), nil
}

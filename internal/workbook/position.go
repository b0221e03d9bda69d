package workbook

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// Cell is a cell with what it holds.
type Cell struct {
	Sheet string
	At    Place
	Value Value
}

// maxPositions bounds the cells of a place, as the check xlsx does.
const maxPositions = 200_000

// ReadPosition returns the cells of a place such as "Sheet1!A1:B9, 'My, own'!C:D, 3:4", those without a value
// too. A part without a sheet is of the sheet that is given, "" is the first. Whole columns and rows end
// where the cells of the sheet do. A *PositionError says that there is no such place.
func (b *Book) ReadPosition(position, sheet string) ([]Cell, error) {
	var out []Cell
	for _, part := range splitPosition(position) {
		name, area := cutSheet(part)
		cells, err := b.area(cmp.Or(name, sheet, b.Sheets()[0]), area)
		if err != nil {
			return nil, err
		}
		if out = append(out, cells...); len(out) > maxPositions {
			return nil, &PositionError{position, fmt.Sprintf("it has more than %d cells", maxPositions)}
		}
	}
	if out == nil {
		return nil, &PositionError{position, "it names no cell"}
	}
	return out, nil
}

// splitPosition splits at commas outside of quotes.
func splitPosition(position string) (parts []string) {
	quoted, closed := false, strings.Count(position, "'")%2 == 0
	for part := range strings.FieldsFuncSeq(position, func(r rune) bool {
		if r == '\'' {
			quoted = !quoted
		}
		return r == ',' && !(quoted && closed)
	}) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// cutSheet returns the sheet, "" if none is named, and the range of a part. Quotes around either, or both, are no
// part of them; a quote in a name is written twice.
func cutSheet(part string) (sheet, area string) {
	const quotes = `'"`
	i := strings.LastIndexByte(part, '!')
	if i < 0 {
		return "", strings.Trim(part, quotes)
	}
	sheet = strings.Trim(strings.TrimSpace(part[:i]), quotes)
	return strings.ReplaceAll(sheet, "''", "'"), strings.Trim(strings.TrimSpace(part[i+1:]), quotes)
}

var (
	columnsForm = pattern.New(`^\$?([A-Za-z]{1,3}):\$?([A-Za-z]{1,3})$`)
	rowsForm    = pattern.New(`^\$?(\d{1,7}):\$?(\d{1,7})$`)
)

// area returns the cells of a range of a sheet, column by column.
func (b *Book) area(sheet, area string) ([]Cell, error) {
	fail := func(why string) ([]Cell, error) { return nil, &PositionError{sheet + "!" + area, why} }
	if !b.Has(sheet) {
		return fail(fmt.Sprintf("the right workbook has no sheet %q", sheet))
	}
	cells, err := b.Cells(sheet)
	if err != nil {
		return nil, err
	}
	from, to, err := parseRange(area, end(cells))
	switch {
	case err != nil:
		return fail(err.Error())
	case from.Row > to.Row || from.Column > to.Column:
		return fail("it holds no cell")
	case (to.Row-from.Row+1)*(to.Column-from.Column+1) > maxPositions:
		return fail(fmt.Sprintf("it has more than %d cells", maxPositions))
	}
	var out []Cell
	for c := from.Column; c <= to.Column; c++ {
		for r := from.Row; r <= to.Row; r++ {
			at := Place{r, c}
			out = append(out, Cell{sheet, at, cells[at]})
		}
	}
	return out, nil
}

// parseRange reads a range of cells, whole columns or whole rows, which end with the last cell of the sheet.
func parseRange(area string, last Place) (from, to Place, err error) {
	if m := columnsForm.FindStringSubmatch(area); m != nil {
		return Place{1, columnNumber(strings.ToUpper(m[1]))}, Place{last.Row, columnNumber(strings.ToUpper(m[2]))}, nil
	}
	if m := rowsForm.FindStringSubmatch(area); m != nil {
		first, _ := strconv.Atoi(m[1]) // they are digits
		second, _ := strconv.Atoi(m[2])
		return Place{max(1, first), 1}, Place{second, last.Column}, nil
	}
	return parseArea(area)
}

// end returns the last row and the last column with a value.
func end(cells map[Place]Value) (last Place) {
	for at := range cells {
		last = Place{max(last.Row, at.Row), max(last.Column, at.Column)}
	}
	return last
}

// Extent returns the last row and the last column of a sheet that have a value or a formula.
func (b *Book) Extent(name string) (Place, error) {
	c, err := b.read(name)
	last := end(c.cells)
	for at := range c.formulas {
		last = Place{max(last.Row, at.Row), max(last.Column, at.Column)}
	}
	return last, err
}

// WithoutValue returns the cells that have a formula and no cached value, by sheet and place.
func (b *Book) WithoutValue() (out []Cell, err error) {
	for _, name := range b.Sheets() {
		c, err := b.read(name)
		if err != nil {
			return nil, err
		}
		places := slices.SortedFunc(maps.Keys(c.formulas), func(x, y Place) int { return cmp.Or(x.Row-y.Row, x.Column-y.Column) })
		for _, at := range places {
			if _, cached := c.cells[at]; !cached {
				out = append(out, Cell{Sheet: name, At: at})
			}
		}
	}
	return out, nil
}

package workbook

import (
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Place is where a cell is; both from 1.
type Place struct{ Row, Column int }

// The most rows and columns that a sheet has.
const (
	maxRow    = 1 << 20
	maxColumn = 1 << 14
)

// Cells returns the cells of a sheet that have a value.
func (b *Book) Cells(name string) (map[Place]Value, error) {
	c, err := b.read(name)
	return c.cells, err
}

// Formulas returns the formulas of a sheet, each with its "=". One that is shared with cells before it is
// named by the first of them.
func (b *Book) Formulas(name string) (map[Place]string, error) {
	c, err := b.read(name)
	return c.formulas, err
}

// content is what a sheet holds.
type content struct {
	cells    map[Place]Value
	formulas map[Place]string
}

// read reads a sheet, the first time that it is asked for.
func (b *Book) read(name string) (content, error) {
	if c, ok := b.content[name]; ok {
		return c, nil
	}
	for _, s := range b.sheets {
		if s.name == name {
			r := reader{book: b, content: content{map[Place]Value{}, map[Place]string{}}, shared: map[string]Place{}}
			if err := b.each(s.part, r.element); err != nil {
				return content{}, err
			}
			b.content[name] = r.content
			return r.content, nil
		}
	}
	return content{}, fmt.Errorf("the workbook has no sheet %q", name)
}

// reader reads a sheet. Rows and cells without a place follow those before them.
type reader struct {
	content
	book   *Book
	at     Place
	shared map[string]Place // the first cell of a formula that cells share
}

// rawCell is a cell as it is written.
type rawCell struct {
	Place  string    `xml:"r,attr"`
	Kind   string    `xml:"t,attr"`
	Style  int       `xml:"s,attr"`
	Value  string    `xml:"v"`
	Inline *richText `xml:"is"`

	Formula *rawFormula `xml:"f"`
}

// rawFormula is a formula as it is written; the cells that share one have its text once.
type rawFormula struct {
	Text   string `xml:",chardata"`
	Kind   string `xml:"t,attr"`
	Shared string `xml:"si,attr"`
}

// element reads a row, a cell or merged cells.
func (r *reader) element(d *xml.Decoder, start xml.StartElement) error {
	switch start.Name.Local {
	case "row":
		return r.row(start)
	case "c":
		var c rawCell
		if err := d.DecodeElement(&c, &start); err != nil {
			return err
		}
		return r.cell(c)
	case "mergeCell":
		for _, a := range start.Attr {
			if a.Name.Local == "ref" {
				return r.merge(a.Value)
			}
		}
	}
	return nil
}

func (r *reader) row(start xml.StartElement) error {
	r.at = Place{Row: r.at.Row + 1}
	for _, a := range start.Attr {
		if a.Name.Local != "r" {
			continue
		}
		n, err := strconv.ParseFloat(a.Value, 64)
		if err != nil || n != math.Trunc(n) || n < 1 || n > maxRow {
			return fmt.Errorf("found the row number %q, allowed: 1 to %d", a.Value, maxRow)
		}
		r.at.Row = int(n)
	}
	return nil
}

func (r *reader) cell(c rawCell) error {
	r.at.Column++
	if c.Place != "" {
		place, err := ParsePlace(c.Place)
		if err != nil {
			return err
		}
		r.at.Column = place.Column
		if r.at.Row != place.Row {
			return r.put(place, c) // a cell in the row of another
		}
	}
	return r.put(r.at, c)
}

func (r *reader) put(at Place, c rawCell) error {
	v, err := r.book.value(c)
	if err != nil {
		return fmt.Errorf("cell %s: %w", at, err)
	}
	if delete(r.cells, at); v.Kind != None {
		r.cells[at] = v
	}
	if delete(r.formulas, at); c.Formula != nil {
		r.formulas[at] = r.formula(at, *c.Formula)
	}
	return r.book.count()
}

// formula returns a formula as people write it.
func (r *reader) formula(at Place, f rawFormula) string {
	first, known := r.shared[f.Shared]
	switch {
	case f.Kind != "shared":
	case f.Text == "" && known:
		return "=(as in " + first.String() + ")"
	case !known:
		r.shared[f.Shared] = at
	}
	return "=" + strings.TrimSpace(f.Text)
}

// merge removes the values of merged cells but the first.
func (r *reader) merge(ref string) error {
	from, to, err := parseArea(ref)
	if err != nil {
		return err
	}
	for at := range r.cells {
		if at != from && at.Row >= from.Row && at.Row <= to.Row && at.Column >= from.Column && at.Column <= to.Column {
			delete(r.cells, at)
		}
	}
	return nil
}

// value returns what a cell holds.
func (b *Book) value(c rawCell) (Value, error) {
	if c.Kind == "inlineStr" {
		if c.Inline == nil {
			return Value{}, nil
		}
		return NewText(c.Inline.text()), nil
	}
	if c.Value == "" {
		return Value{}, nil
	}
	switch c.Kind {
	case "", "n":
		n, ok := parseNumber(c.Value)
		if !ok {
			return Value{}, fmt.Errorf("found %q, allowed: a number", c.Value)
		}
		if c.Style >= 0 && c.Style < len(b.dates) && b.dates[c.Style] != noDate {
			return b.date(n, b.dates[c.Style] == spanOfTime), nil
		}
		return NewNumber(n), nil
	case "s":
		n, err := strconv.Atoi(strings.TrimSpace(c.Value))
		if err != nil || n < -len(b.shared) || n >= len(b.shared) {
			return Value{}, fmt.Errorf("found the text number %q, allowed: 0 to %d", c.Value, len(b.shared)-1)
		}
		return NewText(b.shared[(n+len(b.shared))%len(b.shared)]), nil
	case "b":
		n, err := strconv.Atoi(strings.TrimSpace(c.Value))
		if err != nil {
			return Value{}, fmt.Errorf("found %q, allowed: 0 and 1", c.Value)
		}
		return NewBool(n != 0), nil
	case "d":
		return parseISO(c.Value)
	}
	return NewText(c.Value), nil
}

var errPlace = errors.New("allowed: a cell such as B7")

// ParsePlace reads a cell such as B7 or $B$7.
func ParsePlace(text string) (Place, error) {
	letters := strings.ToUpper(strings.ReplaceAll(text, "$", ""))
	digits := strings.TrimLeft(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	row, err := strconv.Atoi(digits)
	column := columnNumber(strings.TrimSuffix(letters, digits))
	if err != nil || row < 1 || row > maxRow || column < 1 || column > maxColumn {
		return Place{}, fmt.Errorf("found %q, %w", text, errPlace)
	}
	return Place{row, column}, nil
}

// parseArea reads two cells, or one.
func parseArea(text string) (from, to Place, err error) {
	first, last, two := strings.Cut(text, ":")
	if from, err = ParsePlace(first); err != nil || !two {
		return from, from, err
	}
	to, err = ParsePlace(last)
	return from, to, err
}

// columnNumber returns the number of a column from its letters, as the evaluation counts: any letters.
func columnNumber(letters string) (n int) {
	for _, r := range letters {
		if n = n*26 + int(r-'A') + 1; n > maxColumn<<8 || n < -maxColumn {
			return maxColumn << 8
		}
	}
	return n
}

// columnName returns the letters of a column.
func columnName(n int) (name string) {
	for ; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}

// String returns a place as people write it.
func (p Place) String() string { return columnName(p.Column) + strconv.Itoa(p.Row) }

package spreadsheet

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/workbook"
)

// Bounds of what the model sees of a workbook.
const (
	previewSheets  = 20
	previewRows    = 5
	previewColumns = 20
	previewValue   = 40 // characters
)

func openBook(data []byte) (*workbook.Book, error) {
	return workbook.Open(bytes.NewReader(data), int64(len(data)))
}

// preview returns the beginning of each sheet of a workbook. Formulas are written as formulas. A workbook that
// we cannot read is one that the model can still look at.
func preview(data []byte) string {
	const heading = "## The workbook\n"
	book, err := openBook(data)
	if err != nil {
		return heading + "It cannot be shown here: " + err.Error()
	}
	var parts []string
	names := book.Sheets()
	for _, name := range names[:min(len(names), previewSheets)] {
		parts = append(parts, previewSheet(book, name))
	}
	if more := len(names) - previewSheets; more > 0 {
		parts = append(parts, fmt.Sprintf("(%d more sheets)", more))
	}
	return heading + strings.Join(parts, "\n\n")
}

// previewSheet returns the first rows of a sheet.
func previewSheet(book *workbook.Book, name string) string {
	last, err := book.Extent(name)
	cells, err2 := book.Cells(name)
	formulas, err3 := book.Formulas(name)
	switch {
	case err != nil || err2 != nil || err3 != nil:
		return fmt.Sprintf("Sheet %q cannot be shown here: %v", name, err)
	case last.Row == 0:
		return fmt.Sprintf("Sheet %q is empty", name)
	}
	lines := []string{fmt.Sprintf("Sheet %q, A1:%s: max_row %d, max_column %d", name, last, last.Row, last.Column)}
	for row := 1; row <= min(last.Row, previewRows); row++ {
		var shown []string
		for column := 1; column <= min(last.Column, previewColumns); column++ {
			at := workbook.Place{Row: row, Column: column}
			text, is := formulas[at]
			if v, there := cells[at]; !is && there {
				text, is = plainValue(v), true
			}
			if is {
				shown = append(shown, at.String()+"="+shorten(text))
			}
		}
		lines = append(lines, strings.Join(shown, " | "))
	}
	if last.Row > previewRows {
		lines = append(lines, fmt.Sprintf("(%d more rows)", last.Row-previewRows))
	}
	return strings.Join(lines, "\n")
}

// plainValue returns a value as it is shown; a text has no quotes.
func plainValue(v workbook.Value) string {
	if v.Kind == workbook.Text {
		return v.Text
	}
	return v.String()
}

// shorten returns a value in one line, without its end where it is long.
func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > previewValue {
		return string(r[:previewValue-3]) + "..."
	}
	return text
}

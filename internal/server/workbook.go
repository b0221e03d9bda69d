package server

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/workbook"
)

// mostCells bounds the table that is made of a workbook.
const mostCells = 1 << 20

// readSheet returns the first sheet of an xlsx workbook as a table with commas, which tasks are read from.
func readSheet(data []byte) ([]byte, error) {
	book, err := workbook.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, wrong("the tasks are no workbook that can be read: %v", err)
	}
	name := book.Sheets()[0]
	cells, err := book.Cells(name)
	if err != nil {
		return nil, wrong("the sheet %s cannot be read: %v", quoteText(name), err)
	}
	end, err := book.Extent(name)
	if err != nil || end.Row*end.Column > mostCells {
		return nil, wrong("the sheet %s has more than %d cells", quoteText(name), mostCells)
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	row := make([]string, end.Column)
	for i := range end.Row {
		for j := range row {
			row[j] = cellText(cells[workbook.Place{Row: i + 1, Column: j + 1}])
		}
		_ = w.Write(row) // into memory
	}
	w.Flush()
	if w.Error() != nil {
		return nil, fmt.Errorf("write the table: %w", w.Error())
	}
	return b.Bytes(), nil
}

// cellText returns what a cell shows.
func cellText(v workbook.Value) string {
	midnight := v.At.Truncate(24 * time.Hour).Equal(v.At)
	switch {
	case v.Kind == workbook.None:
		return ""
	case v.Kind == workbook.Text:
		return v.Text
	case v.Kind == workbook.DateTime && midnight:
		return v.At.Format(time.DateOnly)
	}
	return v.String()
}

package report

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// heatmap is the table of items by steps.
type heatmap struct {
	Columns []column
	Rows    []heatmapRow // items whose outcome changed, in order
	Same    []heatmapRow // those that never did
	Hidden  int          // rows that are left out, for length
	Counts  string
}

type heatmapRow struct {
	ID, Type string
	Cells    []cell
}

// cell is one item in one column.
type cell struct {
	Class string // pass, part, fail, gone (could not be measured), "" (was not asked)
	Text  string
}

// mostRows bounds each part of the table.
const mostRows = 250

func newHeatmap(columns []column) heatmap {
	var h heatmap
	for _, c := range columns {
		if len(c.Items) > 0 {
			h.Columns = append(h.Columns, c)
		}
	}
	at := map[string]int{}
	var rows []heatmapRow
	for j, c := range h.Columns {
		for _, item := range c.Items {
			i, known := at[item.ID]
			if !known {
				i = len(rows)
				at[item.ID] = i
				rows = append(rows, heatmapRow{ID: line(item.ID, idLength), Type: line(item.Type, idLength), Cells: make([]cell, len(h.Columns))})
			}
			rows[i].Cells[j] = newCell(item, c)
		}
	}
	for _, row := range rows {
		if row.changes() {
			h.Rows = append(h.Rows, row)
		} else {
			h.Same = append(h.Same, row)
		}
	}
	h.Counts = counts(h.Same)
	for _, part := range []*[]heatmapRow{&h.Rows, &h.Same} {
		if more := len(*part) - mostRows; more > 0 {
			*part = (*part)[:mostRows]
			h.Hidden += more
		}
	}
	return h
}

func newCell(item record.Item, c column) cell {
	switch {
	case !item.Status.Measured():
		for _, id := range c.unmeasured {
			if id == item.ID {
				return cell{"gone", "?"}
			}
		}
		return cell{} // a race that ended early did not ask it
	case item.Hard >= 1:
		return cell{"pass", "✓"}
	case item.Hard <= 0:
		return cell{"fail", "✗"}
	}
	return cell{"part", strings.TrimPrefix(fmt.Sprintf("%.2f", min(item.Hard, 0.99)), "0")}
}

// changes reports whether a row has more than one outcome. What was not asked
// says nothing.
func (r heatmapRow) changes() bool {
	var first cell
	for _, c := range r.Cells {
		switch {
		case c.Class == "":
		case first.Class == "":
			first = c
		case c != first:
			return true
		}
	}
	return first.Class == "gone"
}

// counts says what the rows without a change have in common.
func counts(rows []heatmapRow) string {
	pass, fail, other := 0, 0, 0
	for _, r := range rows {
		class := ""
		for _, c := range r.Cells {
			if c.Class != "" {
				class = c.Class
			}
		}
		switch class {
		case "pass":
			pass++
		case "fail":
			fail++
		default:
			other++
		}
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{pass, "passed every time"}, {fail, "failed every time"}, {other, "scored the same every time"}} {
		if p.n > 0 {
			parts = append(parts, wording.Plural(p.n, "item", "items")+" "+p.what)
		}
	}
	return strings.Join(parts, ", ")
}

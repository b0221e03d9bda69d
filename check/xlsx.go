package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/workbook"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// maxCells bounds the cells that a check compares.
const maxCells = 200_000

// buildXLSX compiles xlsx: cells of a workbook have values. The score is the share of those that do.
func buildXLSX(s *spec, n *node) {
	n.needs.Workspace = true
	n.subject = "the workspace"
	path := s.localPath("path")
	n.holds = "has a workbook " + path + " with the cells that are named"
	fixed, isFixed := s.get("cells")
	if n.gold = !isFixed || fixed == goldRef; n.gold {
		n.fit = func(gold string) error {
			_, err := parseCells(gold)
			return err
		}
		n.look = ofFile(path, func(content string, gold []string) verdict {
			var best verdict
			for i, g := range gold {
				want, err := parseCells(g)
				if err != nil {
					return verdict{broken: true, reason: err.Error()}
				}
				if v := want.judge(content); i == 0 || v.score > best.score {
					best = v
				}
			}
			return best
		})
		return
	}
	values, _ := fixed.(map[string]any)
	want, err := newCells(values)
	if err != nil {
		s.fail("cells", "%v", err)
	}
	n.look = ofFile(path, func(content string, _ []string) verdict { return want.judge(content) })
}

// wantedCell is a cell and what it is to hold.
type wantedCell struct {
	name, sheet string // sheet "" is the first
	at          workbook.Place
	value       workbook.Value
}

// wantedCells are the cells that a check compares, in the order of their names.
type wantedCells []wantedCell

// parseCells reads cells that gold is as JSON.
func parseCells(gold string) (wantedCells, error) {
	var values map[string]any
	if err := json.Unmarshal([]byte(gold), &values); err != nil {
		return nil, fmt.Errorf("%s is no JSON object of cells such as {\"Sheet1!B7\": 42}: %w", quote(gold), err)
	}
	return newCells(values)
}

func newCells(values map[string]any) (wantedCells, error) {
	if len(values) == 0 || len(values) > maxCells {
		return nil, fmt.Errorf("%d cells are named, allowed: 1 to %d, such as {Sheet1!B7: 42}", len(values), maxCells)
	}
	out := make(wantedCells, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		c := wantedCell{name: name}
		cell := name
		if i := strings.LastIndexByte(name, '!'); i >= 0 {
			c.sheet, cell = strings.Trim(name[:i], "'"), name[i+1:]
		}
		var err error
		if c.at, err = workbook.ParsePlace(cell); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if c.value, err = cellValue(values[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// cellValue returns what a cell is to hold: a number, a text, true or false, or nothing.
func cellValue(v any) (workbook.Value, error) {
	if n, ok := yamlx.Number(v); ok {
		return workbook.NewNumber(n), nil
	}
	switch v := v.(type) {
	case nil:
		return workbook.Value{}, nil
	case bool:
		return workbook.NewBool(v), nil
	case string:
		return workbook.NewText(v), nil
	case map[string]any:
		if seconds, ok := yamlx.Number(v["seconds"]); ok && len(v) == 1 {
			return workbook.Value{Kind: workbook.Span, Micros: int64(math.Round(seconds * 1e6))}, nil
		}
	}
	return workbook.Value{}, fmt.Errorf("found %s, allowed: a number, a text, true, false, null or {seconds: 5400} for a span of time; a date is the number of its day", describe(v))
}

// judge compares a workbook.
func (w wantedCells) judge(content string) verdict {
	book, err := workbook.Open(strings.NewReader(content), int64(len(content)))
	if err != nil {
		return verdict{reason: err.Error()}
	}
	agree, first := 0, ""
	var saw strings.Builder
	for _, c := range w {
		sheet := c.sheet
		if sheet == "" {
			sheet = book.Sheets()[0]
		}
		cells, err := book.Cells(sheet)
		if err != nil {
			return verdict{reason: err.Error()}
		}
		got := cells[c.at]
		if saw.Len() < maxSaw {
			fmt.Fprintf(&saw, "%s %s; ", c.name, got)
		}
		switch {
		case workbook.Equal(c.value, got):
			agree++
		case first == "":
			first = excerpt(fmt.Sprintf("%s is %s, %s is expected", c.name, got, c.value), 300)
		}
	}
	v := verdict{score: float64(agree) / float64(len(w)), pass: agree == len(w), saw: excerpt(saw.String(), maxSaw)}
	if !v.pass {
		v.reason = fmt.Sprintf("%d of %d cells agree; %s", agree, len(w), first)
	}
	return v
}

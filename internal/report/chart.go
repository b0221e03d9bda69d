package report

import (
	"fmt"
	"strings"
)

// chart is the score of every candidate by step, with the incumbent as a line.
// All lengths are in the units of its view box.
type chart struct {
	Width, Height float64
	Left, Right   float64 // of the plot
	Top, Bottom   float64
	Title         string
	Grid          []gridLine
	Ticks         []tick
	Current       string // path of the incumbent's score, "" if there is none
	Best          string
	Marks         []mark
	Empty         bool
}

type gridLine struct {
	Y     float64
	Label string
}

type tick struct {
	X     float64
	Label string
}

// mark is one candidate.
type mark struct {
	X, Y     float64
	Class    string // of the verdict
	Shape    string // path around the point
	Low      float64
	High     float64
	Interval bool
	Title    string
}

const (
	chartHeight = 280.0
	chartLeft   = 44.0
	chartRight  = 14.0
	chartTop    = 14.0
	chartBottom = 34.0
	columnWidth = 46.0
	chartWidth  = 640.0
	mostLabels  = 30
)

func newChart(columns []column) chart {
	width := max(chartWidth, chartLeft+chartRight+columnWidth*float64(len(columns)))
	if len(columns) > 40 {
		width = chartLeft + chartRight + 24*float64(len(columns))
	}
	c := chart{
		Width: width, Height: chartHeight, Left: chartLeft, Right: width - chartRight, Top: chartTop, Bottom: chartHeight - chartBottom,
		Empty: true,
	}
	top := 1.0
	for _, col := range columns {
		for _, v := range []*float64{col.Score, col.Current, col.Best} {
			if v != nil {
				top, c.Empty = max(top, *v), false
			}
		}
	}
	for i := range 5 {
		v := top * float64(i) / 4
		c.Grid = append(c.Grid, gridLine{c.y(v, top), fmt.Sprintf("%.2f", v)})
	}
	every := (len(columns) + mostLabels - 1) / mostLabels
	for i, col := range columns {
		x := c.x(i, len(columns))
		if i%every == 0 {
			c.Ticks = append(c.Ticks, tick{x, col.Label})
		}
		c.Marks = append(c.Marks, c.mark(col, x, top))
	}
	c.Current = c.steps(columns, top, func(col column) *float64 { return col.Current })
	c.Best = c.steps(columns, top, func(col column) *float64 { return col.Best })
	c.Title = chartTitle(columns)
	return c
}

func (c chart) x(i, n int) float64 {
	return round(c.Left + (c.Right-c.Left)*(float64(i)+0.5)/float64(n))
}

func (c chart) y(v, top float64) float64 {
	return round(c.Bottom - (c.Bottom-c.Top)*min(max(v, 0), top)/top)
}

// round keeps a page small and its bytes the same on every machine.
func round(v float64) float64 { return float64(int64(v*10+0.5)) / 10 }

// steps returns a line that keeps its height until the next decision. The line has a gap where a
// score is not known.
func (c chart) steps(columns []column, top float64, of func(column) *float64) string {
	var b strings.Builder
	open := false
	for i, col := range columns {
		v := of(col)
		if v == nil {
			open = false
			continue
		}
		x, y := c.x(i, len(columns)), c.y(*v, top)
		if open {
			fmt.Fprintf(&b, "H%g V%g ", x, y)
		} else {
			fmt.Fprintf(&b, "M%g %g ", x, y)
		}
		open = true
	}
	return strings.TrimSpace(b.String())
}

func (c chart) mark(col column, x, top float64) mark {
	m := mark{X: x, Y: c.Bottom, Class: col.Verdict.Class, Title: fmt.Sprintf("%s: %s", col.Title, col.Verdict.Words)}
	if col.Score == nil {
		m.Class = "none"
		m.Shape = fmt.Sprintf("M%g %g h8", x-4, c.Bottom)
		return m
	}
	m.Y = c.y(*col.Score, top)
	m.Shape = shape(m.Class, x, m.Y)
	m.Title += ", " + number(col.Score)
	if col.Low != nil {
		m.Interval, m.Low, m.High = true, c.y(*col.Low, top), c.y(*col.High, top)
		m.Title += ", 95 % interval " + formatRange(*col.Low, *col.High)
	}
	return m
}

// shape distinguishes verdicts without colour.
func shape(class string, x, y float64) string {
	switch class {
	case "accepted": // a triangle that points up
		return fmt.Sprintf("M%g %g l6 11 h-12 z", x, round(y-7))
	case "rejected": // a cross
		return fmt.Sprintf("M%g %g l10 10 m0 -10 l-10 10", x-5, round(y-5))
	case "seed": // a square
		return fmt.Sprintf("M%g %g h10 v10 h-10 z", x-5, round(y-5))
	}
	return fmt.Sprintf("M%g %g l6 6 l-6 6 l-6 -6 z", x, round(y-6)) // a rhombus
}

// chartTitle says in words what the chart shows.
func chartTitle(columns []column) string {
	var first, last *float64
	accepted := 0
	for _, col := range columns {
		if col.Current != nil {
			if first == nil {
				first = col.Current
			}
			last = col.Current
		}
		if col.Verdict.Class == "accepted" {
			accepted++
		}
	}
	return fmt.Sprintf("Score of the current skill on the selection split from %s to %s over %d decisions, %d of them accepted", number(first), number(last), len(columns)-1, accepted)
}

package bench

import (
	"encoding/csv"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
)

// CSV writes one line a contestant.
func (r Result) CSV(w io.Writer) error {
	lines := [][]string{{"contestant", "score", "score_low", "score_high", "difference", "difference_low", "difference_high", "better", "worse", "calls", "worlds", "simulated"}}
	for _, row := range r.Rows {
		d := []string{"", "", ""}
		if row.Difference != nil {
			d = fields(*row.Difference)
		}
		line := append([]string{row.Name}, fields(row.Score)...)
		line = append(append(line, d...), strconv.Itoa(row.Better), strconv.Itoa(row.Worse), number(&row.Calls), strconv.Itoa(r.Setup.Worlds), "true")
		lines = append(lines, line)
	}
	return writeTable(w, lines)
}

func writeTable(w io.Writer, lines [][]string) error {
	if err := csv.NewWriter(w).WriteAll(lines); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

func fields(e Estimate) []string { return []string{number(&e.Mean), number(e.Low), number(e.High)} }

// number writes a figure, nothing for one that does not exist.
func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', 5, 64)
}

// Chart is a figure of some estimates.
type Chart struct {
	Title string
	Note  string
	// Zero draws the line of no difference; otherwise the axis goes from 0 to 1.
	Zero bool
	Bars []Bar
}

// Bar is one line of a chart. A bar without an estimate is a heading.
type Bar struct {
	Name string
	Of   *Estimate
}

// Scores is the chart of the contestants' scores.
func (r Result) Scores(title string) Chart {
	c := Chart{Title: title, Note: r.Setup.note()}
	for _, row := range r.Rows {
		c.Bars = append(c.Bars, Bar{row.Name, &row.Score})
	}
	return c
}

func (s Setup) note() string {
	return fmt.Sprintf("simulated: %d worlds, seed %d, at most %d model calls each; 95 %% intervals", s.Worlds, s.Seed, s.Calls)
}

// Sizes of a chart in pixels.
const (
	chartWidth, chartLeft, chartRight = 720, 210, 90
	chartTop, chartLine               = 58, 26
)

// SVG draws the chart: a point and its interval a line. It reads on light and on
// dark ground.
func (c Chart) SVG() string {
	low, high := c.axis()
	x := func(v float64) float64 {
		return chartLeft + (v-low)/(high-low)*(chartWidth-chartLeft-chartRight)
	}
	bottom := chartTop + chartLine*len(c.Bars)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="13" role="img">`+"\n", chartWidth, bottom+44)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(c.Title))
	b.WriteString(`<style>text{fill:#222}.ax{stroke:#ccc}.zero{stroke:#888;stroke-dasharray:4 3}.pt{fill:#1f6feb}.ci{stroke:#1f6feb;stroke-width:2}.dim{fill:#666}.bg{fill:#fff}@media(prefers-color-scheme:dark){text{fill:#eee}.ax{stroke:#444}.dim{fill:#aaa}.bg{fill:#16181d}.pt{fill:#6ea8fe}.ci{stroke:#6ea8fe}}</style>` + "\n")
	fmt.Fprintf(&b, `<rect class="bg" width="100%%" height="100%%"/><text x="12" y="22" font-weight="600">%s</text><text class="dim" x="12" y="40" font-size="11">%s</text>`+"\n",
		html.EscapeString(c.Title), html.EscapeString(c.Note))
	for i := range 5 {
		v := low + (high-low)*float64(i)/4
		fmt.Fprintf(&b, `<line class="ax" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/><text class="dim" x="%.1f" y="%d" font-size="11" text-anchor="middle">%s</text>`+"\n",
			x(v), chartTop-6, x(v), bottom, x(v), bottom+16, c.label(v))
	}
	if c.Zero {
		fmt.Fprintf(&b, `<line class="zero" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`+"\n", x(0), chartTop-6, x(0), bottom)
	}
	for i, bar := range c.Bars {
		c.bar(&b, bar, chartTop+chartLine*i+chartLine/2, x)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (c Chart) bar(b *strings.Builder, bar Bar, y int, x func(float64) float64) {
	if bar.Of == nil {
		fmt.Fprintf(b, `<text x="12" y="%d" font-weight="600">%s</text>`+"\n", y+4, html.EscapeString(bar.Name))
		return
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", chartLeft-12, y+4, html.EscapeString(bar.Name))
	if bar.Of.Low != nil {
		fmt.Fprintf(b, `<line class="ci" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`+"\n", x(*bar.Of.Low), y, x(*bar.Of.High), y)
	}
	fmt.Fprintf(b, `<circle class="pt" cx="%.1f" cy="%d" r="4"/><text x="%d" y="%d" text-anchor="end">%s</text>`+"\n",
		x(bar.Of.Mean), y, chartWidth-12, y+4, c.value(bar.Of.Mean))
}

// label writes a tick of the axis, value what a bar shows.
func (c Chart) label(v float64) string {
	if c.Zero {
		return fmt.Sprintf("%+.1f", 100*v)
	}
	return fmt.Sprintf("%.2f", v)
}

func (c Chart) value(v float64) string {
	if c.Zero {
		return fmt.Sprintf("%+.2f", 100*v)
	}
	return fmt.Sprintf("%.3f", v)
}

// axis returns the ends of the axis: 0 and 1, or as far on both sides of 0 as
// anything reaches.
func (c Chart) axis() (low, high float64) {
	if !c.Zero {
		return 0, 1
	}
	reach := 0.01
	for _, bar := range c.Bars {
		if bar.Of == nil {
			continue
		}
		reach = max(reach, bar.Of.Mean, -bar.Of.Mean)
		if bar.Of.Low != nil {
			reach = max(reach, -*bar.Of.Low, *bar.Of.High)
		}
	}
	return -1.1 * reach, 1.1 * reach
}

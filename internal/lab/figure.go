package lab

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Measures of the figure, in pixels.
const (
	barHeight   = 14
	groupGap    = 26
	labelWidth  = 170
	plotWidth   = 420
	valueWidth  = 120
	figureTop   = 46
	figureSpace = 16
)

// SVG draws the true gains under an equal budget, one group of bars a regime,
// with a line two standard errors to each side.
func (r Report) SVG() string {
	t := tableOf(r.EqualBudget)
	rules := []string{strictRule, fullRule, measuredRule, discordantRule, noneRule}
	low, high := gainRange(t, rules)
	x := func(gain float64) float64 { return labelWidth + plotWidth*(gain-low)/(high-low) }
	var bars strings.Builder
	y := float64(figureTop)
	for _, at := range t.regimes {
		fmt.Fprintf(&bars, `<text x="8" y="%.0f" class="h">%s items</text>`+"\n", y+11, html.EscapeString(at.String()))
		y += barHeight + 4
		for i, rule := range rules {
			row, ok := t.rows[at][rule]
			if !ok {
				continue
			}
			bar(&bars, row, i, y, x)
			y += barHeight + 2
		}
		y += groupGap - barHeight
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" role="img" aria-label="True gain under an equal budget by rule and world, simulated">
<style>text{font:12px sans-serif;fill:#222}.h{font-weight:bold}.b0{fill:#888}.b1{fill:#1f6fb2}.b2{fill:#7fb2d9}.b3{fill:#d9a441}.b4{fill:#7a9a3a}.e{stroke:#222;stroke-width:1.2}
svg{background:#fff}@media (prefers-color-scheme:dark){svg{background:#16181c}text{fill:#ddd}.e{stroke:#ddd}}</style>
<text x="8" y="18" class="h">True gain under an equal budget (simulated)</text>
<text x="8" y="34">%d runs a bar, seed %d; lines are two standard errors to each side</text>
`, labelWidth+plotWidth+valueWidth, y+figureSpace, r.Runs, r.Seed)
	b.WriteString(bars.String())
	fmt.Fprintf(&b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%.0f" class="e"/>`+"\n</svg>\n", x(0), figureTop, x(0), y)
	return b.String()
}

// bar draws one rule: its name, its bar, its error and its value.
func bar(b *strings.Builder, row Row, class int, y float64, x func(float64) float64) {
	from, to := min(x(0), x(row.Gain.Mean)), max(x(0), x(row.Gain.Mean))
	mid := y + barHeight/2
	fmt.Fprintf(b, `<text x="20" y="%.1f">%s</text><rect x="%.1f" y="%.1f" width="%.1f" height="%d" class="b%d"/>`, y+11, html.EscapeString(row.Rule), from, y, to-from, barHeight, class)
	fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="e"/>`, x(row.Gain.Mean-2*row.Gain.SE), mid, x(row.Gain.Mean+2*row.Gain.SE), mid)
	fmt.Fprintf(b, `<text x="%d" y="%.1f">%s</text>`+"\n", labelWidth+plotWidth+8, y+11, row.Gain.thousandths())
}

// gainRange is what the axis must show.
func gainRange(t table, rules []string) (low, high float64) {
	high = 0.01
	for _, at := range t.regimes {
		for _, rule := range rules {
			g := t.rows[at][rule].Gain
			low, high = math.Min(low, g.Mean-2*g.SE), math.Max(high, g.Mean+2*g.SE)
		}
	}
	return low, high
}

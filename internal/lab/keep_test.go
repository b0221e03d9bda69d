package lab

import (
	"math"
	"strings"
	"testing"
)

func TestKeepIsTried(t *testing.T) {
	t.Parallel()
	g := Gates{Runs: 5, Seed: 3}.withDefaults()
	cells := g.keepCells()
	if err := runCells(t.Context(), g, cells); err != nil {
		t.Fatal(err)
	}
	rows := keepRowsOf(cells)
	for _, r := range rows {
		switch {
		case r.Candidates == "1 lost, no flips" && (r.Rejected.Mean < 0.999 || r.Accepted.Mean < 0.9 || r.Asked.Mean < 9):
			t.Errorf("a loss that is always seen: %+v", r)
		case strings.HasPrefix(r.Candidates, "nothing lost") && r.Rejected.Mean > keepFalse+2*r.Rejected.SE:
			t.Errorf("nothing is lost: %+v", r)
		case r.Candidates == "3 lost, 10 % flips" && r.Rejected.Mean < 0.8:
			t.Errorf("three losses: %+v", r)
		}
	}
	if f := keepFinding(rows); !f.Holds || f.Why != "10 of 10" {
		t.Errorf("%+v", f)
	}
	rows[0].Rejected = Estimate{Mean: 0.2, SE: 0.01}
	if f := keepFinding(rows); f.Holds || f.Why != "9 of 10; not in nothing lost, no flips, strict" {
		t.Errorf("%+v", f)
	}
	// An only flaky item rejects next to nobody.
	if p := flakyVeto(0.8); p < 1e-5 || p > 0.01 {
		t.Errorf("an item of 0.8 rejects in %v of the decisions", p)
	}
}

func TestTradesLoseLessWithKeep(t *testing.T) {
	t.Parallel()
	g := Gates{Runs: 30, Seed: 3}.withDefaults()
	cells := g.tradeCells()
	if err := runCells(t.Context(), g, cells); err != nil {
		t.Fatal(err)
	}
	rows := tradeRows(cells)
	last := rows[5]
	if !strings.HasSuffix(last.Rule, "keep") || last.Fewer.Mean < 2*last.Fewer.SE || math.Abs(rows[4].Lost.Mean-last.Lost.Mean-last.Fewer.Mean) > 1e-9 {
		t.Errorf("%+v", rows)
	}
	var b, none strings.Builder
	Report{Runs: 30, Keep: keepRowsOf(nil), Trade: rows}.keepSection(&none)
	Report{Runs: 30, Keep: []KeepRow{{Candidates: "x"}}, Trade: rows}.keepSection(&b)
	if none.Len() > 0 || !strings.Contains(b.String(), "| steep trade-offs | strict, keep |") || strings.Contains(b.String(), "%!") {
		t.Error(b.String())
	}
}

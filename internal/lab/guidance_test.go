package lab

import (
	"strings"
	"testing"
)

// What is forced in is in the skill whatever it does; a rule that looks takes more of
// what helps than of what harms.
func TestGuidanceIsJudged(t *testing.T) {
	t.Parallel()
	g := Gates{Runs: 30, Seed: 2, Sizes: []int{40}}.withDefaults()
	cells := g.guidanceCells()
	if err := runCells(t.Context(), g, cells); err != nil {
		t.Fatal(err)
	}
	rows := guidanceRows(cells)
	taken := map[string]float64{}
	for _, r := range rows {
		taken[r.World+"/"+r.Rule] = r.Taken.Mean
		if r.Rule == forcedRule && r.Taken.Mean < 2.0/3 { // the last of three is raced
			t.Errorf("%s: %.2f of the texts are in the skill though they are forced in", r.World, r.Taken.Mean)
		}
		if r.Rule == noWorseRule && (r.Ahead != Estimate{}) {
			t.Errorf("%s: the default is ahead of itself: %+v", r.World, r.Ahead)
		}
	}
	for _, rule := range []string{noWorseRule, likeEditRule, tiesPassRule} {
		if helps, harms := taken["mostly helps/"+rule], taken["mostly harms/"+rule]; helps <= harms {
			t.Errorf("%s takes %.2f of what mostly helps and %.2f of what mostly harms", rule, helps, harms)
		}
	}
	if f := guidanceFinding(rows); !f.Holds || f.Why != "1 of 1" {
		t.Errorf("finding: %+v", f)
	}
}

func TestGuidanceIsReportedAsItIs(t *testing.T) {
	t.Parallel()
	row := func(rule string, taken, ahead float64) GuidanceRow {
		return GuidanceRow{World: "mostly helps", Items: 40, Rule: rule, Taken: Estimate{Mean: taken}, Ahead: Estimate{ahead, 0.01}}
	}
	rows := []GuidanceRow{row(noWorseRule, 0.1, 0), row(likeEditRule, 0.2, 0.03), row(forcedRule, 1, 0.01)}
	if f := guidanceFinding(rows); f.Holds || f.Why != "0 of 1; not in 40 items" {
		t.Errorf("finding: %+v", f)
	}
	var b strings.Builder
	Report{Worlds: Worlds(), Guidance: rows}.guidance(&b)
	if page := b.String(); !strings.Contains(page, "- mostly helps 40, like an edit\n") || strings.Contains(page, "- mostly helps 40, forced in\n") {
		t.Errorf("page:\n%s", page)
	}
	var none strings.Builder
	if (Report{}).guidance(&none); none.Len() > 0 {
		t.Errorf("without results: %s", none.String())
	}
}

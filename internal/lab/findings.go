package lab

import "fmt"

// Finding is one thing that the gates are to hold, and whether they do.
type Finding struct {
	Claim string `json:"claim"`
	Holds bool   `json:"holds"`
	Why   string `json:"why"`
}

// regime is a pair of a world and a selection size.
type regime struct {
	world string
	items int
}

func (r regime) String() string { return fmt.Sprintf("%s %d", r.world, r.items) }

// table finds rows by regime and rule.
type table struct {
	regimes []regime
	rows    map[regime]map[string]Row
}

func tableOf(rows []Row) table {
	t := table{rows: map[regime]map[string]Row{}}
	for _, r := range rows {
		at := regime{r.World, r.Items}
		if t.rows[at] == nil {
			t.regimes = append(t.regimes, at)
			t.rows[at] = map[string]Row{}
		}
		t.rows[at][r.Rule] = r
	}
	return t
}

// has reports whether every regime has a rule.
func (t table) has(rule string) bool {
	for _, at := range t.regimes {
		if _, ok := t.rows[at][rule]; !ok {
			return false
		}
	}
	return len(t.regimes) > 0
}

// count counts in how many regimes a comparison with strict holds, and names
// those where it does not.
func (t table) count(rule string, ok func(row, strict Row) bool) (count int, not []string) {
	for _, at := range t.regimes {
		if ok(t.rows[at][rule], t.rows[at][strictRule]) {
			count++
		} else {
			not = append(not, at.String())
		}
	}
	return count, not
}

// findings holds the default against what it is shipped for.
func findings(r Report) []Finding {
	t := tableOf(r.EqualBudget)
	if !t.has(strictRule) || !t.has(fullRule) || !t.has(measuredRule) || !t.has(discordantRule) {
		return nil
	}
	all := len(t.regimes)
	every := func(claim, rule string, ok func(row, strict Row) bool) Finding {
		n, not := t.count(rule, ok)
		return Finding{claim, n == all, inWords(n, all, not)}
	}
	above, not := t.count(measuredRule, func(row, strict Row) bool { return row.Gain.Mean > strict.Gain.Mean })
	list := []Finding{
		{"the default gains more than strict in at least four of six regimes", 6*above >= 4*all, inWords(above, all, not)},
		every("the default is nowhere more than two standard errors below strict", measuredRule, func(row, _ Row) bool { return row.Ahead.Mean >= -2*row.Ahead.SE }),
		every("fewer runs end worse than they began than under strict", measuredRule, func(row, strict Row) bool {
			return row.Worse.Mean < strict.Worse.Mean || row.Worse.Mean == 0
		}),
		every("reported scores exceed the truth by less than under strict", measuredRule, func(row, strict Row) bool { return row.Excess.Mean < strict.Excess.Mean }),
		every("full confirmation costs at most 1.15 of strict's rollouts a step", fullRule, func(row, strict Row) bool { return row.Cost.Mean <= 1.15*strict.Cost.Mean }),
		every("discordant confirmation costs at most 0.75 of strict's", discordantRule, func(row, strict Row) bool { return row.Cost.Mean <= 0.75*strict.Cost.Mean }),
	}
	list = append(list, Finding{
		"an optimizer that does nothing is certified in at most 5 % of runs", 20*r.NullCertified <= r.NullRuns,
		fmt.Sprintf("%d of %d", r.NullCertified, r.NullRuns),
	})
	if len(r.Keep) > 0 {
		list = append(list, keepFinding(r.Keep))
	}
	if len(r.Guidance) > 0 {
		list = append(list, guidanceFinding(r.Guidance))
	}
	return list
}

func inWords(n, all int, not []string) string {
	text := fmt.Sprintf("%d of %d", n, all)
	for i, name := range not {
		if i == 0 {
			text += "; not in "
		} else {
			text += ", "
		}
		text += name
	}
	return text
}

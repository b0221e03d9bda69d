package lab

import (
	"fmt"
	"math"
)

// reference is a row of the figures that the gate was designed by, made by three
// programs of other people on worlds that are described in words only: true gain
// under an equal budget, share of runs that end worse, and rollouts a step.
type reference struct {
	at   regime
	gain map[string]float64
	bad  map[string]float64
	cost map[string]float64
}

// referenceSE is what the figures are good for: errors of 0.002 to 0.013 are
// stated for the gains, the rest is rounded to hundredths from 120 to 300 runs.
const (
	referenceGainSE = 0.013
	referenceBadSE  = 0.03
	referenceCostSE = 0.02
)

func references() []reference {
	row := func(world string, items int, gain [4]float64, bad, cost [3]float64) reference {
		three := func(v [3]float64) map[string]float64 {
			return map[string]float64{strictRule: v[0], fullRule: v[1], discordantRule: v[2]}
		}
		return reference{
			regime{world, items},
			map[string]float64{strictRule: gain[0], exploreRule: gain[1], fullRule: gain[2], discordantRule: gain[3]},
			three(bad), three(cost),
		}
	}
	return []reference{
		row("rich", 40, [4]float64{0.20, 0.31, 0.28, 0.21}, [3]float64{0.06, 0.03, 0.01}, [3]float64{1, 1, 0.63}),
		row("rich", 100, [4]float64{0.33, 0.36, 0.35, 0.33}, [3]float64{0.01, 0, 0}, [3]float64{1, 1.1, 0.62}),
		row("poor", 40, [4]float64{0.05, 0.11, 0.11, 0.07}, [3]float64{0.18, 0.07, 0.03}, [3]float64{1, 0.79, 0.54}),
		row("poor", 100, [4]float64{0.13, 0.17, 0.15, 0.13}, [3]float64{0.04, 0, 0}, [3]float64{1, 0.76, 0.47}),
		row("late", 40, [4]float64{-0.015, 0.004, 0.008, 0.007}, [3]float64{0.49, 0.25, 0.20}, [3]float64{1, 0.65, 0.51}),
		row("late", 100, [4]float64{0.006, 0.022, 0.022, 0.016}, [3]float64{0.28, 0.11, 0.07}, [3]float64{1, 0.55, 0.40}),
	}
}

// departure is a figure that the lab does not reproduce.
type departure struct {
	at          regime
	rule, what  string
	want        float64
	got         Estimate
	deviations  float64 // of both errors together
	significant bool    // more than three
}

// departures compares a report with the reference. It returns how many figures
// were compared, and those more than two standard errors apart.
func departures(t table) (compared int, out []departure) {
	for _, ref := range references() {
		rows, ok := t.rows[ref.at]
		if !ok {
			continue
		}
		for _, rule := range mainRules() {
			row, ok := rows[rule]
			if !ok {
				continue
			}
			for _, c := range []struct {
				what string
				want map[string]float64
				got  Estimate
				se   float64
			}{
				{"gain", ref.gain, row.Gain, referenceGainSE},
				{"runs ending worse", ref.bad, row.Worse, referenceBadSE},
				{"rollouts a step", ref.cost, row.Cost, referenceCostSE},
			} {
				want, ok := c.want[rule]
				if !ok {
					continue
				}
				compared++
				z := (c.got.Mean - want) / math.Hypot(c.got.SE, c.se)
				if math.Abs(z) > 2 {
					out = append(out, departure{ref.at, rule, c.what, want, c.got, z, math.Abs(z) > 3})
				}
			}
		}
	}
	return compared, out
}

func (d departure) String() string {
	return fmt.Sprintf("%s, %s, %s: %.3f (s.e. %.3f) instead of %.3g", d.at, d.rule, d.what, d.got.Mean, d.got.SE, d.want)
}

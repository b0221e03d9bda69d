package stats

import (
	"math"
	"testing"
)

// crossing is the exact probability that evidence on fair coin tosses, looked at
// after each of n, ever reaches a limit: paths on the lattice of wins and losses,
// each of which ends where it first crosses. Both kinds of evidence depend on the
// counts alone.
func crossing(n int, p float64, reached func(wins, losses int) bool) float64 {
	alive, crossing := map[[2]int]float64{{0, 0}: 1}, 0.0
	for range n {
		next := map[[2]int]float64{}
		for at, mass := range alive {
			for _, step := range []struct {
				to   [2]int
				mass float64
			}{{[2]int{at[0] + 1, at[1]}, mass * p}, {[2]int{at[0], at[1] + 1}, mass * (1 - p)}} {
				if reached(step.to[0], step.to[1]) {
					crossing += step.mass
				} else {
					next[step.to] += step.mass
				}
			}
		}
		alive = next
	}
	return crossing
}

// Exactly, and not by simulation: who looks after each of 150 pairs and stops when
// convinced is wrong with probability alpha at most, and not hardly ever either.
func TestOptionalStoppingExactly(t *testing.T) {
	t.Parallel()
	const n = 150
	wealth := func(wins, losses int) float64 {
		xs := make([]float64, 0, wins+losses)
		for range losses {
			xs = append(xs, -1)
		}
		for range wins {
			xs = append(xs, 1)
		}
		log, err := Betting{}.LogWealth(xs, 0)
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
	for _, alpha := range []float64{0.01, 0.05, 0.2} {
		limit := math.Log(1 / alpha)
		for name, log := range map[string]func(wins, losses int) float64{"discordant pairs": LogDiscordantE, "betting": wealth} {
			got := crossing(n, 0.5, func(w, l int) bool { return log(w, l) >= limit })
			if got > alpha || got < alpha/5 {
				t.Errorf("%s at %v: ever convinced with probability %.4f", name, alpha, got)
			}
			if worse := crossing(n, 0.4, func(w, l int) bool { return log(w, l) >= limit }); worse > got {
				t.Errorf("%s at %v: a skill that is worse convinces more often, %.4f", name, alpha, worse)
			}
		}
	}
}

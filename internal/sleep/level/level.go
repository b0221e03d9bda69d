// Package level is the arithmetic of what nights may claim: how the level of a target is spent
// over its candidates, what number of tasks can show anything at a level, and how likely a
// gain of some size is found.
//
// It knows nothing about tasks, texts, models or nights. It is pure.
package level

import (
	"fmt"
	"math"

	"github.com/seed-f4525e22/skillopt/gate"
)

// Alpha is the share of targets of which anything is ever certified that is not so.
const Alpha = 0.05

// Next returns the level of a target's next candidate. certified says of each of the target's
// earlier candidates, in order, whether it was certified. The level is alpha * 6/(pi^2 i^2) for the
// ith candidate, and all that the one before it had if that was certified. All candidates of a
// target together are wrong with a probability of at most alpha, however many there are, whenever
// they come, and however each follows from those before.
//
// It is the online fallback procedure of J. Tian and A. Ramdas, "Online control of the familywise
// error rate", Stat. Methods Med. Res. 30 (2021). Weights are from an infinite series that sums to
// 1. A certificate that comes later than the next candidate passes nothing on.
func Next(alpha float64, certified []bool) float64 {
	carried := 0.0
	for i, won := range certified {
		level := alpha*weight(i+1) + carried
		carried = 0
		if won {
			carried = level
		}
	}
	return alpha*weight(len(certified)+1) + carried
}

func weight(i int) float64 { return 6 / (math.Pi * math.Pi * float64(i) * float64(i)) }

// Half returns what each of a candidate's two ways to a certificate has of its level: the one look
// at test tasks that no one has read, and the evidence that is carried from night to night.
func Half(level float64) float64 { return level / 2 }

// most is how many tasks a floor is looked for among.
const most = 400

// Floor returns the least number of tasks, each on its own, that certifies at a level when all are
// won, by the certificate as it is. It returns 0 if 400 tasks do not.
func Floor(test gate.LookTest, level float64) (int, error) {
	pairs := make([]gate.Pair, 0, most)
	for n := 1; n <= most; n++ {
		pairs = append(pairs, gate.Pair{Candidate: 1})
		look, err := gate.LookOnce(pairs, test, level)
		if err != nil {
			return 0, fmt.Errorf("look for the floor: %w", err)
		}
		if look.Certified {
			return n, nil
		}
	}
	return 0, nil
}

// Losses is the share of tasks that a better candidate is taken to lose all the same.
const Losses = 0.05

// Power returns the probability that n tasks, each on its own and read once, certify a candidate at a level by the
// exact test. The candidate gains that much on average over tasks and loses [Losses] of them. The probability is exact.
func Power(gain float64, n int, level float64) (float64, error) {
	if !(gain > 0 && gain <= 1-Losses) {
		return 0, fmt.Errorf("power: a gain of %v: use one between 0 and %v", gain, 1-Losses)
	}
	if n < 0 || n > most {
		return 0, fmt.Errorf("power: %d tasks: use at most %d", n, most)
	}
	won, lost := gain+Losses, Losses
	if won+lost > 1 {
		won = 1 - lost
	}
	sum := 0.0
	for l := 0; l <= n; l++ {
		least, err := leastWins(n, l, level)
		if err != nil {
			return 0, err
		}
		for w := least; w <= n-l; w++ {
			sum += multinomial(n, w, l, won, lost)
		}
	}
	return min(1, sum), nil
}

// leastWins returns how many wins certify next to that many losses, n+1 if none do.
func leastWins(n, losses int, level float64) (int, error) {
	for w := losses; w <= n-losses; w++ {
		look, err := gate.LookOnce(outcomes(w, losses), gate.LookExact, level)
		if err != nil {
			return 0, fmt.Errorf("power: %w", err)
		}
		if look.Certified {
			return w, nil
		}
	}
	return n + 1, nil
}

func outcomes(wins, losses int) []gate.Pair {
	out := make([]gate.Pair, 0, wins+losses)
	for range wins {
		out = append(out, gate.Pair{Candidate: 1})
	}
	for range losses {
		out = append(out, gate.Pair{Reference: 1})
	}
	return out
}

// multinomial returns the probability of that many wins and losses of n.
func multinomial(n, wins, losses int, won, lost float64) float64 {
	ties := n - wins - losses
	log := lgamma(n) - lgamma(wins) - lgamma(losses) - lgamma(ties)
	for _, f := range []struct {
		k int
		p float64
	}{{wins, won}, {losses, lost}, {ties, 1 - won - lost}} {
		if f.k > 0 && f.p <= 1e-15 {
			return 0
		}
		if f.k > 0 {
			log += float64(f.k) * math.Log(f.p)
		}
	}
	return math.Exp(log)
}

// lgamma returns the logarithm of n!.
func lgamma(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

package stats

import "math"

// DiscordantE returns the evidence of wins and losses on discordant pairs that the candidate wins
// more often than it loses:
//
//	E = 2^(m+1) * B(w+1, l+1) * P(Bin(m+1, 1/2) <= w),  m = w + l
//
// It is the likelihood ratio of "a win has probability p", averaged over p uniform on [1/2, 1], to
// "wins and losses are equally likely" (the method of mixtures: H. Robbins, Ann. Math. Statist. 41,
// 1970; P. Grünwald, R. de Heide and W. Koolen, "Safe Testing", JRSS B 86, 2024). While a win is no
// likelier than a loss, given what was seen before, it is a supermartingale that begins at 1, so
// that the probability of ever seeing E >= 1/alpha is at most alpha (Ville). It may be looked at
// after each pair, stopped at will, and multiplied with the E of other, later pairs.
//
// No pairs give 1. What no float64 can hold is the largest float64, see [LogDiscordantE]. A
// negative count gives NaN, which reaches no threshold. The time is proportional to the wins.
func DiscordantE(wins, losses int) float64 { return Evidence(LogDiscordantE(wins, losses)) }

// LogDiscordantE returns the natural logarithm of [DiscordantE].
//
// The binomial coefficients of the formula cancel, which leaves a sum of positive terms, exact to
// rounding for any counts:
//
//	E = 1/(l+1) * (1 + w/(l+2) + w(w-1)/((l+2)(l+3)) + ...)
func LogDiscordantE(wins, losses int) float64 {
	if wins < 0 || losses < 0 {
		return math.NaN()
	}
	const large = 0x1p500
	term, sum, scaled := 1.0, 1.0, 0
	for j := 0; j < wins; j++ {
		term *= float64(wins-j) / float64(losses+2+j)
		sum += term
		if sum > large {
			term, sum, scaled = term/large, sum/large, scaled+1
		}
		if term < sum*0x1p-80 && wins-j < losses+2+j {
			break // the terms fall from here on, faster and faster
		}
	}
	return math.Log(sum) - math.Log(float64(losses)+1) + float64(scaled)*500*math.Ln2
}

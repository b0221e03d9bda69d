package stats

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// exactE is the formula of the documentation in rational numbers:
// 2^(m+1) * B(w+1, l+1) * P(Bin(m+1, 1/2) <= w).
func exactE(w, l int) *big.Rat {
	sum := new(big.Int)
	for k := 0; k <= w; k++ {
		sum.Add(sum, new(big.Int).Binomial(int64(w+l+1), int64(k)))
	}
	beta := new(big.Rat).SetFrac(
		new(big.Int).Mul(factorial(w), factorial(l)),
		factorial(w+l+1),
	)
	return beta.Mul(beta, new(big.Rat).SetInt(sum))
}

func factorial(n int) *big.Int { return new(big.Int).MulRange(1, int64(n)) }

func TestDiscordantE(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {9, 1}, {12, 4}, {3, 20}, {60, 40}, {500, 430}, {0, 700}, {700, 0}} {
		want, _ := exactE(c[0], c[1]).Float64()
		if got := DiscordantE(c[0], c[1]); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("E(%d, %d) = %v, want %v", c[0], c[1], got, want)
		}
	}
}

func TestDiscordantEOfManyPairs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		wins, losses int
		want         float64 // log E
	}{
		// The integral of 2 (2p)^w (2-2p)^l over p from 1/2 to 1, by quadrature with
		// 40 digits (mpmath 1.3).
		{510_000, 490_000, 194.024317931469676},
		{490_000, 510_000, -9.90597212180128057},
		// 2^(m+1)/(m+1) * (1 - 2^-(m+1)) and 1/(m+1), the closed forms without losses
		// and without wins.
		{2000, 0, 2001*math.Ln2 - math.Log(2001)},
		{0, 1_000_000, -math.Log(1_000_001)},
	}
	for _, tt := range tests {
		if got := LogDiscordantE(tt.wins, tt.losses); math.Abs(got-tt.want) > 1e-9*math.Abs(tt.want) {
			t.Errorf("log E(%d, %d) = %v, want %v", tt.wins, tt.losses, got, tt.want)
		}
	}
	if got := DiscordantE(5000, 0); got != math.MaxFloat64 {
		t.Errorf("E(5000, 0) = %v, want the largest number", got)
	}
	if got := DiscordantE(-1, 3); got >= 0 || got <= 0 {
		t.Errorf("E(-1, 3) = %v, want NaN", got)
	}
}

// Under the null hypothesis wins and losses are equally likely, so the mean over
// what may come next must be what is there: checked without rounding.
func TestDiscordantEIsAMartingale(t *testing.T) {
	t.Parallel()
	for w := range 30 {
		for l := range 30 {
			next := new(big.Rat).Add(exactE(w+1, l), exactE(w, l+1))
			if next.Mul(next, big.NewRat(1, 2)).Cmp(exactE(w, l)) != 0 {
				t.Fatalf("E(%d, %d) is not the mean of its successors", w, l)
			}
			p := 0.4 // a candidate that is worse: evidence must shrink on average
			if got := p*DiscordantE(w+1, l) + (1-p)*DiscordantE(w, l+1); got > DiscordantE(w, l) {
				t.Fatalf("E(%d, %d) grows for a worse candidate", w, l)
			}
		}
	}
}

// The mean of E over all 2^m outcomes is 1 at every m.
func TestDiscordantEHasMeanOne(t *testing.T) {
	t.Parallel()
	for m := range 200 {
		mean := new(big.Rat)
		for w := 0; w <= m; w++ {
			e := new(big.Rat).SetFloat64(DiscordantE(w, m-w))
			ways := new(big.Rat).SetFrac(new(big.Int).Binomial(int64(m), int64(w)), new(big.Int).Lsh(big.NewInt(1), uint(m)))
			mean.Add(mean, e.Mul(e, ways))
		}
		if got, _ := mean.Float64(); math.Abs(got-1) > 1e-12 {
			t.Errorf("the mean of E over %d pairs is %v", m, got)
		}
	}
}

func TestDiscordantEIsMonotone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, l := rapid.IntRange(0, 20_000).Draw(t, "wins"), rapid.IntRange(0, 20_000).Draw(t, "losses")
		here := LogDiscordantE(w, l)
		if more := LogDiscordantE(w+1, l); more < here-1e-12*math.Abs(here) {
			t.Fatalf("a win lowers log E from %v to %v", here, more)
		}
		if less := LogDiscordantE(w, l+1); less > here+1e-12*math.Abs(here) {
			t.Fatalf("a loss raises log E from %v to %v", here, less)
		}
	})
}

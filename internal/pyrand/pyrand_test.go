package pyrand

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The expected numbers are those that CPython 3.11 prints for the same calls.

func TestMatchesCPython(t *testing.T) {
	t.Parallel()
	wide := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 70), big.NewInt(5))

	r := New(7)
	ints := []int{r.RandInt(math.MinInt64, 1<<62), r.RandInt(math.MinInt64, 1<<62)}
	if diff := cmp.Diff([]int{-1940164072735634121, -8332644676416592816}, ints); diff != "" {
		t.Errorf("wide RandInt (-want +got):\n%s", diff)
	}

	r = NewBig(wide)
	if diff := cmp.Diff([]int{478, 399, 486, 640, 377, 357}, r.Sample(1000, 6)); diff != "" {
		t.Errorf("Sample by redraw (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{345, 11, 594, 563, 399}, r.Sample(1000, 40)[:5]); diff != "" {
		t.Errorf("larger Sample by redraw (-want +got):\n%s", diff)
	}
	choices, err := r.Choices(4, 8, []float64{1, 2, 3, 4})
	if diff := cmp.Diff([]int{3, 1, 1, 2, 2, 3, 3, 2}, choices); diff != "" || err != nil {
		t.Errorf("weighted Choices: %v (-want +got):\n%s", err, diff)
	}

	r = New(-3)
	if got := r.GetRandBits(70).String(); got != "638121593715607420925" {
		t.Errorf("GetRandBits(70) = %s", got)
	}
	if got := r.GetRandBits(0); got.Sign() != 0 {
		t.Errorf("GetRandBits(0) = %s", got)
	}
	if got := r.Random(); got != 0.13042279608514273 {
		t.Errorf("Random() = %v", got)
	}
	if got := r.Uniform(-2, 9); got != 8.075392929040792 {
		t.Errorf("Uniform(-2, 9) = %v", got)
	}

	r = NewString("skill")
	if diff := cmp.Diff([]int{1, 7, 0, 2, 4, 6, 3, 5}, r.Perm(8)); diff != "" {
		t.Errorf("Perm (-want +got):\n%s", diff)
	}
	if got := r.Choice(10); got != 4 {
		t.Errorf("Choice(10) = %d", got)
	}

	r = New(5)
	below := []int{}
	r.GetRandBits(64)
	r.GetRandBits(64)
	for range 3 {
		below = append(below, r.RandBelow(1<<33+1))
	}
	if diff := cmp.Diff([]int{4051686260, 2787324501, 3869338171}, below); diff != "" {
		t.Errorf("RandBelow above 32 bits (-want +got):\n%s", diff)
	}
}

func TestStateIsRefilled(t *testing.T) {
	t.Parallel()
	r := New(1)
	for range 2000 {
		r.Random()
	}
	if got := r.Random(); got != 0.3897357306683825 {
		t.Errorf("number 2001 = %v", got)
	}
}

func TestNewDecimal(t *testing.T) {
	t.Parallel()
	for _, seed := range []string{"", "x", "1.5", "0x10", "1 2"} {
		if _, err := NewDecimal(seed); err == nil {
			t.Errorf("NewDecimal(%q) gave no error", seed)
		}
	}
	r, err := NewDecimal("-42")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Random(), New(42).Random(); got != want {
		t.Errorf("seed -42 draws %v, seed 42 %v", got, want)
	}
}

func TestChoicesRefusesWhatItCannotDraw(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		n, k    int
		weights []float64
	}{
		{"no items", 0, 1, nil},
		{"negative count", 3, -1, nil},
		{"too few weights", 3, 1, []float64{1, 1}},
		{"zero weights", 2, 1, []float64{0, 0}},
		{"negative total", 2, 1, []float64{-1, 0}},
		{"not a number", 2, 1, []float64{math.NaN(), 1}},
		{"infinite", 2, 1, []float64{math.Inf(1), 1}},
	}
	for _, tt := range tests {
		if got, err := New(1).Choices(tt.n, tt.k, tt.weights); err == nil {
			t.Errorf("%s: %v and no error", tt.name, got)
		}
	}
}

func TestPanicsOnEmptyRange(t *testing.T) {
	t.Parallel()
	tests := map[string]func(){
		"GetRandBits": func() { New(1).GetRandBits(-1) },
		"RandBelow":   func() { New(1).RandBelow(0) },
		"RandInt":     func() { New(1).RandInt(2, 1) },
		"RandInt all": func() { New(1).RandInt(math.MinInt64, math.MaxInt64) },
		"Sample":      func() { New(1).Sample(2, 3) },
		"Sample -1":   func() { New(1).Sample(2, -1) },
		"Choice":      func() { New(1).Choice(0) },
	}
	for name, call := range tests {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			call()
		}()
	}
}

func TestDrawsStayInRange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := New(rapid.Int64().Draw(t, "seed"))
		n := rapid.IntRange(1, 300).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")

		sample := r.Sample(n, k)
		slices.Sort(sample)
		if len(sample) != k || len(slices.Compact(sample)) != k || k > 0 && (sample[0] < 0 || sample[k-1] >= n) {
			t.Fatalf("Sample(%d, %d) = %v", n, k, sample)
		}
		perm := r.Perm(n)
		slices.Sort(perm)
		for i, v := range perm {
			if i != v {
				t.Fatalf("Perm(%d) lacks %d", n, i)
			}
		}
		a := rapid.IntRange(-1000, 1000).Draw(t, "a")
		if v := r.RandInt(a, a+n); v < a || v > a+n {
			t.Fatalf("RandInt(%d, %d) = %d", a, a+n, v)
		}
		if v := r.GetRandBits(n); v.BitLen() > n {
			t.Fatalf("GetRandBits(%d) has %d bits", n, v.BitLen())
		}
		drawn, err := r.Choices(n, k, nil)
		if err != nil || k > 0 && (slices.Min(drawn) < 0 || slices.Max(drawn) >= n) {
			t.Fatalf("Choices(%d, %d) = %v, %v", n, k, drawn, err)
		}
	})
}

func BenchmarkPerm(b *testing.B) {
	r := New(1)
	for b.Loop() {
		r.Perm(400)
	}
}

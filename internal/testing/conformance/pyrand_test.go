package conformance

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/pyrand"
)

type randomCase struct {
	Op      string    `json:"op"`
	Seed    *string   `json:"seed"`
	SeedStr *string   `json:"seed_str"`
	N       int       `json:"n"`
	K       int       `json:"k"`
	Count   int       `json:"count"`
	A       float64   `json:"a"`
	B       float64   `json:"b"`
	Weights []float64 `json:"weights"`
}

func TestPyrandom(t *testing.T) {
	run(t, "pyrandom", func(in, out map[string]any) string {
		c := recordedAs[randomCase](t, in)
		got, err := drawRandom(c)
		return diffRecorded(got, err, out)
	})
}

func drawRandom(c randomCase) (drawn any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	r, err := newRandom(c)
	if err != nil {
		return nil, err
	}
	switch c.Op {
	case "shuffle":
		return r.Perm(c.N), nil
	case "random":
		return times(c.N, r.Random), nil
	case "getrandbits":
		return times(c.N, func() string { return r.GetRandBits(c.K).String() }), nil
	case "randint":
		return times(c.N, func() int { return r.RandInt(int(c.A), int(c.B)) }), nil
	case "sample":
		return r.Sample(c.N, c.K), nil
	case "choices":
		return r.Choices(c.N, c.K, c.Weights)
	case "choice":
		return times(c.Count, func() int { return r.Choice(c.N) }), nil
	case "uniform":
		return times(c.N, func() float64 { return r.Uniform(c.A, c.B) }), nil
	case "gauss":
		return times(c.N, normal(r)), nil
	}
	return nil, fmt.Errorf("unknown operation %q", c.Op)
}

// normal draws normal numbers out of r in pairs, as CPython does. The product draws
// none; the cases show that the numbers beneath are right.
func normal(r *pyrand.Rand) func() float64 {
	var next *float64
	return func() float64 {
		if z := next; z != nil {
			next = nil
			return *z
		}
		angle := 2 * math.Pi * r.Random()
		radius := math.Sqrt(-2 * math.Log(1-r.Random()))
		second := math.Sin(angle) * radius
		next = &second
		return math.Cos(angle) * radius
	}
}

func newRandom(c randomCase) (*pyrand.Rand, error) {
	if c.SeedStr != nil {
		return pyrand.NewString(*c.SeedStr), nil
	}
	return pyrand.NewDecimal(*c.Seed)
}

func times[T any](n int, draw func() T) []T {
	drawn := make([]T, 0, n)
	for range n {
		drawn = append(drawn, draw())
	}
	return drawn
}

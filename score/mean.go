package score

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Pair is a hard and a soft score that belong together, of one outcome or the
// mean of several.
type Pair struct {
	Hard float64 `json:"hard"` // 0..1
	Soft float64 `json:"soft"` // 0..1
}

// Negligible is what a difference of scores must exceed to be one: sums of equal
// scores may differ by rounding.
const Negligible = 1e-9

// Mean returns the mean hard and the mean soft score, added up from left to
// right; both are 0 if there are no pairs. Only what was measured may be handed
// in: an unmeasured outcome is left out, not counted as 0.
func Mean(pairs []Pair) Pair {
	if len(pairs) == 0 {
		return Pair{}
	}
	var sum Pair
	for _, p := range pairs {
		sum.Hard += p.Hard
		sum.Soft += p.Soft
	}
	n := float64(len(pairs))
	return Pair{Hard: sum.Hard / n, Soft: sum.Soft / n}
}

// Value reads one score out of decoded JSON: a number, a truth value (1 or 0),
// or a number as text. Anything else, null before all, is an error: it is not a
// score and must not become 0. The range is not checked.
func Value(v any) (float64, error) {
	switch v := v.(type) {
	case nil:
		return 0, fmt.Errorf("a score of null is no score: give a number from 0 to 1")
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case float64:
		return finite(v)
	case json.Number:
		return parse(v.String())
	case string:
		return parse(v)
	}
	return 0, fmt.Errorf("a score of type %T is no score: give a number from 0 to 1", v)
}

func parse(text string) (float64, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return 0, fmt.Errorf("the score %q is not a number: give one from 0 to 1", text)
	}
	return finite(f)
}

func finite(f float64) (float64, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("the score %v is not finite: give a number from 0 to 1", f)
	}
	return f, nil
}

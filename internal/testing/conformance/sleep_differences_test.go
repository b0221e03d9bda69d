package conformance

import (
	"math"

	"github.com/seed-f4525e22/skillopt/score"
)

// sleepDifferences are those of the program sleep.
var sleepDifferences = map[string][]difference{
	"sleep_task_deltas": {{
		reason: "a score that is no finite number is null also where the other arm has none",
		holds:  lonelyInfinity,
		want:   func(_, out map[string]any) map[string]any { return withoutInfinity(out).(map[string]any) },
	}},
}

// lonelyInfinity reports whether one arm alone has a score of a task, and that one is no
// finite number.
func lonelyInfinity(in map[string]any) bool {
	baseline, candidate := in["baseline"].(map[string]any), in["candidate"].(map[string]any)
	weight, _ := sleepNumber(in["weight"])
	by := score.Projection{Metric: score.Metric(in["metric"].(string)), MixedWeight: weight}
	for _, id := range textList(in["ids"]) {
		one, had := baseline[id]
		other, has := candidate[id]
		if had == has {
			continue
		}
		if !had {
			one = other
		}
		row := one.([]any)
		hard, _ := sleepNumber(row[0])
		soft, _ := sleepNumber(row[1])
		if of := by.Of(score.Pair{Hard: hard, Soft: soft}, 0); math.IsNaN(of) || math.IsInf(of, 0) {
			return true
		}
	}
	return false
}

// sleepNumber is a recorded number, which may be no finite one.
func sleepNumber(v any) (float64, bool) {
	switch v := unmarked(v).(type) {
	case float64:
		return v, true
	case interface{ Float64() (float64, error) }:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// withoutInfinity is a recorded value with null for numbers that are not finite.
func withoutInfinity(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withoutInfinity(e)
		}
		return out
	case map[string]any:
		if _, marked := v["$nonfinite"]; marked {
			return nil
		}
		out := map[string]any{}
		for key, e := range v {
			out[key] = withoutInfinity(e)
		}
		return out
	}
	return v
}

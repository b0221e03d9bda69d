package conformance

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"

	"github.com/seed-f4525e22/skillopt/schedule"
)

var firstInteger = regexp.MustCompile(`-?[0-9]+`)

// scheduleDifferences are the deliberate departures of schedule.
var scheduleDifferences = map[string][]difference{
	"eval_batch": {{
		reason: "an unknown split name is an error instead of the validation split",
		holds: func(in map[string]any) bool {
			name, _ := in["split"].(string)
			_, err := schedule.ParseSplit(name)
			return err != nil
		},
		want: func(_, _ map[string]any) map[string]any {
			return map[string]any{"error": "unknown split"}
		},
	}},
	"lr_coerce": {
		{
			reason: "a number beyond 64 bits becomes the largest one",
			holds: func(in map[string]any) bool {
				n, ok := coercedWhole(in["value"])
				return ok && n.Sign() > 0 && !n.IsInt64()
			},
			want: func(_, _ map[string]any) map[string]any {
				return map[string]any{"ok": json.Number("9223372036854775807")}
			},
		},
		{
			reason: "a list or a mapping is no number, whatever digits its notation has",
			holds: func(in map[string]any) bool {
				switch v := in["value"].(type) {
				case map[string]any:
					return v["$nonfinite"] == nil && digitText.MatchString(fmt.Sprintf("%q", v))
				case []any:
					return digitText.MatchString(fmt.Sprintf("%q", v))
				}
				return false
			},
			want: func(_, _ map[string]any) map[string]any { return map[string]any{"ok": nil} },
		},
		{
			reason: "a fraction near 0 is 0, not the first digit of its notation in Python",
			holds: func(in map[string]any) bool {
				n, _ := in["value"].(json.Number)
				f, err := n.Float64()
				return err == nil && f > 0 && f < 1e-4
			},
			want: func(_, _ map[string]any) map[string]any { return map[string]any{"ok": json.Number("0")} },
		},
	},
}

var digitText = regexp.MustCompile(`\p{Nd}`)

// coercedWhole returns the whole number in a value: of a text the first one, of a
// number what stands before its fraction.
func coercedWhole(v any) (*big.Int, bool) {
	switch v := v.(type) {
	case string:
		return new(big.Int).SetString(firstInteger.FindString(v), 10)
	case json.Number:
		f, ok := new(big.Float).SetPrec(4096).SetString(v.String())
		if !ok {
			return nil, false
		}
		n, _ := f.Int(nil)
		return n, true
	}
	return nil, false
}

package conformance

import (
	"encoding/json"
	"math/big"
	"regexp"

	"github.com/seed-f4525e22/skillopt/internal/schedule"
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
	"lr_coerce": {{
		reason: "a number beyond 64 bits becomes the largest one",
		holds: func(in map[string]any) bool {
			text, _ := in["value"].(string)
			if n, ok := in["value"].(json.Number); ok {
				text = n.String()
			}
			n, ok := new(big.Int).SetString(firstInteger.FindString(text), 10)
			return ok && n.Sign() > 0 && !n.IsInt64()
		},
		want: func(_, _ map[string]any) map[string]any {
			return map[string]any{"ok": json.Number("9223372036854775807")}
		},
	}},
}

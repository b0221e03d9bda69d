package yamlx

import (
	"encoding/json"
	"math"
)

// Number reads a number as decoders of YAML and JSON return it. NaN is none.
func Number(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case float64:
		return v, !math.IsNaN(v)
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	}
	return 0, false
}

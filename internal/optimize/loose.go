package optimize

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pytext"
)

// Models do not keep to types: a count comes as "4", a note as a number, a
// reason as null. The functions of this file read such values as Python's own
// conversions do, so that a reply means the same here as in SkillOpt.

func trimSpace(s string) string { return strings.TrimFunc(s, pytext.IsSpace) }

func trimRightSpace(s string) string { return strings.TrimRightFunc(s, pytext.IsSpace) }

// asCount reads a positive count out of a JSON value. What is absent, zero,
// negative or no number gives 1: somebody is behind every proposal.
func asCount(v any) int {
	switch v := v.(type) {
	case int:
		return max(1, v)
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return clampCount(float64(i))
		}
		f, err := v.Float64()
		if err != nil {
			return 1
		}
		return clampCount(f)
	case string:
		i, err := strconv.ParseInt(trimSpace(v), 10, 64)
		if err != nil {
			return 1
		}
		return clampCount(float64(i))
	}
	return 1
}

func clampCount(f float64) int { return int(min(max(1, f), math.MaxInt32)) }

// asIndex reads a whole number. Python counts true as 1, which no model means;
// 2.0 and "2" are no indices either.
func asIndex(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(n.String())
	return i, err == nil
}

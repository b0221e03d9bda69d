package conformance

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
)

func TestJSONExtract(t *testing.T) {
	t.Parallel()
	run(t, "json_extract", checkJSONExtract)
}

func checkJSONExtract(in, out map[string]any) string {
	text := in["text"].(string)
	object, objectErr := jsonx.Find(text, jsonx.Objects)
	if diff := diffFound("skillopt_object", object, objectErr, out); diff != "" && !mayRepair(out) {
		return diff
	}
	array, arrayErr := jsonx.Find(text, jsonx.Arrays)
	if diff := diffFound("skillopt_array", array, arrayErr, out); diff != "" {
		return diff
	}
	fenced, fencedErr := jsonx.FencedObject(text)
	if diff := diffFound("skillrl_object", fenced, fencedErr, out); diff != "" {
		return diff
	}
	if diff := diffFound("brace_spans", spanList(jsonx.Spans(text, jsonx.Objects)), nil, out); diff != "" {
		return diff
	}
	return diffFound("bracket_spans", spanList(jsonx.Spans(text, jsonx.Arrays)), nil, out)
}

// mayRepair reports whether the reference would have handed a text to a repair
// package. Then, and only then, a repaired value is as good as none.
func mayRepair(out map[string]any) bool {
	return out["repair_candidate"] != nil && out["skillopt_object"].(map[string]any)["ok"] == nil
}

func diffFound(key string, got any, err error, out map[string]any) string {
	if err != nil {
		got = nil
	}
	return diffPlain(key, recordedForm(got), out[key].(map[string]any)["ok"])
}

// recordedForm writes numbers that are not finite as the vectors do.
func recordedForm(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for key, inner := range v {
			m[key] = recordedForm(inner)
		}
		return m
	case []any:
		list := []any{}
		for _, inner := range v {
			list = append(list, recordedForm(inner))
		}
		return list
	case float64:
		return nonfinite(v)
	case json.Number:
		if f, _ := v.Float64(); math.IsInf(f, 0) {
			return nonfinite(f)
		}
	}
	return v
}

func nonfinite(f float64) any {
	switch {
	case math.IsInf(f, 1):
		return map[string]any{"$nonfinite": "inf"}
	case math.IsInf(f, -1):
		return map[string]any{"$nonfinite": "-inf"}
	}
	return map[string]any{"$nonfinite": "nan"}
}

func spanList(texts []string) []any {
	list := []any{}
	for _, s := range texts {
		list = append(list, s)
	}
	return list
}

package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"testing"
)

// recordedAs reads a recorded value into a Go type.
func recordedAs[T any](t *testing.T, v any) T {
	t.Helper()
	var typed T
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &typed)
	}
	if err != nil {
		t.Fatalf("recorded value %v: %v", v, err)
	}
	return typed
}

// diffRecorded says where our result and error depart from a recorded output,
// "" if nowhere. Numbers may differ by 1e-12.
func diffRecorded(got any, err error, out map[string]any) string {
	if kind, ok := out["error"]; ok {
		if err == nil {
			return fmt.Sprintf("want an error (%v), got %v", kind, got)
		}
		return ""
	}
	if err != nil {
		return fmt.Sprintf("want %v, got the error: %v", out["ok"], err)
	}
	b, err := json.Marshal(got)
	if err != nil {
		return err.Error()
	}
	var plain any
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if err := dec.Decode(&plain); err != nil {
		return err.Error()
	}
	return diffPlain("", plain, out["ok"])
}

// diffPlain compares decoded JSON values and names the first place that differs.
func diffPlain(path string, got, want any) string {
	differ := fmt.Sprintf("at %q: got %v, want %v", path, got, want)
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return differ
		}
		for key := range w {
			if diff := diffPlain(path+"/"+key, g[key], w[key]); diff != "" {
				return diff
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return differ
		}
		for i := range w {
			if diff := diffPlain(fmt.Sprintf("%s/%d", path, i), g[i], w[i]); diff != "" {
				return diff
			}
		}
		return ""
	case json.Number:
		g, ok := got.(json.Number)
		if !ok || !sameNumber(g, w) {
			return differ
		}
		return ""
	}
	if got != want {
		return differ
	}
	return ""
}

func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, errX := a.Float64()
	y, errY := b.Float64()
	return errX == nil && errY == nil && math.Abs(x-y) <= 1e-12*max(1, math.Abs(y)) &&
		(x != math.Trunc(x) || math.Abs(x) < 1<<53)
}

func TestDiffRecorded(t *testing.T) {
	ok := func(v any) map[string]any { return map[string]any{"ok": v} }
	failed := map[string]any{"error": "ValueError"}
	tests := []struct {
		name string
		got  any
		err  error
		out  map[string]any
		same bool
	}{
		{"equal", []int{1, 2}, nil, ok([]any{json.Number("1"), json.Number("2.0")}), true},
		{"shorter", []int{1}, nil, ok([]any{json.Number("1"), json.Number("2")}), false},
		{"order", []int{2, 1}, nil, ok([]any{json.Number("1"), json.Number("2")}), false},
		{"within tolerance", 0.1 + 0.2, nil, ok(json.Number("0.3")), true},
		{"outside tolerance", 0.3000001, nil, ok(json.Number("0.3")), false},
		{"key missing", map[string]int{"a": 1}, nil, ok(map[string]any{"b": json.Number("1")}), false},
		{"null", nil, nil, ok(nil), true},
		{"null for 0", 0, nil, ok(nil), false},
		{"error wanted", 1, nil, failed, false},
		{"error wanted and given", nil, fmt.Errorf("bad"), failed, true},
		{"error given", nil, fmt.Errorf("bad"), ok(nil), false},
	}
	for _, tt := range tests {
		diff := diffRecorded(tt.got, tt.err, tt.out)
		if (diff == "") != tt.same {
			t.Errorf("%s: %q", tt.name, diff)
		}
	}
}

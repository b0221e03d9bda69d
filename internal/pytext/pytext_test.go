package pytext_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/pytext"
)

func TestNotation(t *testing.T) {
	for want, v := range map[string]any{
		"None": nil, "True": true, "'a'": "a", `"it's"`: "it's", `'"it\'s"'`: `"it's"`, `'\n\x00\u200b'`: "\n\x00\u200b", "1.0": 1.0, "1e-05": 0.00001, "1e+16": 1e16, "nan": math.NaN(), "inf": json.Number("1e999"),
		"10000000000000000000000": json.Number("10000000000000000000000"), "['x', 2]": []any{"x", json.Number("2")}, "{'a': None, 'b': 0.5}": map[string]any{"b": 0.5, "a": nil},
	} {
		if got := pytext.Notation(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if pytext.Text("plain") != "plain" || pytext.Truthy(json.Number("0.0")) || pytext.Truthy([]any{}) || !pytext.Truthy("0") || !pytext.IsSpace(0x1f) {
		t.Error("text, truth or space")
	}
}

func TestGroups(t *testing.T) {
	for in, want := range map[string]string{"a": "a", `(?P<n>\d)(?P=n)`: `(?<n>\d)\k<n>`, `\(?P<n>`: `\(?P<n>`, "(?P=n": "(?P=n"} {
		if got := pytext.Groups(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   any
		want string
	}{
		{"as it is", "as it is"},
		{nil, "None"},
		{true, "True"},
		{false, "False"},
		{json.Number("7"), "7"},
		{json.Number("-0"), "0"},
		{json.Number("123456789012345678901234567890"), "123456789012345678901234567890"},
		{json.Number("2.50"), "2.5"},
		{json.Number("1e3"), "1000.0"},
		{json.Number("1e-5"), "1e-05"},
		{json.Number("1e22"), "1e+22"},
		{json.Number("1e999"), "inf"},
		{json.Number("-1e999"), "-inf"},
		{[]any{"l", 1.0, nil}, "['l', 1.0, None]"},
		{map[string]any{"b": "it's", "a": []any{}}, `{'a': [], 'b': "it's"}`},
		{[]any{"\\ \n\r\t\x01\u0085\u200b\U000e0001 'q\""}, `['\\ \n\r\t\x01\x85\u200b\U000e0001 \'q"']`},
	}
	for _, tt := range tests {
		if got := pytext.Text(tt.in); got != tt.want {
			t.Errorf("pytext.Text(%#v) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

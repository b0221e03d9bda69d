package check

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/task"
)

func TestSquadNormalize(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"The  Beatles!":    "beatles",
		"a":                "",
		"An apple a day":   "apple day",
		"theory":           "theory",
		"don't":            "dont",
		"\u201cthe\u201d":  "\u201c \u201d",
		"ΟΔΟΣ":             "οδος",
		"caf\u00e9-bar":    "caf\u00e9bar",
		"the\u0301 x":      "\u0301 x",
		"x\x1cy":           "x y",
		"\u0130stanbul":    "i\u0307stanbul",
		"under_score":      "underscore",
		"\u00a0an\u00a0ox": "ox",
	} {
		if got := SquadNormalize(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestF1(t *testing.T) {
	t.Parallel()
	tests := []struct {
		prediction string
		gold       []string
		want       float64
	}{
		{"Paris, France", []string{"Paris"}, 2.0 / 3},
		{"New York City", []string{"New York", "NYC"}, 0.8},
		{"", []string{"x", ""}, 1},
		{"", []string{"x"}, 0},
		{"x", nil, 0},
		{"x x y", []string{"x y y"}, 2.0 / 3},
		{"b b b c", []string{"b c c c"}, 0.5},
	}
	for _, tt := range tests {
		if got := F1(tt.prediction, tt.gold); diff(got, tt.want) > 1e-12 {
			t.Errorf("%q, %q: got %v, want %v", tt.prediction, tt.gold, got, tt.want)
		}
	}
	if ExactMatch("x", nil) || !ExactMatch("The X.", []string{"y", "x"}) {
		t.Error("ExactMatch")
	}
}

func TestF1Laws(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-d]{1,2}`)
	text := rapid.Map(rapid.SliceOfN(word, 0, 6), func(w []string) string { return strings.Join(w, " ") })
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := text.Draw(t, "a"), text.Draw(t, "b"), text.Draw(t, "c")
		f := F1(a, []string{b})
		if f < 0 || f > 1 || diff(f, F1(b, []string{a})) > 1e-12 {
			t.Fatalf("F1 is %v, or not symmetric", f)
		}
		if F1(a, []string{a}) != 1 {
			t.Fatal("a text does not agree with itself")
		}
		if more := F1(a, []string{b, c}); more < f {
			t.Fatalf("another accepted answer lowered %v to %v", f, more)
		}
		if ExactMatch(a, []string{b}) && f != 1 {
			t.Fatalf("an exact match with F1 %v", f)
		}
	})
}

// TestTextForm: answers that differ in a number are never equal, and nothing
// becomes equal to an empty answer.
func TestTextForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[ -~]{0,12}`).Draw(t, "text")
		if strings.TrimSpace(s) != "" && textForm(s) == "" {
			t.Fatalf("%q equals an empty answer", s)
		}
		a := rapid.Float64Range(-1e6, 1e6).Draw(t, "a")
		b := rapid.Float64Range(-1e6, 1e6).Draw(t, "b")
		x, y := strconv.FormatFloat(a, 'f', 3, 64), strconv.FormatFloat(b, 'f', 3, 64)
		if x != y && textForm(x) == textForm(y) {
			t.Fatalf("%s equals %s", x, y)
		}
	})
}

func TestParseNumber(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want quantity
		ok   bool
	}{
		{"12", quantity{value: 12}, true},
		{" -1,250.50 EUR ", quantity{value: -1250.5, unit: "eur"}, true},
		{"EUR 5", quantity{value: 5, unit: "eur"}, true},
		{"$-5", quantity{value: -5, unit: "$"}, true},
		{"-$5", quantity{value: -5, unit: "$"}, true},
		{"(5)", quantity{value: -5}, true},
		{"(-5)", quantity{value: 5}, true},
		{".5", quantity{value: 0.5}, true},
		{"-.5", quantity{value: -0.5}, true},
		{"5.", quantity{value: 5}, true},
		{"1e-3", quantity{value: 0.001}, true},
		{"1E3 m", quantity{value: 1000, unit: "m"}, true},
		{"5e", quantity{value: 5, unit: "e"}, true},
		{"3/4", quantity{value: 0.75}, true},
		{"3/0", quantity{}, false},
		{"12 %", quantity{value: 0.12, percent: true}, true},
		{"1'000", quantity{value: 1000}, true},
		{"1 000 000", quantity{value: 1e6}, true},
		{"1,00", quantity{}, false},
		{"2.5k", quantity{value: 2500}, true},
		{"2 bn USD", quantity{value: 2e9, unit: "usd"}, true},
		{"7 trillion", quantity{value: 7e12}, true},
		{"4 thousand", quantity{value: 4000}, true},
		{"5 m", quantity{value: 5, unit: "m"}, true},
		{"10 km/h", quantity{value: 10, unit: "km/h"}, true},
		{"2024-01-05", quantity{}, false},
		{"10:30", quantity{}, false},
		{"The answer is 5", quantity{}, false},
		{"five", quantity{}, false},
		{"", quantity{}, false},
		{"5, maybe", quantity{}, false},
	}
	for _, tt := range tests {
		got, ok := parseNumber(tt.text)
		if ok != tt.ok || ok && (diff(got.value, tt.want.value) > 1e-12*math.Abs(got.value) || got.unit != tt.want.unit || got.percent != tt.want.percent) {
			t.Errorf("%q: got %+v, %v; want %+v, %v", tt.text, got, ok, tt.want, tt.ok)
		}
	}
}

func TestNumbersInText(t *testing.T) {
	t.Parallel()
	got := numbersIn("From -3 to $1,200.5 or 4 km, .5 % and 2 million; A-7, \u22128\u20ac")
	want := []quantity{{value: -3, unit: "to"}, {value: 1200.5, unit: "$"}, {value: 4, unit: "km"}, {value: 0.005, percent: true}, {value: 2e6}, {value: 7}, {value: -8}}
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("number %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
}

// TestNumberRoundTrip: however a number is written, it is read as itself.
func TestNumberRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-1e12, 1e12).Draw(t, "v")
		format := rapid.SampledFrom([]byte("feg")).Draw(t, "format")
		text := strconv.FormatFloat(v, format, -1, 64)
		got, ok := parseNumber(text + rapid.SampledFrom([]string{"", " kg", " EUR"}).Draw(t, "unit"))
		if !ok || got.value != v {
			t.Fatalf("%s: got %v, %v", text, got.value, ok)
		}
	})
}

// FuzzScore compiles arbitrary checks and scores an arbitrary answer: whatever
// compiles scores within bounds, and no text crashes it.
func FuzzScore(f *testing.F) {
	for _, c := range []string{
		`[{"type":"equals","normalize":"text"}]`, `{"type":"number","rel":0.1,"unit":"strict"}`, `{"type":"json-equals","order":"ignore"}`,
		`{"any":[{"type":"f1"},{"type":"not-contains-all","values":["a","b"]}],"threshold":0.5}`,
		`{"type":"json-schema","schema":{"type":"array","items":{"type":"integer"}}}`, `{"type":"regex","value":"(?P<n>a)(?P=n)","flags":"i"}`,
		`{"type":"word-count","min":1,"max":3}`, `["is-json"]`,
	} {
		f.Add(c, "12 %", "0.12")
		f.Add(c, `{"a":[1e5]}`, `{"a":[100000]}`)
	}
	f.Fuzz(func(t *testing.T, checks, answer, gold string) {
		specs, err := decodeJSON(checks)
		if err != nil {
			return
		}
		s, err := Compile(specs, Options{MatchTimeout: 1e6})
		if err != nil {
			return
		}
		tk := task.Task{ID: "t", Gold: []string{gold}, Checks: json.RawMessage(checks)}
		_ = s.Check(tk)
		got := s.Score(answer, tk)
		if (got.Hard != 0 && got.Hard != 1) || !(got.Soft >= 0 && got.Soft <= 1) || len(got.Feedback) > 4096 {
			t.Fatalf("%s, %q: %+v", checks, answer, got)
		}
	})
}

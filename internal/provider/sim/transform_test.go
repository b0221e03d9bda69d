package sim

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func digits(n int) *int { return &n }

func factor(f float64) *float64 { return &f }

func TestTransforms(t *testing.T) {
	t.Parallel()
	tables := map[string]map[string]string{"code": {"a": "1", "b, c": "2"}}
	tests := []struct {
		name     string
		spec     transformFile
		in, want string
	}{
		{"constant", transformFile{Kind: "constant", Text: "NO"}, "x", "NO"},
		{"prefix", transformFile{Kind: "prefix", Text: "EUR "}, "5", "EUR 5"},
		{"prefix twice", transformFile{Kind: "prefix", Text: "EUR "}, "EUR 5", "EUR 5"},
		{"suffix", transformFile{Kind: "suffix", Text: " kg"}, "5", "5 kg"},
		{"suffix twice", transformFile{Kind: "suffix", Text: " kg"}, "5 kg", "5 kg"},
		{"upper", transformFile{Kind: "upper"}, "Ab", "AB"},
		{"lower", transformFile{Kind: "lower"}, "Ab", "ab"},
		{"date", transformFile{Kind: "date", From: []string{"2 January 2006"}, To: "2006-01-02"}, "3 March 2025", "2025-03-03"},
		{"no date", transformFile{Kind: "date", From: []string{"2 January 2006"}, To: "2006-01-02"}, "soon", "soon"},
		{"second layout", transformFile{Kind: "date", From: []string{"x", "3:04 pm"}, To: "15:04"}, "3:45 pm", "15:45"},
		{"round up", transformFile{Kind: "round", Digits: digits(0)}, "EUR 2.50", "EUR 3"},
		{"round exactly", transformFile{Kind: "round", Digits: digits(2)}, "2.675 and 1", "2.68 and 1.00"},
		{"round ends with a point", transformFile{Kind: "round", Digits: digits(0)}, "It is 2.6.", "It is 3."},
		{"too long for a number", transformFile{Kind: "round", Digits: digits(0)}, strings.Repeat("1", 70), strings.Repeat("1", 70)},
		{"scale", transformFile{Kind: "scale", Factor: factor(0.1)}, "3 x 25", "0.3 x 2.5"},
		{"scale unit", transformFile{Kind: "scale", Factor: factor(1000), From: []string{"kg"}, To: "g"}, "1.25 kg", "1250 g"},
		{"scale without the unit", transformFile{Kind: "scale", Factor: factor(1000), From: []string{"kg"}, To: "g"}, "1250 g", "1250 g"},
		{"unit at the number", transformFile{Kind: "scale", Factor: factor(1000), From: []string{"kg"}, To: "$g"}, "1kg", "1000$g"},
		{"replace", transformFile{Kind: "replace", Pattern: `^0(\d)`, With: "+44 $1"}, "0131", "+44 131"},
		{"sort", transformFile{Kind: "sort", By: "text"}, "b, C, a", "a, b, C"},
		{"sort down", transformFile{Kind: "sort", By: "text", Desc: true}, "b; c; a", "c; b; a"},
		{"sort numbers", transformFile{Kind: "sort", By: "number"}, "10 | 9 | 1.5", "1.5 | 9 | 10"},
		{"sort no numbers", transformFile{Kind: "sort", By: "number"}, "10, x", "10, x"},
		{"sort one", transformFile{Kind: "sort", By: "text"}, "one", "one"},
		{"separator", transformFile{Kind: "separator", Text: "; "}, "a, b", "a; b"},
		{"separator again", transformFile{Kind: "separator", Text: "; "}, "a; b", "a; b"},
		{"lookup", transformFile{Kind: "lookup", Table: "code"}, "a", "1"},
		{"lookup whole", transformFile{Kind: "lookup", Table: "code"}, "b, c", "2"},
		{"lookup elements", transformFile{Kind: "lookup", Table: "code"}, "a, z", "1, z"},
	}
	for _, tt := range tests {
		f, _, err := newTransform(tt.spec, tables)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := f(tt.in); got != tt.want {
			t.Errorf("%s: %q became %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func TestTransformsThatAreRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		spec transformFile
		key  string
	}{
		{transformFile{}, "kind"},
		{transformFile{Kind: "constant"}, "text"},
		{transformFile{Kind: "prefix"}, "text"},
		{transformFile{Kind: "suffix"}, "text"},
		{transformFile{Kind: "separator"}, "text"},
		{transformFile{Kind: "date"}, "from"},
		{transformFile{Kind: "date", From: []string{"2006"}}, "to"},
		{transformFile{Kind: "round"}, "digits"},
		{transformFile{Kind: "round", Digits: digits(-1)}, "digits"},
		{transformFile{Kind: "round", Digits: digits(10)}, "digits"},
		{transformFile{Kind: "scale"}, "factor"},
		{transformFile{Kind: "scale", Factor: factor(1), From: []string{"a", "b"}}, "from"},
		{transformFile{Kind: "replace"}, "pattern"},
		{transformFile{Kind: "replace", Pattern: "("}, "pattern"},
		{transformFile{Kind: "sort", By: "size"}, "by"},
		{transformFile{Kind: "lookup", Table: "none"}, "table"},
	}
	for _, tt := range tests {
		_, key, err := newTransform(tt.spec, nil)
		if err == nil || key != tt.key {
			t.Errorf("%+v: got key %q, %v, want an error of %q", tt.spec, key, err, tt.key)
		}
	}
}

// The transformations that set a form leave an answer alone that has it.
func TestFormsAreIdempotent(t *testing.T) {
	t.Parallel()
	specs := []transformFile{
		{Kind: "prefix", Text: "EUR "},
		{Kind: "suffix", Text: " g"},
		{Kind: "round", Digits: digits(1)},
		{Kind: "sort", By: "text"},
		{Kind: "separator", Text: "; "},
		{Kind: "upper"},
	}
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.SampledFrom(specs).Draw(t, "spec")
		in := rapid.StringMatching(`[a-z]{1,4}(, [a-z0-9.]{1,6}){0,4}`).Draw(t, "in")
		f, _, err := newTransform(spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		once := f(in)
		if twice := f(once); twice != once {
			t.Fatalf("%s: %q became %q, then %q", spec.Kind, in, once, twice)
		}
	})
}

package sim

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestStatements(t *testing.T) {
	t.Parallel()
	doc := "---\nname: x\n---\n# Title\nA paragraph\nof two lines.\r\n\r\n- one\n  more of one\n- **two**\n<!-- SLOW_UPDATE_START -->\n1. `three`\n12) four\n3.5 is a number\n"
	want := []string{
		"---\nname: x\n---", "# Title", "A paragraph\nof two lines.", "- one\n  more of one", "- **two**", "1. `three`",
		"12) four\n3.5 is a number",
	}
	var got []string
	for _, s := range statements(doc) {
		got = append(got, s.raw)
		if s.text != fold(s.raw) {
			t.Errorf("%q is folded to %q", s.raw, s.text)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStatementsStandInTheDocument(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc := rapid.StringMatching("([-#a-z0-9. \r\n<!]{0,12}\n){0,8}").Draw(t, "doc")
		rest := doc
		for _, s := range statements(doc) {
			_, after, ok := strings.Cut(rest, s.raw)
			if !ok {
				t.Fatalf("%q does not stand in %q", s.raw, rest)
			}
			rest = after
		}
	})
}

func TestStates(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		state any
		text  string
		want  bool
	}{
		{"phrase", "yyyy-mm-dd", "Write *dates* as `YYYY-MM-DD`.", true},
		{"phrase over lines", "not on file", "say Not on\n  file", true},
		{"word begins", "date", "two dates", true},
		{"word does not begin", "date", "an update", false},
		{"second place", "date", "update the date", true},
		{"sign", "+44", "begin with +44", true},
		{"all", []any{"weight", "gram"}, "Weights are in grams.", true},
		{"not all", []any{"weight", "gram"}, "Weights are heavy.", false},
		{"one of", []any{"date", "iso|year first"}, "Dates: year first", true},
		{"absent", []any{"gram", "!kilogram"}, "use kilograms and grams", false},
		{"absent indeed", []any{"gram", "!kilogram"}, "use grams", true},
		{"expression", "/reverse.*order/", "Reverse the order", true},
		{"expression absent", []any{"order", "!/reverse.*order/"}, "Reverse the order", false},
		{"apostrophe", "don't", "Don’t do it", true},
		{"number", []any{24, "hour"}, "a 24 hour clock", true},
	}
	for _, tt := range tests {
		s, err := newState(tt.state)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := s.holds(fold(tt.text)); got != tt.want {
			t.Errorf("%s: %v of %q is %v", tt.name, tt.state, tt.text, got)
		}
	}
}

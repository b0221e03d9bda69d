package seedcheck

import (
	"strings"
	"testing"
)

func TestSays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, answer string
		want         bool
	}{
		{"It is 42.", "42", true},
		{"It is 42.\n", "42.", true},
		{"<answer>42</answer>", "42", true},
		{"187.30", "187", false},
		{"1,870", "870", false},
		{"2025-06-01", "06", false},
		{"- 187", "187", true},
		{"-187", "187", true},
		{"x-187", "187", true},
		{"142 and 421", "42", false},
		{"142 and 42", "42", true},
		{"Parisian", "Paris", false},
		{"in Paris, France", "Paris", true},
		{"Élan", "lan", false},
		{"A fine day", "A", false},
		{"step 5", "5", true},
		{"", "x", false},
		{"x", "", false},
		{"\xff42\xff", "42", true},
		{"--", "-", false},
		{"so: " + strings.Repeat("long ", 1000), strings.Repeat("long ", 900), true},
		{"so: long", strings.Repeat("long ", 300_000), false},
	} {
		if got := says(tt.text, tt.answer); got != tt.want {
			t.Errorf("%q in %q: %v", tt.answer, tt.text, got)
		}
	}
}

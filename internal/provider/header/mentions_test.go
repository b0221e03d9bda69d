package header

import "testing"

func TestMentions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		message string
		phrases []string
		want    bool
	}{
		{"The Prompt is too LONG", []string{"other", "prompt is too long"}, true},
		{"The prompt is long", []string{"prompt is too long"}, false},
		{"", []string{"a"}, false},
		{"anything", nil, false},
	} {
		if got := Mentions(tt.message, tt.phrases...); got != tt.want {
			t.Errorf("%q mentions %q: %v", tt.message, tt.phrases, got)
		}
	}
}

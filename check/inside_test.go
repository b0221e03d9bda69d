package check

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
)

func TestInside(t *testing.T) {
	t.Parallel()
	tests := []struct {
		checks, answer, gold string
		want                 float64
	}{
		{"[{type: equals, normalize: plain}]", "It is a cat.", "cat", 0},
		{"[{type: equals, normalize: plain, inside: words}]", "It is a cat.", "cat", 1},
		{"[{type: equals, normalize: plain, inside: words}]", "concatenate", "cat", 0},
		{"[{type: equals, normalize: plain, inside: words}]", "a", "cat", 0},
		{"[{type: equals, normalize: plain, inside: words}]", "17", "7", 0},
		{"[{type: equals, normalize: sealqa, inside: words}]", "in 19 years", "9", 0},
		{"[{type: equals, normalize: sealqa, inside: words}]", "9 years", "9", 1},
		{"[{type: equals, normalize: sealqa, inside: words}]", "9.5", "9", 0},
		{"[{type: equals, normalize: sealqa, inside: words}]", "Paris", "paris, france", 0},
		{"[{type: equals, normalize: plain, inside: either}]", "a", "cat", 1},
		{"[{type: equals, normalize: plain, inside: either}]", "17", "7", 1},
		{"[{type: equals, normalize: sealqa, inside: either}]", "Paris", "paris, france", 1},
		{"[{type: equals, normalize: plain, inside: either}]", "", "cat", 0},
		{"[{type: equals, normalize: plain, inside: either}]", "...", "cat", 0},
	}
	if got := suite(t, "[{type: equals, normalize: plain, inside: either, value: '?'}]", Options{}).Score("!", task.Task{}); got.Hard != 0 {
		t.Errorf("two texts that say nothing are equal: %+v", got)
	}
	for _, tt := range tests {
		s := suite(t, tt.checks, Options{})
		tk := task.Task{ID: "t", Gold: []string{tt.gold}}
		if got := s.Score(tt.answer, tk); got.Hard != tt.want {
			t.Errorf("%s of %q, gold %q: %+v", tt.checks, tt.answer, tt.gold, got)
		}
		if err := s.Check(tk); err != nil {
			t.Errorf("%s: %v", tt.checks, err)
		}
	}
	if _, err := Compile(fromYAML(t, "[{type: equals, normalize: number, inside: words}]"), Options{}); err == nil {
		t.Error("inside is taken beside numbers")
	}
}

package check

import (
	"math"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
)

func TestANLS(t *testing.T) {
	t.Parallel()
	tests := []struct {
		answer string
		gold   []string
		want   float64
	}{
		{"ITC Limited", []string{"itc limited"}, 1},
		{"ITC Limted", []string{"itc limited"}, 1 - 1.0/11},
		{"1/8/93", []string{"1/8/1993"}, 0.75},
		{"abcd", []string{"abxy"}, 0}, // the distance is exactly half
		{"abcd", []string{"abcx"}, 0.75},
		{"$1,000", []string{"1000"}, 1 - 2.0/6},
		{"read 答案", []string{"read"}, 1 - 3.0/7},
		{"b", []string{"a", "B "}, 1},
		{"", []string{""}, 1},
		{"", []string{"a"}, 0},
		{"a", []string{""}, 0},
		{"a", nil, 0},
	}
	for _, tt := range tests {
		if got := ANLS(tt.answer, tt.gold); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%q, gold %q: got %v, want %v", tt.answer, tt.gold, got, tt.want)
		}
	}
}

func TestCheckANLS(t *testing.T) {
	t.Parallel()
	gold := task.Task{ID: "t", Gold: []string{"ITC Limited", "ITC"}}
	tests := []struct {
		checks, answer string
		hard, soft     float64
		reason         string
	}{
		{"[anls]", "itc  limited", 1, 1, ""},
		{"[anls]", "ITC Limted", 0, 1 - 1.0/11, "ANLS 0.909, 0.999 is needed"},
		{"[{type: anls, hard: 0.9}]", "ITC Limted", 1, 1 - 1.0/11, ""},
		{"[{type: anls, threshold: 0.05}]", "ITC Limted", 0, 0, "expected"},
		{"[{type: anls, normalize: none, threshold: 1, hard: 0.2}]", "itC LIMITED", 1, 1 - 8.0/11, ""},
		{"[{type: anls, value: x}]", "itc", 0, 0, "expected \"x\""},
		{"[{type: not-anls}]", "something else", 1, 1, ""},
	}
	for _, tt := range tests {
		got := suite(t, tt.checks, Options{}).Score(tt.answer, gold)
		if got.Hard != tt.hard || math.Abs(got.Soft-tt.soft) > 1e-12 || !strings.Contains(got.Reason, tt.reason) {
			t.Errorf("%s of %q: %+v", tt.checks, tt.answer, got)
		}
	}
	for _, bad := range []string{"[{type: anls, hard: 0}]", "[{type: anls, hard: 2}]", "[{type: anls, threshold: -1}]", "[{type: anls, normalize: number}]", "[{type: anls, other: 1}]"} {
		if _, err := Compile(fromYAML(t, bad), Options{}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if err := suite(t, "[anls]", Options{}).Check(task.Task{ID: "t", Gold: []string{strings.Repeat("x", maxANLSGold+1)}}); err == nil || !strings.Contains(err.Error(), "up to 16384") {
		t.Errorf("gold beyond the bound: %v", err)
	}
}

// TestHugeAnswersCostLittle: the length alone tells that an answer is another text; one that
// is not much longer is compared in full.
func TestHugeAnswersCostLittle(t *testing.T) {
	t.Parallel()
	gold := strings.Repeat("lorem ipsum ", maxANLSGold/12)
	if got := ANLS(strings.Repeat("x", 8<<20), []string{gold, "short"}); got != 0 {
		t.Errorf("got %v", got)
	}
	if got := ANLS(gold+strings.Repeat("y", len(gold)/2), []string{gold}); got < 0.6 || got > 0.7 {
		t.Errorf("got %v", got)
	}
}

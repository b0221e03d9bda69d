package check

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
)

func TestCheckMathEqual(t *testing.T) {
	t.Parallel()
	tests := []struct {
		checks, answer, gold string
		hard                 float64
		reason               string
	}{
		{"[math-equal]", `$5\sqrt{3}$`, `\sqrt{75}`, 1, ""},
		{"[math-equal]", "x = 3", "3", 1, ""},
		{"[math-equal]", "7", "17", 0, "read as 7, expected 17"},
		{"[math-equal]", "5 million", "5 billion", 0, "read as 5000000, expected 5000000000"},
		{"[math-equal]", "", "17", 0, "the answer is empty"},
		{"[{type: math-equal, rel: 0.01}]", "3.14", `\pi`, 1, ""},
		{"[{type: math-equal, unit: ignore}]", "20", "20 cm", 1, ""},
		{"[{type: math-equal, unit: strict}]", "20 cm", "20", 0, ""},
		{"[{type: math-equal, value: 1/2}]", "0.5", "x", 1, ""},
		{"[{type: math-equal, form: reference}]", `$5\sqrt{3}$`, `5\sqrt3`, 1, ""},
		{"[{type: math-equal, form: reference}]", `20~\mathrm{cm}`, "20 cm", 1, ""},
		{"[{type: math-equal, form: reference}]", "x = 3", "x=3", 0, "white space"},
		{"[{type: math-equal, form: reference}]", "0.5", "1/2", 0, ""},
		{"[{type: not-math-equal}]", "1/2", "3/4", 1, ""},
	}
	for _, tt := range tests {
		got := suite(t, tt.checks, Options{}).Score(tt.answer, task.Task{Gold: []string{tt.gold}})
		if got.Hard != tt.hard || !strings.Contains(got.Reason, tt.reason) {
			t.Errorf("%s of %q, gold %s: %+v", tt.checks, tt.answer, tt.gold, got)
		}
	}
	for _, bad := range []string{"[{type: math-equal, form: other}]", "[{type: math-equal, form: reference, rel: 1}]", `[{type: math-equal, value: "$"}]`} {
		if _, err := Compile(fromYAML(t, bad), Options{}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	s, says := suite(t, "[math-equal]", Options{}), task.Task{ID: "t", Gold: []string{"$"}}
	if err := s.Check(says); err != nil || s.Score("$", says).Hard != 1 || s.Score("", says).Hard != 0 || s.Score("...", says).Hard != 0 {
		t.Errorf("gold that says nothing is compared as it is: %v", err)
	}
}

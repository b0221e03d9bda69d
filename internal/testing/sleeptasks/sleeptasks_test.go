package sleeptasks

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The families of recorded cases are compared in internal/testing/conformance. Here is what they do
// not hold.

func numbered(n int) (tasks []Task) {
	for i := range n {
		tasks = append(tasks, Task{ID: fmt.Sprintf("t%03d", i)})
	}
	return tasks
}

func splits(t *testing.T, tasks []Task, shares Shares, seed int64) string {
	t.Helper()
	out, err := AssignSplits(tasks, shares, seed)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, task := range out {
		if task.Split != Train {
			text += task.ID + " " + task.Split + ", "
		}
	}
	return strings.TrimSuffix(text, ", ")
}

func TestAssignSplits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		tasks  []Task
		shares Shares
		want   string
	}{
		{numbered(20), Shares{Val: 0.34}, "t008 val, t014 val, t016 val"},
		{numbered(20), Shares{Val: 0.34, Test: 0.1}, "t008 val, t012 test, t014 val, t016 val"},
		{numbered(20), Shares{Val: 0.2, Test: 0.3}, "t002 val, t005 test, t008 test, t010 test, t012 test, t014 test, t016 test, t018 test"},
		{[]Task{{ID: "t0"}, {ID: "t1"}, {ID: "t2"}, {ID: "t3"}}, Shares{Val: 0.34, Test: 0.1}, "t1 test, t2 test, t3 val"},
		{[]Task{{ID: "t0"}, {ID: "t1"}}, Shares{Val: 0.34, Test: 0.1}, "t1 test"},
		{[]Task{{ID: "t008", Origin: "dream"}, {ID: "t014", Origin: "dream"}}, Shares{Val: 0.34}, ""},
		{numbered(1), Shares{Val: 0.34}, ""},
		{nil, Shares{}, ""},
	} {
		if got := splits(t, tt.tasks, tt.shares, 42); got != tt.want {
			t.Errorf("%d tasks, %+v: %s, want %s", len(tt.tasks), tt.shares, got, tt.want)
		}
	}
	for _, bad := range []Shares{{Val: -0.1}, {Val: 1.1}, {Test: math.NaN()}, {Val: 0.5, Test: 0.5}} {
		if _, err := AssignSplits(nil, bad, 1); err == nil || !strings.Contains(err.Error(), "allowed is") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// A task stays where it is when others come, unless it stood in for a split that was empty.
func TestAssignSplitsIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "tasks")
		seed := rapid.Int64().Draw(t, "seed")
		before, err := AssignSplits(numbered(n), DefaultShares(), seed)
		if err != nil {
			t.Fatal(err)
		}
		after, err := AssignSplits(numbered(n+rapid.IntRange(0, 40).Draw(t, "more")), DefaultShares(), seed)
		if err != nil {
			t.Fatal(err)
		}
		moved := 0
		for i := range before {
			if before[i].Split != after[i].Split {
				moved++
			}
		}
		if moved > 1 {
			t.Errorf("%d of %d tasks moved", moved, n)
		}
	})
}

func TestDedupe(t *testing.T) {
	t.Parallel()
	in := []Task{
		{ID: "a", Intent: "one", Outcome: "unknown", Hint: "x", Sessions: []string{"1"}},
		{ID: "b", Outcome: "fail", Hint: "x"},
		{ID: "a", Intent: "two", Outcome: "success", Sessions: []string{"1", "2"}},
		{ID: "a", Outcome: "fail", Hint: "x", Sessions: []string{"3"}},
		{ID: "b", Hint: "y"},
	}
	want := []Task{{ID: "a", Intent: "one", Outcome: "success", Hint: "x", Sessions: []string{"1", "2", "3"}}, {ID: "b", Outcome: "fail"}}
	if diff := cmp.Diff(want, Dedupe(in)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if in[0].Outcome != "unknown" || len(in[0].Sessions) != 1 {
		t.Errorf("what was given has changed: %+v", in[0])
	}
}

// Whatever a file holds, judging ends with a verdict within bounds or an error.
func FuzzJudge(f *testing.F) {
	f.Add(`{"checks":[{"op":"regex","arg":"(?P<n>a)(?P=n)\\Z"},{"op":"max_chars","arg":2.5}]}`, "aa")
	f.Add(`{"checks":[{"op":"section_present","arg":"Key Risks"},{"op":"section_contains","arg":"("}]}`, "### 1. Key Risks (X)\n#")
	f.Add(`{"checks":[{"op":"no_refusal"},{"op":"tool_called","arg":"İ"},{"op":["x"]}]}`, "> 1. I cannot")
	f.Fuzz(func(t *testing.T, text, answer string) {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var judge any
		if d.Decode(&judge) != nil || !utf8.ValidString(answer) {
			return
		}
		Validate(judge)
		v, err := Judge(judge, answer, nil)
		if err == nil && !(v.Soft >= 0 && v.Soft <= 1 && (v.Hard == 0 || v.Hard == 1) && (v.Hard == 0 || v.Soft == 1)) {
			t.Errorf("%+v", v)
		}
	})
}

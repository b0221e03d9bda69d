package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/task"
)

// TestAnyOrder: an element finds its place whichever stands first, also where one
// can stand for several.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		keys, want, got string
		hard            float64
	}{
		{"order: ignore, extra: ignore", `[{"a":1},{"a":1,"b":2}]`, `[{"a":1,"b":2},{"a":1}]`, 1},
		{"order: ignore, extra: ignore", `[{"a":1},{"a":1,"b":2},{"c":3}]`, `[{"c":3,"x":0},{"a":1,"b":2,"x":0},{"a":1,"x":0}]`, 1},
		{"order: ignore, extra: ignore", `[{"a":1},{"a":1}]`, `[{"a":1},{"b":1}]`, 0},
		{"order: ignore, extra: ignore", `[[{"a":1},{"b":1}],[{"b":1},{"b":1}]]`, `[[{"b":1},{"b":1,"c":1}],[{"b":1},{"a":1}]]`, 1},
		{"order: ignore", `[{"a":[2,1]},1.0,null,"1",true,false]`, `["1",null,false,1,true,{"a":[1,2]}]`, 1},
		{"order: ignore", `[{"a":1}]`, `[{"a":1,"b":2}]`, 0},
		{"order: ignore", `["a","b"]`, `["ab",""]`, 0},
		{"order: ignore", `[["a"],["b"]]`, `[["a","b"],[]]`, 0},
		{"order: ignore", `[0,-0,10]`, `[10.0,-0,-0.0]`, 1},
		{"order: strict", `[0,-0,10]`, `[-0,0,1e1]`, 1},
		{"order: ignore", `[1,1,2]`, `[1,2,2]`, 0},
		{"extra: ignore", `[{"a":1},{"a":1,"b":2}]`, `[{"a":1,"b":2},{"a":1}]`, 0},
	}
	for _, tt := range tests {
		s := suite(t, fmt.Sprintf("{type: json-equals, value: '%s', %s}", tt.want, tt.keys), Options{})
		if got := s.Score(tt.got, task.Task{}); got.Hard != tt.hard {
			t.Errorf("%s, %s: %s scores %+v", tt.keys, tt.want, tt.got, got)
		}
	}
}

// TestAnyOrderOfLargeAnswers would not end within the time of a test if every
// element were held against every other at every depth.
func TestAnyOrderOfLargeAnswers(t *testing.T) {
	t.Parallel()
	nested := strings.Repeat("[", 200) + "1" + strings.Repeat("]", 200)
	var numbers []string
	for i := range 500 {
		numbers = append(numbers, fmt.Sprintf(`{"n":%d,"text":"x"}`, i))
	}
	list := "[" + strings.Join(numbers, ",") + "]"
	slices.Reverse(numbers)
	turned := "[" + strings.Join(numbers, ",") + "]"
	other := "[" + strings.Repeat(`{"n":-1,"text":"x"},`, 10_000) + "1]"
	for _, keys := range []string{"order: ignore", "order: ignore, extra: ignore"} {
		for _, tt := range []struct {
			want, got string
			hard      float64
		}{{nested, nested, 1}, {list, turned, 1}, {list, other, 0}} {
			s := suite(t, fmt.Sprintf("{type: json-equals, value: '%s', %s}", tt.want, keys), Options{})
			if got := s.Score(tt.got, task.Task{}); got.Hard != tt.hard {
				t.Errorf("%s: %.40s scores %v: %s", keys, tt.got, got.Hard, got.Reason)
			}
		}
	}
}

// TestHugeNumbersInJSON: a number of megabytes is a number, and no other one.
func TestHugeNumbersInJSON(t *testing.T) {
	t.Parallel()
	s := suite(t, "{type: json-equals, value: '[1e400, 12345678901234567890123]'}", Options{})
	for answer, hard := range map[string]float64{
		"[1E+400, 1.2345678901234567890123e22]":             1,
		"[1e400, 12345678901234567890124]":                  0,
		"[1e400, " + strings.Repeat("9", 4<<20) + "]":       0,
		"[1e999999999, 12345678901234567890123]":            0,
		"[1" + strings.Repeat("0", 400) + ", 1e-999999999]": 0,
	} {
		if got := s.Score(answer, task.Task{}); got.Hard != hard {
			t.Errorf("%.60s scores %v: %s", answer, got.Hard, got.Reason)
		}
	}
}

// TestAnyOrderLaw: a list that is shuffled, and whose objects get keys that are
// not expected, is still equal to itself.
func TestAnyOrderLaw(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		object := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.IntRange(0, 2), 0, 3)
		want := rapid.SliceOfN(object, 0, 8).Draw(rt, "want")
		var got []map[string]int
		for _, o := range rapid.Permutation(want).Draw(rt, "order") {
			more := map[string]int{}
			for key, v := range o {
				more[key] = v
			}
			for _, key := range []string{"a", "b", "c"} {
				if _, ok := more[key]; !ok && rapid.Bool().Draw(rt, "more") {
					more[key] = rapid.IntRange(0, 2).Draw(rt, "value")
				}
			}
			got = append(got, more)
		}
		answer, err := json.Marshal(append([]map[string]int{}, got...))
		must(t, err)
		gold, err := json.Marshal(append([]map[string]int{}, want...))
		must(t, err)
		s := suite(t, "{type: json-equals, order: ignore, extra: ignore}", Options{})
		if score := s.Score(string(answer), task.Task{Gold: []string{string(gold)}}); score.Hard != 1 || score.Soft != 1 {
			rt.Errorf("%s against %s: %+v", answer, gold, score)
		}
	})
}

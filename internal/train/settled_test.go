package train

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// countDraws counts the train rollouts of each task that begin with an epoch
// above first.
func countDraws(w *world, first int) map[string]int {
	counts := map[string]int{}
	for _, key := range w.rollouts {
		var epoch, step int
		if _, err := fmt.Sscanf(key, "e%d/s%d/", &epoch, &step); err != nil || !strings.Contains(key, "/rollout/") || epoch <= first {
			continue
		}
		counts[strings.Split(key, "/")[4]]++
	}
	return counts
}

// Tasks of type a are solved from the start, the others are never solved but for
// those that flicker; the gate measures all of them as ever.
func TestSettledTasksAreDrawnLess(t *testing.T) {
	t.Parallel()
	run := func(after int, weight float64) (*world, *Result) {
		w := newWorld(16, 8, 0)
		w.seed = "# Skill\n- rule a\n"
		n := 0
		w.forgets = func(key string) bool {
			if !strings.Contains(key, "/rollout/t04") {
				return false
			}
			n++
			return n%2 == 0 // t04 is solved every other time
		}
		o := standard()
		o.Epochs, o.BatchSize = 12, 8
		o.Curriculum.SettledAfter, o.Curriculum.SettledWeight = after, weight
		return w, w.must(t, o)
	}
	plain, _ := run(0, 0)
	for id, n := range countDraws(plain, 3) {
		if n != 9 {
			t.Errorf("without the rule %s is drawn %d times in 9 epochs", id, n)
		}
	}
	thinned, r := run(2, 0)
	counts := countDraws(thinned, 3)
	if counts["t04"] < 12 || counts["t00"] > 9 {
		t.Errorf("t04 flickers and is drawn %d times, t00 is settled and drawn %d times", counts["t04"], counts["t00"])
	}
	last := r.History.Steps[len(r.History.Steps)-1].Curriculum
	if last["settled/solved"] < 3 || last["settled/failed"] < 10 || last["settled/replaced"] > 1 {
		t.Errorf("metrics %v", last)
	}
	again, _ := run(2, 0)
	if diff := cmp.Diff(counts, countDraws(again, 3)); diff != "" {
		t.Errorf("the same run draws differently (-first +second):\n%s", diff)
	}
	before, after := gateKeys(plain), gateKeys(thinned)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the rule changed what the selection split is asked (-without +with):\n%s", diff)
	}
}

// gateKeys lists the selection tasks that were rolled out, with how often.
func gateKeys(w *world) map[string]int {
	counts := map[string]int{}
	for _, key := range w.rollouts {
		for part := range strings.SplitSeq(key, "/") {
			if len(part) == 3 && part[0] == 's' && part[1] >= '0' && part[1] <= '9' {
				counts[part]++
			}
		}
	}
	return counts
}

// Without the rule a record holds nothing of it.
func TestWithoutTheRuleTheRecordIsAsItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(16, 8, 0)
	o := standard()
	o.Curriculum.SettledWeight = 0.25
	r := w.must(t, o)
	data, err := json.Marshal(r.History)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "settled") || strings.Contains(string(data), "curriculum") {
		t.Errorf("the history tells of a rule that is off: %s", data)
	}
}

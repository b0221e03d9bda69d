package train

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
)

// What a step takes follows the number of its tasks, also where earlier steps were larger
// (a warm start), or have rolled out nothing (in folds, what gates had measured).
func TestStepCostFollowsItsTasks(t *testing.T) {
	t.Parallel()
	calls := func(n int64) map[string]caller.Amount { return map[string]caller.Amount{"target": {Calls: n}} }
	for _, tt := range []struct {
		name  string
		cost  stepCost
		judge float64
		tasks int
		want  int64
	}{
		{"as before", stepCost{whole: calls(100), batch: calls(60), gate: calls(30), tasks: 60, reads: 30}, 30, 60, 100},
		{"smaller than before", stepCost{whole: calls(100), batch: calls(60), gate: calls(30), tasks: 60, reads: 30}, 30, 20, 60},
		{"judged to the end", stepCost{whole: calls(80), batch: calls(60), gate: calls(10), tasks: 60, reads: 10}, 30, 60, 100},
		{"without rollouts before", stepCost{whole: calls(20), batch: calls(0), gate: calls(12), reads: 12}, 16, 24, 48},
		{"nothing is known", stepCost{whole: calls(5)}, 16, 24, 5},
	} {
		tt.cost.raiseJudging(tt.judge)
		if diff := cmp.Diff(calls(tt.want), tt.cost.of(tt.tasks)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// What steps have taken is the same whether results are added up as they come or all at
// once, also where one takes the place of another.
func TestSpendingFollowsTheRecord(t *testing.T) {
	t.Parallel()
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "run.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}()
	record := func(key string, kind journal.Kind, code string) journal.Record {
		return journal.Record{Key: key, Kind: kind, Code: code, Replace: true, Result: []byte("{}"), Spend: journal.Spend{
			Stage: model.StageRollout, Role: model.Target, Usage: journal.Usage{Input: 10, Output: 1},
		}}
	}
	var live spending
	for _, records := range [][]journal.Record{
		{record("seed/selection/a/sample0/attempt0/turn1", journal.Call, ""), record("start", journal.Decision, "")},
		{record("e1/s1/mb0/rollout/a/sample0/attempt0/turn1", journal.Call, ""), record("e1/s1/mb0/rollout/b/sample0/attempt0/turn1", journal.Call, journal.CodeInherited)},
		{record("e1/s1/gate/cand/a/sample0", journal.Episode, ""), record("e1/s2/mb0/rollout/b/sample0", journal.Episode, "")},
		{record("e1/s2/mb0/rollout/b/sample0", journal.Unmeasured, ""), record("e1/s1/mb0/rollout/b/sample0/attempt0/turn1", journal.Call, "")},
	} {
		if err := j.Append(t.Context(), records...); err != nil {
			t.Fatal(err)
		}
		var whole spending
		for _, s := range []*spending{&live, &whole} {
			if err := s.follow(j); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(whole, live, cmp.AllowUnexported(spending{}, stepCost{})); diff != "" {
			t.Errorf("(-at once +as they came):\n%s", diff)
		}
	}
	if live.rollouts != 4 || len(live.steps) != 1 || live.steps[1].tasks != 2 || live.steps[1].reads != 1 {
		t.Errorf("%+v", live)
	}
}

// A step has begun as soon as the run itself has recorded anything of it: an answer of
// another run and a decision too, such as its size, but not what a fork has taken over.
func TestStepsThatHaveBegun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		record journal.Record
		want   bool
	}{
		"a call":           {journal.Record{Key: "e1/s2/mb0/rollout/a/sample0/attempt0/turn1", Kind: journal.Call}, true},
		"of another run":   {journal.Record{Key: "e1/s2/mb0/rollout/a/sample0/attempt0/turn1", Kind: journal.Call, Code: journal.CodeInherited, Origin: journal.Origin{Run: "x", Entry: 1}}, true},
		"of a fork":        {journal.Record{Key: "e1/s2/mb0/rollout/a/sample0/attempt0/turn1", Kind: journal.Call, Code: journal.CodeInherited}, false},
		"a decision":       {journal.Record{Key: "e1/s2/second/room", Kind: journal.Decision}, true},
		"its size":         {journal.Record{Key: "e1/s2/size", Kind: journal.Decision}, true},
		"that of a fork":   {journal.Record{Key: "e1/s2/size", Kind: journal.Decision, Code: journal.CodeInherited}, false},
		"another step":     {journal.Record{Key: "e1/s1/mb0/rollout/a/sample0/attempt0/turn1", Kind: journal.Call}, false},
		"the seed's score": {journal.Record{Key: "seed/selection/a/sample0", Kind: journal.Call}, false},
	} {
		s := spending{all: map[string]caller.Amount{}, steps: map[int]*stepCost{}, begun: map[int]bool{}, confirmed: map[string]bool{}}
		s.add(tt.record)
		if s.begun[2] != tt.want {
			t.Errorf("%s: begun is %v", name, s.begun[2])
		}
	}
}

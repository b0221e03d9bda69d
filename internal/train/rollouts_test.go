package train

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// TestSeveralAnswersToATrainTask: tasks of type a are answered differently, those of the others
// never solved.
func TestSeveralAnswersToATrainTask(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 8, 4)
	w.seed = "# Skill\nrule a\n"
	w.propose = map[int][]string{1: {"rule b"}}
	w.forgets = func(key string) bool {
		return strings.HasSuffix(key, "/t00/sample1") || strings.HasSuffix(key, "/t04/sample2")
	}
	o := standard()
	o.Rollouts = 3
	r := w.must(t, o)
	if n := w.rolled("e1/s1/mb0/rollout/"); n != 24 {
		t.Errorf("%d rollouts of 8 tasks with 3 answers each", n)
	}
	contrasts := w.asked(model.StageContrast)
	if len(contrasts) != 1 || contrasts[0].key != "e1/s1/mb0/analyst_contrast/0" {
		t.Fatalf("contrasts: %v", keys(contrasts))
	}
	text := contrasts[0].User
	best, worst := strings.Index(text, "Best answer"), strings.Index(text, "Worst answer")
	if !strings.Contains(text, "best and worst of 3 answers, 1 apart") || best < 0 || worst < best || !strings.Contains(text, "t04") || !strings.Contains(text[worst:], "wrong: no rule") {
		t.Errorf("the analyst is shown\n%s", text)
	}
	for _, q := range w.asked(model.StageAnalystError) {
		if strings.Contains(q.User, "t00") || strings.Contains(q.User, "t04") || !strings.Contains(q.User, "t01") {
			t.Errorf("a failure that has a contrast, or none that has not, is read by itself:\n%s", q.User)
		}
	}
	s := r.History.Steps[1]
	if s.RolloutN != 8 || value(s.RolloutHard) != fmt.Sprintf("%.3g", 4.0/3/8) {
		t.Errorf("scores of training: %s on %d", value(s.RolloutHard), s.RolloutN)
	}
	if got := strings.Count(w.files["steps/step_0001/rollout.json"], `"id"`); got != 24 {
		t.Errorf("rollout.json has %d outcomes", got)
	}
}

// TestWithoutASpreadTasksAreReadAsBefore: with answers that are all equal the analysts' requests
// are those of one answer, byte for byte.
func TestWithoutASpreadTasksAreReadAsBefore(t *testing.T) {
	t.Parallel()
	ask := func(rollouts int) []asked {
		w := newWorld(8, 8, 4)
		w.propose = map[int][]string{1: {"rule a"}, 2: {"rule b"}}
		o := standard()
		o.Rollouts, o.BatchSize = rollouts, 4
		w.must(t, o)
		slices.SortFunc(w.questions, func(a, b asked) int { return strings.Compare(a.key, b.key) })
		return w.questions
	}
	one, three := ask(1), ask(3)
	if !slices.Equal(keys(one), keys(three)) {
		t.Fatalf("%v\n%v", keys(one), keys(three))
	}
	for i := range one {
		if one[i].User != three[i].User || one[i].System != three[i].System {
			t.Errorf("%s differs", one[i].key)
		}
	}
}

// TestMissingAnswersAreLeftOut: what infrastructure keeps from being measured is no score.
func TestMissingAnswersAreLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 8, 4)
	w.seed = "# Skill\nrule a\nrule b\nrule c\nrule d\n"
	w.fails = func(key string) bool {
		return strings.HasSuffix(key, "/t00/sample0") || strings.HasSuffix(key, "/t01/sample2") || strings.Contains(key, "rollout/t02/")
	}
	o := standard()
	o.Rollouts = 3
	s := w.must(t, o).History.Steps[1]
	if s.RolloutN != 7 || value(s.RolloutHard) != "1" || !slices.Equal(s.Unmeasured, []string{"t02"}) {
		t.Errorf("%s on %d, without %v", value(s.RolloutHard), s.RolloutN, s.Unmeasured)
	}
	want := map[string]int{"e1/s1/mb0/rollout/without": 2, "e1/s1/mb0/rollout/without/1": 1, "e1/s1/mb0/rollout/without/2": 2}
	for key, n := range want {
		if len(w.decisions[key]) != n {
			t.Errorf("%s: %v", key, w.decisions[key])
		}
	}
}

// Answers with equal hard and other soft scores are a contrast by soft or mixed, and none by hard.
func TestTrap15ContrastsGoByTheMetric(t *testing.T) {
	t.Parallel()
	for metric, want := range map[score.Metric]int{"hard": 0, "soft": 1, "mixed": 1} {
		w := newWorld(8, 8, 4)
		w.seed = "# Skill\nhalf a\n" // worth half of the soft score, and no hard one
		w.forgets = func(key string) bool { return strings.HasSuffix(key, "/t00/sample1") }
		o := standard()
		o.Rollouts, o.Projection = 3, score.Projection{Metric: metric, MixedWeight: 0.5}
		w.must(t, o)
		contrasts := w.asked(model.StageContrast)
		if len(contrasts) != want || want > 0 && !strings.Contains(contrasts[0].User, "t00") {
			t.Errorf("%s: %d analysts of contrasts, want %d", metric, len(contrasts), want)
		}
		alone := slices.ContainsFunc(w.asked(model.StageAnalystError), func(q asked) bool { return strings.Contains(q.User, "t00") })
		if alone != (want == 0) {
			t.Errorf("%s: t00 is read by itself: %t", metric, alone)
		}
	}
	answers := [][]trajectory.Outcome{
		{scored("a", 0, 0.2), scored("a", 0, 0.9), scored("a", 0, 0.9)},
		{scored("b", 0, 0.1), {ID: "b", Status: score.Unmeasured, Soft: 1}, scored("b", 0, 0.1)},
		{scored("c", 1, 1), scored("c", 0, 0), scored("c", 0, 0.1)},
		{scored("d", 0, 0.3), scored("d", 0, 0.2)},
	}
	for metric, want := range map[score.Metric][]string{"hard": {"c"}, "soft": {"c", "a", "d"}, "mixed": {"c", "a", "d"}} {
		contrasts, rest := optimize.Contrasts(answers, score.Projection{Metric: metric, MixedWeight: 0.5})
		var ids []string
		for _, c := range contrasts {
			ids = append(ids, c.Best.ID)
		}
		if !slices.Equal(ids, want) || len(rest) != 4-len(want) {
			t.Errorf("%s: contrasts %v, rest %v", metric, ids, rest)
		}
		if c := contrasts[len(contrasts)-1]; metric == "soft" && (c.Best.Soft != 0.3 || c.Worst.Soft != 0.2 || c.Answers != 2) {
			t.Errorf("%+v", c)
		}
	}
	if got := standIn(answers[0]); got.Hard != 0 || math.Abs(got.Soft-2.0/3) > 1e-12 {
		t.Errorf("the task's own score is %+v", got)
	}
}

func scored(id string, hard, soft float64) trajectory.Outcome {
	return trajectory.Outcome{ID: id, Status: score.OK, Hard: hard, Soft: soft}
}

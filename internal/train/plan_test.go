package train

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
)

// counted are the calls of a run by the stages of its plan.
func (w *world) counted() map[string]int {
	counts := map[string]int{model.StageRollout: len(w.rollouts)}
	for _, q := range w.questions {
		stage := q.Stage
		if strings.HasPrefix(stage, "analyst_") {
			stage = w.analysts
		}
		counts[stage]++
	}
	return counts
}

// anyOptions draws options and a world to run them in.
func anyOptions(t *rapid.T) (Options, *world) {
	of := func(name string, list ...string) string { return rapid.SampledFrom(list).Draw(t, name) }
	count := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(t, name) }
	yes := func(name string) bool { return rapid.Bool().Draw(t, name) }
	o := Options{
		Batching: Batching{
			Epochs: count("epochs", 1, 3), BatchSize: count("batch", 1, 12), Accumulation: count("accumulation", 1, 3), Seed: int64(count("seed", 0, 99)),
		},
		Reflection: Reflection{
			Shallow: yes("shallow"), Minibatch: count("minibatch", 1, 6), FailureOnly: yes("failure only"),
		},
		Editing: Editing{
			FanIn: count("fan in", 2, 8), Mode: of("mode", "patch", "rewrite_from_suggestions", "full_rewrite_minibatch"), Budget: count("budget", 1, 6), MinBudget: 1, Schedule: of("schedule", "constant", "linear", "cosine", "unlimited", "model"),
		},
		Gating: Gating{
			Gate: gate.Mode(of("gate", "strict", "observe", "off")), Fresh: yes("fresh"), Alpha: 0.05, Deterministic: yes("steady"), Projection: score.Projection{Metric: "hard"},
		},
		EpochEnd: EpochEnd{
			SlowUpdate: yes("slow update"), SlowSamples: count("samples", 1, 12), SlowGated: yes("gated"), SlowPairs: of("pairs", "mixed", "changed", "unchanged"), MetaSkill: yes("meta skill"),
		},
		Ending: Ending{
			Test: yes("test"), NoSkill: yes("no skill"),
		},
	}
	o.Stop, o.Keep, o.Rollouts = anyStop(t), yes("keep"), count("rollouts", 0, 3)
	o.SkillAware = o.Mode == "patch" && yes("skill aware")
	if yes("warm start") {
		o.Warm = count("tasks of it", 1, 14)
	}
	if yes("second tries") {
		o.SecondTry = true
	}
	if yes("curriculum") {
		o.Curriculum = Curriculum{Strategy: "uniform", Bins: 3, Temperature: 1, Alpha: 0.3}
	}
	return o, anyWorld(t, o)
}

// anyWorld draws what the optimizer says.
func anyWorld(t *rapid.T, o Options) *world {
	w := newWorld(rapid.IntRange(1, 14).Draw(t, "train"), rapid.IntRange(1, 5).Draw(t, "selection"), rapid.IntRange(1, 4).Draw(t, "test"))
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"rule a", "rule b", "rule c", "rule d", "harm a", "harm b", "nothing"}), 0, 4)
	notes := rapid.SliceOfN(rapid.SampledFrom([]string{"n1", "n2", "n3", "rule a", "rule b"}), 0, 3)
	w.seed += strings.Join(lines.Draw(t, "seed skill"), "\n") + "\n"
	for step := 1; step <= o.Steps(len(w.data.Train)); step++ {
		w.propose[step], w.praise[step] = lines.Draw(t, "proposed"), lines.Draw(t, "praised")
		if o.SkillAware {
			w.notes[step] = notes.Draw(t, "notes")
		}
	}
	for epoch := 2; epoch <= o.Epochs; epoch++ {
		w.guidance[epoch] = rapid.SampledFrom([]string{"", "rule a", "harm a", "careful"}).Draw(t, "guidance")
		w.memory[epoch] = rapid.SampledFrom([]string{"", "remember"}).Draw(t, "memory")
	}
	switch o.Mode {
	case "rewrite_from_suggestions":
		w.reply[model.StageRewrite] = encode(map[string]any{"new_skill": w.seed + "rule c\n"})
		list := encode(map[string]any{"patch": map[string]any{"revise_suggestions": suggested(3)}})
		w.reply[model.StageAnalystError], w.reply[model.StageAnalystSuccess], w.reply[model.StageContrast] = list, list, list
		merged := encode(map[string]any{"revise_suggestions": suggested(7)})
		w.reply[model.StageMerge], w.reply[model.StageMergeFinal] = merged, merged
	case "full_rewrite_minibatch":
		whole := []any{map[string]any{"title": "t", "new_skill": w.seed + "rule d\n"}}
		one := encode(map[string]any{"patch": map[string]any{"skill_candidates": whole}})
		w.reply[model.StageAnalystError], w.reply[model.StageAnalystSuccess], w.reply[model.StageContrast] = one, one, one
		merged := encode(map[string]any{"skill_candidates": whole})
		w.reply[model.StageMerge], w.reply[model.StageMergeFinal] = merged, merged
	}
	return w
}

func suggested(n int) []any {
	var list []any
	for i := range n {
		list = append(list, map[string]any{"type": "add", "title": fmt.Sprint("s", i), "instruction": "rule a"})
	}
	return list
}

// The plan that a user is shown before anything is spent is never exceeded.
func TestPlanIsAnUpperBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o, w := anyOptions(rt)
		if rapid.Bool().Draw(rt, "noise") {
			w.forgets = share(0.2, rapid.IntRange(0, 99).Draw(rt, "salt"))
		}
		if _, err := w.run(t.Context(), o); err != nil {
			rt.Fatal(err)
		}
		plan := map[string]int{}
		w.analysts = o.analystStages()
		for _, st := range o.Plan(Sizes{Train: len(w.data.Train), Selection: len(w.data.Selection), Test: len(w.data.Test)}) {
			plan[st.Stage] += st.Calls
		}
		for stage, n := range w.counted() {
			if n > plan[stage] {
				rt.Errorf("%d calls of stage %s, planned were %d", n, stage, plan[stage])
			}
		}
	})
}

// Laws of every run, whatever the optimizer says.
func TestEveryRunKeepsTheLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o, w := anyOptions(rt)
		r, err := w.run(t.Context(), o)
		if err != nil {
			rt.Fatal(err)
		}
		steps := o.Steps(len(w.data.Train))
		if stop := r.History.Stop; stop != nil {
			steps = stop.Step
		}
		if len(r.History.Steps) != steps+1 || r.Accepted+r.Rejected+r.Skipped != len(r.History.Steps)-1 {
			rt.Errorf("%d steps are recorded, %d+%d+%d are counted", len(r.History.Steps)-1, r.Accepted, r.Rejected, r.Skipped)
		}
		best := -1.0
		lost := 0
		for i, s := range r.History.Steps {
			lost += s.LostReplies
			if s.Budget != nil && s.Ranked > *s.Budget && o.Mode != "full_rewrite_minibatch" {
				rt.Errorf("step %d: %d edits over a budget of %d", i, s.Ranked, *s.Budget)
			}
			if (s.Best == nil) != (o.Gate == gate.ModeOff) || s.Best != nil && *s.Best < best {
				rt.Errorf("step %d: the best score falls from %g to %s", i, best, value(s.Best))
			}
			if s.Best != nil {
				best = *s.Best
			}
			if s.BestStep > i {
				rt.Errorf("step %d: best comes from step %d", i, s.BestStep)
			}
		}
		for _, e := range r.History.Epochs {
			lost += len(e.Lost)
		}
		if lost != r.Lost {
			rt.Errorf("%d replies were lost, %d are counted", lost, r.Lost)
		}
		if f := r.History.Final; o.Gate != gate.ModeOff && (f.BestScore == nil || *f.BestScore < best || w.scored(r.Best.Text()) != *f.BestScore) {
			rt.Errorf("the best skill scores %g on selection, its record says %s", w.scored(r.Best.Text()), value(f.BestScore))
		}
		if o.Gate == gate.ModeStrict {
			seed := w.scored(w.seed)
			if got := w.scored(r.Best.Text()); got < seed {
				rt.Errorf("best scores %g, the seed skill %g", got, seed)
			}
		}
	})
}

// scored is what a skill scores on the selection split.
func (w *world) scored(text string) float64 {
	solved := 0
	for _, tk := range w.data.Selection {
		if strings.Contains(text, "rule "+tk.Type) && !strings.Contains(text, "harm "+tk.Type) {
			solved++
		}
	}
	return float64(solved) / float64(len(w.data.Selection))
}

// Two runs of the same seed are the same, and every key stands for one request.
func TestRunsAreDeterministic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o, w := anyOptions(rt)
		again := *newWorld(len(w.data.Train), len(w.data.Selection), len(w.data.Test))
		again.seed, again.propose, again.praise, again.notes, again.reply, again.guidance, again.memory = w.seed, w.propose, w.praise, w.notes, w.reply, w.guidance, w.memory
		for _, one := range []*world{w, &again} {
			if _, err := one.run(t.Context(), o); err != nil {
				rt.Fatal(err)
			}
		}
		if diff := cmp.Diff(w.files, again.files); diff != "" {
			rt.Errorf("files (-first +second):\n%s", diff)
		}
		seen := map[string]bool{}
		for _, key := range append(w.rollouts, keys(w.questions)...) {
			if seen[key] {
				rt.Errorf("the key %s was used twice", key)
			}
			seen[key] = true
		}
	})
}

func keys(questions []asked) []string {
	var out []string
	for _, q := range questions {
		out = append(out, q.key)
	}
	return out
}

func TestPlanOfThePublishedProtocol(t *testing.T) {
	t.Parallel()
	o := Options{
		Batching: Batching{
			Epochs: 1, BatchSize: 40, Accumulation: 1,
		},
		Reflection: Reflection{
			Minibatch: 8,
		},
		Editing: Editing{
			FanIn: 8, Mode: "patch", Budget: 4, Schedule: "cosine",
		},
		Gating: Gating{
			Gate: "strict",
		},
		EpochEnd: EpochEnd{
			SlowUpdate: true, SlowSamples: 20, SlowGated: true, SlowPairs: "mixed", MetaSkill: true,
		},
		Ending: Ending{
			Test: true,
		},
	}
	got := o.Plan(Sizes{Train: 400, Selection: 200, Test: 400})
	want := []result.StageCalls{
		{Stage: "rollout", Calls: 400 + 200 + 10*200 + 3*400},
		{Stage: "analyst_error+analyst_success", Calls: 60},
		{Stage: "merge", Calls: 20},
		{Stage: "merge_final", Calls: 10},
		{Stage: "ranking", Calls: 10},
		{Stage: "slow_update", Calls: 0},
		{Stage: "meta_skill", Calls: 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An empty train split has no steps.
func TestStepsOfAnEpoch(t *testing.T) {
	t.Parallel()
	o := Options{Batching: Batching{Epochs: 3, BatchSize: 4, Accumulation: 2}}
	for n, want := range map[int]int{0: 0, 1: 3, 8: 3, 9: 6} {
		if got := o.Steps(n); got != want {
			t.Errorf("Steps(%d) = %d, want %d", n, got, want)
		}
	}
}

var _ rollout.Episode = (*world)(nil)

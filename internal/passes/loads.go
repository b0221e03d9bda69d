package passes

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// LoadRates sums up passes over trigger tasks: how often the skill was loaded. What was not
// measured counts nowhere, and is named.
func LoadRates(tasks []task.Task, passes [][]trajectory.Outcome) result.TriggerRates {
	out := result.TriggerRates{Unmeasured: unseen(tasks, passes)}
	means := map[task.Trigger][]float64{}
	rates := map[task.Trigger]*result.LoadRate{}
	for i, t := range tasks {
		loaded, n := 0, 0
		for _, pass := range passes {
			if o := pass[i]; o.Status.Measured() && o.Load != "" {
				n++
				if o.Load == trajectory.Loaded {
					loaded++
				}
			}
		}
		if n == 0 {
			continue
		}
		r := rates[t.Trigger]
		if r == nil {
			r = &result.LoadRate{}
			rates[t.Trigger] = r
		}
		r.Tasks, r.Loaded, r.Evaluations = r.Tasks+1, r.Loaded+loaded, r.Evaluations+n
		means[t.Trigger] = append(means[t.Trigger], float64(loaded)/float64(n))
	}
	for kind, r := range rates {
		r.Rate, r.SE = meanAndError(means[kind])
		interval := score.Wilson(r.Rate, r.Tasks, score.Z95)
		r.Low, r.High = interval.Low, interval.High
	}
	out.Should, out.ShouldNot = rates[task.TriggerShould], rates[task.TriggerShouldNot]
	return out
}

// meanAndError returns the mean of the rates of tasks and its standard error, nil of one task.
func meanAndError(rates []float64) (mean float64, se *float64) {
	n := float64(len(rates))
	for _, r := range rates {
		mean += r
	}
	mean /= n
	if len(rates) < 2 {
		return mean, nil
	}
	squares := 0.0
	for _, r := range rates {
		squares += (r - mean) * (r - mean)
	}
	e := math.Sqrt(squares / (n - 1) / n)
	return mean, &e
}

// unseen returns the ids of tasks of which a pass does not report whether the skill was loaded.
func unseen(tasks []task.Task, passes [][]trajectory.Outcome) []string {
	var out []string
	for i, t := range tasks {
		if slices.ContainsFunc(passes, func(pass []trajectory.Outcome) bool { return !tells(pass[i]) }) {
			out = append(out, t.ID)
		}
	}
	return out
}

// tells reports whether an outcome shows whether the skill was loaded.
func tells(o trajectory.Outcome) bool { return o.Status.Measured() && o.Load != "" }

// LoadsWorse returns why a description may not replace another one, "" if it may. It compares the same trigger
// tasks, carried out once with each. A description is worse if the skill is loaded on fewer prompts that should
// load it, or on more that should not, by more than one standard error of the difference over tasks like these. Any
// loss is too much where a kind has one task. A task counts for neither if one of the two does not report whether
// the skill was loaded. If none of a kind is left, nothing is shown and the description may not replace the other.
func LoadsWorse(tasks []task.Task, before, after []trajectory.Outcome) string {
	return GainsWorse(tasks, func(i int) (gain float64, known bool) {
		if !tells(before[i]) || !tells(after[i]) {
			return 0, false
		}
		return right(tasks[i], after[i]) - right(tasks[i], before[i]), true
	})
}

// GainsWorse returns what LoadsWorse returns, by gains from -1 to 1: how much more often the agent
// is right on a task with the second description than with the first.
func GainsWorse(tasks []task.Task, gain func(i int) (gain float64, known bool)) string {
	for _, kind := range []task.Trigger{task.TriggerShould, task.TriggerShouldNot} {
		var gains []float64
		there := false
		for i, t := range tasks {
			if t.Trigger != kind {
				continue
			}
			there = true
			if g, known := gain(i); known {
				gains = append(gains, g)
			}
		}
		if why := worse(kind, gains); there && why != "" {
			return why
		}
	}
	return ""
}

// right returns 1 if the skill was loaded where it should be, or not where it should not, else 0.
func right(t task.Task, o trajectory.Outcome) float64 {
	if t.Trigger.Right(o.Load == trajectory.Loaded) {
		return 1
	}
	return 0
}

func worse(kind task.Trigger, gains []float64) string {
	prompts := "that should load the skill"
	if kind == task.TriggerShouldNot {
		prompts = "that should not load the skill"
	}
	if len(gains) == 0 {
		return "it could not be seen on any of the prompts " + prompts + " whether the agent loads it"
	}
	mean, se := meanAndError(gains)
	least := 0.0
	if se != nil {
		least = *se
	}
	if -mean <= least+score.Negligible {
		return ""
	}
	return fmt.Sprintf("on prompts %s the agent is right %.1f points less often by it than by the one before (%d of them, s.e. %.1f)", prompts, -100*mean, len(gains), 100*least)
}

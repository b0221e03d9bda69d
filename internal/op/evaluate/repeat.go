package evaluate

import (
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// repeatedScore sums up one split. After one pass it is the score of that; after
// several the mean over the tasks of their means.
func repeatedScore(passes [][]trajectory.Outcome) (result.SplitScore, error) {
	out := splitScore(train.Summarise(passes[0]))
	if len(passes) == 1 {
		return out, nil
	}
	whole, byType := group(passes)
	s, pool, err := session.PooledScore(whole)
	if err != nil || s == nil {
		return out, err
	}
	out.Score, out.Unmeasured = *s, listUnmeasured(passes)
	for name, tasks := range byType {
		if _, shown := out.ByType[name]; !shown {
			continue // a single type is the whole
		}
		s, _, err := session.PooledScore(tasks)
		if err != nil {
			return out, err
		}
		if s != nil {
			out.ByType[name] = *s
		}
	}
	out.Repeats = &result.Repeats{Passes: len(passes), Evaluations: pool.Evaluations, Within: pool.Within, Between: pool.Between, Detectable: pool.Detectable, Flips: []string{}}
	for _, i := range pool.Flips {
		out.Repeats.Flips = append(out.Repeats.Flips, passes[0][i].ID)
	}
	return out, nil
}

// group turns outcomes by pass into outcomes by task, of all tasks and of those of
// each type.
func group(passes [][]trajectory.Outcome) (whole [][]trajectory.Outcome, byType map[string][][]trajectory.Outcome) {
	byType = map[string][][]trajectory.Outcome{}
	for i, first := range passes[0] {
		var one []trajectory.Outcome
		for _, pass := range passes {
			one = append(one, pass[i])
		}
		whole = append(whole, one)
		byType[first.Type] = append(byType[first.Type], one)
	}
	return whole, byType
}

// listUnmeasured lists the tasks without a score in one of the passes.
func listUnmeasured(passes [][]trajectory.Outcome) []string {
	var out []string
	for i, first := range passes[0] {
		if slices.ContainsFunc(passes, func(pass []trajectory.Outcome) bool { return !pass[i].Status.Measured() }) {
			out = append(out, first.ID)
		}
	}
	return out
}

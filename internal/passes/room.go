package passes

import "github.com/seed-f4525e22/skillopt/score"

// leastRoom is how many tasks have to score otherwise than the others so that passes without
// a change say something. Were scores nothing but chance, two passes over five tasks or more,
// two of which score otherwise, would change no score less often than 1 time in 20; where
// one does, 1 time in 7; where none does, always.
const leastRoom = 2

// Room reports whether tasks with these mean scores, each asked more than once, can show by
// an unchanged score that chance changes little. They cannot at the floor or the ceiling:
// where all of them, or all but one, score 0, or 1. A task between 0 and 1 can move both
// ways. Where a score has changed, chance is seen whatever the others score.
func Room(means []float64) bool {
	floor, ceiling := 0, 0
	for _, m := range means {
		switch {
		case m <= score.Negligible:
			floor++
		case m >= 1-score.Negligible:
			ceiling++
		}
	}
	return len(means)-max(floor, ceiling) >= leastRoom
}

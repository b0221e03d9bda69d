package correction

import (
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// Answers finds the accepted turn, by its id, and the last one before it that was corrected; -1: there is none.
func Answers(turns []transcript.Turn, id string) (corrected, accepted int) {
	corrected, accepted = -1, slices.IndexFunc(turns, func(t transcript.Turn) bool { return t.ID == id })
	for _, m := range Marks(turns) {
		if m.Turn < accepted {
			corrected = m.Turn
		}
	}
	return corrected, accepted
}

package cli

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// shownFlips is how many tasks that flip are named.
const shownFlips = 6

// repeatsText says how much of a score is chance, as several passes have shown.
func repeatsText(r *result.Repeats) []string {
	if r == nil {
		return nil
	}
	out := []string{fmt.Sprintf("%s, %d evaluations", wording.Plural(r.Passes, "pass", "passes"), r.Evaluations)}
	if r.Within != nil && r.Between != nil {
		out = append(out, fmt.Sprintf("deviation %.3f within tasks, %.3f between", *r.Within, *r.Between))
	}
	if r.Detectable != nil {
		out = append(out, fmt.Sprintf("smallest difference that %s each show: %.3f", wording.Plural(r.Passes, "pass", "passes"), *r.Detectable))
	}
	n := len(r.Flips)
	if n == 0 && r.Within == nil {
		return append(out, "no task flips, but these tasks cannot show noise with this skill")
	}
	if n == 0 {
		return append(out, "no task flips: only the choice of tasks is left to chance")
	}
	shown := strings.Join(r.Flips[:min(n, shownFlips)], ", ")
	if n > shownFlips {
		shown += fmt.Sprintf(" and %d more", n-shownFlips)
	}
	return append(out, wording.Plural(n, "task flips", "tasks flip")+": "+shown)
}

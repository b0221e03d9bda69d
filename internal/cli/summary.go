package cli

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// writeSummary prints what a run came to.
func (a *app) writeSummary(out io.Writer, s *skillopt.Summary) error {
	fmt.Fprintf(out, "%s: %d steps, %d accepted, %d rejected, %d skipped", s.Status, s.Steps, s.Accepted, s.Rejected, s.Skipped)
	if s.Lost > 0 {
		fmt.Fprintf(out, ", %d replies lost", s.Lost)
	}
	fmt.Fprintln(out)
	if s.Best.Selection != nil {
		fmt.Fprintf(out, "best: step %d, selection %s\n", s.Best.Step, interval(s.Best.Selection))
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, arm := range []struct {
		name string
		s    *skillopt.Score
	}{{"no skill", s.Test.NoSkill}, {"seed", s.Test.Seed}, {"best", s.Test.Best}, {"final", s.Test.Final}} {
		if arm.s != nil {
			fmt.Fprintf(w, "test %s\t%s\n", arm.name, interval(arm.s))
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print summary: %w", err)
	}
	writeTypes(out, s)
	writeUsage(out, s)
	// A run that ended before the seed skill was scored has none.
	if best := filepath.Join(s.RunDir, run.BestFile); exists(best) {
		fmt.Fprintf(out, "best skill: %s\n", a.relative(best))
	}
	if s.Simulated {
		fmt.Fprintln(out, "simulated models: the scores are those of a simulation")
	}
	if s.Exploratory {
		fmt.Fprintln(out, exploratory(0))
	}
	return nil
}

func interval(s *skillopt.Score) string {
	return fmt.Sprintf("hard %.3f [%.3f, %.3f]  soft %.3f  n %d", s.Hard, s.Low, s.High, s.Soft, s.N)
}

// writeTypes prints the test scores by task type, seed against best.
func writeTypes(out io.Writer, s *skillopt.Summary) {
	if len(s.ByType) == 0 {
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  type\tseed\tbest\tn")
	for _, name := range slices.Sorted(maps.Keys(s.ByType)) {
		t := s.ByType[name]
		fmt.Fprintf(w, "  %s\t%s\t%s\t%d\n", name, hardOf(t, "seed"), hardOf(t, "best"), t["best"].N)
	}
	if err := w.Flush(); err != nil {
		return
	}
}

// hardOf is the score of an arm on a type, "-" where nothing was measured.
func hardOf(t skillopt.Types, arm string) string {
	s, ok := t[arm]
	if !ok {
		return scoreText(nil)
	}
	return scoreText(&s.Hard)
}

func writeUsage(out io.Writer, s *skillopt.Summary) {
	cost := "cost unknown (no prices set)"
	if s.CostUSD != nil {
		cost = fmt.Sprintf("$%.4f", *s.CostUSD)
	}
	if s.Simulated {
		cost = "no cost"
	}
	fmt.Fprintf(out, "%d model calls, %s input and %s output tokens, %s, %.1f s\n", s.Calls.Total, count(s.Tokens.Input), count(s.Tokens.Output), cost, s.WallS)
	var faults int64
	for _, n := range s.Calls.Faults {
		faults += n
	}
	if faults > 0 {
		fmt.Fprintf(out, "%d attempts failed:", faults)
		for _, code := range slices.Sorted(maps.Keys(s.Calls.Faults)) {
			fmt.Fprintf(out, " %s %d", code, s.Calls.Faults[code])
		}
		fmt.Fprintln(out)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// writeSummary prints the result of a training run with its statistics.
func writeSummary(out printer, s *result.Summary) error {
	if text := s.Sentence(); text != "" {
		out.line(oneLine(text))
	}
	out.line(endedAs(s))
	writeEarlyEnd(out, s)
	writeBest(out, s)
	if err := writeTestScores(out, s); err != nil {
		return err
	}
	if s.Best.Selection != nil || s.Test.Seed != nil {
		out.line(scoreUnits)
	}
	writeCertainty(out, s)
	writeLoads(out, s.Triggers)
	writeUsage(out, s)
	writeRunFiles(out, s)
	writeCaveats(out, s.Simulated, s.Exploratory, s.Limit)
	return nil
}

// writeBest prints the score of the best skill on the selection split.
func writeBest(out printer, s *result.Summary) {
	if of := s.SelectionScore(); of.Score != nil {
		out.line(fmt.Sprintf("best: step %d, %s", s.Best.Step, runScoreText(of)))
	}
	if r := s.Best.Reported; r != nil && r.Caveat() != "" {
		out.paragraph("best: " + r.Caveat())
	}
}

// runScoreText returns a score with its metric and interval, and of which answers it is.
func runScoreText(of result.RunScore) string {
	return of.After(fmt.Sprintf("%s %s [%.3f, %.3f] on %s", of.Metric, scoreText(of.Score), *of.Low, *of.High, of.Over()))
}

// writeTestScores prints the scores on the test split, and who has read it before.
func writeTestScores(out printer, s *result.Summary) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, arm := range []struct {
		name string
		s    *result.Score
	}{{"no skill", s.Test.NoSkill}, {"seed", s.Test.Seed}, {"best", s.Test.Best}, {"final", s.Test.Final}} {
		if arm.s != nil {
			fmt.Fprintf(w, "test %s\t%s\n", arm.name, interval(arm.s))
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print summary: %w", err)
	}
	if words := s.Test.Best.Refusals("best", s.Test.Seed, "seed"); words != "" {
		out.paragraph(words)
	}
	writeReadBefore(out, s.Test.ReadBefore)
	writeTypes(out, s)
	return writeEffort(out, s.Effort)
}

// writeLoads prints how often the agent loaded the seed skill and the best one, by split.
func writeLoads(out printer, t *result.TrainTriggers) {
	if t == nil {
		return
	}
	for _, split := range slices.Sorted(maps.Keys(t.Seed)) {
		seed, best := t.Seed[split], t.Best[split]
		fmt.Fprintf(out, "%s, skill loaded by %s\n", split, t.Agent)
		fmt.Fprintf(out, "  on prompts that should load it      seed %s, best %s\n", loadText(seed.Should), loadText(best.Should))
		fmt.Fprintf(out, "  on prompts that should not load it  seed %s, best %s\n", loadText(seed.ShouldNot), loadText(best.ShouldNot))
	}
}

// writeRunFiles names the files of the run that people read.
func writeRunFiles(out printer, s *result.Summary) {
	// A run that ended before the seed skill was scored has none.
	if best := filepath.Join(s.RunDir, run.BestFile); exists(best) {
		fmt.Fprintf(out, "best skill: %s\n", out.path(run.SkillPath(best)))
	}
	if page := filepath.Join(s.RunDir, run.ReportFile); exists(page) {
		fmt.Fprintf(out, "report: %s\n", out.path(page))
	}
}

// writeCertainty says how sure the figures are.
func writeCertainty(out printer, s *result.Summary) {
	if n := s.Noise; n != nil && n.Advice != "" {
		out.paragraph("noise: " + n.Advice)
	}
	for _, d := range s.Drift {
		out.paragraph(fmt.Sprintf("drift: from %s on the target's answers came from %s, before from %s", d.At, strings.Join(d.To, ", "), strings.Join(d.From, ", ")))
	}
	if s.Test.Refused {
		out.paragraph("test: not opened, since it was opened before for other skills, or scored otherwise; --reopen-test opens it again")
	}
	if c := s.Certificate; c != nil {
		out.paragraph(c.String())
		if c.Certified && c.Assumes != "" {
			out.paragraph("taken for granted: " + c.Assumes)
		}
	}
}

// writeReadBefore says who has read the test set before.
func writeReadBefore(out printer, reads *result.TestReads) {
	if words := reads.Words(); words != "" {
		out.paragraph("test set: " + words)
	}
}

// scoreUnits says what interval shows.
const scoreUnits = "scores are from 0 to 1, in brackets their 95 % intervals"

// interval returns a score with its interval, and the soft score where it says something else.
func interval(s *result.Score) string {
	if s.Soft == s.Hard {
		return s.After(fmt.Sprintf("hard %.3f [%.3f, %.3f]  n %d", s.Hard, s.Low, s.High, s.N))
	}
	return s.After(fmt.Sprintf("hard %.3f [%.3f, %.3f]  soft %.3f  n %d", s.Hard, s.Low, s.High, s.Soft, s.N))
}

// writeTypes prints the test scores by task type, seed against best.
func writeTypes(out io.Writer, s *result.Summary) {
	if len(s.ByType) == 0 {
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  type\tseed\tbest\tn")
	for _, name := range slices.Sorted(maps.Keys(s.ByType)) {
		t := s.ByType[name]
		fmt.Fprintf(w, "  %s\t%s\t%s\t%d\n", name, hardText(t, "seed"), hardText(t, "best"), t["best"].N)
	}
	if err := w.Flush(); err != nil {
		return
	}
}

// writeEffort prints what episodes of an agent took, before and after.
func writeEffort(out io.Writer, list []result.Effort) error {
	if len(list) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "an episode took\tturns\ttokens\tseconds\tn")
	for _, e := range list {
		fmt.Fprintf(w, "  %s\t%v\t%v\t%v\t%d\n", cmp.Or(e.Type, "all"), e.Turns, e.Tokens, e.Seconds, e.N)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print what episodes took: %w", err)
	}
	return nil
}

// hardText returns the score of an arm on a type with its interval, "-" where nothing was measured.
func hardText(t result.Types, arm string) string {
	s, ok := t[arm]
	if !ok {
		return scoreText(nil)
	}
	return s.After(fmt.Sprintf("%.3f [%.3f, %.3f]", s.Hard, s.Low, s.High))
}

func writeUsage(out printer, s *result.Summary) {
	about := ""
	if u := s.Unknown; u != nil && u.Calls > 0 {
		about = "~"
	}
	input := about + count(s.Tokens.Input) + " input"
	if s.Tokens.Cached > 0 {
		input += fmt.Sprintf(" (%.0f %% from the provider's cache)", 100*float64(s.Tokens.Cached)/float64(s.Tokens.Input))
	}
	out.line(fmt.Sprintf("%s, %s and %s output tokens, %s, %.1f s in the last session", wording.Plural(s.Calls.Total, "model call", "model calls"), input, about+count(s.Tokens.Output), costText(s), s.WallS))
	writeUnknown(out, s.Unknown)
	writeLeftOut(out, s.LeftOut)
	writeTakenOver(out, s.Calls)
	var faults int64
	for _, n := range s.Calls.Faults {
		faults += n
	}
	if faults > 0 {
		text := wording.Plural(faults, "attempt", "attempts") + " failed:"
		for _, code := range slices.Sorted(maps.Keys(s.Calls.Faults)) {
			text += fmt.Sprintf(" %s %d", code, s.Calls.Faults[code])
		}
		out.line(text)
	}
}

// writeTakenOver says what of the answers others had paid for.
func writeTakenOver(out printer, c result.Calls) {
	if c.FromRuns > 0 {
		out.line(fmt.Sprintf("%s taken from other runs, which had paid: 0 calls", wording.Plural(c.FromRuns, "answer", "answers")))
	}
	if n := c.Inherited - c.FromRuns; n > 0 {
		out.line(fmt.Sprintf("its record also took over %s paid for elsewhere (a forked run, a cache)", wording.Plural(n, "answer", "answers")))
	}
}

// writeLeftOut says what of agents' requests did not reach the model.
func writeLeftOut(out printer, list []trajectory.LeftOut) {
	var words []string
	for _, l := range list {
		words = append(words, oneLine(l.String())+" ("+l.Kind+")")
	}
	if len(words) > 0 {
		out.line("left out of the agent's requests: " + strings.Join(words, ", "))
	}
}

// writeUnknown says what of tokens and cost is an estimate.
func writeUnknown(out printer, u *result.UnknownUsage) {
	if u == nil {
		return
	}
	if bounded := u.Calls - u.Unbounded; u.Calls > 0 {
		text := "usage unknown for " + wording.Plural(int(u.Calls), "call", "calls")
		if bounded > 0 {
			text += fmt.Sprintf(", %d counted as the most that can have been used (%s tokens)", bounded, count(u.Tokens))
		}
		out.line(text)
	}
	if u.FailedUSD != nil {
		out.line(fmt.Sprintf("failed attempts may have cost up to $%.4f more", *u.FailedUSD))
	}
}

// costText says what a run cost. A model without a price has an unknown cost, never
// none.
func costText(s *result.Summary) string {
	switch {
	case s.Simulated:
		return "no cost"
	case s.CostUSD != nil && s.Unknown != nil && s.Unknown.Calls > 0:
		return fmt.Sprintf("~$%.4f", *s.CostUSD)
	case s.CostUSD != nil:
		return fmt.Sprintf("$%.4f", *s.CostUSD)
	case s.Unknown != nil && s.Unknown.Unbounded > 0:
		return "cost unknown (usage unknown)"
	}
	known, unknown := 0.0, []string{}
	for _, st := range s.Stages {
		switch {
		case st.CostUSD != nil:
			known += *st.CostUSD
		case (st.Calls > 0 || st.Input+st.Output > 0) && !slices.Contains(unknown, st.Role):
			unknown = append(unknown, st.Role)
		}
	}
	if known == 0 || len(unknown) == 0 {
		return "cost unknown (no prices known: set prices.MODEL)"
	}
	return fmt.Sprintf("$%.4f and what the %s cost (no price known: set prices.MODEL)", known, strings.Join(unknown, " and the "))
}

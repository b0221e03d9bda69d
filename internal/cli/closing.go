package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// namedFailures is how many failing test tasks the end of train names.
const namedFailures = 3

// writeClosing prints the result of training: one sentence with one number, what it cost and
// where the result is. Everything else is behind runs show.
func writeClosing(ctx context.Context, out printer, s *result.Summary) {
	if s.Status != result.Completed {
		out.line(endedAs(s))
	}
	if text := s.Sentence(); text != "" {
		out.line(oneLine(text + describeFailures(ctx, s, out.path(s.RunDir))))
	}
	if s.Status == result.Completed {
		text := stepsText(s)
		if s.Stop == nil && s.EndedAfter == nil && s.Steps > 0 {
			text += "; no step of train.epochs is left"
		}
		out.line(text)
	}
	if words := s.ExamplesWords(); words != "" {
		out.line(words)
	}
	writeEarlyEnd(out, s)
	writeWarnings(out, s)
	writeLoads(out, s.Triggers)
	writeUsage(out, s)
	writeRunFiles(out, s)
	writeCaveats(out, s.Simulated, s.Exploratory, s.Limit)
	fmt.Fprintf(out, "next: skillopt runs show %s\n", shellWord(out.path(s.RunDir)))
}

// endedAs says how a run ended and what it did.
func endedAs(s *result.Summary) string { return string(s.Status) + ": " + stepsText(s) }

// stepsText counts the steps by how they ended.
func stepsText(s *result.Summary) string {
	text := fmt.Sprintf("%s, %d accepted, %d rejected, %d skipped", wording.Plural(s.Steps, "step", "steps"), s.Accepted, s.Rejected, s.Skipped)
	if s.Lost > 0 {
		text += fmt.Sprintf(", %s lost", wording.Plural(s.Lost, "reply", "replies"))
	}
	return text
}

func writeEarlyEnd(out printer, s *result.Summary) {
	if s.Continues != nil {
		out.paragraph(s.Continues.Words())
	}
	if s.Stop != nil {
		out.paragraph(s.Stop.Words())
	}
	if s.EndedAfter != nil {
		text := "to evaluate what there was (--finish)"
		if s.Ceiling != "" {
			text = fmt.Sprintf("since %s has no room for more; a higher one continues training, with --run %s", s.Ceiling, shellWord(out.path(s.RunDir)))
		}
		fmt.Fprintf(out, "ended early, after step %d, %s\n", *s.EndedAfter, text)
	}
}

// writeWarnings says what the number is not.
func writeWarnings(out printer, s *result.Summary) {
	for _, d := range s.Drift {
		out.paragraph(fmt.Sprintf("drift: from %s on the target's answers came from %s, before from %s", d.At, strings.Join(d.To, ", "), strings.Join(d.From, ", ")))
	}
	if s.Test.Refused {
		out.paragraph("test: not opened, since it was opened before for other skills, or scored otherwise; --reopen-test opens it again")
	}
	writeReadBefore(out, s.Test.ReadBefore)
}

// describeFailures names test tasks that fail with the best skill, with answer and reference. The
// ledger of test sets has the run's reading already.
func describeFailures(ctx context.Context, s *result.Summary, path string) string {
	list, unmeasured, err := failingTests(ctx, s.RunDir)
	text := ""
	switch {
	case err != nil:
		return "; which fail could not be read: " + err.Error()
	case len(list) > 0:
		text = fmt.Sprintf("; %d%s %s: %s", len(list), ofTests(s), wording.PluralWord(len(list), "fails", "fail"), joinFailures(list, path))
	}
	if unmeasured > 0 {
		text += fmt.Sprintf("; %d more could not be measured", unmeasured)
	}
	return text
}

// ofTests says of how many test tasks, where that is known.
func ofTests(s *result.Summary) string {
	if s.Test.Best == nil {
		return ""
	}
	return fmt.Sprintf(" of %d", s.Test.Best.N)
}

func joinFailures(list []record.FailingTask, path string) string {
	var names []string
	for i, o := range list {
		if i == namedFailures {
			names = append(names, fmt.Sprintf("and %d more (skillopt runs tasks %s --failing --split test)", len(list)-i, shellWord(path)))
			break
		}
		names = append(names, failureText(o.Outcome))
	}
	return strings.Join(names, ", ")
}

// failureText returns a failing task with what was answered and expected, as far as that is short.
func failureText(o trajectory.Outcome) string {
	const columns = 40
	id, answer, want := shortenText(oneLine(o.ID), columns), shortenText(oneLine(o.Answer), columns), shortenText(expectedText(o), columns)
	if answer == "" {
		answer = "no answer"
	}
	if want == "" {
		return fmt.Sprintf("%s (%s)", id, answer)
	}
	return fmt.Sprintf("%s (%s, %s)", id, answer, want)
}

// failingTests returns the test tasks that the best skill fails, and how many were not measured.
func failingTests(ctx context.Context, dir string) (list []record.FailingTask, unmeasured int, err error) {
	r, err := record.Open(ctx, dir)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = r.Close() }() // it was only read
	all, err := r.Sheets()
	if err != nil {
		return nil, 0, err
	}
	sheets := ask.OnTest(all)
	if len(sheets) == 0 {
		return nil, 0, nil
	}
	f, err := r.Failures(sheets, "")
	return f.List, len(f.Unmeasured), err
}

// expectedText returns what the checks of a task wanted, as they word it.
func expectedText(o trajectory.Outcome) string {
	text := oneLine(o.Reference)
	if rest, ok := strings.CutPrefix(text, "expected: "); ok {
		return "expected " + rest
	}
	return text
}

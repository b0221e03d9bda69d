package optimize

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// RenderTrajectories writes the outcomes of one minibatch for an analyst. Each
// shows its id, type, scores, fail reason and number of turns, then the task,
// the reference, the feedback and the conversation as far as there are any.
// Overlong parts lose their middle, and say so.
func RenderTrajectories(outcomes []trajectory.Outcome) string {
	var b strings.Builder
	for i, o := range outcomes {
		if i > 0 {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "### Trajectory %d of %d\n\n", i+1, len(outcomes))
		writeOutcome(&b, o)
	}
	return b.String()
}

func writeOutcome(b *strings.Builder, o trajectory.Outcome) {
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(b, "- %s: %s\n", label, oneLine(text, maxField))
		}
	}
	line("id", o.ID)
	line("type", o.Type)
	line("score", fmt.Sprintf("hard=%s soft=%s", decimal(o.Hard), decimal(o.Soft)))
	line("fail reason", o.FailReason)
	line("turns", strconv.Itoa(len(o.Trajectory)))
	line("scored answer", o.Answer)
	block := func(label, text string) {
		if text != "" {
			fmt.Fprintf(b, "\n%s:\n%s\n", label, text)
		}
	}
	if !showsTask(o) {
		block("Task", clip(o.Question, maxField))
	}
	block("Reference (hidden from the agent)", clip(o.Reference, maxField))
	block("Feedback", clip(o.Feedback, maxField))
	block("Conversation", clip(trajectory.Format(clipTurns(o.Trajectory)), maxTrajectory))
}

// showsTask reports whether the conversation already shows the task.
func showsTask(o trajectory.Outcome) bool {
	for _, t := range o.Trajectory {
		if o.Question != "" && strings.Contains(t.Content, o.Question) {
			return true
		}
	}
	return false
}

// clipTurns shortens each turn by itself, so that one long document in the
// first message does not cost the question behind it.
func clipTurns(turns []trajectory.Turn) []trajectory.Turn {
	out := make([]trajectory.Turn, len(turns))
	for i, t := range turns {
		t.Content = clip(t.Content, maxField)
		t.Action = clip(t.Action, maxField)
		t.Observation = clip(t.Observation, maxField)
		out[i] = t
	}
	return out
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }

package corpus

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

// maxShown is how many candidate files a scene lists.
const maxShown = 20

// markAnswer begins a final answer, in any letter case.
const markAnswer = "<answer"

// episode is one task in a corpus.
type episode struct {
	corpus *Corpus
	task   task.Task
	files  []string // that tools may read
}

// Close implements world.Episode: nothing is open between two actions.
func (*episode) Close() error { return nil }

// Start implements world.Episode.
func (e *episode) Start(ctx context.Context) (world.Scene, error) {
	evidence, err := e.corpus.evidence(ctx, e.task)
	if err != nil {
		return world.Scene{}, fmt.Errorf("show the pages of task %s: %w", e.task.ID, err)
	}
	parts := []string{evidence}
	var s world.Scene
	switch e.corpus.mode {
	case ModeTools:
		s.Tools = tools()
		parts = append(parts, e.candidateList(), section("Sources", texts(e.task.Data[FieldDocs])))
	case ModePages:
		parts = append(parts, section("Sources", texts(e.task.Data[FieldDocs])))
	case ModeSearch:
		parts = append(parts, section("Sources", texts(e.task.Data[FieldDocs])), section("Files of the sources", texts(e.task.Data[FieldFiles])), e.corpus.roundRule(0))
	}
	s.Text = joinParts(parts)
	return s, nil
}

// joinParts returns the parts that say something, with blank lines between them.
func joinParts(parts []string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n\n")
}

// section returns a list under a heading; "" for none.
func section(heading string, entries []string) string {
	if len(entries) == 0 {
		return ""
	}
	return "## " + heading + "\n- " + wording.Plain(strings.Join(entries, "\n- "))
}

// candidateList shows the first documents of the task.
func (e *episode) candidateList() string {
	text := section("Documents", e.files[:min(maxShown, len(e.files))])
	if more := len(e.files) - maxShown; more > 0 {
		text += fmt.Sprintf("\n\nand %d more", more)
	}
	return text
}

// Act implements world.Episode.
func (e *episode) Act(ctx context.Context, a world.Action) (world.Observation, error) {
	switch {
	case a.Call != nil && e.corpus.mode == ModeTools:
		return e.use(ctx, a.Call)
	case a.Call != nil:
		return world.Observation{Text: "There are no tools here.", Failed: true}, nil
	case e.corpus.mode == ModePages || strings.Contains(strings.ToLower(a.Text), markAnswer):
		return world.Observation{Done: true}, nil
	case e.corpus.mode == ModeSearch:
		return e.corpus.round(ctx, a)
	}
	return world.Observation{Text: "Use a tool (glob, grep, read), or give the final answer between <answer> and </answer>."}, nil
}

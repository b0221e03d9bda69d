package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/skill"
)

func sleepBlameCommand(a *app, at *sleepFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "blame FILE",
		Short: "Say of each rule in a document's learned region which night brought it",
		Long: `Say of each line in the learned region of a document which adoption brought it, from which
night, and what it rests on. A line of which nothing is known was written by a person, or by
another program.`,
		Example: `  skillopt sleep blame CLAUDE.md`,
		Args:    exactArgs(1, "the file of a document"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return blameDocument(cmd.Context(), a, *at, args[0])
		},
	}
	return c
}

// blamed is the result of sleep blame.
type blamed struct {
	Target string         `json:"target"`
	File   string         `json:"file"`
	Lines  []adopt.Origin `json:"lines"`
}

func blameDocument(ctx context.Context, a *app, at sleepFlags, name string) error {
	setup, err := a.sleepSetup(at)
	if err != nil {
		return err
	}
	file := a.absolute(name)
	data, err := disk.Read(ctx, file, target.MaxDocument)
	if err != nil {
		return err
	}
	store, err := setup.adoptions(a.version)
	if err != nil {
		return err
	}
	out := blamed{File: file, Lines: []adopt.Origin{}}
	project, id, err := store.Owner(file)
	if err != nil {
		return err
	}
	out.Target = id
	out.Lines, err = store.Blame(project, id, string(data))
	if errors.Is(err, skill.ErrNoRegion) {
		out.Lines, err = []adopt.Origin{}, nil
	}
	if err != nil {
		return usagef("%s: %v", file, err)
	}
	if a.json {
		return printJSON(a.Out, ask.Shareable(out))
	}
	if len(out.Lines) == 0 {
		a.stdoutPrinter().line("nothing is in the learned region of " + oneLine(file))
	}
	for _, o := range out.Lines {
		a.stdoutPrinter().line(originText(o))
	}
	return nil
}

func originText(o adopt.Origin) string {
	text := fmt.Sprintf("%4d  %s", o.Line, oneLine(o.Text))
	if o.N == 0 {
		return text + "\n      nothing is known of it"
	}
	text += fmt.Sprintf("\n      number %d, night %s, %s", o.N, oneLine(o.Night), oneLine(o.Claim))
	if o.Rule != nil {
		text += groundsText(*o.Rule)
	}
	return text + groundTasksText(o.Rule)
}

// groundTasksText names the tasks that a rule rests on.
func groundTasksText(rule *adopt.Rule) string {
	if rule == nil {
		return ""
	}
	ids := groundTasks(*rule)
	if len(ids) == 0 {
		return ""
	}
	return fmt.Sprintf("\n      %s: %s", wording.Plural(len(ids), "task", "tasks"), oneLine(strings.Join(ids, ", ")))
}

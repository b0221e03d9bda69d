package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
)

// runsNoteOptions are the flags of runs note.
type runsNoteOptions struct {
	text        string
	tags, untag []string
}

func runsNoteCommand(a *app) *cobra.Command {
	var o runsNoteOptions
	c := &cobra.Command{
		Use:   "note RUN",
		Short: "Write a note to a run, or tags, or show them",
		Long: `Show what was written to a run, or write to it: --text takes the place of the text, --tag adds
tags and --untag takes them away. The notes are kept in RUN.notes.json
next to the run, of which nothing is changed; runs rm moves them with it. A text has at most
64 KB, a run at most 32 tags of 64 characters.`,
		Example: `  skillopt runs note runs/my-skill-3
  skillopt runs note runs/my-skill-3 --text "the batch size of the paper" --tag baseline
  skillopt runs list --tag baseline
  skillopt runs note runs/my-skill-3 --text "" --untag baseline`,
		Args: exactArgs(1, "a run directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(a, args[0], cmd.Flags().Changed("text"))
		},
	}
	c.Flags().StringVar(&o.text, "text", "", "the text of the note; an empty one removes it")
	c.Flags().StringArrayVar(&o.tags, "tag", nil, "add this tag")
	c.Flags().StringArrayVar(&o.untag, "untag", nil, "take this tag away")
	return c
}

// run writes notes, or shows them.
func (o *runsNoteOptions) run(a *app, path string, text bool) error {
	dir := a.absolute(path)
	writes := text || len(o.tags)+len(o.untag) > 0
	if _, err := record.ReadDocuments(dir, path); err != nil && !writes {
		if _, err := readRun(dir, path); err != nil {
			return err
		}
	}
	n, err := ask.Notes(dir)
	if err != nil {
		return err
	}
	if writes {
		if text {
			n.Text = o.text
		}
		n.Tags = slices.DeleteFunc(slices.Concat(n.Tags, o.tags), func(t string) bool { return slices.Contains(o.untag, strings.TrimSpace(t)) })
		if n, err = ask.SetNotes(dir, path, n); err != nil {
			return err
		}
	}
	if a.json {
		return printAnswer(a.Out, n)
	}
	out := a.printer(a.Out)
	if n.Text == "" && len(n.Tags) == 0 {
		_, err := fmt.Fprintln(out, "nothing is written to the run")
		return err
	}
	if len(n.Tags) > 0 {
		out.line("tags: " + oneLine(strings.Join(n.Tags, ", ")))
	}
	if n.Text != "" {
		_, err = fmt.Fprintln(out, printable(n.Text))
	}
	return err
}

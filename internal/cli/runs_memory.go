package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/remember"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

func runsMemoryCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "memory RUN...",
		Short: "Print what runs leave to the optimizer of a new one: rejected edits, and its notes",
		Long: `Print what runs leave to the optimizer of a new one, as a file for train --memory: the edits
that their gates rejected, with the difference that was measured, and the newest meta
skill. Finished and killed runs will do, of the same skill or of others: of another
skill it helps as far as the skills are alike. Newest first, each once; what a gate
of one of the runs accepted is left out. At most 200 entries and 1 MB.

Nothing is asked or paid for. What looks like a secret is masked. Nothing of it
comes from the test split.`,
		Example: `  skillopt runs memory runs/my-skill-1 > memory.json
  skillopt train my-skill --again --memory memory.json
  skillopt runs memory runs/my-skill-1 runs/my-skill-2 > memory.json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("name at least one run directory; `skillopt runs list` shows runs")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return printMemory(a, args) },
	}
}

// printMemory prints the document; what is to be known of it goes to standard error.
func printMemory(a *app, paths []string) error {
	var runs []ask.RunName
	for _, path := range paths {
		runs = append(runs, ask.RunName{Dir: a.absolute(path), Path: path})
	}
	m, err := ask.Memory(runs)
	if err != nil {
		return err
	}
	for _, text := range m.Unread {
		fmt.Fprintf(a.Err, "warning: %s\n", oneLine(text))
	}
	if m.Left > 0 {
		fmt.Fprintf(a.Err, "the oldest %s left out: a memory has at most %d of them, and 1 MB\n", wording.Plural(m.Left, "entry is", "entries are"), remember.MaxRejected)
	}
	if remember.Empty(m.Memory) {
		fmt.Fprintln(a.Err, "nothing was rejected, and no meta skill was written: the memory is empty")
	}
	text, err := remember.Encode(m.Memory)
	if err != nil {
		return err
	}
	_, err = a.Out.Write(text)
	return err
}

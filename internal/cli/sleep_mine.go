package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/taskfile"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// sleepMineOptions are the flags of sleep mine.
type sleepMineOptions struct {
	sets []string
	out  string
}

func sleepMineCommand(a *app, at *sleepFlags) *cobra.Command {
	var o sleepMineOptions
	c := &cobra.Command{
		Use:   "mine",
		Short: "Find tasks in the sessions that are kept, and train nothing",
		Long: `Have the optimizer find tasks in the sessions that are kept and were not mined yet, and take
them into the bank. It is the first part of a night: the next skillopt sleep run continues
with it. It shows the result of each session and of each task that was proposed.

--out FILE writes the tasks into a new file instead, for you to read and edit; skillopt sleep run
--tasks FILE trains on it. It is for one project: that of --project, or the one that the working
directory lies in. The sessions count as mined, so keep the file. Tasks that a file cannot hold,
since their checks run a command or look at files, go into the bank all the same.

` + exitHelp,
		Example: `  skillopt sleep mine
  skillopt sleep mine --out found.jsonl
  skillopt sleep mine --project ~/src/shop --json`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a, *at) },
	}
	c.Flags().StringVar(&o.out, "out", "", "write what is found into this new file, and not into the bank")
	addSet(c, &o.sets)
	return c
}

// minedProject is the result of mining for a project.
type minedProject struct {
	Project  string             `json:"project"`
	Night    string             `json:"night"` // id of the night that continues with it
	Sessions int                `json:"sessions"`
	Funnel   *result.MineFunnel `json:"funnel"` // null: there was nothing to mine
	Taken    result.NightTaken  `json:"taken"`
	Written  int                `json:"written,omitempty"` // tasks in the file of --out
	Spent    night.Spent        `json:"spent"`
}

func (o *sleepMineOptions) run(ctx context.Context, a *app, at sleepFlags) (err error) {
	setup, err := a.sleepSetup(at, o.sets...)
	if err != nil {
		return err
	}
	file := &taskfile.Writer{Path: a.absolute(o.out)}
	if o.out != "" {
		if err := setup.single(a); err != nil {
			return err
		}
		if _, err := os.Lstat(file.Path); !errors.Is(err, fs.ErrNotExist) {
			return usagef("--out %s: it is there already and is not replaced; name a new file", o.out)
		}
	}
	w, err := openNightWork(ctx, a, setup)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	projects, err := setup.nightProjects(ctx, w.bank)
	if err != nil {
		return err
	}
	ctx, stop, release := a.interrupts(ctx)
	defer release()
	w.stop = stop
	list := []minedProject{}
	var failed error
	for _, project := range projects {
		opts := w.options(project)
		if o.out != "" {
			opts.Found = file.Add
		}
		r, err := night.Mine(ctx, opts)
		if err != nil {
			failed = withSameCommand(err)
			break
		}
		m := minedProject{Project: project, Night: r.ID, Sessions: r.Mined.Sessions, Spent: r.Spent, Written: file.N}
		if m.Sessions > 0 {
			m.Funnel, m.Taken = r.Mined.Funnel, r.Mined.Taken
		}
		list = append(list, m)
	}
	return errors.Join(w.endEvents(), o.print(a, setup, list), failed)
}

func (o *sleepMineOptions) print(a *app, s sleepSetup, list []minedProject) error {
	if a.json {
		return printJSON(a.Out, ask.Shareable(list))
	}
	out := a.results()
	mined := false
	for i := range list {
		m := &list[i]
		out.line(fmt.Sprintf("%s: %s to mine", oneLine(m.Project), wording.Plural(m.Sessions, "session", "sessions")))
		if m.Funnel != nil {
			mined = true
			printFunnel(out, m.Funnel)
			if o.out == "" || m.Taken != (result.NightTaken{}) {
				out.line("  into the bank: " + takenText(m.Taken))
			}
		}
		if m.Written > 0 {
			out.line(fmt.Sprintf("  %s in %s: read and edit it", wording.Plural(m.Written, "task is", "tasks are"), oneLine(o.out)))
			out.line("next: " + s.command(nightCommand(s.project, o.out)))
			return nil
		}
	}
	if !mined {
		out.line("nothing was mined; `skillopt sleep harvest` reads what is new")
		return nil
	}
	out.line("next: " + s.command("skillopt sleep review"))
	out.line("  then " + s.command("skillopt sleep run") + " trains on the tasks")
	return nil
}

// printFunnel says what happened to sessions and to the tasks that were proposed from them.
func printFunnel(out printer, f *result.MineFunnel) {
	out.line("  " + wording.Plural(f.Sessions, "session", "sessions"))
	printCounts(out, "sessions that", f.LeftOut)
	out.line(fmt.Sprintf("  %s with a possible task, %d read by a model", wording.Plural(f.Candidates, "session", "sessions"), f.Asked))
	out.line("  " + wording.Plural(f.Proposed, "task was proposed", "tasks were proposed"))
	printCounts(out, "tasks that", f.Fell)
	out.line(fmt.Sprintf("  %d merged, %d held, %d not replayable, %d kept", f.Merged, f.Held, f.Unfit, f.Kept))
}

// printCounts lists reasons, each with an example.
func printCounts(out printer, what string, counts []result.MineCount) {
	for _, c := range counts {
		text := fmt.Sprintf("    %d %s %s", c.N, what, oneLine(c.Reason))
		if len(c.Examples) > 0 {
			text += ": " + exampleText(c.Examples[0])
		}
		out.line(text)
	}
}

func exampleText(e result.MineExample) string {
	text := fmt.Sprintf("%s session %s", oneLine(e.Source), oneLine(e.Session))
	if e.Prompt != "" {
		text += fmt.Sprintf(", %q", shortenText(oneLine(e.Prompt), 60))
	}
	if e.Detail != "" {
		text += " (" + oneLine(e.Detail) + ")"
	}
	return text
}

func takenText(t result.NightTaken) string {
	text := fmt.Sprintf("%s new, %d of them put aside as test, %d shown again, %d held, %d not replayable", wording.Plural(t.New, "independent task", "independent tasks"), t.Test, t.Again, t.Held, t.Unfit)
	if t.Dropped > 0 {
		text += fmt.Sprintf(", %d dropped, since there are too many", t.Dropped)
	}
	return text
}

package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// runsSkillOptions are the flags of runs skill.
type runsSkillOptions struct {
	version, file string
	list          bool
}

func runsSkillCommand(a *app) *cobra.Command {
	var o runsSkillOptions
	c := &cobra.Command{
		Use:   "skill [RUN]",
		Short: "Print the skill of a run, the best one or that after a step, or list them",
		Long: `Print SKILL.md, or another file of the skill, as it was after a step; without --version the
best one. Into a file or a pipe it goes byte for byte; on a terminal, characters that steer it are
shown as escapes. --list names the versions: each skill that became the current one. Of a
comparison the versions are a and b, of an ablation or pruning whole and pruned. Without RUN
it is the newest one in the folder runs.

skillopt runs export writes the best skill with all its files as a folder.`,
		Example: `  skillopt runs skill
  skillopt runs skill runs/my-skill-1 --list
  skillopt runs skill runs/my-skill-1 --version 3 > SKILL-3.md
  skillopt runs skill runs/my-skill-1 --file scripts/total.py`,
		Args: atMost(1, "at most one run directory"),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := runOrNewest(a, args)
			if err != nil {
				return err
			}
			if o.list {
				return listVersions(a, path)
			}
			return o.run(a, path)
		},
	}
	c.Flags().StringVar(&o.version, "version", "", "a step, 0 for the seed skill, or best")
	c.Flags().StringVar(&o.file, "file", skill.Main, "this file of it")
	c.Flags().BoolVar(&o.list, "list", false, "list the versions")
	return c
}

// run prints a file of a version.
func (o *runsSkillOptions) run(a *app, path string) error {
	files, err := ask.Files(a.absolute(path), path, o.version)
	if err != nil {
		return err
	}
	if a.json {
		return printAnswer(a.Out, files)
	}
	i := slices.IndexFunc(files.Files, func(f result.SkillFile) bool { return f.Path == o.file })
	if i < 0 {
		var names []string
		for _, f := range files.Files {
			names = append(names, f.Path)
		}
		return usagef("--file %s: version %s of run %s has no such file; it has %s", o.file, files.Version, path, oneLine(strings.Join(names, ", ")))
	}
	f := files.Files[i]
	if f.Text == nil {
		return usagef("%s is no text (%s); `skillopt runs export` writes all files of the best skill", oneLine(f.Path), bytesText(int64(f.Size)))
	}
	out := a.Out
	if !a.Shown {
		out = rawWriter(out)
	}
	if _, err := io.WriteString(out, *f.Text); err != nil {
		return fmt.Errorf("print the skill: %w", err)
	}
	return nil
}

// listVersions lists the skills that a run has made.
func listVersions(a *app, path string) error {
	all, err := ask.Versions(a.absolute(path), path)
	if err != nil {
		return err
	}
	if a.json {
		return printAnswer(a.Out, all)
	}
	if len(all.Versions) == 0 {
		_, err := fmt.Fprintln(a.Out, "the run has made no skill yet, or keeps none")
		return err
	}
	w := tabwriter.NewWriter(a.tablePrinter(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "VERSION\tSCORE\tN\tFILES\tTAKEN\tFROM")
	for _, v := range all.Versions {
		best, n := "", "-"
		if v.Version == all.Best {
			best = " (best)"
		}
		if v.N > 0 {
			n = v.After(fmt.Sprint(v.N))
		}
		fmt.Fprintf(w, "%s%s\t%s\t%s\t%d\t%s\t%s\n", oneLine(v.Version), best, scoreText(v.Score), n, len(v.Files), orDash(oneLine(v.Taken)), oneLine(v.Origin))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print versions: %w", err)
	}
	return nil
}

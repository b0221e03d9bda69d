package cli

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/lab/bench"
)

// labCurriculumOptions are the flags of lab curriculum.
type labCurriculumOptions struct {
	study bench.Study
	files labFiles
}

func labCurriculumCommand(a *app) *cobra.Command {
	o := labCurriculumOptions{study: bench.DefaultStudy()}
	s := &o.study
	c := &cobra.Command{
		Use:   "curriculum",
		Short: "Measure whether a curriculum helps, and where it does not",
		Long: `Train with each strategy of train.curriculum in simulated worlds of several kinds,
under equal budgets of model calls, and print what each adds to the test score of training without.

No model is called. The numbers in docs/curriculum.md are made by this command.

` + exitHelp,
		Example: `  skillopt lab curriculum                      minutes on two cores
  skillopt lab curriculum --worlds 5 --seed 7  a quick look
  skillopt lab curriculum --out docs/curriculum.md`,
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a) },
	}
	c.Flags().IntVar(&s.Worlds, "worlds", s.Worlds, "worlds of each kind, 2 or more")
	c.Flags().Uint64Var(&s.Seed, "seed", s.Seed, "seed of everything that is drawn")
	addFigureFlags(c, &o.files)
	c.Flags().StringVar(&o.files.page, "out", "", "write the page to this file, and its figure beside it")
	addRunFlag(c, &o.files)
	return c
}

// run measures what curricula add.
func (o *labCurriculumOptions) run(ctx context.Context, a *app) error {
	s, files := o.study, o.files
	if err := s.Validate(); err != nil {
		return usagef("--%v; `skillopt lab curriculum --help` lists the flags", err)
	}
	command := fmt.Sprintf("skillopt lab curriculum --worlds %d --seed %d", s.Worlds, s.Seed)
	r, err := studied(ctx, a, files, command, s.Run)
	if err != nil {
		return err
	}
	var table bytes.Buffer
	if err := r.CSV(&table); err != nil {
		return err
	}
	texts := labTexts{csv: table.String(), svg: r.Chart().SVG()}
	if files.page != "" {
		files.figure = strings.TrimSuffix(files.page, filepath.Ext(files.page)) + ".svg"
		texts.page = r.Markdown(command+" --out docs/curriculum.md", filepath.Base(files.figure))
	}
	if err := files.write(a, texts); err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, r)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(a.Out, "%s: %s\n", f.World, f.What)
		if err := printStandings(a.Out, f.Result); err != nil {
			return err
		}
	}
	return nil
}

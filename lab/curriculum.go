package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/lab/bench"
)

// curriculumOptions are the flags of curriculum.
type curriculumOptions struct {
	study bench.Study
	files files
}

func curriculumCommand(a *app) *cobra.Command {
	o := curriculumOptions{study: bench.DefaultStudy()}
	s := &o.study
	c := &cobra.Command{
		Use:   "curriculum",
		Short: "Measure whether a curriculum helps, and where it does not",
		Long: `Train with each strategy of train.curriculum in simulated worlds of several kinds,
under equal budgets of model calls, and print what each adds to the test score of training without.

No model is called. The numbers in lab/docs/curriculum.md are made by this command.
`,
		Example: `  go run . curriculum                      minutes on two cores
  go run . curriculum --worlds 5 --seed 7  a quick look
  go run . curriculum --out docs/curriculum.md`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a) },
	}
	c.Flags().IntVar(&s.Worlds, "worlds", s.Worlds, "worlds of each kind, 2 or more")
	c.Flags().Uint64Var(&s.Seed, "seed", s.Seed, "seed of everything that is drawn")
	addFigureFlags(c, &o.files)
	c.Flags().StringVar(&o.files.page, "out", "", "write the page to this file, and its figure beside it")
	return c
}

// run measures what curricula add.
func (o *curriculumOptions) run(ctx context.Context, a *app) error {
	s, files := o.study, o.files
	if err := s.Validate(); err != nil {
		return usagef("--%v; `lab curriculum --help` lists the flags", err)
	}
	command := fmt.Sprintf("go run . curriculum --worlds %d --seed %d", s.Worlds, s.Seed)
	r, err := s.Run(ctx)
	if err != nil {
		return err
	}
	csv, err := csvOf(r)
	if err != nil {
		return err
	}
	texts := texts{csv: csv, svg: r.Chart().SVG()}
	if files.page != "" {
		files.figure = strings.TrimSuffix(files.page, filepath.Ext(files.page)) + ".svg"
		texts.page = r.Markdown(command+" --out docs/curriculum.md", filepath.Base(files.figure))
	}
	if err := files.write(texts); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(a.out, "%s: %s\n", f.World, f.What)
		if err := printStandings(a.out, f.Result); err != nil {
			return err
		}
	}
	return nil
}

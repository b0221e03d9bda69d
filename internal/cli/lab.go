package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/run"
)

func labCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "lab",
		Short: "Measure methods in simulated worlds whose truth is known",
		Long: `Measure methods in simulated worlds whose truth is known. No model is called
and nothing is paid. What the lab says is about methods, never about a real model.

With --run DIR a study keeps its tables in a run directory: skillopt runs show prints them,
and skillopt serve shows them among the runs.`,
	}
	group(c)
	c.AddCommand(labLoopCommand(a), labFewCommand(a), labCertificateCommand(a), labPruneCommand(a), labBaselinesCommand(a), labCurriculumCommand(a))
	return c
}

// labFiles are the files that a lab command is asked to write; "": none.
type labFiles struct {
	csv, svg, page string
	figure         string // that the page shows, if it shows one
	run            string // run directory in which the result is kept
}

// labTexts are what is in them.
type labTexts struct{ csv, svg, page string }

// addFigureFlags adds the flags for files that figures are written to.
func addFigureFlags(c *cobra.Command, f *labFiles) {
	c.Flags().StringVar(&f.csv, "csv", "", "write the figures to this file as CSV")
	c.Flags().StringVar(&f.svg, "svg", "", "draw the figures into this file as SVG")
}

// write writes the files that a lab command is asked to write.
func (f labFiles) write(a *app, t labTexts) error {
	for _, file := range []struct{ path, text string }{{f.page, t.page}, {f.figure, t.svg}, {f.csv, t.csv}, {f.svg, t.svg}} {
		if file.path == "" {
			continue
		}
		if err := run.WriteExport(a.absolute(file.path), []byte(file.text)); err != nil {
			return err
		}
	}
	return nil
}

// labReport is what a study comes to.
type labReport interface {
	labResult
	CSV(w io.Writer) error
	Markdown(command string) string
	Text() string
}

// printStudy writes the files that a study was asked for, and prints its result.
// command is the one that makes the committed page.
func printStudy(a *app, r labReport, command string, files labFiles) error {
	var table strings.Builder
	if err := r.CSV(&table); err != nil {
		return err
	}
	if err := files.write(a, labTexts{csv: table.String(), page: r.Markdown(command)}); err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, r)
	}
	fmt.Fprint(a.Out, r.Text())
	return nil
}

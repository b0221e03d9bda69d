package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
)

// benchRow is a benchmark in a list.
type benchRow struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Licence string   `json:"licence"`
	Judge   bool     `json:"judge"`   // answers are judged by a model
	Scoring []string `json:"scoring"` // the ways in which it can be scored, the default first
	Source  []string `json:"source"`
	Fixture bool     `json:"fixture"` // rows of our own are there
	Data    string   `json:"data"`    // where fetched rows lie, "" if there are none
}

func benchListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list [NAME_OR_DIR]",
		Short: "List the benchmarks that the program brings, or show one",
		Long: `List the benchmarks that the program brings, how they can be scored, and whether their rows are
on this machine. With a name or a folder, show one: licence, sources, splits, the keys of the config
that it sets beneath yours, and figures that others have published, with why they do not compare.`,
		Example: "  skillopt bench list\n  skillopt bench list searchqa\n  skillopt bench list ./my-bench --json",
		Args:    atMost(1, "the name of a benchmark, or a folder"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return benchShow(c.Context(), a, args[0])
			}
			return benchList(c.Context(), a)
		},
	}
}

func benchList(ctx context.Context, a *app) error {
	rows := []benchRow{}
	for _, name := range folder.Names() {
		row, err := rowOfBench(ctx, a, name)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	if a.json {
		return printJSON(a.Out, rows)
	}
	out := a.results()
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		here := "not fetched"
		if row.Data != "" {
			here = "fetched"
		}
		judge := ""
		if row.Judge {
			judge = ", judged"
		}
		fmt.Fprintf(w, "%s\t%s\t%s%s\t%s\n", row.Name, here, strings.Join(row.Scoring, " or "), judge, row.Title)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	out.line("next: skillopt bench run NAME --fixture   simulated, from nothing")
	out.line("      skillopt bench list NAME            where its rows come from, and what it sets")
	return nil
}

// rowOfBench describes a benchmark.
func rowOfBench(ctx context.Context, a *app, name string) (benchRow, error) {
	f, err := openBench(ctx, a, name)
	if err != nil {
		return benchRow{}, err
	}
	fixture, err := f.FixtureFiles()
	if err != nil {
		return benchRow{}, err
	}
	row := benchRow{Name: f.Name, Title: f.Title, Licence: f.Licence, Scoring: listScorings(f), Source: listSources(f), Fixture: len(fixture) > 0}
	if row.Judge, err = isJudged(ctx, a, f); err != nil {
		return benchRow{}, err
	}
	row.Data, err = fetchedRows(a, f)
	return row, err
}

// listScorings returns the ways to score a benchmark, its default first.
func listScorings(f *folder.Folder) []string {
	ways := f.Scorings()
	for i, way := range ways {
		if way == f.Scoring.Default {
			ways[0], ways[i] = ways[i], ways[0]
		}
	}
	if ways == nil {
		return []string{}
	}
	return ways
}

// listSources names the sources of a benchmark.
func listSources(f *folder.Folder) []string {
	names := []string{}
	for _, s := range f.Sources {
		names = append(names, sourceText(s))
	}
	return names
}

// sourceText returns a source as one address.
func sourceText(s folder.Source) string {
	switch {
	case s.HF != "":
		at := ""
		if s.Revision != "" {
			at = "@" + s.Revision
		}
		return fmt.Sprintf("hf:%s%s %s", s.HF, at, s.Files)
	case s.GitHub != "":
		return fmt.Sprintf("github:%s %s %s", s.GitHub, s.Tag, s.Asset)
	}
	return s.URL
}

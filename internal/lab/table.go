package lab

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// CSV writes every row of every table, one a line, with a header.
func (r Report) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	header := []string{"table", "world", "items", "rule"}
	for _, name := range []string{"gain", "ahead", "worse", "excess", "cost", "steps", "accepts", "first", "certified"} {
		header = append(header, name, name+"_se")
	}
	lines := [][]string{header}
	for _, t := range []struct {
		name string
		rows []Row
	}{{"budget", r.EqualBudget}, {"total", r.EqualTotal}, {"steps", r.EqualSteps}, {"nothing", r.Nothing}} {
		for _, row := range t.rows {
			line := []string{t.name, row.World, strconv.Itoa(row.Items), row.Rule}
			for _, e := range []Estimate{row.Gain, row.Ahead, row.Worse, row.Excess, row.Cost, row.Steps, row.Accepts, row.First, row.Certified} {
				line = append(line, number(e.Mean), number(e.SE))
			}
			lines = append(lines, line)
		}
	}
	for _, row := range r.Guidance { // "accepts" are the texts that were taken, "cost" is of a whole run
		line := []string{"guidance", row.World, strconv.Itoa(row.Items), row.Rule}
		for _, e := range []*Estimate{&row.Gain, &row.Ahead, &row.Worse, nil, &row.Cost, nil, &row.Taken, nil, nil} {
			if e == nil {
				line = append(line, "", "")
				continue
			}
			line = append(line, number(e.Mean), number(e.SE))
		}
		lines = append(lines, line)
	}
	if err := c.WriteAll(lines); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// Text is the report for a terminal of 60 columns.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Simulated: %d runs a row, seed %d, each of %d passes\nover the selection items. Standard errors in brackets.\n", r.Runs, r.Seed, r.Budget)
	last := regime{}
	for _, row := range r.EqualBudget {
		if at := (regime{row.World, row.Items}); at != last {
			last = at
			fmt.Fprintf(&b, "\n%-23s %13s %5s %8s %5s\n", fmt.Sprintf("%s, %d items", row.World, row.Items), "gain", "worse", "too high", "cost")
		}
		fmt.Fprintf(&b, "%-23s %13s %5.2f %8.1f %5.2f\n", row.Rule, row.Gain.thousandths(), row.Worse.Mean, 100*row.Excess.Mean, row.Cost.Mean)
	}
	b.WriteString(`
gain      true gain on the selection items
worse     share of runs that end truly worse
too high  reported minus true score, in points
cost      rollouts a step, in passes over the selection

`)
	for _, f := range r.Findings {
		mark := "holds"
		if !f.Holds {
			mark = "DOES NOT HOLD"
		}
		fmt.Fprintf(&b, "%s:\n  %s (%s)\n", f.Claim, mark, f.Why)
	}
	return b.String()
}

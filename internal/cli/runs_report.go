package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/report"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// exportReport writes the report of a run, ended or not: a page, or by the name of the file
// the text for a pull request.
func (o *runsExportOptions) exportReport(ctx context.Context, a *app, dir string) error {
	training, err := readTraining(a, dir)
	if err != nil {
		return err
	}
	r := report.Of(training)
	r.Name = report.RunName(a.absolute(dir))
	if r.Failing, err = record.ReadFailing(ctx, a.absolute(dir), report.Transcripts); err != nil {
		r.Problems = append(r.Problems, "what fails is not shown: "+err.Error())
	}
	text := report.Markdown(r)
	if !strings.EqualFold(filepath.Ext(o.to), ".md") {
		if text, err = report.HTML(r); err != nil {
			return err
		}
	}
	if err := run.WriteExport(a.absolute(o.to), text); err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, map[string]any{"run": r.Name, "file": a.absolute(o.to), "problems": append([]string{}, r.Problems...)})
	}
	_, err = fmt.Fprintf(a.Out, "wrote %s\n", a.relative(a.absolute(o.to)))
	return err
}

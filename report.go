package skillopt

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/report"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// writeReport writes report.html and report.md from the other files of a run, once
// they are written.
func writeReport(r *run.Run) error {
	if err := r.Settle(); err != nil {
		return err
	}
	files, err := report.Read(r.Dir, report.NameOf(r.Dir))
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	page, err := report.HTML(files)
	if err != nil {
		return err
	}
	if err := r.WriteFile(run.ReportFile, page); err != nil {
		return err
	}
	return r.WriteFile(run.PullFile, report.Markdown(files))
}

package spreadsheet

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/task"
)

// Brief returns what follows the prompt of a task for an agent with tools of its own.
func Brief(context.Context, task.Task) (string, error) {
	return "The workbook is input.xlsx in your workspace. Leave the changed workbook there as output.xlsx, with values and not only formulas in the cells that are asked for. " +
		"If there are further inputs (input_2.xlsx and so on), leave an output for each (output_2.xlsx and so on), changed in the same way.", nil
}

// RunIn computes the formulas of the outputs in a folder, those of agents too. An output that is no file, or is
// too large, is left to the checks.
func (r *Recalculator) RunIn(ctx context.Context, dir string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("compute formulas: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for i := range maxCases { // the inputs may be gone
		c := CaseAt(i)
		book, err := disk.ReadIn(ctx, root, c.Output, MaxWorkbook)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			continue
		}
		if book, err = r.Run(ctx, book); err != nil {
			return err
		}
		if err := root.WriteFile(c.Output, book, 0o600); err != nil {
			return fmt.Errorf("leave %s: %w", c.Output, err)
		}
	}
	return nil
}

package spreadsheet

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// RunIn computes the formulas of the outputs in a folder, whoever left them there. An output that is no file, or is
// too large, is left to the checks.
func (r *Recalculator) RunIn(ctx context.Context, dir string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("compute formulas: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for i := range maxCases { // the inputs may be gone
		c := caseAt(i)
		book, err := disk.ReadIn(ctx, root, c.output, maxWorkbook)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			continue
		}
		if book, err = r.Run(ctx, book); err != nil {
			return err
		}
		if err := root.WriteFile(c.output, book, 0o600); err != nil {
			return fmt.Errorf("leave %s: %w", c.output, err)
		}
	}
	return nil
}

package run

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/atomicfile"
)

// WriteExport writes a file outside of a run directory: whole or not at all.
func WriteExport(path string, data []byte) error {
	if err := atomicfile.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

package record

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/result"
)

// Bounds of a study. The largest that the lab writes has some hundred rows.
const (
	maxStudy      = 8 << 20 // bytes
	maxTables     = 64
	maxStudyRows  = 10_000 // of all tables
	maxStudyCells = 64     // of a row
)

// readStudy reads the result of a study of the lab.
func (d *Documents) readStudy(dir string) error {
	if d.Manifest.Kind != result.RunStudy {
		return nil
	}
	var s result.Study
	found, err := readDocument(dir, result.StudyFile, maxStudy, &s)
	if err == nil && found {
		if odd := oddStudy(s); odd != nil {
			err = &FileError{Path: filepath.Join(dir, result.StudyFile), Err: odd}
		}
	}
	var damaged *FileError
	if errors.As(err, &damaged) {
		damaged.again = "run the study again"
	}
	if err != nil || !found {
		return err
	}
	s.RunDir = dir
	d.Study = &s
	return nil
}

// oddStudy says why tables cannot be shown: a row has to have a cell for each column.
func oddStudy(s result.Study) error {
	if len(s.Tables) > maxTables {
		return fmt.Errorf("%d tables, at most %d are read", len(s.Tables), maxTables)
	}
	rows := 0
	for _, t := range s.Tables {
		if n := len(t.Names) + len(t.Columns); n > maxStudyCells {
			return fmt.Errorf("table %q: %d columns, at most %d are read", t.Title, n, maxStudyCells)
		}
		if rows += len(t.Rows); rows > maxStudyRows {
			return fmt.Errorf("more than %d rows", maxStudyRows)
		}
		for i, r := range t.Rows {
			if len(r.Names) != len(t.Names) || len(r.Figures) != len(t.Columns) {
				return fmt.Errorf("table %q, row %d: %d names and %d figures, want %d and %d", t.Title, i+1, len(r.Names), len(r.Figures), len(t.Names), len(t.Columns))
			}
		}
	}
	return nil
}

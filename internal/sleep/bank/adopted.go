package bank

import (
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"
)

// Since lists the evidence for what was adopted of a target, in order: the last row of an adoption is the one that is continued.
func Since(ctx context.Context, b *Bank, project, target string) ([]Candidate, error) {
	out, err := readCandidates(ctx, b.db, filepath.Join(b.dir, File), project, target, true)
	return out, b.wrapError("list what was adopted", err)
}

// KeepSince keeps evidence for what was adopted, and gives it its number where it has none. A cluster counts once, as it was
// measured first.
func KeepSince(ctx context.Context, b *Bank, c *Candidate) error {
	return b.write(ctx, "keep the evidence for what was adopted", func(tx *sql.Tx) error {
		if c.Number == 0 {
			data, err := json.Marshal(c)
			if err != nil {
				return err
			}
			res, err := tx.ExecContext(ctx, "INSERT INTO candidates (project, target, night, state, level, data) VALUES (?, ?, ?, ?, ?, ?)", c.Project, c.Target, c.Night, string(c.State), c.Level, string(data))
			if err != nil {
				return err
			}
			if c.Number, err = res.LastInsertId(); err != nil {
				return err
			}
		}
		return putPairs(ctx, tx, c)
	})
}

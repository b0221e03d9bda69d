package testset

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// forgotten begins the names of runs that were forgotten.
const forgotten = "forgotten-"

// Forget replaces the names of runs in the ledger of dir with digests: a name may say what a
// run was about. That sets were read stays. What was written is overwritten. Done twice it does
// nothing more; without a ledger nothing.
func Forget(ctx context.Context, dir string, of func(run string) bool) error {
	if absent(dir) {
		return nil
	}
	changed := 0
	err := runTx(ctx, dir, noting+"&_pragma=secure_delete(1)", func(tx *sql.Tx) error {
		names, err := sqlstore.Column(ctx, tx, "SELECT DISTINCT run FROM openings ORDER BY run")
		if err != nil {
			return err
		}
		for _, name := range names {
			if strings.HasPrefix(name, forgotten) || !of(name) {
				continue
			}
			sum := sha256.Sum256([]byte(name))
			if _, err := tx.ExecContext(ctx, "UPDATE openings SET run = ? WHERE run = ?", forgotten+hex.EncodeToString(sum[:8]), name); err != nil {
				return err
			}
			changed++
		}
		return nil
	})
	if err != nil || changed == 0 {
		return err
	}
	return rewriteFile(ctx, filepath.Join(dir, File))
}

// rewriteFile writes the file again, without what is left of texts in its free places.
func rewriteFile(ctx context.Context, path string) (err error) {
	db := sqlstore.Open(path, noting+"&_pragma=secure_delete(1)")
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("the ledger of test sets %s: write it again: %w", path, err)
	}
	return nil
}

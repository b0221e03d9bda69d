package testset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// ErrNoOpening says that a ledger knows of no opening by a run.
var ErrNoOpening = errors.New("it knows of no opening by the run")

// NoteReading notes in the ledger of dir that what the run of has read of a set was looked at,
// under the reading o. It is noted once, however often it is said. Without an opening by
// the run in this ledger, as of a run that was copied here, the error is ErrNoOpening, and
// nothing is noted.
func NoteReading(ctx context.Context, dir, of string, o Reading) error {
	if absent(dir) {
		return fmt.Errorf("the ledger of test sets of %s: %w", dir, ErrNoOpening)
	}
	return runTx(ctx, dir, noting, func(tx *sql.Tx) error {
		var first int64
		err := tx.QueryRowContext(ctx, "SELECT seq FROM openings WHERE run_id = ? ORDER BY seq LIMIT 1", of).Scan(&first)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNoOpening
		}
		if err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, `INSERT INTO openings (run_id, number, run, command, tasks, at)
			SELECT ?, ?, ?, ?, tasks, ? FROM openings WHERE seq = ? ON CONFLICT (run_id, number) DO NOTHING`,
			o.RunID, o.Number, o.Run, o.Command, o.At.UTC().Format(time.RFC3339), first)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); n == 0 || err != nil {
			return err
		}
		seq, err := done.LastInsertId()
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT OR IGNORE INTO questions (key, opening) SELECT q.key, ? FROM questions q JOIN openings o ON o.seq = q.opening WHERE o.run_id = ?", seq, of)
		return err
	})
}

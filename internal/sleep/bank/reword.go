package bank

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
)

// Reword replaces the task with the same id by one that its user has edited. Its cluster, its side and where it was
// shown stay as they are.
func Reword(ctx context.Context, b *Bank, t wish.Task) error {
	return b.write(ctx, "note an edited task", func(tx *sql.Tx) error {
		data, err := json.Marshal(t)
		if err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, "UPDATE tasks SET data = ? WHERE id = ?", string(data), t.Task.ID)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err == nil && n == 0 {
			err = fmt.Errorf("there is no task %s", t.Task.ID)
		}
		return err
	})
}

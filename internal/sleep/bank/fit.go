package bank

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
)

// Fit is what was decided of where a task is carried out again.
type Fit struct {
	Place wish.Place
	Unfit string // why it cannot be carried out; "": it can
}

// Decide keeps what was decided of tasks of a project, by their ids; all of them, or none. A cluster that has a usable
// task now gets its side; one that has none any more keeps it, and waits.
func Decide(ctx context.Context, b *Bank, night, project string, fits map[string]Fit) error {
	if len(fits) == 0 {
		return nil
	}
	return b.write(ctx, "keep where tasks are carried out", func(tx *sql.Tx) error {
		skills := map[string]bool{}
		for _, id := range slices.Sorted(maps.Keys(fits)) {
			skill, err := decide(ctx, tx, filepath.Join(b.dir, File), id, fits[id])
			if err != nil {
				return err
			}
			skills[skill] = true
		}
		for _, skill := range slices.Sorted(maps.Keys(skills)) {
			group, err := readClusters(ctx, tx, filepath.Join(b.dir, File), project, skill)
			if err == nil {
				_, err = settleGroup(ctx, tx, night, group)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// decide keeps what was decided of one task, and returns its skill.
func decide(ctx context.Context, tx *sql.Tx, path, id string, fit Fit) (skill string, err error) {
	var cluster int64
	var data []byte
	t := Task{}
	err = tx.QueryRowContext(ctx, "SELECT t.cluster, t.reviewed, t.data, c.skill FROM tasks t JOIN clusters c ON c.number = t.cluster WHERE t.id = ?", id).Scan(&cluster, &t.Reviewed, &data, &skill)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", fmt.Errorf("there is no task %s", id)
	case err != nil:
		return "", err
	}
	if err := json.Unmarshal(data, &t.Task); err != nil {
		return "", damagedError(path, "a task cannot be read")
	}
	t.Place, t.Unfit = fit.Place, fit.Unfit
	return skill, putTask(ctx, tx, cluster, &t)
}

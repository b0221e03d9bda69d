package bank

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// digestOf stands for the name of what was forgotten.
func digestOf(kind, name string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + name))
	return hex.EncodeToString(sum[:])
}

// wasForgotten reports whether the user has had a session forgotten, by itself or with its
// project.
func wasForgotten(ctx context.Context, tx *sql.Tx, s Session) (bool, error) {
	var n int
	err := tx.QueryRowContext(ctx, "SELECT count(*) FROM forgotten WHERE (kind, name) = ('session', ?) OR (kind, name) = ('project', ?) AND at >= ?",
		digestOf("session", s.Source+"/"+s.ID), digestOf("project", s.Project), nano(s.Ended)).Scan(&n)
	return n > 0, err
}

// ForgetSessions deletes sessions for good and keeps a digest of their names, so that the next
// harvest does not take them again. The session is named by its source and its id.
func (b *Bank) ForgetSessions(ctx context.Context, list []Session, at time.Time) error {
	err := b.write(ctx, "forget sessions", func(tx *sql.Tx) error {
		for _, s := range list {
			if err := dropSession(ctx, tx, s); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO forgotten (kind, name, at) VALUES ('session', ?, ?)", digestOf("session", s.Source+"/"+s.ID), nano(at)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.compact(ctx)
}

// ForgetProject deletes all sessions of the projects that match, and what is known of stores
// that had them, and keeps a digest of the projects' names: sessions that ended before are not
// taken again. It returns how many sessions went.
func (b *Bank) ForgetProject(ctx context.Context, match func(project string) bool, at time.Time) (int, error) {
	n := 0
	err := b.write(ctx, "forget a project", func(tx *sql.Tx) error {
		projects, err := column(ctx, tx, "SELECT DISTINCT project FROM sessions")
		if err != nil {
			return err
		}
		for _, project := range projects {
			if !match(project) {
				continue
			}
			gone, err := dropProject(ctx, tx, project)
			if err != nil {
				return err
			}
			n += gone
			if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO forgotten (kind, name, at) VALUES ('project', ?, ?)", digestOf("project", project), nano(at)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, b.compact(ctx)
}

func column(ctx context.Context, tx *sql.Tx, query string) (out []string, err error) {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // its error is that of rows.Err
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// dropProject deletes the sessions of a project. Paths of stores may tell its name: those that
// had no other session go with it.
func dropProject(ctx context.Context, tx *sql.Tx, project string) (int, error) {
	for _, q := range []string{
		"DELETE FROM turns WHERE number IN (SELECT number FROM sessions WHERE project = ?)",
		"DELETE FROM stores WHERE path IN (SELECT store FROM sessions WHERE project = ?1) AND path NOT IN (SELECT store FROM sessions WHERE project <> ?1)",
	} {
		if _, err := tx.ExecContext(ctx, q, project); err != nil {
			return 0, err
		}
	}
	res, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE project = ?", project)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

func dropSession(ctx context.Context, tx *sql.Tx, s Session) error {
	const those = "(SELECT number FROM sessions WHERE source = ? AND session = ?)"
	for _, q := range []string{
		"DELETE FROM stores WHERE path IN (SELECT store FROM sessions WHERE number IN " + those + ") AND 1 = (SELECT count(*) FROM sessions WHERE store = path)",
		"DELETE FROM turns WHERE number IN " + those,
		"DELETE FROM sessions WHERE number IN " + those,
	} {
		if _, err := tx.ExecContext(ctx, q, s.Source, s.ID); err != nil {
			return err
		}
	}
	return nil
}

// Prune deletes sessions that ended before a time; it returns how many went.
func (b *Bank) Prune(ctx context.Context, before time.Time) (int, error) {
	n := 0
	err := b.write(ctx, "delete old sessions", func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM turns WHERE number IN (SELECT number FROM sessions WHERE ended < ?)", nano(before)); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE ended < ?", nano(before))
		if err != nil {
			return err
		}
		gone, err := res.RowsAffected()
		n = int(gone)
		return err
	})
	if err != nil || n == 0 {
		return n, err
	}
	return n, b.compact(ctx)
}

// Shrink deletes the oldest sessions until the bank takes at most limit bytes; it returns how
// many went.
func (b *Bank) Shrink(ctx context.Context, limit int64) (int, error) {
	gone := 0
	for {
		size, err := b.Size()
		if err != nil || size <= limit {
			return gone, err
		}
		var end sql.NullInt64
		// A quarter of the sessions at a time, so that few rounds do.
		err = b.db.QueryRowContext(ctx, "SELECT ended FROM sessions ORDER BY ended LIMIT 1 OFFSET (SELECT count(*) / 4 FROM sessions)").Scan(&end)
		if errors.Is(err, sql.ErrNoRows) {
			return gone, nil
		}
		if err != nil {
			return gone, fmt.Errorf("find the oldest sessions: %w", err)
		}
		n, err := b.Prune(ctx, time.Unix(0, end.Int64+1))
		if gone += n; err != nil || n == 0 {
			return gone, err
		}
	}
}

// Size is how much the bank takes, in bytes.
func (b *Bank) Size() (int64, error) {
	info, err := os.Stat(filepath.Join(b.dir, File))
	if err != nil {
		return 0, fmt.Errorf("look at the bank: %w", err)
	}
	return info.Size(), nil
}

// compact makes sure that nothing of what was deleted is left in the file.
func (b *Bank) compact(ctx context.Context) error {
	if _, err := b.db.ExecContext(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("rewrite the bank: %w", err)
	}
	return nil
}

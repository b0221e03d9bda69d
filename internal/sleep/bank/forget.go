package bank

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// digestName returns a digest that represents the name of what was forgotten.
func digestName(kind, name string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + name))
	return hex.EncodeToString(sum[:])
}

// Kinds of what was forgotten. A project represents all folders below it, up to the moment in
// which it was forgotten; a turn for its copies in forks and resumed sessions.
const (
	kindProject = "project"
	kindSession = "session"
	kindTurn    = "turn"
)

// memory knows whether there is anything forgotten at all, so that nothing is looked up if not.
type memory struct{ projects, sessions, turns bool }

func readMemory(ctx context.Context, tx *sql.Tx) (m memory, err error) {
	kinds, err := sqlstore.Column(ctx, tx, "SELECT DISTINCT kind FROM forgotten")
	for _, kind := range kinds {
		switch kind {
		case kindProject:
			m.projects = true
		case kindSession:
			m.sessions = true
		case kindTurn:
			m.turns = true
		}
	}
	return m, err
}

// rest returns what of a session the user has not had forgotten, and false if that is nothing.
func (m memory) rest(ctx context.Context, tx *sql.Tx, s Session) (Session, bool, error) {
	if m.sessions {
		if gone, err := isForgotten(ctx, tx, kindSession, s.Source+"/"+s.ID, time.Time{}); err != nil || gone {
			return s, false, err
		}
	}
	if m.projects {
		for _, dir := range parents(s.Project) {
			if gone, err := isForgotten(ctx, tx, kindProject, dir, s.Ended); err != nil || gone {
				return s, false, err
			}
		}
	}
	if !m.turns {
		return s, true, nil
	}
	turns := s.Turns
	s.Turns = nil
	for i := range turns {
		gone, err := isForgotten(ctx, tx, kindTurn, s.Source+"/"+turns[i].ID, time.Time{})
		if err != nil {
			return s, false, err
		}
		if !gone {
			s.Turns = append(s.Turns, turns[i])
		}
	}
	return s, len(s.Turns) > 0, nil
}

// parents returns a folder and all that it lies in, also by the names without links.
func parents(dir string) []string {
	out := []string{}
	for _, at := range []string{filepath.Clean(dir), withoutLinks(dir)} {
		for ; !slices.Contains(out, at); at = filepath.Dir(at) {
			out = append(out, at)
		}
	}
	return out
}

func withoutLinks(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

func isForgotten(ctx context.Context, tx *sql.Tx, kind, name string, after time.Time) (bool, error) {
	var n int
	err := tx.QueryRowContext(ctx, "SELECT count(*) FROM forgotten WHERE kind = ? AND name = ? AND at >= ?", kind, digestName(kind, name), nano(after)).Scan(&n)
	return n > 0, err
}

func noteForgotten(ctx context.Context, tx *sql.Tx, kind, name string, at time.Time) error {
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO forgotten (kind, name, at) VALUES (?, ?, ?)", kind, digestName(kind, name), nano(at))
	return err
}

// ForgetSession deletes a session for good, with the copies of its turns that forks and resumed
// sessions hold, and keeps digests of their names, so that no later harvest takes them again.
func (b *Bank) ForgetSession(ctx context.Context, source, id string, at time.Time) error {
	return b.forget(ctx, "forget a session", func(tx *sql.Tx) error {
		turns, err := sqlstore.Column(ctx, tx, "SELECT turn FROM turns WHERE number IN (SELECT number FROM sessions WHERE source = ? AND session = ?)", source, id)
		if err != nil {
			return err
		}
		for _, turn := range turns {
			if err := noteForgotten(ctx, tx, kindTurn, source+"/"+turn, at); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "DELETE FROM turns WHERE source = ? AND turn = ?", source, turn); err != nil {
				return err
			}
		}
		if err := noteForgotten(ctx, tx, kindSession, source+"/"+id, at); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE source = ? AND session = ?", source, id); err != nil {
			return err
		}
		return forgetTasks(ctx, tx, source, id)
	})
}

// forgetTasks deletes the tasks that only a session has shown, and what others were shown by it.
func forgetTasks(ctx context.Context, tx *sql.Tx, source, id string) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM mined WHERE source = ? AND session = ?", source, id); err != nil {
		return err
	}
	texts, err := sqlstore.Column(ctx, tx, "SELECT data FROM tasks")
	if err != nil {
		return err
	}
	for _, text := range texts {
		var t wish.Task
		if err := json.Unmarshal([]byte(text), &t); err != nil {
			return err
		}
		of := func(r wish.Ref) bool { return r.Source == source && r.Session == id }
		if !slices.ContainsFunc(t.Seen, of) {
			continue
		}
		// The words of a task are those of the session that showed it first.
		if first := of(t.Seen[0]); first {
			if _, err := tx.ExecContext(ctx, "DELETE FROM tasks WHERE id = ?", t.Task.ID); err != nil {
				return err
			}
			continue
		}
		t.Seen = slices.DeleteFunc(t.Seen, of)
		data, err := json.Marshal(t)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE tasks SET data = ? WHERE id = ?", string(data), t.Task.ID); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM clusters WHERE number NOT IN (SELECT cluster FROM tasks)")
	return err
}

// ForgetProject deletes all sessions of the projects that match, and keeps digests of folders,
// by which sessions of them and of all below that ended before are not taken again. It returns
// how many sessions went.
func (b *Bank) ForgetProject(ctx context.Context, folders []string, match func(project string) bool, at time.Time) (n int, err error) {
	err = b.forget(ctx, "forget a project", func(tx *sql.Tx) error {
		projects, err := sqlstore.Column(ctx, tx, "SELECT DISTINCT project FROM sessions")
		if err != nil {
			return err
		}
		for _, project := range projects {
			if !match(project) {
				continue
			}
			folders = append(folders, project)
			gone, err := dropProject(ctx, tx, project)
			if err != nil {
				return err
			}
			n += gone
		}
		for _, q := range []string{"clusters", "nights", "candidates", "groups"} {
			projects, err := sqlstore.Column(ctx, tx, "SELECT DISTINCT project FROM "+q)
			if err != nil {
				return err
			}
			for _, project := range projects {
				if !match(project) {
					continue
				}
				if err := dropNights(ctx, tx, q, project); err != nil {
					return err
				}
			}
		}
		for _, dir := range folders {
			if err := noteForgotten(ctx, tx, kindProject, filepath.Clean(dir), at); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// forget deletes for good what f deletes, with what only it had in the bank.
func (b *Bank) forget(ctx context.Context, what string, f func(*sql.Tx) error) error {
	err := b.write(ctx, what, func(tx *sql.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		for _, q := range []string{
			"DELETE FROM sessions WHERE number NOT IN (SELECT number FROM turns)",
			// A problem may name what is forgotten; whatever still holds is reported again when the
			// store is read again.
			"UPDATE stores SET problems = '[]'",
		} {
			if _, err := tx.ExecContext(ctx, q); err != nil {
				return err
			}
		}
		return errors.Join(hideStores(ctx, tx), unsettle(ctx, tx))
	})
	if err != nil {
		return err
	}
	if err := b.Settle(ctx); err != nil {
		return err
	}
	return b.compact(ctx)
}

// hideStores takes the paths away of stores of which no session is kept any more: they may name
// a project or a session.
func hideStores(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM stores WHERE error <> '' AND path NOT IN (SELECT store FROM sessions)"); err != nil {
		return err
	}
	paths, err := sqlstore.Column(ctx, tx, "SELECT path FROM stores WHERE path NOT LIKE 'sha256:%' AND path NOT IN (SELECT store FROM sessions)")
	if err != nil {
		return err
	}
	for _, path := range paths {
		if _, err := tx.ExecContext(ctx, "UPDATE stores SET path = ?, problems = '[]' WHERE path = ?", StoreKey(path), path); err != nil {
			return err
		}
	}
	return nil
}

// dropNights deletes what a table of nights has of a project, and what belongs to that.
func dropNights(ctx context.Context, tx *sql.Tx, table, project string) error {
	queries := []string{"DELETE FROM " + table + " WHERE project = ?"}
	switch table {
	case "clusters":
		queries = append([]string{"DELETE FROM tasks WHERE cluster IN (SELECT number FROM clusters WHERE project = ?)"}, queries...)
	case "candidates":
		queries = append([]string{"DELETE FROM pairs WHERE candidate IN (SELECT number FROM candidates WHERE project = ?)"}, queries...)
	}
	for _, q := range queries {
		if _, err := tx.ExecContext(ctx, q, project); err != nil {
			return err
		}
	}
	return nil
}

func dropProject(ctx context.Context, tx *sql.Tx, project string) (int, error) {
	for _, q := range []string{
		"DELETE FROM turns WHERE number IN (SELECT number FROM sessions WHERE project = ?)",
		"DELETE FROM mined WHERE (source, session) IN (SELECT source, session FROM sessions WHERE project = ?)",
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

// Entries returns the names of the files and folders of a bank in its folder.
func Entries() []string {
	return []string{File, File + "-journal", File + "-wal", File + "-shm", lockFile, holderFile, tempDir}
}

// Reset deletes the bank of a folder and all that belongs to it, after first has deleted the
// rest, while no one else can open it. It need not be readable. Other files in the folder stay;
// the folder goes if there are none.
func Reset(dir string, first func() error) error {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || !info.IsDir():
		return notFolder(dir)
	}
	lock, err := takeLock(dir)
	if err != nil {
		return err
	}
	if err := first(); err != nil {
		return errors.Join(err, lock.Unlock())
	}
	for _, name := range Entries() {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
	}
	if err = errors.Join(err, lock.Unlock()); err != nil {
		return fmt.Errorf("delete what sleep keeps: %w", err)
	}
	_ = os.Remove(dir) // what else is in it stays, and it with it
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
		if n = int(gone); err != nil || n == 0 {
			return err
		}
		return errors.Join(hideStores(ctx, tx), unsettle(ctx, tx))
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
			return gone, b.wrapError("find the oldest sessions", err)
		}
		n, err := b.Prune(ctx, time.Unix(0, end.Int64+1))
		if gone += n; err != nil || n == 0 {
			return gone, err
		}
	}
}

// Size returns how much the bank takes, in bytes.
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
		return b.wrapError("rewrite the bank", err)
	}
	return nil
}

// Name is how a session is called.
type Name struct{ Source, Session, Project string }

// Names lists the sessions whose id begins so, also those of which another has all turns.
func (b *Bank) Names(ctx context.Context, prefix string) ([]Name, error) {
	query := "SELECT DISTINCT source, session, project FROM sessions WHERE substr(session, 1, length(?1)) = ?1 ORDER BY source, session, project"
	out, err := sqlstore.All(ctx, b.db, query, []any{prefix}, func(rows *sql.Rows, n *Name) error { return rows.Scan(&n.Source, &n.Session, &n.Project) })
	return out, b.wrapError("look for sessions", err)
}

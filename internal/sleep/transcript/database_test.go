package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// writerEnv makes the test binary a program that writes a database, as an agent does: of
// another process, since locks are a process's.
const writerEnv = "SKILLOPT_TEST_WRITES"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerEnv); path != "" {
		if err := writeForever(path, os.Getenv(writerEnv+"_MODE")); err != nil {
			fmt.Println("writer:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// writeForever commits pairs of rows until its standard input ends. It does not wait for locks:
// whoever keeps it from committing makes it fail.
func writeForever(path, mode string) error {
	db := sqlstore.Open(path, "?mode=rwc&_pragma=busy_timeout(0)&_pragma=synchronous(OFF)&_pragma=wal_autocheckpoint(20)&_pragma=journal_mode("+mode+")")
	db.SetMaxOpenConns(1)
	done := make(chan struct{})
	go func() { _, _ = os.Stdin.Read(make([]byte, 1)); close(done) }()
	for n := 0; ; n++ {
		select {
		case <-done:
			return db.Close()
		default:
		}
		if _, err := db.Exec("CREATE TABLE IF NOT EXISTS a (n, pad); CREATE TABLE IF NOT EXISTS b (n, pad); BEGIN IMMEDIATE; INSERT INTO a VALUES (?1, ?2); INSERT INTO b VALUES (?1, ?2); COMMIT;", n, strings.Repeat("x", 300+n%5000)); err != nil {
			return fmt.Errorf("commit %d: %w", n, err)
		}
		if n == 0 {
			fmt.Println("ready")
		}
		if n%200 == 199 { // the file does not grow without end
			if _, err := db.Exec("BEGIN IMMEDIATE; DELETE FROM a; DELETE FROM b; COMMIT;"); err != nil {
				return fmt.Errorf("clear: %w", err)
			}
		}
		if n%10 == 0 {
			time.Sleep(time.Millisecond) // an agent is not always at it
		}
	}
}

// TestDatabaseIsCopiedWhole copies a database that a program writes all the time: each copy is
// whole, and the program is never kept from committing.
func TestDatabaseIsCopiedWhole(t *testing.T) {
	t.Parallel()
	times := 60
	if os.Getenv("SKILLOPT_LONG") != "" {
		times = 1000
	}
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "agent.db")
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), writerEnv+"="+path, writerEnv+"_MODE="+mode)
			stop, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := out.Read(make([]byte, 5)); err != nil {
				t.Fatal(err)
			}
			whole, busy, most := copies(t, path, times)
			_ = stop.Close() // it ends the program
			if err := cmd.Wait(); err != nil {
				t.Errorf("the program that writes: %v", err)
			}
			if whole == 0 { // how many, depends on the machine
				t.Errorf("none of %d copies could be made", times)
			}
			t.Logf("%s: %d whole copies, %d refused as busy, up to %d rows", mode, whole, busy, most)
		})
	}
}

func copies(t *testing.T, path string, times int) (whole, busy, most int) {
	s := Store{Source: "x", Root: filepath.Dir(path), Name: filepath.Base(path), Beside: []string{filepath.Base(path) + "-wal"}}
	temp := t.TempDir()
	for range times {
		r := &Reading{Clean: redact.New(), Temp: temp}
		err := r.database(t.Context(), s, func(db *sql.DB) error {
			n, err := sound(t.Context(), db)
			most = max(most, n)
			return err
		})
		var refused *BusyError
		switch {
		case err == nil:
			whole++
		case errors.As(err, &refused):
			busy++
		default:
			t.Errorf("a copy is not whole: %v", err)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("copies are left over: %v %v", left, err)
	}
	return whole, busy, most
}

// sound checks a copy, and that no half of a transaction is in it.
func sound(ctx context.Context, db *sql.DB) (rows int, err error) {
	var said string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&said); err != nil || said != "ok" {
		return 0, fmt.Errorf("integrity: %s: %w", said, err)
	}
	var a, b int
	if err := db.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)").Scan(&a, &b); err != nil {
		return 0, err
	}
	if a != b {
		return 0, fmt.Errorf("%d rows of one table and %d of the other: half a transaction", a, b)
	}
	return a, nil
}

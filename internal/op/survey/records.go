package survey

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

// maxRecord bounds the file of a run of tests.
const maxRecord = 64 << 20

// records are the runs of tests that a survey has made: a file each, by the digest of what was run.
type records struct {
	dir   string
	suite string // digest
	base  string // folder of the suite's file

	Made, Found int     // runs
	CPU         float64 // seconds, of all runs
}

// openRecords opens the folder of records, and removes workspaces that a killed survey has left.
func openRecords(dir string) (*records, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("keep runs of tests: %w", err)
	}
	if err := disk.RemoveAll(filepath.Join(dir, "work")); err != nil {
		return nil, fmt.Errorf("remove workspaces: %w", err)
	}
	return &records{dir: dir}, nil
}

// digest returns that of a value as JSON.
func digest(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // of values that are made here
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// loadOrRun returns what a file has under a key, or does the work and writes it.
func loadOrRun[T any](ctx context.Context, r *records, key any, work func() (T, error)) (T, error) {
	name := filepath.Join(r.dir, digest([]any{r.suite, key})+".json")
	var out T
	text, err := disk.Read(ctx, name, maxRecord)
	if err == nil && json.Unmarshal(text, &out) == nil {
		r.Found++
		return out, nil
	}
	if out, err = work(); err != nil {
		return out, err
	}
	r.Made++
	if text, err = json.Marshal(out); err != nil {
		return out, fmt.Errorf("keep a run of tests: %w", err)
	}
	return out, disk.WriteFile(name, text, 0o644)
}

// runInWorkspace writes a tree into a workspace of its own, with a home next to it, for as long as the work takes.
func (r *records) runInWorkspace(ctx context.Context, t *tree.Tree, do func(work, home string) error) (err error) {
	top := filepath.Join(r.dir, "work")
	if err := os.MkdirAll(top, 0o755); err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	dir, err := os.MkdirTemp(top, "")
	if err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	defer func() { err = errors.Join(err, disk.RemoveAll(dir)) }()
	work, home := filepath.Join(dir, "w"), filepath.Join(dir, "home")
	for _, d := range []string{work, home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return fmt.Errorf("make workspace: %w", err)
		}
	}
	if _, err := t.Write(ctx, work, nil); err != nil {
		return err
	}
	return do(work, home)
}

// run runs tests on a tree of the store, or returns what the n-th such run has shown.
func (s *surveyor) run(ctx context.Context, hash string, targets []string, n int) (runner.Report, error) {
	return loadOrRun(ctx, s.runs, []any{"run", hash, targets, n}, func() (report runner.Report, err error) {
		err = s.inTree(ctx, hash, func(work, home string) error {
			report, err = s.suite.Run(ctx, runner.Job{Dir: work, Home: home, Targets: targets, Timeout: s.limit, Base: s.runs.base})
			return err
		})
		s.runs.CPU += report.CPU.Seconds()
		return report, cmp.Or(err, ctx.Err())
	})
}

// inTree writes a tree of the store into a workspace for as long as the work takes.
func (s *surveyor) inTree(ctx context.Context, hash string, do func(work, home string) error) error {
	t, err := tree.OpenTree(ctx, s.out.Store().Repo(), hash, tree.Bounds{})
	if err != nil {
		return err
	}
	return s.runs.runInWorkspace(ctx, t, do)
}

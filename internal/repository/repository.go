package repository

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/git"
	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/tree"
	"github.com/seed-f4525e22/skillopt/task"
)

// Names of what the folder holds.
const (
	SuiteFile = "repository.json" // a runner.Suite
	StoreDir  = "objects.git"     // a bare repository of blobs and trees
	CacheDir  = "cache"           // what builds begin with
	SurveyDir = "survey"          // results of test runs, for a survey that is begun again
	DepsDir   = "deps"            // dependencies that a command of the user's has installed: agents and tests read it
)

// Field is the field of a task that says what it is made of: a [Task].
const Field = "repo"

// maxSuite bounds the file that says how tests run.
const maxSuite = 1 << 20

// Task says what a task is made of, and which tests decide about it. Trees are hashes in the store.
type Task struct {
	Base    string   `json:"base"`          // what the workspace begins with; hidden tests are absent
	Tests   string   `json:"tests"`         // the files of hidden tests and nothing more
	Fix     string   `json:"fix"`           // Base with the real fix applied
	Fail    []string `json:"fail_to_pass"`  // tests that fail on Base and must pass
	Pass    []string `json:"pass_to_pass"`  // tests that pass on Base and must pass still
	Targets []string `json:"targets"`       // packages or files whose tests run
	Source  string   `json:"source"`        // a commit, or "path:line kind" of a planted fault
	Kin     string   `json:"kin,omitempty"` // near copies have the same
	CPU     float64  `json:"cpu_seconds"`   // of one grading
	MB      float64  `json:"mb"`            // peak memory of one grading
}

// Repository is the folder of a repository. Its methods may be called concurrently.
type Repository struct {
	Dir string // absolute

	suite  runner.Suite
	digest string
	store  *tree.Store
	env    git.Env
}

// Open opens the folder. Nothing is run but git on the store.
func Open(ctx context.Context, dir string, env git.Env) (*Repository, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	r := &Repository{Dir: dir, env: env}
	text, err := disk.Read(ctx, filepath.Join(dir, SuiteFile), maxSuite)
	if err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	if err := json.Unmarshal(text, &r.suite); err != nil {
		return nil, fmt.Errorf("open repository: read %s: %w", SuiteFile, err)
	}
	sum := sha256.Sum256(text)
	r.digest = hex.EncodeToString(sum[:])[:16]
	if r.store, err = tree.OpenStore(ctx, filepath.Join(dir, StoreDir), env); err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	return r, nil
}

// Create makes the folder, or takes one that it has made before, for a suite. Trees are added to its [Repository.Store].
func Create(ctx context.Context, dir string, s runner.Suite, env git.Env) (*Repository, error) {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("create repository: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create repository: %w", err)
	}
	if err := disk.WriteFile(filepath.Join(dir, SuiteFile), append(text, '\n'), 0o644); err != nil {
		return nil, fmt.Errorf("create repository: %w", err)
	}
	store := filepath.Join(dir, StoreDir)
	if _, err := os.Lstat(store); errors.Is(err, fs.ErrNotExist) {
		if _, err := tree.CreateStore(ctx, store, env); err != nil {
			return nil, fmt.Errorf("create repository: %w", err)
		}
	}
	return Open(ctx, dir, env)
}

// Suite returns how the tests of the repository run.
func (r *Repository) Suite() runner.Suite { return r.suite }

// Store returns where the trees of tasks are.
func (r *Repository) Store() *tree.Store { return r.store }

// Digest names how the tests of the repository run. Trees have names of their own.
func (r *Repository) Digest() string { return r.digest }

// Private returns what no confined program may read of the folder: the fixes are there.
func (r *Repository) Private() []string {
	var all []string
	for _, name := range []string{SuiteFile, StoreDir, CacheDir, SurveyDir} {
		all = append(all, filepath.Join(r.Dir, name))
	}
	return all
}

// Deps returns where dependencies lie that a command of the user's has installed.
func (r *Repository) Deps() string { return filepath.Join(r.Dir, DepsDir) }

// Read reads what a task is made of.
func Read(t task.Task) (Task, error) {
	var own Task
	v, there := t.Data[Field]
	if !there {
		return own, fmt.Errorf("task %s (%s) has no field %s: it is none of a repository", t.ID, t.Origin, Field)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return own, fmt.Errorf("read the field %s of task %s: %w", Field, t.ID, err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&own); err != nil {
		return own, fmt.Errorf("read the field %s of task %s (%s): %w", Field, t.ID, t.Origin, err)
	}
	for _, hash := range []string{own.Base, own.Tests, own.Fix} {
		if hash == "" {
			return own, fmt.Errorf("the field %s of task %s (%s) lacks a tree", Field, t.ID, t.Origin)
		}
	}
	if len(own.Fail) == 0 {
		return own, fmt.Errorf("the field %s of task %s (%s) names no test that is to pass", Field, t.ID, t.Origin)
	}
	return own, nil
}

// Fixes returns the changes that lead from the base of a task to its real fix.
func (r *Repository) Fixes(ctx context.Context, t Task) ([]tree.Change, error) {
	paths, err := r.store.Diff(ctx, t.Base, t.Fix)
	if err != nil {
		return nil, fmt.Errorf("look at the fix: %w", err)
	}
	fix, err := r.open(ctx, t.Fix)
	if err != nil {
		return nil, err
	}
	var changes []tree.Change
	var files []tree.File
	for _, p := range paths {
		if f, there := fix.Find(p.Name); there {
			files = append(files, f)
		} else if p.Status == 'D' {
			changes = append(changes, tree.Change{Path: p.Name, Gone: true})
		}
	}
	err = fix.Read(ctx, files, func(f tree.File, data []byte) error {
		c := tree.Change{Path: f.Path, Exec: f.Exec, Link: f.Link}
		if f.Link == "" {
			c.Data = bytes.Clone(data)
		}
		changes = append(changes, c)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the fix: %w", err)
	}
	return changes, nil
}

// open looks at a tree of the store.
func (r *Repository) open(ctx context.Context, hash string) (*tree.Tree, error) {
	t, err := tree.OpenTree(ctx, r.store.Repo(), hash, tree.Bounds{})
	if err != nil {
		return nil, fmt.Errorf("open tree %.12s of the repository: %w", hash, err)
	}
	return t, nil
}

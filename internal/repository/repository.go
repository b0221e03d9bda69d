package repository

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

	suite runner.Suite
	store *tree.Store
}

// Open opens the folder. Nothing is run but git on the store.
func Open(ctx context.Context, dir string, env git.Env) (*Repository, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	r := &Repository{Dir: dir}
	text, err := disk.Read(ctx, filepath.Join(dir, SuiteFile), maxSuite)
	if err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	if err := json.Unmarshal(text, &r.suite); err != nil {
		return nil, fmt.Errorf("open repository: read %s: %w", SuiteFile, err)
	}
	if r.store, err = tree.OpenStore(ctx, filepath.Join(dir, StoreDir), env); err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	return r, nil
}

// Create makes the folder, which must not hold one, for a suite. Trees are added to its [Repository.Store].
func Create(ctx context.Context, dir string, s runner.Suite, env git.Env) (*Repository, error) {
	return nil, errors.ErrUnsupported
}

// Suite returns how the tests of the repository run.
func (r *Repository) Suite() runner.Suite { return r.suite }

// Store returns where the trees of tasks are.
func (r *Repository) Store() *tree.Store { return r.store }

// Read reads what a task is made of.
func Read(t task.Task) (Task, error) {
	return Task{}, errors.ErrUnsupported
}

// Lay fills a workspace with what a task begins with, as a git repository with one commit, and a home with caches.
// home is "" where there is none.
func (r *Repository) Lay(ctx context.Context, root *os.Root, home string, t task.Task) error {
	return errors.ErrUnsupported
}

// Grade says how what an agent left is graded.
type Grade struct {
	Passed  bool
	Reason  string        // why not, in one sentence; "" where it passed
	Dropped []string      // changes that were not laid over: "path: why"
	Failing []string      // names of tests that should pass and did not
	Forged  bool          // the report has the canaries otherwise than they end
	Report  runner.Report // of all tests that ran
}

// Grade runs the tests of a task on what an agent left in a workspace. An error is one of infrastructure.
func (r *Repository) Grade(ctx context.Context, t Task, work string) (Grade, error) {
	return Grade{}, errors.ErrUnsupported
}

// GradeChanges is Grade of changes. None at all is what an agent leaves that does nothing.
func (r *Repository) GradeChanges(ctx context.Context, t Task, changes []tree.Change) (Grade, error) {
	return Grade{}, errors.ErrUnsupported
}

// Fixes returns the changes that lead from the base of a task to its real fix.
func (r *Repository) Fixes(ctx context.Context, t Task) ([]tree.Change, error) {
	return nil, errors.ErrUnsupported
}

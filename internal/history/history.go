// Package history lists the commits of a repository that a task could be made of: those that change code and, in other files, tests.
// It reads what git prints of them, and runs nothing of theirs.
//
// It knows commits and paths; nothing about runners of tests, tasks or models.
package history

import (
	"context"
	"errors"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/git"
)

// Commit is a commit with one parent.
type Commit struct {
	Hash, Parent     string
	Tree, ParentTree string
	Subject, Body    string
	Time             time.Time  // of the commit, not of its author's work
	Paths            []git.Path // that it changes
}

// Kinds says what paths are. Inside may be nil; the others may not. Paths are of the whole repository, with slashes.
type Kinds struct {
	Test   func(path string) bool // a file of tests
	Code   func(path string) bool // source that is no file of tests
	Lock   func(path string) bool // which versions of dependencies there are
	Inside func(path string) bool // source with tests in it
}

// Candidate is a commit that a task could be made of.
type Candidate struct {
	Commit
	Tests []string // that it adds or changes; those that it deletes are only in Paths
	Code  []string // that it changes, adds or deletes
}

// LeftOut counts the commits that are no candidates by their reason.
type LeftOut map[string]int

// Reasons why a commit is no candidate.
const (
	Merge    = "merge"
	First    = "first commit" // or the oldest one of a shallow clone
	Revert   = "revert"
	Large    = "changes too many files"
	Renames  = "rename only"
	Locks    = "lock files"
	Modules  = "submodules"
	Secrets  = "secrets"
	NoTests  = "no tests"
	Inside   = "tests inside source files"
	NoCode   = "no code"
	NoChange = "no changes"
)

// List returns the candidates among HEAD and what came before it, newest first, and counts the other commits up to the last candidate.
// prefix is a folder of the repository that the tests lie in, "" for all of it. It ends after limit candidates, 0 for all.
func List(ctx context.Context, repo *git.Repo, prefix string, k Kinds, limit int) ([]Candidate, LeftOut, error) {
	return nil, nil, errors.New("not yet")
}

// Package history lists the commits of a repository that a task could be made of: those that change code and, in other files, tests.
// It reads what `git log` prints as it comes, keeps the candidates alone, and runs nothing of the repository's.
//
// It knows commits and paths; nothing about runners of tests, tasks or models.
package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/git"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

// Commit is a commit with one parent.
type Commit struct {
	Hash, Parent     string
	Tree, ParentTree string
	Subject, Body    string     // valid UTF-8; what is longer than 16 KB is cut
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
	NoChange = "no changes"
	Large    = "changes too many files"
	Revert   = "revert"
	Renames  = "rename only"
	Locks    = "lock files"
	NoTests  = "no tests"
	Inside   = "tests inside source files"
	NoCode   = "no code"
	Modules  = "submodules"
	Secrets  = "secrets"
)

const (
	logTimeout = 10 * time.Minute
	maxLog     = 16 << 30 // bytes that git may print
	maxPaths   = 500      // that a candidate may change
)

// log prints of each commit seven fields and what it changes, see [parser]. No setting of the repository changes any of it.
var log = []string{
	"log", "-z", "--raw", "--no-abbrev", "--no-renames", "--diff-merges=off", "--no-show-signature", "--no-notes", "--no-mailmap", "--no-color",
	"--no-ext-diff", "--no-textconv", "--no-relative", "--ignore-submodules=none", "-O/dev/null", "--encoding=UTF-8",
	"--format=tformat:%x01%H%x00%P%x00%T%x00%ct%x00%s%x00%b%x00", "HEAD", "--",
}

var errEnough = errors.New("enough candidates")

// List returns the candidates among HEAD and what came before it, newest first, and counts the other commits up to the last candidate.
// prefix is a folder of the repository that the tests lie in, "" for all of it. It ends after limit candidates, 0 for all.
func List(ctx context.Context, repo *git.Repo, prefix string, k Kinds, limit int) ([]Candidate, LeftOut, error) {
	l := &lister{kinds: k, limit: limit, out: LeftOut{}}
	if prefix != "" {
		l.prefix = strings.TrimSuffix(prefix, "/") + "/"
	}
	p := &parser{each: l.take}
	long := *repo
	long.Timeout = logTimeout
	err := long.Run(ctx, nil, p, maxLog, log...)
	if err == nil {
		err = p.end()
	}
	if err != nil && !errors.Is(err, errEnough) {
		return nil, nil, fmt.Errorf("list commits: %w", err)
	}
	if err := l.parents(ctx, repo); err != nil {
		return nil, nil, fmt.Errorf("look at the parents of commits: %w", err)
	}
	return l.list, l.out, nil
}

// lister sorts commits into candidates and others.
type lister struct {
	kinds  Kinds
	prefix string // with a slash at its end, or ""
	limit  int
	list   []Candidate
	out    LeftOut
}

// take takes a commit.
func (l *lister) take(r record) error {
	c := Candidate{Commit: r.Commit}
	if why := l.reason(&c, r); why != "" {
		l.out[why]++
		return nil
	}
	c.Paths = slices.Clip(c.Paths)
	if l.list = append(l.list, c); len(l.list) == l.limit {
		return errEnough
	}
	return nil
}

// reason says why a commit is no candidate, and notes the tests and code of one that is.
func (l *lister) reason(c *Candidate, r record) string {
	switch {
	case r.parents > 1:
		return Merge
	case r.parents == 0:
		return First
	case r.large:
		return Large
	case len(c.Paths) == 0:
		return NoChange
	case reverts(c.Commit):
		return Revert
	case renames(c.Paths):
		return Renames
	}
	for _, p := range c.Paths {
		switch {
		case l.kinds.Lock(p.Name):
			return Locks
		case l.kinds.Test(p.Name):
			if file(p.NewMode) && strings.HasPrefix(p.Name, l.prefix) {
				c.Tests = append(c.Tests, p.Name)
			}
		case l.kinds.Code(p.Name) && (file(p.NewMode) || file(p.OldMode)):
			c.Code = append(c.Code, p.Name)
		}
	}
	switch {
	case len(c.Code) == 0:
		return NoCode
	case len(c.Tests) == 0 && l.kinds.Inside != nil && slices.ContainsFunc(c.Code, l.kinds.Inside):
		return Inside
	case len(c.Tests) == 0:
		return NoTests
	case slices.ContainsFunc(c.Paths, func(p git.Path) bool { return p.OldMode == git.Module || p.NewMode == git.Module }):
		return Modules
	case slices.ContainsFunc(c.Paths, func(p git.Path) bool { return tree.Secret(p.Name) }):
		return Secrets
	}
	return ""
}

func file(mode string) bool { return mode == git.Plain || mode == git.Executable }

// reverted is what git, and those who name the kinds of commits, write of a revert.
var reverted = pattern.New(`(?i)^(revert|reapply) "|^revert(\([^)]*\))?!?:`)

// revertedBody is what git writes in the body of one.
var revertedBody = pattern.New(`(?m)^This reverts commit [0-9a-f]{7,64}`)

func reverts(c Commit) bool {
	return reverted.MatchString(c.Subject) || revertedBody.MatchString(c.Body)
}

// renames reports whether files have only other names.
func renames(paths []git.Path) bool {
	count := map[string]int{}
	for _, p := range paths {
		if p.Status == 'M' {
			return false
		}
		count[p.Old]++
		count[p.New]--
	}
	delete(count, "") // the side that is not there
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// parents notes the trees of the candidates' parents.
func (l *lister) parents(ctx context.Context, repo *git.Repo) error {
	var in strings.Builder
	for _, c := range l.list {
		in.WriteString(c.Parent + "^{tree}\n")
	}
	found, err := repo.Look(ctx, in.String(), git.MaxListing)
	if err != nil {
		return err
	}
	for i, f := range found {
		if f.Kind != "tree" {
			return &git.Unfit{Reason: git.Lost}
		}
		l.list[i].ParentTree = f.Object
	}
	return nil
}

package tree

import (
	"context"
	"errors"

	"github.com/seed-f4525e22/skillopt/internal/git"
)

// Change is what becomes of a path of a tree.
type Change struct {
	Path string // with slashes
	Data []byte
	Exec bool
	Link string // where it leads: it becomes a link
	Gone bool   // the file, or the folder with all in it, is taken away
}

// Path is something that differs between two trees.
type Path = git.Path

// Store is a bare repository of blobs and trees, without commits. One process writes to it at a time.
type Store struct{ repo *git.Repo }

// CreateStore makes an empty store in a folder that is empty or not there yet.
func CreateStore(ctx context.Context, dir string, env git.Env) (*Store, error) {
	return nil, errors.New("not yet")
}

// OpenStore opens a store.
func OpenStore(ctx context.Context, dir string, env git.Env) (*Store, error) {
	return nil, errors.New("not yet")
}

// Repo returns the store as a repository, for [OpenTree].
func (s *Store) Repo() *git.Repo { return s.repo }

// Import copies trees, or those of commits, with all that is below them, but for the content of files that look like secrets. What the
// store has is not copied. Many trees at a time take less room than one after the other.
func (s *Store) Import(ctx context.Context, from *git.Repo, trees ...string) error {
	return errors.New("not yet")
}

// Tree adds a tree that is another one of the store with changes, and returns its hash. base "" is the empty tree. Of changes to one path
// the last one holds.
func (s *Store) Tree(ctx context.Context, base string, changes []Change) (string, error) {
	return "", errors.New("not yet")
}

// Diff returns what differs between two trees, sorted by name; "" is the empty tree.
func (s *Store) Diff(ctx context.Context, a, b string) ([]Path, error) {
	return nil, errors.New("not yet")
}

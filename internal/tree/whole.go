package tree

import (
	"context"
	"errors"
	"os"

	"github.com/seed-f4525e22/skillopt/internal/git"
)

// OpenTree looks at the whole of a tree, or of a commit's, by its hash. In contrast to [Open] it has links that lead to a place inside
// of the tree, whether something is there or not, and has no files of which the tree holds only where they are (Git LFS). What is left
// out is counted, and [Tree.Missing] says why.
func OpenTree(ctx context.Context, repo *git.Repo, hash string, b Bounds) (*Tree, error) {
	return nil, errors.New("not yet")
}

// Files returns the files and links, sorted by path.
func (t *Tree) Files() []File { return nil }

// WriteOver writes the files and links into a folder that may hold others. What lies in the place of one of them is removed first, and no
// link of the folder is followed.
func (t *Tree) WriteOver(ctx context.Context, root *os.Root, omit func(name string) bool) (Written, error) {
	return Written{}, errors.New("not yet")
}

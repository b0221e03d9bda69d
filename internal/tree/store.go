package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/git"
	"github.com/seed-f4525e22/skillopt/internal/taskgroup"
)

// Path is something that differs between two trees.
type Path = git.Path

// Store is a bare repository of blobs and trees, without commits. One process writes to it at a time.
type Store struct{ repo *git.Repo }

const (
	maxPack    = 4 << 30   // bytes of what is copied at a time
	maxObjects = 256 << 20 // bytes of a list of objects
	maxLine    = 4 << 10
)

// CreateStore makes an empty store in a folder that is empty or not there yet, below one that is. It is there whole or not at all: git, too,
// outlives a process that is killed.
func CreateStore(ctx context.Context, dir string, env git.Env) (_ *Store, err error) {
	made, err := os.MkdirTemp(filepath.Dir(dir), "new-*.git")
	if err != nil {
		return nil, fmt.Errorf("create store: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(made)) }()
	err = git.New(made, env).Run(ctx, nil, nil, maxLine, "init", "--bare", "--quiet", "--template=", "--initial-branch=main", "--object-format=sha1")
	if err = errors.Join(err, os.Chmod(made, 0o755)); err == nil {
		err = os.Rename(made, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("create store: %w", err)
	}
	return storeAt(dir, env)
}

// OpenStore opens a store.
func OpenStore(ctx context.Context, dir string, env git.Env) (*Store, error) {
	s, err := storeAt(dir, env)
	if err == nil {
		_, err = formatIn(ctx, s.repo)
	}
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return s, nil
}

func storeAt(dir string, env git.Env) (*Store, error) {
	dir, err := filepath.Abs(dir)
	return &Store{repo: git.New(dir, env)}, err
}

// Repo returns the store as a repository, for [OpenTree].
func (s *Store) Repo() *git.Repo { return s.repo }

// formatIn returns how a repository names its objects: sha1 or sha256.
func formatIn(ctx context.Context, repo *git.Repo) (string, error) {
	var out bytes.Buffer
	if err := repo.Run(ctx, nil, &out, maxLine, "rev-parse", "--show-object-format"); err != nil {
		return "", fmt.Errorf("look at the format of objects: %w", err)
	}
	return strings.TrimSpace(out.String()), nil
}

// Import copies trees, or those of commits, with all that is below them, but for the content of files that look like secrets. What the
// store has is not copied. Many trees at a time take less room than one after the other.
func (s *Store) Import(ctx context.Context, from *git.Repo, trees ...string) error {
	if err := s.adapt(ctx, from); err != nil {
		return fmt.Errorf("import trees: %w", err)
	}
	roots, err := roots(ctx, from, trees)
	if err != nil {
		return fmt.Errorf("import trees: %w", err)
	}
	seen := map[string]bool{}
	for _, root := range roots {
		if err := noteObjects(ctx, from, root, seen); err != nil {
			return fmt.Errorf("import trees: %w", err)
		}
	}
	lacks, err := s.lacks(ctx, seen)
	if err == nil && lacks != "" {
		err = s.copy(ctx, from, lacks)
	}
	if err != nil {
		return fmt.Errorf("import trees: %w", err)
	}
	return nil
}

// adapt has an empty store name objects as a repository does.
func (s *Store) adapt(ctx context.Context, from *git.Repo) error {
	theirs, err1 := formatIn(ctx, from)
	ours, err2 := formatIn(ctx, s.repo)
	if err := errors.Join(err1, err2); err != nil || theirs == ours {
		return err
	}
	var out bytes.Buffer
	if err := s.repo.Run(ctx, nil, &out, maxLine, "count-objects", "-v"); err != nil {
		return err
	}
	if !strings.Contains(out.String(), "count: 0\n") || !strings.Contains(out.String(), "in-pack: 0\n") {
		return &Unfit{Reason: "the store names its objects by " + ours + ", the repository by " + theirs}
	}
	if err := s.repo.Run(ctx, nil, nil, maxLine, "config", "core.repositoryFormatVersion", "1"); err != nil {
		return err
	}
	return s.repo.Run(ctx, nil, nil, maxLine, "config", "extensions.objectFormat", theirs)
}

// roots returns the hashes of trees, and of the trees of commits.
func roots(ctx context.Context, from *git.Repo, trees []string) ([]string, error) {
	var in strings.Builder
	for _, tree := range trees {
		if !hash.MatchString(tree) {
			return nil, &Unfit{Reason: "no tree is known by its whole hash"}
		}
		in.WriteString(tree + "^{tree}\n")
	}
	found, err := from.Look(ctx, in.String(), maxObjects)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range found {
		if f.Kind != "tree" {
			return nil, &Unfit{Reason: git.Lost}
		}
		out = append(out, f.Object)
	}
	return out, nil
}

// noteObjects notes a tree and the objects below it that are to be copied.
func noteObjects(ctx context.Context, from *git.Repo, root string, seen map[string]bool) error {
	if seen[root] {
		return nil
	}
	var list bytes.Buffer
	if err := from.Run(ctx, nil, &list, maxObjects, "ls-tree", "-r", "-t", "-z", "--full-tree", root); err != nil {
		return fmt.Errorf("list tree %.12s: %w", root, err)
	}
	seen[root] = true
	return eachNode(list.String(), func(n node) {
		if n.kind != "commit" && !seen[n.object] && (n.kind == "tree" || !Secret(n.name)) {
			seen[strings.Clone(n.object)] = true
		}
	})
}

// node is something in a tree; its name is the path.
type node struct{ mode, kind, object, name string }

// eachNode reads what ls-tree prints.
func eachNode(list string, each func(node)) error {
	for line := range strings.SplitSeq(list, "\x00") {
		if line == "" {
			continue
		}
		head, name, named := strings.Cut(line, "\t")
		mode, rest, _ := strings.Cut(head, " ")
		kind, object, _ := strings.Cut(rest, " ")
		if !named || !hash.MatchString(object) {
			return &Unfit{Reason: git.Lost}
		}
		each(node{mode, kind, object, name})
	}
	return nil
}

// lacks lists those objects, one a line, that the store has not.
func (s *Store) lacks(ctx context.Context, objects map[string]bool) (string, error) {
	var in, out strings.Builder
	for object := range objects {
		in.WriteString(object + "\n")
	}
	found, err := s.repo.Look(ctx, in.String(), maxObjects)
	for _, f := range found {
		if f.Kind == "" {
			out.WriteString(f.Object + "\n")
		}
	}
	return out.String(), err
}

// copy copies objects as one pack.
func (s *Store) copy(ctx context.Context, from *git.Repo, objects string) error {
	group, ctx := taskgroup.WithContext(ctx)
	r, w := io.Pipe()
	var packed error
	group.Go(func() error {
		packed = from.Run(ctx, strings.NewReader(objects), w, maxPack, "pack-objects", "--stdout", "--quiet", "--window=10", "--depth=50", "--delta-base-offset")
		_ = w.CloseWithError(packed) // it never fails
		return packed
	})
	group.Go(func() error {
		err := s.repo.Run(ctx, r, nil, maxLine, "index-pack", "--stdin")
		_ = r.CloseWithError(err) // it never fails
		return err
	})
	return errors.Join(group.Wait(), packed)
}

// Diff returns what differs between two trees, sorted by name; "" is the empty tree.
func (s *Store) Diff(ctx context.Context, a, b string) ([]Path, error) {
	if a == b {
		return nil, nil
	}
	for _, tree := range []*string{&a, &b} {
		if *tree == "" {
			empty, err := s.Tree(ctx, "", nil)
			if err != nil {
				return nil, err
			}
			*tree = empty
		}
		if !hash.MatchString(*tree) {
			return nil, &Unfit{Reason: "no tree is known by its whole hash"}
		}
	}
	var out bytes.Buffer
	if err := s.repo.Run(ctx, nil, &out, git.MaxListing, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", a, b); err != nil {
		return nil, fmt.Errorf("compare trees: %w", err)
	}
	parts := strings.Split(strings.TrimSuffix(out.String(), "\x00"), "\x00")
	var list []Path
	for i := 0; i+1 < len(parts); i += 2 {
		p, ok := git.ParsePath(parts[i], parts[i+1])
		if !ok {
			return nil, &Unfit{Reason: git.Lost}
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Path) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// proper reports whether git can have a path in a tree, outside of any repository's own folder.
func proper(name string) bool {
	if name == "." || strings.ContainsRune(name, 0) || path.Clean(name) != name || path.IsAbs(name) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." || strings.EqualFold(part, ".git") {
			return false
		}
	}
	return true
}

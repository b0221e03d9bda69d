package repository

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
	"github.com/seed-f4525e22/skillopt/internal/tree"
	"github.com/seed-f4525e22/skillopt/task"
)

// Lay fills a workspace with what a task begins with, as a git repository with one commit, and a home with caches.
// Nothing of any other commit is in it.
func (r *Repository) Lay(ctx context.Context, root *os.Root, home string, t task.Task) error {
	own, err := Read(t)
	if err != nil {
		return err
	}
	base, err := r.open(ctx, own.Base)
	if err != nil {
		return err
	}
	if _, err := base.Write(ctx, root.Name(), nil); err != nil {
		return err
	}
	if err := r.begin(ctx, root, base); err != nil {
		return fmt.Errorf("make the workspace a git repository: %w", err)
	}
	if err := r.suite.Lay(ctx, r.Dir, root.Name(), home); err != nil {
		return fmt.Errorf("lay what the tests need: %w", err)
	}
	return nil
}

// dotGit is the folder of the repository in a workspace.
const dotGit = ".git"

// settings are those of the repository in a workspace. An agent can commit.
const settings = `[core]
	repositoryformatversion = %d
	filemode = true
	bare = false
	logallrefupdates = true
%s[user]
	name = Agent
	email = agent@localhost
`

// first is the only commit of a workspace: it says nothing of when it was made.
const first = "tree %s\nauthor Agent <agent@localhost> 1577836800 +0000\ncommitter Agent <agent@localhost> 1577836800 +0000\n\nStart\n"

// begin makes a repository in a workspace, with one commit of the files of a tree.
func (r *Repository) begin(ctx context.Context, root *os.Root, base *tree.Tree) error {
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := root.MkdirAll(path.Join(dotGit, dir), 0o755); err != nil {
			return err
		}
	}
	files := base.Files()
	version, format := 0, ""
	if len(files) > 0 && len(files[0].Object) > 40 {
		version, format = 1, "[extensions]\n\tobjectformat = sha256\n"
	}
	err := errors.Join(
		root.WriteFile(path.Join(dotGit, "HEAD"), []byte("ref: refs/heads/main\n"), 0o644),
		root.WriteFile(path.Join(dotGit, "config"), fmt.Appendf(nil, settings, version, format), 0o644),
		root.WriteFile(path.Join(dotGit, "info", "exclude"), []byte(r.ignores()), 0o644),
	)
	if err != nil {
		return err
	}
	into := git.New(filepath.Join(root.Name(), dotGit), r.env)
	if err := r.carry(ctx, files, into); err != nil {
		return err
	}
	commit, err := commitFiles(ctx, into, files)
	if err != nil {
		return err
	}
	return root.WriteFile(path.Join(dotGit, "refs", "heads", "main"), []byte(commit+"\n"), 0o644)
}

// ignores lists what is laid into a workspace and is no file of the tree, as git reads it.
func (r *Repository) ignores() string {
	var b strings.Builder
	for _, name := range r.places() {
		b.WriteString("/" + name + "\n")
	}
	return b.String()
}

// places returns the paths of a workspace at which caches and links lie, sorted.
func (r *Repository) places() []string {
	var all []string
	for name := range r.suite.Links {
		all = append(all, path.Clean(name))
	}
	for _, c := range r.suite.Caches {
		if name, in := strings.CutPrefix(c.To, "work:"); in {
			all = append(all, path.Clean(name))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// maxObjects bounds what git prints of the files of a workspace, in a pack.
const maxObjects = 1 << 30

// carry copies the content of files out of the store, as one pack.
func (r *Repository) carry(ctx context.Context, files []tree.File, into *git.Repo) error {
	if len(files) == 0 {
		return nil
	}
	var list strings.Builder
	for _, f := range files {
		list.WriteString(f.Object + "\n")
	}
	out, in := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := r.store.Repo().Run(ctx, strings.NewReader(list.String()), in, maxObjects, "pack-objects", "--stdout", "-q", "--window=0", "--compression=1", "--threads=1")
		_ = in.CloseWithError(err) // never fails
		packed <- err
	}()
	err := into.Run(ctx, out, io.Discard, 4<<10, "index-pack", "--stdin", "--threads=1")
	_ = out.Close() // never fails
	return errors.Join(err, <-packed)
}

// commitFiles makes the index and the only commit of a repository that has the content of files, and returns it.
func commitFiles(ctx context.Context, repo *git.Repo, files []tree.File) (string, error) {
	var list strings.Builder
	for _, f := range files {
		fmt.Fprintf(&list, "%s %s\t%s\x00", mode(f), f.Object, f.Path)
	}
	if err := repo.Run(ctx, strings.NewReader(list.String()), io.Discard, 4<<10, "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	written, err := line(ctx, repo, nil, "write-tree")
	if err != nil {
		return "", err
	}
	return line(ctx, repo, strings.NewReader(fmt.Sprintf(first, written)), "hash-object", "-t", "commit", "-w", "--stdin")
}

func mode(f tree.File) string {
	switch {
	case f.Link != "":
		return git.Link
	case f.Exec:
		return git.Executable
	}
	return git.Plain
}

// line runs a command of git and returns the line that it prints.
func line(ctx context.Context, repo *git.Repo, in io.Reader, args ...string) (string, error) {
	var out bytes.Buffer
	err := repo.Run(ctx, in, &out, 4<<10, args...)
	return strings.TrimSpace(out.String()), err
}

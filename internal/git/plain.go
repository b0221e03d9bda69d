package git

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Writable finds the repository of a project that may be written to: the folder that has its branches, and the project's folder
// in it, with slashes. One that lies elsewhere than where the project is, or whose folders are links, is an *[Unfit]: what is written
// would lie where no one named it.
func Writable(ctx context.Context, project, branch string) (dir, common, prefix string, err error) {
	dir, prefix, err = Find(ctx, project)
	if err != nil {
		return "", "", "", err
	}
	top, err := filepath.EvalSymlinks(project)
	if err != nil {
		return "", "", "", fmt.Errorf("look at the project: %w", err)
	}
	for range strings.Count(prefix, "/") + 1 {
		if prefix != "" {
			top = filepath.Dir(top)
		}
	}
	if common, err = findCommonDir(ctx, top, dir); err != nil {
		return "", "", "", err
	}
	return dir, common, prefix, checkLinks(common, branch)
}

// findCommonDir returns the folder of a repository that has its branches: itself, or the main one's for a working tree next to it.
func findCommonDir(ctx context.Context, top, dir string) (string, error) {
	dot := filepath.Join(top, ".git")
	info, err := os.Lstat(dot)
	switch {
	case err != nil: // a bare one
		return dir, nil
	case info.Mode()&fs.ModeSymlink != 0:
		return "", &Unfit{dot + " is a link; nothing is committed through one"}
	case info.IsDir():
		if _, err := os.Lstat(filepath.Join(dir, "commondir")); err == nil {
			return "", &Unfit{dot + " names another repository (commondir); nothing is committed there"}
		}
		return dir, nil
	}
	// A file: only a working tree that its repository knows of too.
	common := filepath.Dir(filepath.Dir(dir))
	back, err1 := disk.Read(ctx, filepath.Join(dir, "gitdir"), 4<<10)
	to, err2 := disk.Read(ctx, filepath.Join(dir, "commondir"), 4<<10)
	named := strings.TrimSpace(string(back))
	if !filepath.IsAbs(named) {
		named = filepath.Join(dir, named)
	}
	known, err3 := os.Stat(named)
	if err1 != nil || err2 != nil || err3 != nil || !os.SameFile(known, info) || filepath.Base(filepath.Dir(dir)) != "worktrees" || filepath.ToSlash(strings.TrimSpace(string(to))) != "../.." {
		return "", &Unfit{dot + " leads to a repository that does not know of it, such as that of a submodule; nothing is committed there"}
	}
	return common, nil
}

// checkLinks fails where a folder that git would write into is a link.
func checkLinks(common, branch string) error {
	names := []string{"", "objects", "refs", "logs"}
	for _, at := range []string{"refs/heads", "logs/refs/heads"} {
		for part := range strings.SplitSeq(branch, "/") {
			names = append(names, filepath.Dir(at), at)
			at += "/" + part
		}
		names = append(names, at)
	}
	objects, err := os.ReadDir(filepath.Join(common, "objects"))
	if err != nil {
		return fmt.Errorf("look at the repository: %w", err)
	}
	for _, e := range objects {
		names = append(names, "objects/"+e.Name())
	}
	for _, name := range names {
		at := filepath.Join(common, filepath.FromSlash(name))
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return &Unfit{at + " is a link; nothing is committed through one"}
		}
	}
	return nil
}

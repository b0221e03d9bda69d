package repository

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

// Bounds of what an agent can change.
const (
	maxChanged = 8 << 20  // bytes of one file
	maxWork    = 64 << 20 // of all files
	maxFiles   = 5000
)

// difference is what an agent has left in comparison with the tree that it began with.
type difference struct {
	places  []string // see Repository.places
	base    *tree.Tree
	seen    map[string]bool // paths of base that are there, changed or not
	changes []tree.Change
	dropped []string
	bytes   int64
}

// compare compares a workspace with a tree. What is no file, too large, or leads outside is dropped.
func (r *Repository) compare(base *tree.Tree, work string) (*difference, error) {
	root, err := os.OpenRoot(work)
	if err != nil {
		return nil, fmt.Errorf("look at what the agent left: %w", err)
	}
	defer func() { _ = root.Close() }() // it was only read
	d := &difference{places: r.places(), base: base, seen: map[string]bool{}}
	if err := disk.Walk(root, d.visit); err != nil {
		return nil, fmt.Errorf("look at what the agent left: %w", err)
	}
	for _, f := range base.Files() {
		if !d.seen[f.Path] && !d.ignores(f.Path) {
			d.changes = append(d.changes, tree.Change{Path: f.Path, Gone: true})
		}
	}
	return d, nil
}

func (d *difference) drop(name, why string) { d.dropped = append(d.dropped, name+": "+why) }

// visit takes an entry of the workspace. What cannot be read is the agent's doing.
func (d *difference) visit(dir *os.Root, name string, e fs.DirEntry, err error) error {
	switch {
	case err != nil:
		d.drop(name, disk.Reason(err))
		d.keepBelow(name)
		return nil
	case d.ignores(name):
		d.seen[name] = true
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	case e.IsDir():
		return nil
	case e.Type()&fs.ModeSymlink != 0:
		return d.link(dir, name)
	case !e.Type().IsRegular():
		d.seen[name] = true
		d.drop(name, "it is no file")
		return nil
	}
	return d.file(dir, name)
}

// keepBelow takes what cannot be looked at for unchanged.
func (d *difference) keepBelow(name string) {
	for _, f := range d.base.Files() {
		if name == "." || strings.HasPrefix(f.Path, name+"/") {
			d.seen[f.Path] = true
		}
	}
}

// link takes a link. Of one that leads outside nothing is taken over.
func (d *difference) link(dir *os.Root, name string) error {
	d.seen[name] = true
	to, err := dir.Readlink(path.Base(name))
	if err != nil {
		d.drop(name, disk.Reason(err))
		return nil
	}
	if f, there := d.base.Find(name); there && f.Link == to {
		return nil
	}
	if !staysInside(name, to) {
		d.drop(name, "it leads outside")
		return nil
	}
	d.add(tree.Change{Path: name, Link: to})
	return nil
}

// staysInside reports whether a link at a path leads to a place in the same tree, whatever lies on its way.
func staysInside(name, to string) bool {
	rest := to
	for strings.HasPrefix(rest, "../") {
		rest = rest[len("../"):]
	}
	return to != "" && !path.IsAbs(to) && !slices.Contains(strings.Split(rest, "/"), "..") && filepath.IsLocal(path.Join(path.Dir(name), to))
}

// file takes a file that is not as in the tree.
func (d *difference) file(dir *os.Root, name string) error {
	d.seen[name] = true
	f, err := dir.Open(path.Base(name))
	if err != nil {
		d.drop(name, disk.Reason(err))
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		d.drop(name, "it is no file")
		return nil
	}
	exec := info.Mode()&0o111 != 0
	if was, there := d.base.Find(name); there && was.Link == "" && was.Exec == exec && was.Size == info.Size() && same(f, was) {
		return nil
	}
	if info.Size() > maxChanged {
		d.drop(name, fmt.Sprintf("it has more than %s", disk.Size(maxChanged)))
		return nil
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxChanged))
	if err != nil {
		d.drop(name, disk.Reason(err))
		return nil
	}
	d.add(tree.Change{Path: name, Data: data, Exec: exec})
	return nil
}

// same reports whether a file holds what a file of a tree does.
func same(f *os.File, was tree.File) bool {
	var h hash.Hash = sha1.New()
	if len(was.Object) > 40 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", was.Size)
	n, err := io.Copy(h, io.NewSectionReader(f, 0, was.Size))
	return err == nil && n == was.Size && hex.EncodeToString(h.Sum(nil)) == was.Object
}

func (d *difference) add(c tree.Change) {
	d.bytes += int64(len(c.Data))
	if d.bytes > maxWork || len(d.changes) >= maxFiles {
		d.drop(c.Path, "so much was changed before it that it is left out")
		return
	}
	d.changes = append(d.changes, c)
}

// own returns files and folders of agents, wherever they lie: what they are given in words, and what they keep.
func own() []string {
	return []string{
		".git", ".claude", ".codex", ".cursor", ".gemini", ".qwen", ".opencode", ".pi", ".agents", ".copilot", ".aider*", ".skills",
		"claude.md", "claude.local.md", "agents.md", "gemini.md", "qwen.md", "copilot-instructions.md",
	}
}

// remains returns folders and files that runs of tests leave, of which a later run could load something else than the code.
func remains() []string {
	return []string{"__pycache__", "*.pyc", "*.pyo", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox", ".nyc_output", "node_modules"}
}

// ignores reports whether a path is none of the work of an agent: of agents themselves, of runs of tests, or laid into each workspace.
func (d *difference) ignores(name string) bool {
	if slices.ContainsFunc(d.places, func(at string) bool { return name == at || strings.HasPrefix(name, at+"/") }) {
		return true
	}
	for part := range strings.SplitSeq(strings.ToLower(name), "/") {
		for _, rule := range slices.Concat(own(), remains()) {
			if is, err := path.Match(rule, part); err == nil && is {
				return true
			}
		}
	}
	return tree.Steers(name)
}

// lay puts changes into a workspace, what is taken away first. One that meets a link on its way is dropped.
func lay(root *os.Root, changes []tree.Change) (dropped []string, err error) {
	ordered := slices.Clone(changes)
	slices.SortStableFunc(ordered, func(a, b tree.Change) int {
		switch {
		case a.Gone == b.Gone:
			return 0
		case a.Gone:
			return -1
		}
		return 1
	})
	for _, c := range ordered {
		why, err := put(root, c)
		if err != nil {
			return dropped, fmt.Errorf("lay %s: %w", c.Path, err)
		}
		if why != "" {
			dropped = append(dropped, c.Path+": "+why)
		}
	}
	return dropped, nil
}

// put lays one change, or says why it cannot be.
func put(root *os.Root, c tree.Change) (why string, err error) {
	if !filepath.IsLocal(c.Path) || c.Path == "." {
		return "it lies outside", nil
	}
	for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
		info, err := root.Lstat(dir)
		if err == nil && !info.IsDir() {
			return "it is below " + dir + ", which is no folder", nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !c.Gone {
			return "", err
		}
	}
	if c.Gone {
		if err := root.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		return "", clear(root, path.Dir(c.Path))
	}
	if info, err := root.Lstat(c.Path); err == nil && info.IsDir() {
		return "a folder is there with files that stay", nil
	}
	if err := root.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := root.MkdirAll(path.Dir(c.Path), 0o755); err != nil {
		return "", err
	}
	if c.Link != "" {
		return "", root.Symlink(c.Link, c.Path)
	}
	return "", create(root, c)
}

// clear removes folders that are empty now, from one upwards: git knows no empty ones.
func clear(root *os.Root, dir string) error {
	for ; dir != "."; dir = path.Dir(dir) {
		if err := root.Remove(dir); err != nil {
			return nil // files are in it
		}
	}
	return nil
}

func create(root *os.Root, c tree.Change) error {
	perm := fs.FileMode(0o644)
	if c.Exec {
		perm = 0o755
	}
	f, err := root.OpenFile(c.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(c.Data)
	return errors.Join(err, f.Close())
}

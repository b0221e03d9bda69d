package benchmark

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/dataset"
	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Bounds of the files that a prepared folder has as they are.
const (
	maxBrought = 20_000   // files by a pattern
	maxFile    = 64 << 20 // bytes of one
)

// bring puts the files of the source into the folder that tasks are about. A source without any is no
// error: they may be somewhere else, and are looked for when they are needed.
func (p *preparation) bring() error {
	for _, pattern := range p.Folder.Files {
		found, err := p.bringAll(pattern, "")
		if err != nil || found {
			return err
		}
	}
	for _, src := range p.Folder.Sources { // as they are published, and not as bench fetch lays them
		if src.Files == "" || !p.Folder.Brings(path.Join(src.To, src.Files)) {
			continue
		}
		if _, err := p.bringAll(src.Files, src.To); err != nil {
			return err
		}
	}
	return nil
}

// bringAll puts what a pattern covers into a folder to, and reports whether there is any.
func (p *preparation) bringAll(pattern, to string) (bool, error) {
	names, err := dataset.Files(p.ctx, p.from, pattern, dataset.Bounds{Files: maxBrought})
	if errors.Is(err, dataset.ErrNoFile) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, name := range names {
		if err := p.bringOne(name, path.Join(to, name)); err != nil {
			return false, fmt.Errorf("bring %s: %w", name, err)
		}
	}
	return true, nil
}

// bringOne links a file, or copies it where that cannot be done.
func (p *preparation) bringOne(name, to string) error {
	if err := p.work.root.MkdirAll(path.Dir(to), 0o755); err != nil {
		return err
	}
	if p.link(name, to) {
		return nil
	}
	return disk.CopyIn(p.ctx, p.from, name, p.work.root, to, maxFile)
}

// link makes a hard link, and reports whether it is one to the file that the root has under the name: the
// system makes links by paths, which may have changed since.
func (p *preparation) link(name, to string) bool {
	if os.Link(filepath.Join(p.from.Name(), filepath.FromSlash(name)), filepath.Join(p.work.dir, filepath.FromSlash(to))) != nil {
		return false
	}
	was, err := p.from.Lstat(name)
	is, ierr := p.work.root.Lstat(to)
	if err == nil && ierr == nil && is.Mode().IsRegular() && os.SameFile(was, is) {
		return true
	}
	_ = p.work.root.Remove(to) // a copy that finds it there says so
	return false
}

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sharedFolder is where programs share memory. In a root of its own a program has an
// empty one of its own there. Of the machine's it finds what the policy names, at its
// place, and nothing else.
const sharedFolder = "/dev/shm"

// lies reports whether path is dir or lies in it. Both are absolute.
func lies(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// lent lists what the program may read of the machine's shared memory and has not been
// given for writing. Elsewhere that is there anyhow.
func (p *policy) lent(given []bind) (all []bind) {
	for _, path := range append(slices.Clone(p.Read), p.Program) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !lies(real, sharedFolder) || slices.ContainsFunc(given, func(b bind) bool { return lies(real, b.from) }) {
			continue
		}
		all = append(all, bind{from: real, to: real, lent: true})
	}
	return all
}

// keepsShared reports whether the program's own shared memory can be its to write. A
// right to write there holds below each mount in it. Files are safe from that, since
// what is lent is mounted read-only; pipes and sockets in a folder are not.
func keepsShared(binds []bind) bool {
	return !slices.ContainsFunc(binds, func(b bind) bool {
		info, err := os.Stat(b.from)
		return b.lent && (err != nil || !info.Mode().IsRegular())
	})
}

// startFolder returns the folder where the program starts, if that is in shared memory. There is
// such a folder, empty where nothing is shown at it.
func (p *policy) startFolder() (all []bind) {
	if real, err := filepath.EvalSymlinks(p.Dir); err == nil && lies(real, sharedFolder) {
		all = append(all, bind{to: real})
	}
	return all
}

// link is a symbolic link in shared memory.
type link struct{ at, target string }

// links lists those that what the policy names is reached by.
func (p *policy) links() (all []link) {
	for _, path := range slices.Concat(p.Write, p.Inert, p.Read, []string{p.Called, p.Dir}) {
		if p.Show.Seen(path) == path {
			all = append(all, findLinks(path, maxLinks)...)
		}
	}
	return all
}

// maxLinks is how many symbolic links a path may lead through, as for the kernel.
const maxLinks = 40

func findLinks(path string, most int) (all []link) {
	path = filepath.Clean(path)
	for i := 1; i <= len(path) && most > 0; i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		at := path[:i]
		target, err := os.Readlink(at)
		if err != nil {
			continue // it is none, or not there
		}
		if lies(at, sharedFolder) {
			all = append(all, link{at, target})
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(at), target)
		}
		return append(all, findLinks(filepath.Join(target, path[i:]), most-1)...)
	}
	return nil
}

// frames lists the folders of shared memory in which nothing but places to show things
// at is made. They become read-only, so that nothing can be written next to these.
func frames(links []link, binds []bind) (all []string) {
	for _, l := range links {
		all = append(all, topShared(l.at))
	}
	for _, b := range binds {
		all = append(all, topShared(b.to))
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(top string) bool {
		shown := func(b bind) bool { return b.from != "" && lies(top, b.to) }
		return top == "" || slices.ContainsFunc(binds, shown) || slices.ContainsFunc(links, func(l link) bool { return l.at == top })
	})
}

// topShared returns the folder right in shared memory that a path leads through or is, "" if it is
// elsewhere.
func topShared(path string) string {
	rel, err := filepath.Rel(sharedFolder, path)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	top, _, _ := strings.Cut(rel, "/")
	return filepath.Join(sharedFolder, top)
}

// furnishShared mounts the program's own shared memory, with frames and links in it.
func (p *policy) furnishShared(frames []string, links []link) error {
	options := fmt.Sprintf("mode=1777,size=%d", p.sharedMemory())
	if err := mountOptional("tmpfs", sharedFolder, options); err != nil {
		return err
	}
	for _, f := range frames {
		if err := mountFrame(f); err != nil {
			return err
		}
	}
	for _, l := range links {
		at := newRoot + l.at
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return fmt.Errorf("show %s: %w", l.at, err)
		}
		if err := os.Symlink(l.target, at); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("show %s: %w", l.at, err)
		}
	}
	return nil
}

func mountFrame(path string) error {
	if err := os.MkdirAll(newRoot+path, 0o755); err != nil {
		return fmt.Errorf("show %s: %w", path, err)
	}
	return mountOptional("tmpfs", path, "mode=0755")
}

// sharedMemory returns the size of shared memory. What is in it counts as memory.
func (p *policy) sharedMemory() int64 {
	if memory := p.Limits.withDefaults(0).Memory; memory > 0 {
		return memory
	}
	return defaultMemory
}

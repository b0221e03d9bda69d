package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// mount gives this process, in a mount namespace of its own, a root in which
// everything is where it was and can only be read, but for the folders of the
// policy. /proc shows the processes of the namespace, /dev/shm what the policy names. It
// is put together as bubblewrap does: a new root next to the old one, which is then left.
func (p *policy) mount() error {
	binds, err := p.binds()
	if err != nil {
		return err
	}
	links := p.links()
	p.keeps = keepsShared(binds)
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to ourselves: %w", err)
	}
	base, err := mountPoint()
	if err != nil {
		return err
	}
	p.touched = true // from here on there is no way back
	if err := enterBase(base); err != nil {
		return err
	}
	if err := copyRoot(); err != nil {
		return err
	}
	if err := p.furnishRoot(links, binds); err != nil {
		return err
	}
	return leaveOld()
}

// The two trees while the new root is put together.
const (
	newRoot = "/new"
	oldRoot = "/old"
)

// bind is a folder or file of the old root that is mounted in the new one.
type bind struct {
	from, to string // absolute; from "" is a folder that needs to be there
	inert    bool   // nothing in it can be executed
	lent     bool   // nothing in it can be changed
}

// binds lists what can be written, and what would not be there to be read, without
// symbolic links: those lead elsewhere in another root.
func (p *policy) binds() ([]bind, error) {
	var all []bind
	add := func(paths []string, inert bool) error {
		for _, path := range paths {
			real, err := filepath.EvalSymlinks(path)
			if err != nil {
				return err
			}
			info, err := os.Stat(real)
			if err != nil {
				return err
			}
			if info.Mode()&fs.ModeDevice != 0 {
				continue // it can be written through a mount that is read-only, and looks for others next to it
			}
			to := real
			if at := p.Show.Seen(path); at != path {
				to = at
			}
			all = append(all, bind{from: real, to: to, inert: inert})
		}
		return nil
	}
	err := errors.Join(add(p.Write, false), add(p.Inert, true))
	all = slices.Concat(all, p.lent(all), p.startFolder())
	slices.SortStableFunc(all, func(a, b bind) int { return len(a.to) - len(b.to) }) // what lies in another comes on top of it
	return all, err
}

// mountPoint returns a folder that every system has, to begin at.
func mountPoint() (string, error) {
	for _, dir := range []string{"/tmp", "/mnt", "/var", "/usr"} {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			return dir, nil
		}
	}
	return "", errors.New("there is no folder to mount a root at")
}

// enterBase makes an empty root with the old one in oldRoot.
func enterBase(base string) error {
	if err := unix.Mount("tmpfs", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("mount a root: %w", err)
	}
	if err := errors.Join(os.Mkdir(base+newRoot, 0o755), os.Mkdir(base+oldRoot, 0o755)); err != nil {
		return err
	}
	if err := unix.PivotRoot(base, base+oldRoot); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Mount("tmpfs", newRoot, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("mount a root: %w", err)
	}
	return unix.Chdir("/")
}

// copyRoot shows in the new root what was in the old one, for reading.
func copyRoot() error {
	entries, err := os.ReadDir(oldRoot)
	if err != nil {
		return fmt.Errorf("look at the root: %w", err)
	}
	for _, e := range entries {
		if err := copyEntry(e); err != nil {
			return fmt.Errorf("show /%s: %w", e.Name(), err)
		}
	}
	return nil
}

func copyEntry(e fs.DirEntry) error {
	from, to := filepath.Join(oldRoot, e.Name()), filepath.Join(newRoot, e.Name())
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case !e.IsDir() || e.Name() == "proc":
		return nil
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return readOnly(to, unix.AT_RECURSIVE)
}

// readOnly makes a mount one that nothing can be changed through.
func readOnly(path string, flags uint) error {
	if err := unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("make %s read-only: %w", path, err)
	}
	return nil
}

// furnishRoot adds what is the program's own.
func (p *policy) furnishRoot(links []link, binds []bind) error {
	if err := mountProc(); err != nil {
		return err
	}
	if err := mountOptional("mqueue", "/dev/mqueue", ""); err != nil {
		return err
	}
	frames := frames(links, binds)
	if err := p.furnishShared(frames, links); err != nil {
		return err
	}
	for _, b := range binds {
		if err := b.mount(); err != nil {
			return fmt.Errorf("show %s: %w", b.from, err)
		}
	}
	for _, path := range append(frames, "") {
		if err := readOnly(newRoot+path, 0); err != nil {
			return err
		}
	}
	return nil
}

// mountOptional mounts what a system need not have.
func mountOptional(kind, dir, options string) error {
	err := unix.Mount(kind, newRoot+dir, kind, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, options)
	if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("mount %s: %w", dir, err)
	}
	return nil
}

// mountProc shows the processes of the namespace. Containers that hide parts of /proc
// do not let it be mounted: then it is the old one.
func mountProc() error {
	if err := os.Mkdir(newRoot+"/proc", 0o755); err != nil {
		return err
	}
	if unix.Mount("proc", newRoot+"/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "") == nil {
		return nil
	}
	if err := unix.Mount(oldRoot+"/proc", newRoot+"/proc", "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("show /proc: %w", err)
	}
	return nil
}

func (b bind) mount() error {
	if err := b.makePlace(); err != nil || b.from == "" {
		return err
	}
	if err := unix.Mount(oldRoot+b.from, newRoot+b.to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	switch {
	case b.lent:
		return readOnly(newRoot+b.to, unix.AT_RECURSIVE)
	case b.inert:
		return unix.MountSetattr(unix.AT_FDCWD, newRoot+b.to, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOEXEC})
	}
	return nil
}

// makePlace makes what is mounted at, where the new root is not a copy of the old one.
func (b bind) makePlace() error {
	to := newRoot + b.to
	if _, err := os.Lstat(to); err == nil || !topLevel(b.to) && !lies(b.to, sharedFolder) {
		return nil
	}
	if info, err := os.Stat(oldRoot + b.from); err != nil || b.from == "" || info.IsDir() {
		return errors.Join(err, os.MkdirAll(to, 0o755))
	}
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, nil, 0o600))
}

// leaveOld makes the new root the root and forgets the old one.
func leaveOld() error {
	if err := unix.Chdir(newRoot); err != nil {
		return fmt.Errorf("enter the root: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	return unix.Chdir("/")
}

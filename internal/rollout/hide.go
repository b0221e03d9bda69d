package rollout

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// maxHidden is the size of the largest file, in bytes, that hideIn reads. What is
// larger is reported; a file that is mostly a hole would keep us for hours.
const maxHidden = 256 << 20

// hideIn takes secrets out of what is below dir: out of files, the targets of links
// and names. Links are not followed. A folder that is gone holds none.
func hideIn(dir string, hide *redact.Exact) error {
	if hide.Empty() {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // what was written to it is closed
	var faults []error                  // one file that resists must not spare those behind it
	var named []string                  // those with a secret in their name
	_ = disk.Walk(root, func(in *os.Root, at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case d.Type().IsRegular():
			err = hideInFile(in, d.Name(), hide)
		case d.Type()&fs.ModeSymlink != 0:
			err = hideInLink(in, d.Name(), hide)
		}
		if err == nil && hide.Has(d.Name()) {
			named = append(named, at)
		}
		faults = append(faults, err)
		return nil
	})
	for _, at := range slices.Backward(named) { // what is in a folder comes before it
		faults = append(faults, hideName(root, at, hide))
	}
	if err := errors.Join(faults...); err != nil {
		return errors.New(hide.Text(err.Error()))
	}
	return nil
}

// hideName gives an entry a name without secrets, and a number where there is one of
// that name.
func hideName(root *os.Root, at string, hide *redact.Exact) error {
	dir, name := path.Split(at)
	name = hide.Text(name)
	to := dir + name
	for n := 2; ; n++ {
		if _, err := root.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return root.Rename(at, to)
		} else if err != nil {
			return err
		}
		to = fmt.Sprintf("%s%s-%d", dir, name, n)
	}
}

// hideInLink has a link lead to what its target is called without secrets.
func hideInLink(root *os.Root, name string, hide *redact.Exact) error {
	target, err := root.Readlink(name)
	if err != nil || !hide.Has(target) {
		return err
	}
	if err := root.Remove(name); err != nil {
		return err
	}
	return root.Symlink(hide.Text(target), name)
}

// hideInFile hides secrets in a file, and also opens what the agent has locked.
func hideInFile(root *os.Root, name string, hide *redact.Exact) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if info.Size() > maxHidden {
		return fmt.Errorf("%s is larger than %d MiB: it was not searched for secrets", name, maxHidden>>20)
	}
	mode := info.Mode().Perm()
	if mode&0o600 != 0o600 {
		if err := root.Chmod(name, mode|0o600); err != nil {
			return err
		}
	}
	found, err := copyHidden(io.Discard, root, name, hide)
	if err == nil && found {
		err = rewriteHidden(root, name, hide)
	}
	if mode&0o600 != 0o600 {
		err = errors.Join(err, root.Chmod(name, mode))
	}
	return err
}

// rewriteHidden rewrites a file without secrets. It stays the same file: what the
// agent has linked to it is without them too.
func rewriteHidden(root *os.Root, name string, hide *redact.Exact) error {
	temp, err := os.CreateTemp("", "hidden-")
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(temp.Close(), os.Remove(temp.Name())) }() // it is done with
	if _, err := copyHidden(temp, root, name, hide); err != nil {
		return err
	}
	if _, err := temp.Seek(0, io.SeekStart); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, temp)
	return errors.Join(err, f.Close())
}

// hiddenPart is how much of a file is looked at at a time, in bytes.
const hiddenPart = 1 << 20

// copyHidden writes a file to w without secrets, and reports whether it holds any. A
// part ends where no secret is cut.
func copyHidden(w io.Writer, root *os.Root, name string, hide *redact.Exact) (found bool, err error) {
	f, err := root.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	part, rest := make([]byte, hiddenPart), []byte(nil)
	for last := false; !last; {
		n, err := io.ReadFull(f, part)
		if last = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !last {
			return found, err
		}
		rest = append(rest, part[:n]...)
		text := string(rest)
		if !last {
			text = text[:hide.Ready(text)]
		}
		clean := hide.Text(text)
		found = found || clean != text
		if _, err := io.WriteString(w, clean); err != nil {
			return found, err
		}
		rest = append(rest[:0], rest[len(text):]...)
	}
	return found, nil
}

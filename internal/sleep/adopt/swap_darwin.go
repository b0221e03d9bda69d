package adopt

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange gives two names of a folder each other's files, at once.
func exchange(dir *os.Root, a, b string) error { return rename(dir, a, b, unix.RENAME_SWAP) }

// moveNew renames a to b, unless there is a b.
func moveNew(dir *os.Root, a, b string) error { return rename(dir, a, b, unix.RENAME_EXCL) }

func rename(dir *os.Root, a, b string, flags uint32) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	fd := int(d.Fd())
	err = unix.RenameatxNp(fd, a, fd, b, flags)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = errors.ErrUnsupported
	}
	if err != nil {
		err = &os.LinkError{Op: "rename", Old: a, New: b, Err: err}
	}
	return errors.Join(err, d.Close())
}

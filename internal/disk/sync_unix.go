//go:build !windows

package disk

import (
	"errors"
	"os"
	"syscall"
)

// syncDir makes a rename durable. Some network and FUSE file systems cannot
// flush a directory; there the rename is as durable as they make it.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

//go:build unix

package adopt

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// syncFolder makes the names of a folder lasting. File systems that cannot do that are taken as they are.
func syncFolder(dir *os.Root, name string) error {
	d, err := dir.Open(".")
	if err != nil {
		return fmt.Errorf("open %s: %w", name, err)
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

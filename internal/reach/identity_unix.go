//go:build unix

package reach

import (
	"fmt"
	"io/fs"
	"syscall"
)

// identity returns the device and the number of a file.
func identity(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", s.Dev, s.Ino)
	}
	return ""
}

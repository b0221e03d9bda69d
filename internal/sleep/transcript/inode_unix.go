//go:build unix

package transcript

import (
	"io/fs"
	"syscall"
)

// inode returns the number of a file in its file system, 0 if it cannot be known.
func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}

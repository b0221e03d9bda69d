//go:build unix && !linux

package answers

import (
	"fmt"
	"os"
	"syscall"
)

// fileID names a file on this machine: its device and its number. A copy has another one; a
// file that was renamed keeps its own. "": it is not known.
func fileID(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", s.Dev, s.Ino)
	}
	return ""
}

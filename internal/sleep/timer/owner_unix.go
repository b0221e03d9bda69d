//go:build unix

package timer

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwned reports whether a file is this user's.
func isOwned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(stat.Uid) == int64(os.Geteuid())
}

//go:build unix

package steer

import (
	"io/fs"
	"os"
	"syscall"
)

// noWait makes opening a pipe return at once.
const noWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// mayAsk reports whether the owner of a request may steer: the owner of the run directory,
// the user of this process, and root.
func mayAsk(request, dir fs.FileInfo) bool {
	r, ok := request.Sys().(*syscall.Stat_t)
	d, known := dir.Sys().(*syscall.Stat_t)
	return ok && known && (r.Uid == d.Uid || int(r.Uid) == os.Geteuid() || r.Uid == 0)
}

// give makes what root has put into a run directory its owner's, who removes it.
func give(root *os.Root, dir fs.FileInfo) {
	if d, ok := dir.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 && d.Uid != 0 {
		_ = root.Chown(Folder, int(d.Uid), int(d.Gid)) // who cannot remove it still reads it
	}
}

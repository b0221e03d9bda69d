//go:build unix

package adopt

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openNow keeps an open from waiting for the other end of a pipe that has replaced a file.
const openNow = syscall.O_NONBLOCK

func countLinks(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// folderIdentity returns a name of a folder that is its own on its machine; "" where the system does not report one.
func folderIdentity(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
	}
	return ""
}

func foreignOwner(info fs.FileInfo) (owner uint32, foreign bool) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Uid, int(st.Uid) != os.Geteuid()
	}
	return 0, false
}

//go:build unix

package disk

import (
	"os"
	"syscall"
	"time"
)

// noWait makes opening a pipe return at once, and keeps a terminal from becoming
// that of this program.
const noWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// canWait reports whether reading file may wait for somebody else. Go can set a
// deadline for such files only.
func canWait(file *os.File) bool { return file.SetReadDeadline(time.Time{}) == nil }

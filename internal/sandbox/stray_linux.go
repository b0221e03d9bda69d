package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// rounds bounds the search for strays: each takes a few milliseconds, and a
// program that forks as fast as it is killed must not keep us forever.
const rounds = 200

// killStrays ends the descendants that have left the group: every process whose
// environment holds marker. One that has cleared its environment is not found.
func killStrays(marker string) {
	for range rounds {
		if !killMarked(marker) {
			return
		}
		<-time.After(2 * time.Millisecond) // a process that was killed takes a moment to go
	}
}

func killMarked(marker string) (found bool) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false // without /proc there is nothing to search
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && killIfMarked(pid, marker) {
			found = true
		}
	}
	return found
}

// killIfMarked takes hold of the process before it looks, so that it cannot hit
// a successor with the same number.
func killIfMarked(pid int, marker string) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }() // nothing is left to do about it
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil || !bytes.Contains(append(environ, 0), append([]byte(marker), 0)) {
		return false // gone, a zombie, or of somebody else
	}
	return p.Kill() == nil
}

// Package memfolder makes folders that lie in memory, for tests that write many small
// files: on a disk most of their time is spent on making them durable, which no test of
// this kind looks at.
//
// It knows file systems, and nothing of what is written.
package memfolder

import "os"

// room is how much must be free in memory, in bytes.
const room = 2 << 30

// New makes a folder in memory and returns what deletes it, or "" and a function that
// does nothing where there is no such place or too little room in it.
func New() (dir string, remove func()) {
	place := place()
	if place == "" {
		return "", func() {}
	}
	dir, err := os.MkdirTemp(place, "skillopt-test-")
	if err != nil { // nobody else may write there: the test uses the disk
		return "", func() {}
	}
	return dir, func() { _ = os.RemoveAll(dir) } // what a test leaves is gone with the machine at the latest
}

// SetTemp has the process, and those that it starts, make temporary files in memory where there is room, and returns what deletes
// them. It is for TestMain.
func SetTemp() (remove func()) {
	dir, remove := New()
	if dir == "" {
		return remove
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		panic(err) // the name is a good one
	}
	return remove
}

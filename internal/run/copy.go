package run

import "os"

// Copied reports whether the run directory dir is not the one that its last session worked in,
// as far as its manifest tells, or may not be written by the one who asks. Such a run can be
// looked at and not be steered: no one works in it who would notice. A directory that was moved
// within its file system is no copy.
func Copied(dir string, m Manifest) bool {
	if here := identityOf(dir); m.Directory != "" && here != "" && m.Directory != here {
		return true
	}
	return !writable(dir)
}

// identityOf is the device and inode of a folder, "" where that cannot be told.
func identityOf(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	return FileIdentity(info)
}

package run

import "os"

// IsCopy reports whether the run directory dir is not the one that its last session worked in,
// as far as its manifest shows, or may not be written by the one who asks. Such a run can be
// looked at and not be steered: no one works in it who would notice. A directory that was moved
// within its file system is no copy.
func IsCopy(dir string, m Manifest) bool {
	if here := folderIdentity(dir); m.Directory != "" && here != "" && m.Directory != here {
		return true
	}
	return !writable(dir)
}

// folderIdentity returns the device and inode of a folder, "" where that cannot be read.
func folderIdentity(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	return FileIdentity(info)
}

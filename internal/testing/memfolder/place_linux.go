package memfolder

import "golang.org/x/sys/unix"

// place is the file system in memory that every Linux has, "" if it has no room.
func place() string {
	const shared = "/dev/shm"
	var st unix.Statfs_t
	if err := unix.Statfs(shared, &st); err != nil || st.Type != unix.TMPFS_MAGIC || st.Bavail*uint64(st.Bsize) < room {
		return ""
	}
	return shared
}

//go:build !unix

package transcript

import "io/fs"

// inode is the number of a file in its file system; 0: it cannot be told.
func inode(fs.FileInfo) uint64 { return 0 }

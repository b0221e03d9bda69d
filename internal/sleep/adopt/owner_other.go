//go:build !unix

package adopt

import "io/fs"

const openNow = 0

func countLinks(fs.FileInfo) uint64 { return 1 }

func foreignOwner(fs.FileInfo) (owner uint32, foreign bool) { return 0, false }

// folderIdentity returns "", as it is not known here: folders that were made for a document then stay.
func folderIdentity(fs.FileInfo) string { return "" }

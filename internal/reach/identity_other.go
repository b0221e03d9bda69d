//go:build !unix

package reach

import "io/fs"

// identity returns "", because the identity of a file is not known here.
func identity(fs.FileInfo) string { return "" }

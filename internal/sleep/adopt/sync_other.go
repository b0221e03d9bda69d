//go:build !unix

package adopt

import "os"

// syncFolder does nothing where a folder cannot be opened to be synced.
func syncFolder(*os.Root, string) error { return nil }

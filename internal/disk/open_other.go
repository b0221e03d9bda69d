//go:build !unix

package disk

import "os"

// noWait is not needed where what is opened has been looked at.
const noWait = 0

// canWait reports whether reading file may wait for somebody else.
func canWait(*os.File) bool { return false }

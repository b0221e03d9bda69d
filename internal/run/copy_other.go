//go:build !unix

package run

import "io/fs"

// FileIdentity is "": this system has no number of a file that is cheap to ask for.
func FileIdentity(fs.FileInfo) string { return "" }

// writable cannot be told without writing.
func writable(string) bool { return true }

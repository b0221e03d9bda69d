//go:build !linux

package memfolder

// place is "": there is no file system in memory that every machine has.
func place() string { return "" }

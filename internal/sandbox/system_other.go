//go:build !linux

package sandbox

// SystemFolders lists the folders that every confined program can read and run.
// Nothing is confined on this system.
func SystemFolders() []string { return nil }

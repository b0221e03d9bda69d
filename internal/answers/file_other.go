//go:build !unix

package answers

// fileID always returns "", since the id of a file cannot be found here. So no run is known to have
// been recorded where it lies, and nothing is taken from another run.
func fileID(string) string { return "" }

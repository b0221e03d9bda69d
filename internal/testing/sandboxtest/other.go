//go:build !linux

package sandboxtest

import "io"

// Main does nothing on this system.
func Main(string, []string, io.Writer) (code int, is bool) { return 0, false }

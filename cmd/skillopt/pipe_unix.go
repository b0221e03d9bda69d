//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// failWritesToBrokenPipes makes a write that no one reads any more an error, and
// not the end of the process: `--events - | head` must not end a run. The signal
// is caught and dropped; ignored, it would be so in the processes of
// environments as well.
func failWritesToBrokenPipes() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}

//go:build !linux

package sandbox

import "time"

// Wait measures how long processes wait for a processor. Here nothing reports that.
type Wait struct{}

// BeginWait begins to measure.
func BeginWait() Wait { return Wait{} }

// Waited is 0: it is not known.
func (Wait) Waited(int) time.Duration { return 0 }

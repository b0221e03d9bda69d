//go:build !linux

package sandbox

import "time"

// Wait measures how long processes wait for a processor. Here nothing measures that.
type Wait struct{}

// BeginWait begins to measure.
func BeginWait() Wait { return Wait{} }

// Measure returns 0: the time is not known.
func (Wait) Measure(int) time.Duration { return 0 }

package sandbox

import (
	"fmt"
	"time"
)

// Defaults of Limits.
const (
	defaultMemory    = 4 << 30
	defaultProcesses = 512
	defaultWritten   = 4 << 30
	cpuPerDeadline   = 4
)

// The names of the limits, as Result.Limit has them.
const (
	limitMemory    = "memory"
	limitProcesses = "processes"
	limitWritten   = "written"
	limitCPU       = "cpu"
)

// withDefaults fills in what is left open. What is not limited is 0 in the result.
func (l Limits) withDefaults(deadline time.Duration) Limits {
	if l.CPU == 0 {
		l.CPU = cpuPerDeadline * deadline
	}
	return Limits{
		Memory:    orDefault(l.Memory, defaultMemory),
		Processes: orDefault(l.Processes, defaultProcesses),
		Written:   orDefault(l.Written, defaultWritten),
		CPU:       max(l.CPU, 0),
	}
}

func orDefault[T int | int64](v, fallback T) T {
	if v == 0 {
		return fallback
	}
	return max(v, 0)
}

// overrun says which limit a program passed, and by how much. Without a limit it is
// the machine that has too little.
type overrun struct {
	Limit  string
	Detail string
}

// used is what a program and all that it started use. What is not known is 0.
type used struct {
	memory    int64
	processes int
	written   int64
	cpu       time.Duration
}

// findOverrun returns the limit that is passed, nil if none is.
func (u used) findOverrun(l Limits) *overrun {
	switch {
	case l.Processes > 0 && u.processes > l.Processes:
		return &overrun{limitProcesses, fmt.Sprintf("%d processes at a time, %d are allowed", u.processes, l.Processes)}
	case l.Memory > 0 && u.memory > l.Memory:
		return &overrun{limitMemory, fmt.Sprintf("%s of memory in use, %s are allowed", inBytes(u.memory), inBytes(l.Memory))}
	case l.Written > 0 && u.written > l.Written:
		return &overrun{limitWritten, fmt.Sprintf("%s written to disk, %s are allowed", inBytes(u.written), inBytes(l.Written))}
	case l.CPU > 0 && u.cpu > l.CPU:
		return &overrun{limitCPU, fmt.Sprintf("%v of processor time, %v are allowed", u.cpu.Round(time.Second/10), l.CPU)}
	}
	return nil
}

func inBytes(n int64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Wait measures how long processes wait for a processor from when it was begun.
type Wait struct {
	proc, groups string
	began        map[string]time.Duration // pressure at the beginning, by file
}

// BeginWait begins to measure.
func BeginWait() Wait { return beginWait("/proc", cgroups) }

func beginWait(proc, groups string) Wait {
	w := Wait{proc: proc, groups: groups, began: map[string]time.Duration{}}
	for _, file := range []string{w.pressureFile("self"), w.system()} {
		if total, ok := pressure(file); ok {
			w.began[file] = total
		}
	}
	return w
}

func (w Wait) system() string { return filepath.Join(w.proc, "pressure", "cpu") }

// pressureFile returns the file with the pressure of the control group of a process.
func (w Wait) pressureFile(process string) string {
	text, err := os.ReadFile(filepath.Join(w.proc, process, "cgroup"))
	if err != nil {
		return ""
	}
	return filepath.Join(w.groups, membership(text)[""], "cpu.pressure")
}

// Measure returns how long a process and those below it have waited, with 0 this one alone: for how much of the
// time at least one in its control group did, or else in the system, or else the delays of those that are there
// added up. What is not known is 0.
func (w Wait) Measure(process int) time.Duration {
	all, last := []int{os.Getpid()}, "self"
	if process > 0 {
		all = append([]int{process}, descendants(w.proc, process)...)
		last = strconv.Itoa(all[len(all)-1])
	}
	for _, file := range []string{w.pressureFile(last), w.system()} {
		if total, ok := pressure(file); ok {
			return total - w.began[file] // a group of its own began with 0
		}
	}
	var sum time.Duration
	for _, pid := range all {
		if f := fields(filepath.Join(w.proc, strconv.Itoa(pid)), "schedstat"); len(f) > 1 {
			sum += time.Duration(whole(f[1]))
		}
	}
	return sum
}

// pressure reads for how long some process has waited, in all.
func pressure(file string) (time.Duration, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if _, total, ok := strings.Cut(strings.TrimSpace(line), "total="); ok && strings.HasPrefix(line, "some ") {
			n, err := strconv.ParseInt(total, 10, 64)
			return time.Duration(n) * time.Microsecond, err == nil
		}
	}
	return 0, false
}

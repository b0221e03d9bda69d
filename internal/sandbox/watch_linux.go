package sandbox

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lookEvery is how often it is looked at what a program uses.
const lookEvery = 100 * time.Millisecond

// watch counts what a program uses with all that it started, and ends it when that is
// too much. It belongs to the supervisor.
type watch struct {
	limits Limits
	root   int  // the first process that counts, or whose children do
	init   bool // root is init, which does not count
	group  *group
	disk   *written
	kills  int64 // processes that the machine had killed for want of memory, before

	done chan struct{} // closed by stop
	gone chan struct{} // closed when nothing is looked at any more
	over *overrun      // read after gone
	most used          // so far; read after gone
}

func startWatch(p *policy, child int, init bool, g *group) *watch {
	w := &watch{
		limits: p.Limits.withDefaults(p.Deadline), root: child, init: init, group: g,
		disk: newDisk(append(append([]string(nil), p.Write...), p.Inert...)), kills: outOfMemory(),
		done: make(chan struct{}), gone: make(chan struct{}),
	}
	if len(g.processes()) == 0 {
		g.remove() // it could not be joined
	}
	go w.run()
	return w
}

func (w *watch) run() {
	defer close(w.gone)
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-w.done:
			return
		case <-ticker.C:
		}
		if w.over = w.look(); w.over != nil {
			w.end()
			return
		}
	}
}

// stop ends the watch and says why the program was ended, nil if by itself.
func (w *watch) stop() *overrun {
	close(w.done)
	<-w.gone
	if w.over != nil {
		return w.over
	}
	if hit := w.group.hit(w.limits); hit != nil {
		return hit
	}
	if w.group.dirs["memory"] == "" && outOfMemory() > w.kills {
		return &overrun{Detail: "the machine ran out of memory and ended programs"}
	}
	return nil
}

// look compares what is used with the limits. The number of processes comes first:
// it decides how long the rest takes.
func (w *watch) look() *overrun {
	pids := w.processes()
	u := used{processes: len(pids)}
	if over := u.findOverrun(w.limits); over != nil {
		return over
	}
	count(&u, pids)
	if w.group.dirs["memory"] != "" {
		u.memory = w.group.memory()
	} else if u.memory += w.disk.sharedGrowth(); w.limits.Memory > 0 && u.memory > w.limits.Memory {
		u.memory = measureMemory(pids, w.root) // what is shared was counted for each
	}
	u.cpu = max(u.cpu, w.group.cpu())
	w.most.cpu, w.most.memory = max(w.most.cpu, u.cpu), max(w.most.memory, u.memory)
	taken, full := w.disk.measure(pids, w.limits.Written)
	u.written = max(u.written, taken)
	if over := u.findOverrun(w.limits); over != nil {
		return over
	}
	if full {
		return &overrun{Detail: "no room is left on the disk"}
	}
	return w.group.hit(w.limits)
}

// processes lists the program's.
func (w *watch) processes() []int {
	pids := w.group.processes()
	if len(w.group.dirs) == 0 {
		pids = descendants("/proc", os.Getpid())
	}
	if !w.init {
		return pids
	}
	rest := pids[:0]
	for _, pid := range pids {
		if pid != w.root {
			rest = append(rest, pid)
		}
	}
	return rest
}

// end ends all that the program is. With init all of its namespace ends.
func (w *watch) end() {
	w.group.kill()
	_ = unix.Kill(w.root, unix.SIGKILL) // it may be gone
	if w.init {
		return
	}
	_ = unix.Kill(-w.root, unix.SIGKILL)
	for _, pid := range descendants("/proc", os.Getpid()) {
		_ = unix.Kill(pid, unix.SIGKILL) // those that are missed become ours, see buryChildren
	}
}

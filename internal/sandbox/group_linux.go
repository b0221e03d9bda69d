package sandbox

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cgroups is where control groups are mounted.
const cgroups = "/sys/fs/cgroup"

// group is a control group of a program, where one can be had: there the kernel
// counts what is used, of processes that have ended too. A limit in it is no more
// than a backstop for what happens between two looks at the counters, since a
// program that runs into one learns nothing of the reason. The zero group is none.
type group struct {
	unified bool              // version 2: one folder for all controllers
	dirs    map[string]string // folder by controller: memory, pids and, in version 1, cpuacct
}

// newGroup makes a control group next to or below our own. That it cannot be had is
// no error: then processes are counted one by one.
func newGroup(l Limits) *group {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return &group{}
	}
	name := rand.Text() // a program can read it, and it says nothing
	g := &group{dirs: map[string]string{}}
	if _, err := os.Stat(filepath.Join(cgroups, "cgroup.controllers")); err == nil {
		g.unified = true
		g.make2(membership(own)[""], name)
	} else {
		g.make1(membership(own), name)
	}
	g.bound(l)
	return g
}

// membership returns the path of our group by controller; "" is that of version 2.
func membership(text []byte) map[string]string {
	of := map[string]string{}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			of[controller] = parts[2]
		}
	}
	return of
}

// make2 tries below our own group, and next to it: where processes are, groups below
// have no controllers, unless it is the root.
func (g *group) make2(own, name string) {
	for _, parent := range []string{own, filepath.Dir(own)} {
		dir := filepath.Join(cgroups, parent, name)
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		if has(dir, "memory.max") && has(dir, "pids.max") {
			g.dirs["memory"], g.dirs["pids"] = dir, dir
			return
		}
		_ = os.Remove(dir) // it is empty
	}
}

func (g *group) make1(own map[string]string, name string) {
	for _, controller := range []string{"memory", "pids", "cpuacct"} {
		dir := filepath.Join(cgroups, controller, own[controller], name)
		if own[controller] != "" && os.Mkdir(dir, 0o755) == nil {
			g.dirs[controller] = dir
		}
	}
}

func has(dir, file string) bool {
	_, err := os.Stat(filepath.Join(dir, file))
	return err == nil
}

// threadsEach is how many threads a process may have on average: the kernel bounds
// both together.
const threadsEach = 16

// bound sets the backstops. One that cannot be set leaves the counters.
func (g *group) bound(l Limits) {
	if dir := g.dirs["memory"]; dir != "" && l.Memory > 0 {
		file := "memory.limit_in_bytes"
		if g.unified {
			file = "memory.max"
			_ = os.WriteFile(filepath.Join(dir, "memory.oom.group"), []byte("1"), 0)
		}
		_ = os.WriteFile(filepath.Join(dir, file), strconv.AppendInt(nil, l.Memory+l.Memory/4, 10), 0)
	}
	if dir := g.dirs["pids"]; dir != "" && l.Processes > 0 {
		_ = os.WriteFile(filepath.Join(dir, "pids.max"), strconv.AppendInt(nil, int64(l.Processes)*threadsEach, 10), 0)
	}
}

// open opens the files through which a process joins.
func (g *group) open() ([]*os.File, error) {
	var files []*os.File
	for _, dir := range g.folders() {
		f, err := os.OpenFile(filepath.Join(dir, "cgroup.procs"), os.O_WRONLY, 0)
		if err != nil {
			closeAll(files)
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func (g *group) folders() []string {
	var all []string
	for _, controller := range []string{"memory", "pids", "cpuacct"} {
		if dir := g.dirs[controller]; dir != "" && (len(all) == 0 || all[0] != dir) {
			all = append(all, dir)
		}
	}
	return all
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // nothing was written that could be lost
	}
}

// joinGroups has this process join the groups whose files it has inherited. Where it
// may not, the supervisor finds the group empty and does without.
func joinGroups(n int) {
	for fd := firstCgroupFD; fd < firstCgroupFD+n; fd++ {
		_, _ = unix.Write(fd, []byte("0"))
		_ = unix.Close(fd)
	}
}

// processes lists who is in the group, nil if no one is or there is none.
func (g *group) processes() []int {
	folders := g.folders()
	if len(folders) == 0 {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(folders[0], "cgroup.procs"))
	if err != nil {
		return nil
	}
	var pids []int
	for field := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// memory returns how much memory cannot be dropped: it does not count the cache of files.
func (g *group) memory() int64 {
	if g.unified {
		return number(g.dirs["memory"], "memory.stat", "anon") + number(g.dirs["memory"], "memory.stat", "shmem")
	}
	return number(g.dirs["memory"], "memory.stat", "total_rss") + number(g.dirs["memory"], "memory.stat", "total_shmem")
}

// cpu returns the processor time of all that have been in the group.
func (g *group) cpu() time.Duration {
	if g.unified {
		return time.Duration(number(g.dirs["memory"], "cpu.stat", "usage_usec")) * time.Microsecond
	}
	return time.Duration(number(g.dirs["cpuacct"], "cpuacct.usage", ""))
}

// hit says which backstop the program has run into, nil if none, or that the machine
// lacked memory while the program was within its own.
func (g *group) hit(l Limits) *overrun {
	if number(g.dirs["pids"], "pids.events", "max") > 0 {
		return &overrun{limitProcesses, "more threads at a time than " + strconv.Itoa(l.Processes) + " processes may have"}
	}
	dir, kills, failures := g.dirs["memory"], "memory.oom_control", number(g.dirs["memory"], "memory.failcnt", "")
	if g.unified {
		kills, failures = "memory.events", number(dir, "memory.events", "oom")
	}
	switch {
	case number(dir, kills, "oom_kill") == 0:
		return nil
	case failures > 0:
		return &overrun{limitMemory, "more memory in use than " + inBytes(l.Memory)}
	}
	return &overrun{Detail: "the machine ran out of memory"}
}

// number reads a counter: that of a key, or the file's only one. What cannot be read
// is 0.
func number(dir, file, key string) int64 {
	if dir == "" {
		return 0
	}
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0
	}
	return counter(string(text), key)
}

func counter(text, key string) int64 {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case key == "" && len(fields) == 1:
		case key != "" && len(fields) >= 2 && strings.TrimSuffix(fields[0], ":") == key:
			fields = fields[1:]
		default:
			continue
		}
		if n, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
			return n
		}
	}
	return 0
}

// kill ends all of the group at once, where the kernel can.
func (g *group) kill() {
	if dir := g.dirs["memory"]; g.unified && dir != "" {
		_ = os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0) // Linux 5.14
	}
}

// remove takes the group away once all have left it. Who has just ended may still be
// in it for a moment.
func (g *group) remove() {
	for _, dir := range g.folders() {
		for range 50 {
			if err := os.Remove(dir); err == nil || !errors.Is(err, unix.EBUSY) {
				break
			}
			<-time.After(2 * time.Millisecond)
		}
	}
	g.dirs = nil
}

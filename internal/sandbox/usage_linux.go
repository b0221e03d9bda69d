package sandbox

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// clockTick is the unit of processor time in /proc, one for all architectures.
const clockTick = time.Second / 100

// count adds up what processes use, as /proc has it. What cannot be read counts as
// nothing: the process has ended.
func count(u *used, pids []int) {
	page := int64(os.Getpagesize())
	for _, pid := range pids {
		dir := filepath.Join("/proc", strconv.Itoa(pid))
		if statm := fields(dir, "statm"); len(statm) > 2 {
			u.memory += (whole(statm[1]) - whole(statm[2])) * page
		}
		u.cpu += readCPUTime(dir)
		if io, err := os.ReadFile(filepath.Join(dir, "io")); err == nil {
			u.written += max(0, counter(string(io), "write_bytes")-counter(string(io), "cancelled_write_bytes"))
		}
	}
}

// readCPUTime returns the processor time of a process and of the children that it has reaped.
func readCPUTime(dir string) time.Duration {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0
	}
	// The name of the program, in parentheses, may hold anything.
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 15 {
		return 0
	}
	var ticks int64
	for _, field := range f[11:15] { // utime, stime, cutime, cstime
		ticks += whole(field)
	}
	return time.Duration(ticks) * clockTick
}

// measureMemory returns the memory of processes in which each page counts once.
func measureMemory(pids []int, root int) int64 {
	var own, shared int64
	for _, pid := range pids {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "smaps_rollup"))
		if err != nil {
			continue
		}
		own += counter(string(text), "Pss_Anon") << 10
		shared += counter(string(text), "Pss_Shmem") << 10
	}
	unnamed, _ := openFiles(pids)
	var shm unix.Statfs_t
	if unix.Statfs(filepath.Join("/proc", strconv.Itoa(root), "root/dev/shm"), &shm) == nil {
		unnamed += int64(shm.Blocks-shm.Bfree) * shm.Bsize
	}
	return own + max(shared, unnamed)
}

// openFiles sums up files that have no name any more, or never had: those in memory
// and those on disks.
func openFiles(pids []int) (memory, disk int64) {
	type file struct{ dev, ino uint64 }
	seen := map[file]bool{}
	for _, pid := range pids {
		links, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "fd", "*"))
		if err != nil {
			continue
		}
		for _, link := range links {
			var stat unix.Stat_t
			name, err := os.Readlink(link)
			if err != nil || !strings.HasSuffix(name, " (deleted)") || unix.Stat(link, &stat) != nil {
				continue
			}
			if f := (file{stat.Dev, stat.Ino}); stat.Mode&unix.S_IFMT == unix.S_IFREG && !seen[f] {
				seen[f] = true
				if strings.HasPrefix(name, "/memfd:") {
					memory += stat.Blocks * 512
				} else {
					disk += stat.Blocks * 512
				}
			}
		}
	}
	return memory, disk
}

// descendants lists the processes that a process has started, theirs, and so on.
func descendants(proc string, root int) []int {
	parents := map[int][]int{}
	for _, pid := range processes(proc) {
		f := fields(filepath.Join(proc, strconv.Itoa(pid)), "stat")
		for i := len(f) - 1; i >= 0; i-- { // the name of the program may hold anything, parentheses too
			if strings.HasSuffix(f[i], ")") && i+2 < len(f) {
				parent := int(whole(f[i+2]))
				parents[parent] = append(parents[parent], pid)
				break
			}
		}
	}
	var all []int
	for queue := parents[root]; len(queue) > 0; queue = queue[1:] {
		all = append(all, queue[0])
		queue = append(queue, parents[queue[0]]...)
	}
	return all
}

func fields(dir, file string) []string {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// whole reads a number, 0 if it is none.
func whole(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// outOfMemory returns how many processes the machine has had to kill for want of memory.
func outOfMemory() int64 { return number("/proc", "vmstat", "oom_kill") }

// fullBelow is the room on a disk, in bytes, below which programs fail for want of it.
const fullBelow = 16 << 20

// perFile is what a file counts at least, in bytes, however empty.
const perFile = 4 << 10

// written knows how much the folders take that a program may write. To look through them
// takes long, so that it is done only when the disks have lost enough room.
type written struct {
	dirs   []string
	before map[string]unix.Statfs_t
	memory int64 // of the machine that is shared, in bytes, before
}

func newDisk(dirs []string) *written {
	d := &written{before: map[string]unix.Statfs_t{}, memory: sharedMemory()}
	for _, dir := range dirs {
		var stat unix.Statfs_t
		if info, err := os.Stat(dir); err == nil && info.IsDir() && unix.Statfs(dir, &stat) == nil && stat.Blocks > 0 { // else it is no disk
			d.dirs, d.before[dir] = append(d.dirs, dir), stat
		}
	}
	return d
}

// sharedGrowth returns by how much the memory that is shared has grown on the machine.
func (d *written) sharedGrowth() int64 { return max(0, sharedMemory()-d.memory) }

func sharedMemory() int64 { return number("/proc", "meminfo", "Shmem") << 10 }

// measure returns how many bytes the program has taken on disks, as far as that can be more than
// limit, and whether one of them is full.
func (d *written) measure(pids []int, limit int64) (n int64, full bool) {
	var lost int64
	for _, dir := range d.dirs {
		var now unix.Statfs_t
		if unix.Statfs(dir, &now) != nil {
			continue
		}
		was := d.before[dir]
		lost = max(lost, (int64(was.Bfree)-int64(now.Bfree))*now.Bsize, (int64(was.Ffree)-int64(now.Ffree))*perFile)
		full = full || room(now) < fullBelow || now.Files > 0 && now.Ffree == 0
	}
	if lost <= limit || limit <= 0 {
		return 0, full
	}
	_, unnamed := openFiles(pids)
	return min(lost, unnamed+d.size(limit)), full
}

// room returns how many bytes are left for us: root may use what is kept back for it.
func room(s unix.Statfs_t) int64 {
	if os.Geteuid() == 0 {
		return int64(s.Bfree) * s.Bsize
	}
	return int64(s.Bavail) * s.Bsize
}

// size adds up what is in the folders, until that is enough. Links are not followed.
func (d *written) size(enough int64) (n int64) {
	for _, dir := range d.dirs {
		root, err := os.OpenRoot(dir)
		if err != nil {
			continue // it is gone
		}
		_ = disk.Walk(root, func(_ *os.Root, _ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // gone, or locked: what is in it is not seen
			}
			if info, err := e.Info(); err == nil {
				n += diskSize(info)
			}
			if n > 2*enough {
				return fs.SkipAll
			}
			return nil
		})
		_ = root.Close() // it was only read
	}
	return n
}

// diskSize returns what a file takes on its disk.
func diskSize(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return max(stat.Blocks*512, perFile)
	}
	return max(info.Size(), perFile)
}

package sandboxtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// procs are what /proc tells of others, and lets be done to them.
func procs() []Probe {
	reads := func(name string) func(t *Target) (bool, string) {
		return func(t *Target) (bool, string) { return t.read(t.Victim.proc(name)) }
	}
	// Whatever is read of these is too much.
	anything := func(of func(t *Target) Process, name string) func(t *Target) (bool, string) {
		return func(t *Target) (bool, string) {
			p := of(t)
			if startOf(p.PID) != "" && !p.there() {
				return false, "another process has its number here"
			}
			data, err := os.ReadFile(p.proc(name))
			return did(noneOf(len(data), err))
		}
	}
	parent := func(t *Target) Process { return t.Parent }
	victim := func(t *Target) Process { return t.Victim }
	writes := func(name string) func(t *Target) (bool, string) {
		return func(t *Target) (bool, string) {
			_, err := unix.Open(t.Victim.proc(name), unix.O_WRONLY|unix.O_CLOEXEC, 0)
			return t.Victim.on(err)
		}
	}
	return group(
		"proc",
		Probe{Name: "environment", Try: reads("environ")},
		Probe{Name: "environment of the parent", Try: anything(parent, "environ")},
		Probe{Name: "environments of all", Try: func(t *Target) (bool, string) { return t.everybody("environ") }},
		Probe{Name: "arguments", Try: anything(victim, "cmdline")},
		Probe{Name: "arguments of all", Try: func(t *Target) (bool, string) { return t.everybody("cmdline") }},
		Probe{Name: "folder", Try: func(t *Target) (bool, string) { return t.read(t.Victim.proc("cwd/" + filepath.Base(t.Files[Gold]))) }},
		Probe{Name: "root", Try: func(t *Target) (bool, string) { return t.read(t.Victim.proc("root" + t.Files[Gold])) }},
		Probe{Name: "root of a thread", Try: func(t *Target) (bool, string) {
			return t.read(t.Victim.proc("task/" + strconv.Itoa(t.Victim.PID) + "/root" + t.Files[Gold]))
		}},
		Probe{Name: "open files", Try: func(t *Target) (bool, string) {
			for fd := range 20 {
				if reached, detail := t.read(t.Victim.proc("fd/" + strconv.Itoa(fd))); reached {
					return true, detail
				}
			}
			return false, "none could be read"
		}},
		Probe{Name: "names of open files", Try: func(t *Target) (bool, string) {
			return t.Victim.on(whatIsOpen(t.Victim.PID))
		}},
		Probe{Name: "memory", Try: func(t *Target) (bool, string) { return opens(t.Victim.proc("mem"), unix.O_RDONLY) }},
		Probe{Name: "map of the memory", Try: anything(victim, "maps")},
		Probe{Name: "stack", Try: anything(victim, "stack")},
		Probe{Name: "input and output", Try: anything(victim, "io")},
		Probe{Name: "auxiliary vector", Try: anything(parent, "auxv")},
		Probe{Name: "first process: environment", Try: func(t *Target) (bool, string) { return theirs(t, 1, "environ") }},
		Probe{Name: "first process: root", Try: func(t *Target) (bool, string) { return t.read("/proc/1/root" + t.Files[Gold]) }},
		Probe{Name: "first process: folder", Try: func(t *Target) (bool, string) { return t.read("/proc/1/cwd/" + t.Files[Gold][1:]) }},
		Probe{Name: "first process: open files", Try: func(t *Target) (bool, string) {
			return did(whatIsOpen(1))
		}},
		Probe{Name: "first process: memory", Try: func(t *Target) (bool, string) { return opens("/proc/1/mem", unix.O_RDWR) }},
		Probe{Name: "supervisor: environment", Try: func(t *Target) (bool, string) { return theirs(t, t.supervisor().PID, "environ") }},
		Probe{Name: "supervisor: memory", Try: func(t *Target) (bool, string) {
			return opens(t.supervisor().proc("mem"), unix.O_RDWR)
		}},
		Probe{Name: "supervisor: open files", Try: func(t *Target) (bool, string) {
			return did(whatIsOpen(t.supervisor().PID))
		}},
		Probe{Name: "write memory", Try: writes("mem")},
		Probe{Name: "have it killed first", Try: writes("oom_score_adj")},
		Probe{Name: "change its name", Try: writes("comm")},
		Probe{Name: "clear its references", Try: writes("clear_refs")},
		Probe{Name: "change its timers", Try: writes("timerslack_ns")},
		Probe{Name: "change its maps of users", Try: writes("uid_map")},
		Probe{Name: "change its group of scheduling", Try: writes("autogroup")},
		Probe{Name: "change what it dumps", Try: writes("coredump_filter")},
	)
}

// whatIsOpen reports whether the files that a process has open can be told. How many
// they are can.
func whatIsOpen(pid int) error {
	found, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, path := range found {
		if _, err = os.Readlink(path); err == nil {
			return nil
		}
	}
	return noneOf(0, err)
}

// supervisor is the last process above this one, below the parent: that which
// confines, or the first of the namespaces.
func (t *Target) supervisor() Process {
	pid := os.Getpid()
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			break
		}
		f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		above, err := strconv.Atoi(f[1])
		if err != nil || above == 0 || above == t.Parent.PID && t.Parent.there() {
			break
		}
		pid = above
	}
	return Process{PID: pid, Start: startOf(pid)}
}

// theirs reads of a process that may be one of the program's own, but is not to be.
func theirs(t *Target, pid int, name string) (bool, string) {
	if pid == os.Getpid() {
		return false, "that is this process"
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err == nil && strings.Contains(string(data), Var+"=") && len(t.Holds(data)) == 0 {
		return false, "that is a process of a probe"
	}
	return did(noneOf(len(data), err))
}

// everybody looks for canaries in a file of all processes that can be seen.
func (t *Target) everybody(name string) (bool, string) {
	found, err := filepath.Glob("/proc/[0-9]*/" + name)
	for _, path := range found {
		if reached, detail := t.read(path); reached {
			return true, detail
		}
	}
	return false, fmt.Sprintf("%d processes, %v", len(found), err)
}

// environment is what the program itself was given.
func environment() []Probe {
	return group(
		"environment",
		Probe{Name: "own variables", Try: func(t *Target) (bool, string) { return t.read("/proc/self/environ") }},
		Probe{Name: "own arguments", Try: func(t *Target) (bool, string) { return t.read("/proc/self/cmdline") }},
		Probe{Name: "own memory", Try: func(t *Target) (bool, string) { return t.ownMemory() }},
		Probe{Name: "variables that are no business of it", Try: func(*Target) (bool, string) {
			env, err := os.ReadFile("/proc/self/environ")
			for v := range strings.SplitSeq(string(env), "\x00") {
				for _, name := range []string{"GOLD=", "TASK=", "CONFIG_DIR=", "SSH_", "XDG_RUNTIME", "DBUS_"} {
					if strings.HasPrefix(v, name) {
						return true, v
					}
				}
			}
			return false, fmt.Sprint(err)
		}},
	)
}

// ownMemory looks through what is mapped: what was there before the program became
// what it is must be gone.
func (t *Target) ownMemory() (bool, string) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return false, err.Error()
	}
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		return false, err.Error()
	}
	defer mem.Close()
	total := 0
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		if _, err := fmt.Sscanf(line, "%x-%x rw", &from, &to); err != nil || to-from > 64<<20 || strings.Contains(line, "[v") {
			continue
		}
		data := make([]byte, to-from)
		n, _ := mem.ReadAt(data, from) // parts of it may not be there
		total += n
		if reached, detail := t.judge(data[:n], nil); reached {
			return true, detail
		}
	}
	return false, fmt.Sprintf("%d bytes without a canary", total)
}

// tracing is to take hold of other processes.
func tracing() []Probe {
	attach := func(pid func(*Target) Process, request uintptr) func(t *Target) (bool, string) {
		return func(t *Target) (bool, string) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			p := pid(t)
			_, _, errno := unix.Syscall6(unix.SYS_PTRACE, request, uintptr(p.PID), 0, 0, 0, 0)
			if errno != 0 {
				return false, errno.Error()
			}
			_, _ = unix.Wait4(p.PID, nil, unix.WALL|unix.WNOHANG, nil)
			_, _, _ = unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(p.PID), 0, 0, 0, 0)
			return p.on(nil)
		}
	}
	victim := func(t *Target) Process { return t.Victim }
	parent := func(t *Target) Process { return t.Parent }
	above := func(t *Target) Process { return t.supervisor() }
	vm := func(call uintptr) func(t *Target) (bool, string) {
		return func(t *Target) (bool, string) {
			buf := make([]byte, 16)
			local := unix.Iovec{Base: &buf[0], Len: 16}
			remote := unix.RemoteIovec{Base: uintptr(unsafe.Pointer(&buf[0])), Len: 16}
			_, _, errno := unix.Syscall6(call, uintptr(t.Victim.PID), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
			if errno == unix.EFAULT {
				return t.Victim.on(nil) // it was looked at, where nothing is
			}
			return t.Victim.on(failure(errno))
		}
	}
	return group(
		"ptrace",
		Probe{Name: "attach", Try: attach(victim, unix.PTRACE_ATTACH)},
		Probe{Name: "seize", Try: attach(victim, unix.PTRACE_SEIZE)},
		Probe{Name: "seize the parent", Try: attach(parent, unix.PTRACE_SEIZE)},
		Probe{Name: "seize the supervisor", Try: attach(above, unix.PTRACE_SEIZE)},
		Probe{Name: "seize the first process", Try: attach(func(*Target) Process { return Process{PID: 1, Start: startOf(1)} }, unix.PTRACE_SEIZE)},
		Probe{Name: "read memory", Try: vm(unix.SYS_PROCESS_VM_READV)},
		Probe{Name: "write memory", Try: vm(unix.SYS_PROCESS_VM_WRITEV)},
		Probe{Name: "advise about memory", Try: func(t *Target) (bool, string) {
			return t.Victim.byPidfd(func(fd int) error {
				_, _, errno := unix.Syscall6(unix.SYS_PROCESS_MADVISE, uintptr(fd), uintptr(unsafe.Pointer(&unix.RemoteIovec{})), 1, unix.MADV_COLD, 0, 0)
				return failure(errno)
			})
		}},
		Probe{Name: "compare with it", Try: func(t *Target) (bool, string) {
			const kcmpFiles = 2
			_, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(os.Getpid()), uintptr(t.Victim.PID), kcmpFiles, 0, 0, 0)
			return t.Victim.on(failure(errno))
		}},
		Probe{Name: "list of its locks", Try: func(t *Target) (bool, string) {
			var head, size uintptr
			_, _, errno := unix.Syscall(unix.SYS_GET_ROBUST_LIST, uintptr(t.Victim.PID), uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&size)))
			return t.Victim.on(failure(errno))
		}},
		Probe{Name: "move its pages", Try: func(t *Target) (bool, string) {
			var page, status uint64
			_, _, errno := unix.Syscall6(unix.SYS_MOVE_PAGES, uintptr(t.Victim.PID), 1, uintptr(unsafe.Pointer(&page)), 0, uintptr(unsafe.Pointer(&status)), 0)
			return t.Victim.on(failure(errno))
		}},
		Probe{Name: "move its memory", Try: func(t *Target) (bool, string) {
			nodes := uint64(1)
			_, _, errno := unix.Syscall6(unix.SYS_MIGRATE_PAGES, uintptr(t.Victim.PID), 2, uintptr(unsafe.Pointer(&nodes)), uintptr(unsafe.Pointer(&nodes)), 0, 0)
			return t.Victim.on(failure(errno))
		}},
		Probe{Name: "measure it", Try: func(t *Target) (bool, string) {
			attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}
			fd, err := unix.PerfEventOpen(&attr, t.Victim.PID, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
			if err == nil {
				_ = unix.Close(fd)
			}
			return t.Victim.on(err)
		}},
	)
}

func failure(errno unix.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

// byPidfd does something to a process by a descriptor of it.
func (p Process) byPidfd(do func(fd int) error) (bool, string) {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		return false, err.Error()
	}
	defer unix.Close(fd)
	return p.on(do(fd))
}

// signals are ways to send one. Those that are sent do no harm to who expects none.
func signals() []Probe {
	const sig = unix.SIGURG
	info := func(code int32) *[128]byte {
		var b [128]byte
		*(*int32)(unsafe.Pointer(&b[0])), *(*int32)(unsafe.Pointer(&b[8])) = int32(sig), code
		return &b
	}
	const queued = -1 // SI_QUEUE
	return group(
		"signals",
		Probe{Name: "kill", Try: func(t *Target) (bool, string) { return t.Victim.on(unix.Kill(t.Victim.PID, sig)) }},
		Probe{Name: "kill the parent", Try: func(t *Target) (bool, string) { return t.Parent.on(unix.Kill(t.Parent.PID, sig)) }},
		Probe{Name: "kill the supervisor", Try: func(t *Target) (bool, string) { return did(unix.Kill(t.supervisor().PID, sig)) }},
		Probe{Name: "kill the first process", Try: func(*Target) (bool, string) { return did(unix.Kill(1, sig)) }},
		Probe{Name: "kill its group", Try: func(t *Target) (bool, string) { return t.Victim.on(unix.Kill(-t.Victim.PID, sig)) }},
		Probe{Name: "kill all", Wide: true, Try: func(*Target) (bool, string) {
			_ = unix.Kill(-1, unix.SIGWINCH) // it reaches processes of the program; who else, the host sees
			return false, "sent"
		}},
		Probe{Name: "tkill", Try: func(t *Target) (bool, string) {
			_, _, errno := unix.Syscall(unix.SYS_TKILL, uintptr(t.Victim.PID), uintptr(sig), 0)
			return t.Victim.on(failure(errno))
		}},
		Probe{Name: "tgkill", Try: func(t *Target) (bool, string) {
			return t.Victim.on(unix.Tgkill(t.Victim.PID, t.Victim.PID, sig))
		}},
		Probe{Name: "queue", Try: func(t *Target) (bool, string) {
			_, _, errno := unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, uintptr(t.Victim.PID), uintptr(sig), uintptr(unsafe.Pointer(info(queued))))
			return t.Victim.on(failure(errno))
		}},
		Probe{Name: "queue for a thread", Try: func(t *Target) (bool, string) {
			_, _, errno := unix.Syscall6(unix.SYS_RT_TGSIGQUEUEINFO, uintptr(t.Victim.PID), uintptr(t.Victim.PID), uintptr(sig), uintptr(unsafe.Pointer(info(queued))), 0, 0)
			return t.Victim.on(failure(errno))
		}},
		Probe{Name: "by descriptor", Try: func(t *Target) (bool, string) {
			return t.Victim.byPidfd(func(fd int) error { return unix.PidfdSendSignal(fd, sig, nil, 0) })
		}},
		Probe{Name: "by descriptor of /proc", Try: func(t *Target) (bool, string) {
			fd, err := unix.Open(t.Victim.proc(""), unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			if err != nil {
				return false, err.Error()
			}
			defer unix.Close(fd)
			return t.Victim.on(unix.PidfdSendSignal(fd, sig, nil, 0))
		}},
		Probe{Name: "as owner of a pipe", Try: func(t *Target) (bool, string) { return t.owned() }},
		Probe{Name: "as child of another", Try: func(t *Target) (bool, string) {
			return t.Victim.byPidfd(func(fd int) error {
				var usage unix.Rusage
				return unix.Waitid(unix.P_PIDFD, fd, nil, unix.WEXITED|unix.WNOHANG, &usage)
			})
		}},
		Probe{Name: "reap its memory", Try: func(t *Target) (bool, string) {
			return t.Victim.byPidfd(func(fd int) error {
				_, _, errno := unix.Syscall(unix.SYS_PROCESS_MRELEASE, uintptr(fd), 0, 0)
				return failure(errno)
			})
		}},
	)
}

// owned makes the victim the owner of a pipe, and has the kernel signal it. Whether
// that arrives the host sees.
func (t *Target) owned() (bool, string) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false, err.Error()
	}
	defer func() { _, _ = unix.Close(pair[0]), unix.Close(pair[1]) }()
	_, err = unix.FcntlInt(uintptr(pair[0]), unix.F_SETOWN, t.Victim.PID)
	_, errSig := unix.FcntlInt(uintptr(pair[0]), unix.F_SETSIG, int(unix.SIGURG))
	_, errAsync := unix.FcntlInt(uintptr(pair[0]), unix.F_SETFL, unix.O_ASYNC|unix.O_NONBLOCK)
	_, errSend := unix.Write(pair[1], []byte("x"))
	return false, fmt.Sprint("sent: ", errors.Join(err, errSig, errAsync, errSend))
}

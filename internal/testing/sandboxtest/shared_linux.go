package sandboxtest

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sizes of what is kept in memory that is shared, in bytes.
const (
	shared  = 4096
	message = 64
)

// ipc is what programs of one user share outside of all files.
func ipc() []Probe {
	return group(
		"ipc",
		Probe{Name: "shared memory of System V", Try: func(t *Target) (bool, string) {
			id, err := unix.SysvShmGet(t.Key, 0, 0)
			if err != nil {
				return false, err.Error()
			}
			return t.attached(id)
		}},
		Probe{Name: "shared memory of System V, by number", Try: func(t *Target) (bool, string) {
			for id := range 1000 {
				if reached, detail := t.attached(id); reached {
					return true, detail
				}
			}
			return false, "none of 1000"
		}},
		Probe{Name: "remove shared memory", Try: func(t *Target) (bool, string) {
			id, err := unix.SysvShmGet(t.Key, 0, 0)
			if err == nil {
				_, err = unix.SysvShmCtl(id, unix.IPC_STAT, &unix.SysvShmDesc{})
			}
			return did(err)
		}},
		Probe{Name: "semaphores of System V", Try: func(t *Target) (bool, string) {
			_, _, errno := unix.Syscall(unix.SYS_SEMGET, uintptr(t.Key), 1, 0)
			return didNo(errno)
		}},
		Probe{Name: "queue of System V", Try: func(t *Target) (bool, string) { return t.receive() }},
		Probe{Name: "send to a queue of System V", Try: func(t *Target) (bool, string) {
			id, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(t.Key), 0, 0)
			if errno != 0 {
				return false, errno.Error()
			}
			return didNo(msgsnd(id, "x"))
		}},
		Probe{Name: "shared memory of POSIX", Try: func(t *Target) (bool, string) { return t.read("/dev/shm/" + t.Name) }},
		Probe{Name: "list shared memory of POSIX", Try: func(t *Target) (bool, string) {
			entries, err := os.ReadDir("/dev/shm")
			for _, e := range entries {
				if e.Name() == t.Name {
					return true, "it is in the list"
				}
			}
			return false, fmt.Sprint(len(entries), " are listed, ", err)
		}},
		Probe{Name: "queue of POSIX", Try: func(t *Target) (bool, string) { return t.receiveMQ() }},
		Probe{Name: "remove a queue of POSIX", Try: func(t *Target) (bool, string) {
			_, _, errno := unix.Syscall(unix.SYS_MQ_UNLINK, ptr(cstring(t.Name)), 0, 0)
			return didNo(errno)
		}},
		Probe{Name: "list queues of POSIX", Try: func(t *Target) (bool, string) {
			_, err := os.Stat("/dev/mqueue/" + t.Name)
			return did(err)
		}},
		Probe{Name: "lists of System V", Try: func(t *Target) (bool, string) {
			for _, kind := range []string{"shm", "msg", "sem"} {
				text, err := os.ReadFile("/proc/sysvipc/" + kind)
				if err == nil && strings.Contains(string(text), strconv.Itoa(t.Key)) {
					return true, kind
				}
			}
			return false, "it is not in the lists"
		}},
	)
}

// attached reads shared memory.
func (t *Target) attached(id int) (bool, string) {
	data, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY)
	if err != nil {
		return false, err.Error()
	}
	defer func() { _ = unix.SysvShmDetach(data) }()
	return t.judge(append([]byte(nil), data...), nil)
}

// letter is a message of System V.
type letter struct {
	kind int64
	text [message]byte
}

func msgsnd(id uintptr, text string) unix.Errno {
	l := letter{kind: 1}
	copy(l.text[:], text)
	_, _, errno := unix.Syscall6(unix.SYS_MSGSND, id, uintptr(unsafe.Pointer(&l)), message, unix.IPC_NOWAIT, 0, 0)
	return errno
}

// ipcNoWait and msgCopy are flags of msgrcv.
const (
	ipcNoWait = 0o4000
	msgCopy   = 0o40000
)

func (t *Target) receive() (bool, string) {
	id, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(t.Key), 0, 0)
	if errno != 0 {
		return false, errno.Error()
	}
	var l letter
	_, _, errno = unix.Syscall6(unix.SYS_MSGRCV, id, uintptr(unsafe.Pointer(&l)), message, 0, ipcNoWait|msgCopy, 0)
	if errno != 0 {
		_, _, errno = unix.Syscall6(unix.SYS_MSGRCV, id, uintptr(unsafe.Pointer(&l)), message, 0, ipcNoWait, 0)
	}
	return t.judge(l.text[:], failure(errno))
}

// mqAttr is struct mq_attr.
type mqAttr struct{ flags, most, size, now, _, _, _, _ int64 }

func mqOpen(name string, flags int) (fd int, err error) {
	attr := mqAttr{most: 1, size: message}
	r, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, ptr(cstring(name)), uintptr(flags|unix.O_NONBLOCK|unix.O_CLOEXEC), 0o600, uintptr(unsafe.Pointer(&attr)), 0, 0)
	return int(r), failure(errno)
}

func mqSend(fd int, text string) error {
	b := make([]byte, message)
	copy(b, text)
	_, _, errno := unix.Syscall6(unix.SYS_MQ_TIMEDSEND, uintptr(fd), ptr(b), message, 0, 0, 0)
	return failure(errno)
}

func (t *Target) receiveMQ() (bool, string) {
	fd, err := mqOpen(t.Name, unix.O_RDWR)
	if err != nil {
		return false, err.Error()
	}
	defer unix.Close(fd)
	b := make([]byte, message)
	_, _, errno := unix.Syscall6(unix.SYS_MQ_TIMEDRECEIVE, uintptr(fd), ptr(b), message, 0, 0, 0)
	reached, detail := t.judge(b, failure(errno))
	if reached {
		_ = mqSend(fd, string(b))
	}
	return reached, detail
}

// keyrings are where the kernel keeps secrets of a user.
func keyrings() []Probe {
	return group(
		"keyrings",
		Probe{Name: "search that of the user", Try: func(t *Target) (bool, string) {
			id, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", t.Name, 0)
			return t.readKey(id, err)
		}},
		Probe{Name: "search that of the session", Try: func(t *Target) (bool, string) {
			id, err := unix.KeyctlSearch(unix.KEY_SPEC_SESSION_KEYRING, "user", t.Name, 0)
			return t.readKey(id, err)
		}},
		Probe{Name: "request a key", Try: func(t *Target) (bool, string) {
			id, err := unix.RequestKey("user", t.Name, "", unix.KEY_SPEC_PROCESS_KEYRING)
			return t.readKey(id, err)
		}},
		Probe{Name: "leave a key", Try: func(t *Target) (bool, string) {
			_, err := unix.AddKey("user", t.Token, []byte("x"), unix.KEY_SPEC_USER_KEYRING)
			return did(err)
		}},
		Probe{Name: "leave a key that persists", Try: func(*Target) (bool, string) {
			const getPersistent = 22
			_, _, errno := unix.Syscall6(unix.SYS_KEYCTL, getPersistent, ^uintptr(0), 0, 0, 0, 0)
			return didNo(errno)
		}},
		Probe{Name: "join a session by name", Try: func(t *Target) (bool, string) {
			_, err := unix.KeyctlJoinSessionKeyring(t.Name)
			return did(err)
		}},
		Probe{Name: "list keys", Try: func(t *Target) (bool, string) {
			text, err := os.ReadFile("/proc/keys")
			if strings.Contains(string(text), t.Name) {
				return true, "it is in the list"
			}
			return false, fmt.Sprint("it is not in the list ", err)
		}},
	)
}

func (t *Target) readKey(id int, err error) (bool, string) {
	if err != nil {
		return false, err.Error()
	}
	b := make([]byte, 1024)
	n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, b, 0)
	return t.judge(b[:max(n, 0)], err)
}

// limits are ways to hold others back.
func limits() []Probe {
	victim := func(t *Target) Process { return t.Victim }
	parent := func(t *Target) Process { return t.Parent }
	above := func(t *Target) Process { return t.supervisor() }
	prlimit := func(of func(*Target) Process, resource int) func(t *Target) (bool, string) {
		return func(t *Target) (bool, string) { return t.limit(of(t), resource) }
	}
	call := func(number uintptr, args func(t *Target) [3]uintptr) func(t *Target) (bool, string) {
		return func(t *Target) (bool, string) {
			a := args(t)
			_, _, errno := unix.Syscall(number, a[0], a[1], a[2])
			return t.Victim.on(failure(errno))
		}
	}
	const class, level = 2, 4 // the default of input and output
	ioprio := func(which, who uintptr) func(t *Target) [3]uintptr {
		return func(t *Target) [3]uintptr {
			if who == 0 {
				who = uintptr(t.Victim.PID)
			}
			return [3]uintptr{which, who, class<<13 | level}
		}
	}
	return group(
		"limits",
		Probe{Name: "files of it", Try: prlimit(victim, unix.RLIMIT_NOFILE)},
		Probe{Name: "time of it", Try: prlimit(victim, unix.RLIMIT_CPU)},
		Probe{Name: "files of the parent", Try: prlimit(parent, unix.RLIMIT_NOFILE)},
		Probe{Name: "memory of the parent", Try: prlimit(parent, unix.RLIMIT_AS)},
		Probe{Name: "time of the parent", Try: prlimit(parent, unix.RLIMIT_CPU)},
		Probe{Name: "size of files of the parent", Try: prlimit(parent, unix.RLIMIT_FSIZE)},
		Probe{Name: "files of the supervisor", Try: prlimit(above, unix.RLIMIT_NOFILE)},
		Probe{Name: "files of the first process", Try: prlimit(func(*Target) Process { return Process{PID: 1, Start: startOf(1)} }, unix.RLIMIT_NOFILE)},
		Probe{Name: "raise a hard limit of the own", Try: func(*Target) (bool, string) {
			var now unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &now); err != nil {
				return false, err.Error()
			}
			return did(unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: now.Max + 1, Max: now.Max + 1}))
		}},
		Probe{Name: "priority", Try: func(t *Target) (bool, string) {
			return t.Victim.on(unix.Setpriority(unix.PRIO_PROCESS, t.Victim.PID, 5))
		}},
		Probe{Name: "priority of the parent", Try: func(t *Target) (bool, string) {
			now, err := unix.Getpriority(unix.PRIO_PROCESS, t.Parent.PID) // 20 less it
			if err != nil {
				now = 20
			}
			return t.Parent.on(unix.Setpriority(unix.PRIO_PROCESS, t.Parent.PID, 20-now))
		}},
		Probe{Name: "priority of a group", Try: func(t *Target) (bool, string) { return t.Victim.on(unix.Setpriority(unix.PRIO_PGRP, t.Victim.PID, 5)) }},
		Probe{Name: "priority of a user", Wide: true, Try: func(*Target) (bool, string) {
			err := unix.Setpriority(unix.PRIO_USER, os.Getuid(), 1) // the host sees whose it was
			return false, fmt.Sprint("sent ", err)
		}},
		Probe{Name: "own priority above others", Try: func(*Target) (bool, string) { return did(unix.Setpriority(unix.PRIO_PROCESS, 0, -5)) }},
		Probe{Name: "real time", Wide: true, Try: func(*Target) (bool, string) {
			param := int32(1)
			const fifo = 1
			_, _, errno := unix.Syscall(unix.SYS_SCHED_SETSCHEDULER, 0, fifo, uintptr(unsafe.Pointer(&param)))
			return didNo(errno)
		}},
		Probe{Name: "processors", Try: func(t *Target) (bool, string) {
			var set unix.CPUSet
			set.Set(0)
			return t.Victim.on(unix.SchedSetaffinity(t.Victim.PID, &set))
		}},
		Probe{Name: "way of scheduling", Try: call(unix.SYS_SCHED_SETSCHEDULER, func(t *Target) [3]uintptr {
			const batch = 3
			return [3]uintptr{uintptr(t.Victim.PID), batch, uintptr(unsafe.Pointer(new(int32)))}
		})},
		Probe{Name: "parameters of scheduling", Try: call(unix.SYS_SCHED_SETPARAM, func(t *Target) [3]uintptr {
			return [3]uintptr{uintptr(t.Victim.PID), uintptr(unsafe.Pointer(new(int32)))}
		})},
		Probe{Name: "attributes of scheduling", Try: func(t *Target) (bool, string) {
			return t.Victim.on(unix.SchedSetAttr(t.Victim.PID, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Nice: 5}, 0))
		}},
		Probe{Name: "input and output", Try: call(unix.SYS_IOPRIO_SET, ioprio(1, 0))},
		Probe{Name: "input and output of a group", Try: call(unix.SYS_IOPRIO_SET, ioprio(2, 0))},
		Probe{Name: "input and output in real time", Wide: true, Try: func(*Target) (bool, string) {
			const realtime = 1
			_, _, errno := unix.Syscall(unix.SYS_IOPRIO_SET, 1, 0, realtime<<13)
			return didNo(errno)
		}},
		Probe{Name: "be killed last", Wide: true, Try: func(*Target) (bool, string) {
			return did(os.WriteFile("/proc/self/oom_score_adj", []byte("-500"), 0))
		}},
	)
}

// limit sets a limit of another to what it is.
func (t *Target) limit(p Process, resource int) (bool, string) {
	var now unix.Rlimit
	err := unix.Prlimit(p.PID, resource, nil, &now)
	if err != nil {
		now = unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}
	}
	return p.on(unix.Prlimit(p.PID, resource, &now, nil))
}

// clocks are ways to set them for all. What is set is what they are set to.
func clocks() []Probe {
	return group(
		"time",
		Probe{Name: "clock_settime", Wide: true, Try: func(*Target) (bool, string) {
			now := unix.NsecToTimespec(time.Now().UnixNano())
			_, _, errno := unix.Syscall(unix.SYS_CLOCK_SETTIME, unix.CLOCK_REALTIME, uintptr(unsafe.Pointer(&now)), 0)
			return didNo(errno)
		}},
		Probe{Name: "settimeofday", Wide: true, Try: func(*Target) (bool, string) {
			now := unix.NsecToTimeval(time.Now().UnixNano())
			return did(unix.Settimeofday(&now))
		}},
		Probe{Name: "adjtimex", Wide: true, Try: func(*Target) (bool, string) {
			var x unix.Timex
			_, err := unix.Adjtimex(&x)
			const tick = 0x4000
			x.Modes = tick
			if err == nil {
				_, err = unix.Adjtimex(&x)
			}
			return did(err)
		}},
		Probe{Name: "clock_adjtime", Wide: true, Try: func(*Target) (bool, string) {
			var x unix.Timex
			_, err := unix.ClockAdjtime(unix.CLOCK_REALTIME, &x)
			const tick = 0x4000
			x.Modes = tick
			if err == nil {
				_, err = unix.ClockAdjtime(unix.CLOCK_REALTIME, &x)
			}
			return did(err)
		}},
		Probe{Name: "alarm that wakes the machine", Wide: true, Try: func(*Target) (bool, string) {
			fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME_ALARM, unix.TFD_CLOEXEC)
			if err == nil {
				_ = unix.Close(fd)
			}
			return did(err)
		}},
	)
}

// kernel are calls about the whole machine. None of them changes anything that was
// not so before.
func kernel() []Probe {
	bpf := func(command uintptr, attr *[16]uint64) unix.Errno {
		_, _, errno := unix.Syscall(unix.SYS_BPF, command, uintptr(unsafe.Pointer(attr)), 128)
		return errno
	}
	return group(
		"kernel",
		Probe{Name: "name of the machine", Wide: true, Try: func(*Target) (bool, string) {
			name, err := os.Hostname()
			return did(errors.Join(err, unix.Sethostname([]byte(name))))
		}},
		Probe{Name: "list programs of BPF", Wide: true, Try: func(*Target) (bool, string) {
			const nextProgram = 11
			errno := bpf(nextProgram, &[16]uint64{})
			return errno == 0 || errno == unix.ENOENT, errno.Error()
		}},
		Probe{Name: "measure the machine", Wide: true, Try: func(*Target) (bool, string) {
			attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}
			fd, err := unix.PerfEventOpen(&attr, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
			if err == nil {
				_ = unix.Close(fd)
			}
			return did(err)
		}},
		Probe{Name: "faults of the kernel", Wide: true, Try: func(*Target) (bool, string) {
			fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC, 0, 0)
			if errno == 0 {
				_ = unix.Close(int(fd))
			}
			return didNo(errno)
		}},
		Probe{Name: "io_uring", Wide: true, Try: func(*Target) (bool, string) {
			var params [120]byte
			fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, ptr(params[:]), 0)
			if errno == 0 {
				_ = unix.Close(int(fd))
			}
			return didNo(errno)
		}},
		Probe{Name: "watch all files", Wide: true, Try: func(t *Target) (bool, string) {
			fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_CLOEXEC, unix.O_RDONLY)
			if err == nil {
				defer unix.Close(fd)
				err = unix.FanotifyMark(fd, unix.FAN_MARK_ADD|unix.FAN_MARK_FILESYSTEM, unix.FAN_OPEN, unix.AT_FDCWD, t.Dir)
			}
			return did(err)
		}},
		Probe{Name: "swap to a file", Wide: true, Try: func(t *Target) (bool, string) {
			_, _, errno := unix.Syscall(unix.SYS_SWAPON, ptr(cstring(t.Files[Gold])), 0, 0)
			return errno != unix.EPERM && errno != unix.ENOSYS, errno.Error()
		}},
		Probe{Name: "account to a file", Wide: true, Try: func(t *Target) (bool, string) {
			return did(unix.Acct(t.Dir + "/none"))
		}},
		Probe{Name: "load a module", Wide: true, Try: func(*Target) (bool, string) {
			err := unix.FinitModule(-1, "", 0)
			return !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSYS), fmt.Sprint(err)
		}},
		Probe{Name: "write settings of the kernel", Wide: true, Try: func(*Target) (bool, string) {
			var all []func() (bool, string)
			for _, path := range []string{
				"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/modprobe", "/proc/sys/vm/drop_caches", "/proc/sys/vm/overcommit_memory",
				"/proc/sys/net/ipv4/ip_forward", "/proc/sys/kernel/ns_last_pid", "/proc/sys/fs/binfmt_misc/register", "/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/mtrr",
			} {
				all = append(all, func() (bool, string) { return opens(path, unix.O_WRONLY) })
			}
			return first(all...)
		}},
		Probe{Name: "memory of the kernel", Wide: true, Try: func(*Target) (bool, string) {
			return first(
				func() (bool, string) { return opens("/proc/kcore", unix.O_RDONLY) },
				func() (bool, string) { return opens("/proc/kmsg", unix.O_RDONLY) },
				func() (bool, string) { return opens("/proc/vmcore", unix.O_RDONLY) },
				func() (bool, string) { return opens("/sys/kernel/debug", unix.O_RDONLY) },
				func() (bool, string) { return opens("/sys/kernel/tracing/trace", unix.O_RDONLY) },
				func() (bool, string) { return opens("/sys/firmware/dmi/tables/DMI", unix.O_RDONLY) },
			)
		}},
		Probe{Name: "write what /sys has", Wide: true, Try: func(*Target) (bool, string) {
			var all []func() (bool, string)
			for _, path := range []string{
				"/sys/power/state", "/sys/kernel/uevent_helper", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/devices/system/cpu/cpu1/online",
				"/sys/module/printk/parameters/time", "/sys/class/net/lo/mtu", "/sys/kernel/mm/ksm/run", "/sys/kernel/profiling",
			} {
				all = append(all, func() (bool, string) { return opens(path, unix.O_WRONLY) })
			}
			return first(all...)
		}},
	)
}

package sandboxtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// daemons are processes that are to stay. Whether any has, the host sees.
func daemons() []Probe {
	leave := func(name string, attr syscall.SysProcAttr, args ...string) Probe {
		return Probe{Name: name, Try: func(t *Target) (bool, string) {
			if len(args) == 0 {
				args = []string{"linger", t.Token, strings.ReplaceAll(name, " ", "-")}
			}
			cmd := t.command(context.Background(), self, args...)
			cmd.SysProcAttr = &attr
			if err := cmd.Start(); err != nil {
				return false, err.Error()
			}
			go func() { _ = cmd.Wait() }()
			return false, fmt.Sprintf("process %d was left", cmd.Process.Pid)
		}}
	}
	return group(
		"daemons",
		leave("in the background", syscall.SysProcAttr{}),
		leave("in a group of its own", syscall.SysProcAttr{Setpgid: true}),
		leave("in a session of its own", syscall.SysProcAttr{Setsid: true}),
		leave("in namespaces of its own", syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET}),
		leave("in processes of its own", syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_NEWPID}),
		leave("as a sibling", syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_PARENT}),
		leave("as another user", syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}),
		Probe{Name: "by forking twice", Try: func(t *Target) (bool, string) {
			_, err := t.startWith(&syscall.SysProcAttr{Setsid: true}, "fork", "twice")
			return false, fmt.Sprint("left: ", err)
		}},
		Probe{Name: "without variables, from another folder", Try: func(t *Target) (bool, string) {
			cmd := t.command(context.Background(), self, "linger", t.Token, "bare")
			cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Setsid: true}
			err := cmd.Start()
			return false, fmt.Sprint("left: ", err)
		}},
		Probe{Name: "that traces and is traced", Try: func(t *Target) (bool, string) {
			cmd := t.command(context.Background(), self, "linger", t.Token, "traced")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Ptrace: true}
			runtime.LockOSThread()
			err := cmd.Start()
			return false, fmt.Sprint("left: ", err)
		}},
		Probe{Name: "that is stopped", Try: func(t *Target) (bool, string) {
			cmd := t.command(context.Background(), self, "linger", t.Token, "stopped")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			err := cmd.Start()
			if err == nil {
				err = cmd.Process.Signal(syscall.SIGSTOP)
			}
			return false, fmt.Sprint("left: ", err)
		}},
		Probe{Name: "that adopts others", Try: func(t *Target) (bool, string) {
			cmd := t.command(context.Background(), self, "fork", "adopt")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			err := cmd.Start()
			return false, fmt.Sprint("left: ", err)
		}},
	)
}

// fork starts processes that stay, and ends, or stays and adopts them.
func (t *Target) fork(how string) error {
	if how == "adopt" {
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
		_ = unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0)
		if _, err := t.startWith(&syscall.SysProcAttr{Setsid: true}, "fork", "once"); err != nil {
			return err
		}
		<-time.After(time.Hour)
	}
	cmd := t.command(context.Background(), self, "linger", t.Token, how)
	if how == "twice" {
		cmd = t.command(context.Background(), self, "fork", "once")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

// descriptors are open files that the program was not to get.
func descriptors() []Probe {
	steal := func(pid func(*Target) Process) func(t *Target) (bool, string) {
		return func(t *Target) (bool, string) {
			var details []string
			for n := range 12 {
				reached, detail := pid(t).byPidfd(func(fd int) error {
					got, err := unix.PidfdGetfd(fd, n, 0)
					if err == nil {
						_ = unix.Close(got)
					}
					return err
				})
				if reached {
					return true, fmt.Sprintf("descriptor %d", n)
				}
				details = append(details, detail)
			}
			return false, details[0]
		}
	}
	return group(
		"descriptors",
		Probe{Name: "inherited", Try: func(t *Target) (bool, string) {
			for fd := 3; fd < 1024; fd++ {
				var b [4096]byte
				n, err := unix.Pread(fd, b[:], 0)
				if err == nil && len(t.Holds(b[:n])) > 0 {
					return true, fmt.Sprintf("descriptor %d", fd)
				}
			}
			return false, "none of 1024 has a canary"
		}},
		Probe{Name: "list of its own", Try: func(t *Target) (bool, string) {
			entries, err := os.ReadDir("/proc/self/fd")
			for _, e := range entries {
				path, err := os.Readlink("/proc/self/fd/" + e.Name())
				if fd, bad := strconv.Atoi(e.Name()); bad == nil && fd > 2 && err == nil && (strings.HasPrefix(path, t.Dir) || strings.Contains(path, "cgroup.procs") || strings.HasPrefix(path, "socket:")) {
					return true, path
				}
			}
			return false, fmt.Sprint(len(entries), " are open, ", err)
		}},
		Probe{Name: "open the input again, for writing", Try: func(t *Target) (bool, string) { return t.again(0) }},
		Probe{Name: "open the output again, for reading", Try: func(t *Target) (bool, string) { return t.again(1) }},
		Probe{Name: "by /dev/fd", Try: func(t *Target) (bool, string) {
			for fd := 3; fd < 64; fd++ {
				if reached, detail := t.read("/dev/fd/" + strconv.Itoa(fd)); reached {
					return true, detail
				}
			}
			return false, "none"
		}},
		Probe{Name: "take from it", Try: steal(func(t *Target) Process { return t.Victim })},
		Probe{Name: "take from the parent", Try: steal(func(t *Target) Process { return t.Parent })},
		Probe{Name: "take from the supervisor", Try: steal(func(t *Target) Process { return t.supervisor() })},
		Probe{Name: "take from the first process", Try: steal(func(*Target) Process { return Process{1, startOf(1)} })},
		Probe{Name: "be handed them by a socket", Try: func(t *Target) (bool, string) {
			return socket(unix.AF_UNIX, unix.SOCK_STREAM, 0, func(fd int) error {
				if err := unix.Connect(fd, &unix.SockaddrUnix{Name: t.Sockets + ".stream"}); err != nil {
					return err
				}
				_, _, _, _, err := unix.Recvmsg(fd, make([]byte, 1), make([]byte, 64), unix.MSG_DONTWAIT)
				return err
			})
		}},
		Probe{Name: "forge how it ended", Try: func(*Target) (bool, string) {
			for fd := 3; fd < 10; fd++ {
				if _, err := unix.Write(fd, []byte("\x00exit {\"status\":0}")); err == nil {
					if path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil && !strings.HasPrefix(path, "anon_inode:") {
						return true, path
					}
				}
			}
			return false, "nobody listens"
		}},
	)
}

// again opens one of the standard files once more: it must not be a file of others.
func (t *Target) again(fd int) (bool, string) {
	name := fmt.Sprintf("/proc/self/fd/%d", fd)
	path, err := os.Readlink(name)
	if err != nil {
		return false, err.Error()
	}
	if strings.HasPrefix(path, "pipe:") || path == "/dev/null" {
		return false, "it is " + path
	}
	return opens(name, unix.O_RDWR)
}

// execution is to have something run that is less confined.
func execution() []Probe {
	return group(
		"execution",
		Probe{Name: "a program of the project", Try: func(t *Target) (bool, string) { return t.output(t.Files[Script]) }},
		Probe{Name: "a program of the project, by link", Try: func(t *Target) (bool, string) {
			_ = os.Symlink(t.Files[Script], own("script"))
			return t.output(own("script"))
		}},
		Probe{Name: "a program of the project, by descriptor", Try: func(t *Target) (bool, string) {
			fd, err := unix.Open(t.Files[Script], unix.O_PATH, 0) // without O_CLOEXEC: a script is opened by name
			if err != nil {
				return false, err.Error()
			}
			defer unix.Close(fd)
			return t.output(fmt.Sprintf("/proc/self/fd/%d", fd))
		}},
		Probe{Name: "a program in memory", Try: func(t *Target) (bool, string) { return t.inMemory() }},
		Probe{Name: "an interpreter of the loader", Try: func(t *Target) (bool, string) {
			for _, loader := range []string{"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"} {
				if _, err := os.Stat(loader); err == nil {
					return t.output(loader, "/bin/cat", t.Files[Gold])
				}
			}
			return false, "there is no loader"
		}},
		Probe{Name: "a shell", Try: func(t *Target) (bool, string) { return t.output("/bin/sh", "-c", "cat <"+t.Files[Gold]) }},
		Probe{Name: "to be root", Wide: true, Try: func(t *Target) (bool, string) {
			var all []func() (bool, string)
			for _, su := range []string{"/usr/bin/su", "/usr/bin/sudo", "/usr/bin/pkexec", "/usr/bin/mount", "/usr/bin/newgrp", "/usr/bin/chsh"} {
				all = append(all, func() (bool, string) { return t.output(su, "-c", "cat "+t.Files[Gold]) })
			}
			return first(all...)
		}},
		Probe{Name: "with capabilities", Wide: true, Try: func(*Target) (bool, string) {
			status, err := os.ReadFile("/proc/self/status")
			for line := range strings.Lines(string(status)) {
				name, value, _ := strings.Cut(line, ":")
				if name != "CapEff" && name != "CapPrm" && name != "CapInh" && name != "CapAmb" {
					continue
				}
				caps, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
				const allowed = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID
				if err != nil || caps&^allowed != 0 {
					return true, line
				}
			}
			return false, fmt.Sprint("none but those about owners ", err)
		}},
		Probe{Name: "as another user", Try: func(t *Target) (bool, string) {
			for _, uid := range []uint32{0, 1, 65534, 1000} {
				cmd := t.command(context.Background(), self, "cat", t.Files[Gold])
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
				if reached, detail := heard(cmd.Output()); reached {
					return true, detail
				}
			}
			return false, "as none of four"
		}},
		Probe{Name: "with numbers of other calls", Wide: true, Try: func(*Target) (bool, string) {
			if runtime.GOARCH != "amd64" {
				return false, "this machine has none"
			}
			const x32 = 0x40000000
			_, _, errno := unix.RawSyscall(x32|unix.SYS_GETPID, 0, 0, 0)
			return didNo(errno)
		}},
		Probe{Name: "with calls of 32 bits", Wide: true, Try: func(*Target) (bool, string) { return wide() }},
		Probe{Name: "without the filter", Wide: true, Try: func(*Target) (bool, string) {
			allow := []unix.SockFilter{{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW}}
			prog := unix.SockFprog{Len: 1, Filter: &allow[0]}
			_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
			_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, false)
			return err == nil, fmt.Sprint(errno, err)
		}},
		Probe{Name: "with new privileges", Wide: true, Try: func(*Target) (bool, string) {
			v, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
			return v == 0, fmt.Sprint(v, err)
		}},
		Probe{Name: "with dumps", Wide: true, Try: func(*Target) (bool, string) {
			var now unix.Rlimit
			err := unix.Getrlimit(unix.RLIMIT_CORE, &now)
			return now.Max > 0, fmt.Sprint(now, err)
		}},
	)
}

// output runs a program and looks for canaries in what it prints.
func (t *Target) output(path string, args ...string) (bool, string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := t.command(ctx, path, args...).CombinedOutput()
	return t.judge(out, err)
}

// inMemory has this binary run from a file that has no name, to read gold.
func (t *Target) inMemory() (bool, string) {
	fd, err := unix.MemfdCreate("x", unix.MFD_CLOEXEC)
	if err != nil {
		return false, err.Error()
	}
	defer unix.Close(fd)
	data, err := os.ReadFile(self)
	if err == nil {
		err = noneOf(unix.Write(fd, data))
	}
	if err != nil {
		return false, err.Error()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return heard(t.command(ctx, fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd), "cat", t.Files[Gold]).Output())
}

// wide runs a program of a few instructions that makes a call by the numbers of 32
// bits: keyctl, of which the filter for 64 bits knows another number. Its exit code is
// the error.
func wide() (bool, string) {
	if runtime.GOARCH != "amd64" {
		return false, "this machine has none"
	}
	code := []byte{
		0xb8, 0x20, 0x01, 0x00, 0x00, // mov eax, 288: keyctl
		0x31, 0xdb, // xor ebx, ebx: the number of a keyring
		0xb9, 0xfc, 0xff, 0xff, 0xff, // mov ecx, -4: that of the user
		0x31, 0xd2, // xor edx, edx
		0xcd, 0x80, // int 0x80
		0x89, 0xc7, // mov edi, eax
		0xf7, 0xdf, // neg edi
		0xb8, 0x3c, 0x00, 0x00, 0x00, // mov eax, 60: exit
		0x0f, 0x05, // syscall
	}
	const at = 0x400000
	head := make([]byte, 120)
	copy(head, "\x7fELF\x02\x01\x01")
	put := func(where int, width int, v uint64) {
		for i := range width {
			head[where+i] = byte(v >> (8 * i))
		}
	}
	put(16, 2, 2)      // executable
	put(18, 2, 62)     // amd64
	put(20, 4, 1)      // version
	put(24, 8, at+120) // entry
	put(32, 8, 64)     // program headers
	put(52, 2, 64)     // size of this header
	put(54, 2, 56)     // of a program header
	put(56, 2, 1)      // of which there is one
	put(64, 4, 1)      // to be loaded
	put(68, 4, 5)      // read and executed
	put(80, 8, at)
	put(88, 8, at)
	put(96, 8, uint64(120+len(code)))
	put(104, 8, uint64(120+len(code)))
	put(112, 8, 4096)
	path := own("wide")
	if err := os.WriteFile(path, append(head, code...), 0o700); err != nil {
		return false, err.Error()
	}
	p, err := os.StartProcess(path, []string{path}, &os.ProcAttr{})
	if err != nil {
		return false, err.Error()
	}
	state, err := p.Wait()
	if err != nil {
		return false, err.Error()
	}
	errno := syscall.Errno(state.ExitCode())
	return state.Exited() && errno != unix.ENOSYS && errno != unix.EPERM, fmt.Sprintf("%v: %v", state, errno)
}

// groups are control groups.
func groups() []Probe {
	dirs := func() []string {
		var all []string
		text, _ := os.ReadFile("/proc/self/cgroup")
		for line := range strings.Lines(string(text)) {
			if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 {
				for name := range strings.SplitSeq(f[1], ",") {
					all = append(all, filepath.Join("/sys/fs/cgroup", strings.TrimPrefix(name, "name="), f[2]))
				}
			}
		}
		return append(all, "/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids")
	}
	write := func(files ...string) func(*Target) (bool, string) {
		return func(*Target) (bool, string) {
			for _, dir := range dirs() {
				for _, file := range files {
					if reached, detail := opens(filepath.Join(dir, file), unix.O_WRONLY); reached {
						return true, filepath.Join(dir, file) + ": " + detail
					}
				}
			}
			return false, "none can be written"
		}
	}
	return group(
		"control groups",
		Probe{Name: "join another", Wide: true, Try: write("cgroup.procs", "tasks")},
		Probe{Name: "raise a limit", Wide: true, Try: write("memory.max", "pids.max", "memory.limit_in_bytes", "cpu.max")},
		Probe{Name: "end or stop another", Wide: true, Try: write("cgroup.kill", "cgroup.freeze", "freezer.state")},
		Probe{Name: "have a program run at its end", Wide: true, Try: write("release_agent", "notify_on_release")},
		Probe{Name: "make one", Wide: true, Try: func(t *Target) (bool, string) {
			for _, dir := range dirs() {
				if err := os.Mkdir(filepath.Join(dir, t.Token), 0o700); err == nil {
					_ = os.Remove(filepath.Join(dir, t.Token))
					return true, dir
				}
			}
			return false, "none can be made"
		}},
		Probe{Name: "be born in another", Wide: true, Try: func(t *Target) (bool, string) {
			for _, dir := range dirs() {
				fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_PATH|unix.O_CLOEXEC, 0)
				if err != nil {
					continue
				}
				said, _ := t.startWith(&syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: fd}, "cat", "/dev/null")
				_ = unix.Close(fd)
				if len(said) > 0 {
					return true, dir
				}
			}
			return false, "in none"
		}},
	)
}

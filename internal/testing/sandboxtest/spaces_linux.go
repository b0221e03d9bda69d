package sandboxtest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mounts are tries to have another view of the files.
func mounts() []Probe {
	with := func(what string) func(t *Target) (bool, string) {
		return func(t *Target) (bool, string) { return t.inside(what) }
	}
	return group(
		"mounts",
		Probe{Name: "mount a file system", Wide: true, Try: with("tmpfs")},
		Probe{Name: "show gold in the own folder", Wide: true, Try: with("bind")},
		Probe{Name: "make the root writable", Wide: true, Try: with("remount")},
		Probe{Name: "make the root writable, the newer call", Wide: true, Try: with("setattr")},
		Probe{Name: "unmount the root", Wide: true, Try: with("unmount")},
		Probe{Name: "unmount what is below the own folder", Wide: true, Try: with("uncover")},
		Probe{Name: "move mounts", Wide: true, Try: with("move")},
		Probe{Name: "clone a tree", Wide: true, Try: with("tree")},
		Probe{Name: "make a file system", Wide: true, Try: with("fsopen")},
		Probe{Name: "change the root", Wide: true, Try: with("pivot")},
		Probe{Name: "change the root of this process", Wide: true, Try: with("chroot")},
		Probe{Name: "list mounts of others", Try: func(t *Target) (bool, string) {
			return t.read(t.Victim.proc("mountinfo"))
		}},
		Probe{Name: "memory where a folder of all was", Try: func(t *Target) (bool, string) {
			return first(
				func() (bool, string) { return t.read("/dev/shm/" + t.Name) },
				func() (bool, string) { return t.read("/old" + t.Files[Gold]) },
				func() (bool, string) { return t.read("/new" + t.Files[Gold]) },
			)
		}},
	)
}

// spaces are namespaces of the program's own, in which it has all capabilities, and
// those of others.
func spaces() []Probe {
	var all []Probe
	for _, what := range []string{"tmpfs", "bind", "remount", "setattr", "unmount", "uncover", "move", "tree", "fsopen", "pivot", "chroot", "handle", "proc", "raw", "hostname", "signal", "limit", "connect"} {
		all = append(all, Probe{Name: "own user namespace, then " + what, Try: func(t *Target) (bool, string) {
			return t.within(unix.CLONE_NEWUSER|unix.CLONE_NEWNS|unix.CLONE_NEWPID|unix.CLONE_NEWUTS|unix.CLONE_NEWIPC|unix.CLONE_NEWNET, what)
		}})
	}
	all = append(all,
		Probe{Name: "own mount namespace", Wide: true, Try: func(t *Target) (bool, string) { return t.within(unix.CLONE_NEWNS, "tmpfs") }},
		Probe{Name: "own control groups", Wide: true, Try: func(t *Target) (bool, string) { return t.within(unix.CLONE_NEWCGROUP, "join") }},
		Probe{Name: "unshare a namespace for each kind", Wide: true, Try: func(*Target) (bool, string) { return unshare() }},
	)
	for _, name := range []string{"mnt", "net", "pid", "ipc", "user", "uts", "cgroup", "time"} {
		all = append(all, Probe{Name: "join its namespace: " + name, Try: func(t *Target) (bool, string) { return t.join(name) }})
	}
	return group("namespaces", all...)
}

// within has this binary started in new namespaces, with all capabilities that there
// are in them.
func (t *Target) within(flags uintptr, what string) (bool, string) {
	attr := &syscall.SysProcAttr{Cloneflags: flags}
	if flags&unix.CLONE_NEWUSER != 0 {
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT, unix.CAP_NET_RAW, unix.CAP_NET_ADMIN, unix.CAP_DAC_READ_SEARCH, unix.CAP_KILL, unix.CAP_SYS_RESOURCE, unix.CAP_SYS_PTRACE}
	}
	return heard(t.startWith(attr, "inside", what))
}

// unshare leaves a thread behind that has other namespaces, if it can.
func unshare() (bool, string) {
	said := make(chan string)
	go func() {
		runtime.LockOSThread() // never to be unlocked: the thread ends
		var got []string
		for name, flag := range map[string]int{"mnt": unix.CLONE_NEWNS, "net": unix.CLONE_NEWNET, "ipc": unix.CLONE_NEWIPC, "uts": unix.CLONE_NEWUTS, "pid": unix.CLONE_NEWPID, "cgroup": unix.CLONE_NEWCGROUP} {
			if unix.Unshare(flag) == nil {
				got = append(got, name)
			}
		}
		said <- strings.Join(got, " ")
	}()
	got := <-said
	return got != "", "namespaces that it got: " + got
}

// join enters a namespace of the victim.
func (t *Target) join(name string) (bool, string) {
	enter := func(fd int, flag int) error {
		said := make(chan error)
		go func() {
			runtime.LockOSThread() // never to be unlocked: the thread ends
			_ = unix.Unshare(unix.CLONE_FS)
			said <- unix.Setns(fd, flag)
		}()
		return <-said
	}
	fd, err := unix.Open(t.Victim.proc("ns/"+name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd)
		err = enter(fd, 0)
	}
	if err == nil {
		return t.Victim.on(nil)
	}
	flag := map[string]int{
		"mnt": unix.CLONE_NEWNS, "net": unix.CLONE_NEWNET, "ipc": unix.CLONE_NEWIPC, "uts": unix.CLONE_NEWUTS,
		"pid": unix.CLONE_NEWPID, "cgroup": unix.CLONE_NEWCGROUP, "user": unix.CLONE_NEWUSER, "time": unix.CLONE_NEWTIME,
	}[name]
	return t.Victim.byPidfd(func(fd int) error { return enter(fd, flag) })
}

// inside is what is tried about mounts, in new namespaces or in those that there are.
func (t *Target) inside(what string) (bool, string) {
	dir := own("mnt")
	_ = os.MkdirAll(dir, 0o700)
	name := filepath.Base(t.Files[Gold])
	switch what {
	case "tmpfs":
		return did(unix.Mount("tmpfs", dir, "tmpfs", 0, ""))
	case "bind":
		if err := unix.Mount(t.Dir, dir, "", unix.MS_BIND, ""); err != nil {
			return false, err.Error()
		}
		return t.read(dir + "/" + name)
	case "remount":
		return did(unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, ""))
	case "setattr":
		return first(
			func() (bool, string) {
				return did(unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}))
			},
			func() (bool, string) {
				return did(unix.MountSetattr(unix.AT_FDCWD, "/tmp", 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}))
			},
		)
	case "unmount":
		return did(unix.Unmount("/", unix.MNT_DETACH))
	case "uncover":
		return first(
			func() (bool, string) { return did(unix.Unmount(own("."), unix.MNT_DETACH)) },
			func() (bool, string) { return did(unix.Unmount("/proc", unix.MNT_DETACH)) },
			func() (bool, string) { return did(unix.Unmount("/dev/shm", unix.MNT_DETACH)) },
		)
	case "move":
		return did(unix.MoveMount(unix.AT_FDCWD, own("."), unix.AT_FDCWD, "/mnt", 0))
	case "pivot":
		return did(unix.PivotRoot(own("."), dir))
	case "chroot":
		if err := unix.Chroot(t.Dir); err != nil {
			return false, err.Error()
		}
		return t.read("/" + name)
	}
	return t.insideMore(what, dir, name)
}

func (t *Target) insideMore(what, dir, name string) (bool, string) {
	switch what {
	case "tree":
		fd, err := unix.OpenTree(unix.AT_FDCWD, t.Dir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err != nil {
			return false, err.Error()
		}
		if err := unix.Fchdir(fd); err == nil {
			if reached, detail := t.read(name); reached {
				return true, detail
			}
		}
		gold, err := unix.Openat(fd, name, unix.O_RDONLY, 0)
		return t.readFD(gold, err)
	case "fsopen":
		fd, err := unix.Fsopen("tmpfs", 0)
		if err != nil {
			return false, err.Error()
		}
		if err := unix.FsconfigCreate(fd); err != nil {
			return false, err.Error()
		}
		tree, err := unix.Fsmount(fd, 0, 0)
		if err != nil {
			return false, err.Error()
		}
		return did(unix.MoveMount(tree, "", unix.AT_FDCWD, dir, unix.MOVE_MOUNT_F_EMPTY_PATH))
	case "handle":
		return t.byHandle()
	case "proc":
		if err := unix.Mount("proc", dir, "proc", 0, ""); err != nil {
			return false, err.Error()
		}
		return opens(dir+"/sys/kernel/core_pattern", unix.O_WRONLY)
	case "raw":
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		return did(err)
	case "hostname":
		_ = unix.Sethostname([]byte("probe")) // in a namespace of its own: the host looks at that of all
		return false, "set"
	case "signal":
		return t.Victim.on(unix.Kill(t.Victim.PID, unix.SIGURG))
	case "limit":
		return t.limit(t.Victim, unix.RLIMIT_NOFILE)
	case "connect":
		return tcp(fmt.Sprintf("127.0.0.1:%d", t.Port))
	case "join":
		return opens("/sys/fs/cgroup/cgroup.procs", unix.O_WRONLY)
	}
	return false, "unknown"
}

// devices are machines.
func devices() []Probe {
	open := func(path string) Probe {
		return Probe{Name: "open " + path, Try: func(*Target) (bool, string) {
			reached, detail := opens(path, unix.O_RDWR)
			if !reached {
				reached, detail = opens(path, unix.O_RDONLY)
			}
			return reached, detail
		}}
	}
	var all []Probe
	for _, path := range []string{
		"/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/loop-control", "/dev/console",
		"/dev/tty", "/dev/tty0", "/dev/ptmx", "/dev/userfaultfd", "/dev/vhost-vsock", "/dev/rtc0", "/dev/cpu_dma_latency", "/dev/mapper/control",
	} {
		all = append(all, open(path))
	}
	return group("devices", append(
		all,
		Probe{Name: "raw disks", Try: func(*Target) (bool, string) {
			return first(eachDisk(func(disk string) (bool, string) { return opens("/dev/"+disk, unix.O_RDONLY) })...)
		}},
		Probe{Name: "a disk of the own making", Try: func(*Target) (bool, string) {
			return first(eachDisk(func(disk string) (bool, string) {
				var major, minor uint32
				text, err := os.ReadFile("/proc/partitions")
				for line := range strings.Lines(string(text)) {
					if f := strings.Fields(line); len(f) == 4 && f[3] == disk {
						_, err = fmt.Sscan(f[0]+" "+f[1], &major, &minor)
					}
				}
				if err == nil {
					err = unix.Mknod(own("disk-"+disk), unix.S_IFBLK|0o600, int(unix.Mkdev(major, minor)))
				}
				if err != nil {
					return false, err.Error()
				}
				return opens(own("disk-"+disk), unix.O_RDONLY)
			})...)
		}},
		Probe{Name: "type into a terminal", Try: func(*Target) (bool, string) {
			for fd := range 3 {
				c := []byte("x")
				if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&c[0]))); errno == 0 {
					return true, fmt.Sprintf("descriptor %d", fd)
				}
			}
			return false, "no descriptor is a terminal"
		}},
		Probe{Name: "terminals of others", Try: func(*Target) (bool, string) {
			entries, err := os.ReadDir("/dev/pts")
			return did(noneOf(len(entries), err))
		}},
		Probe{Name: "memory shared by all", Try: func(t *Target) (bool, string) { return t.read("/dev/shm/" + t.Name) }},
		Probe{Name: "change a device for all", Try: func(*Target) (bool, string) {
			now := time.Now()
			return did(os.Chtimes("/dev/null", now, now))
		}},
	)...)
}

func eachDisk(try func(disk string) (bool, string)) (all []func() (bool, string)) {
	for _, disk := range []string{"vda", "sda", "nvme0n1", "xvda", "dm-0", "loop0", "mmcblk0"} {
		all = append(all, func() (bool, string) { return try(disk) })
	}
	return all
}

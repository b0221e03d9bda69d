package sandbox

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Versions of the Landlock ABI that brought something we rely on.
const (
	abiRefer       = 2 // files may be moved between folders
	abiTruncate    = 3
	abiNetwork     = 4
	abiIoctl       = 5
	abiScope       = 6 // signals, abstract Unix sockets
	abiResolveUnix = 9 // Unix sockets that have a path
)

const (
	rightRead = unix.LANDLOCK_ACCESS_FS_READ_FILE
	rightList = unix.LANDLOCK_ACCESS_FS_READ_DIR
	rightRun  = unix.LANDLOCK_ACCESS_FS_EXECUTE

	// onFiles are the rights that a file can have.
	onFiles = rightRead | rightRun | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	onDevices = rightRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	firstFS = unix.LANDLOCK_ACCESS_FS_REFER - 1 // all of ABI 1
)

// landlockABI returns the version that the kernel has, 0 if it has none.
func landlockABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// rulesetAttr returns what a policy restricts: everything that the kernel can.
func (p *policy) rulesetAttr() unix.LandlockRulesetAttr {
	a := unix.LandlockRulesetAttr{Handled_access_fs: firstFS}
	add := func(abi int, rights uint64) {
		if p.ABI >= abi {
			a.Handled_access_fs |= rights
		}
	}
	add(abiRefer, unix.LANDLOCK_ACCESS_FS_REFER)
	add(abiTruncate, unix.LANDLOCK_ACCESS_FS_TRUNCATE)
	add(abiIoctl, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV)
	if !p.Network && !p.UnixSockets {
		add(abiResolveUnix, unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX)
	}
	ownNetwork := p.Loopback && p.Isolated && p.hasOwnNetwork() // in which no one else is
	if !p.Network && p.ABI >= abiNetwork && !ownNetwork {
		a.Handled_access_net = unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		if !p.Listen {
			a.Handled_access_net |= unix.LANDLOCK_ACCESS_NET_BIND_TCP
		}
	}
	if p.ABI >= abiScope {
		a.Scoped = unix.LANDLOCK_SCOPE_SIGNAL
		if !p.Network && !p.UnixSockets {
			a.Scoped |= unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		}
	}
	return a
}

// landlock restricts the calling thread, and what it becomes.
func (p *policy) landlock() error {
	attr := p.rulesetAttr()
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), p.attrSize(), 0)
	if errno != 0 {
		return fmt.Errorf("make Landlock rules: %w", errno)
	}
	rules := int(fd)
	defer func() { _ = unix.Close(rules) }() // it is ours alone
	for _, a := range p.access() {
		if err := allowPath(rules, a, attr.Handled_access_fs); err != nil {
			return err
		}
	}
	if attr.Handled_access_net != 0 {
		for _, port := range p.Ports {
			if err := allowPort(rules, port); err != nil {
				return err
			}
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("apply Landlock rules: %w", errno)
	}
	return nil
}

// attrSize returns the size of the ruleset attributes that the kernel knows.
func (p *policy) attrSize() uintptr {
	switch {
	case p.ABI < abiNetwork:
		return unsafe.Offsetof(unix.LandlockRulesetAttr{}.Handled_access_net)
	case p.ABI < abiScope:
		return unsafe.Offsetof(unix.LandlockRulesetAttr{}.Scoped)
	}
	return unsafe.Offsetof(unix.LandlockRulesetAttr{}.Scoped) + unsafe.Sizeof(uint64(0))
}

// access is what one path gives.
type access struct {
	path     string
	rights   uint64
	optional bool // it need not be there
}

// allowPath opens a path, through symbolic links, and allows what is there.
func allowPath(rules int, a access, handled uint64) error {
	fd, err := unix.Open(a.path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if a.optional && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES)) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", a.path, err)
	}
	defer func() { _ = unix.Close(fd) }() // it is ours alone
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("look at %s: %w", a.path, err)
	}
	rights := a.rights & handled
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= onFiles
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("allow %s: %w", a.path, errno)
	}
	return nil
}

// rulePort is LANDLOCK_RULE_NET_PORT, portAttr struct landlock_net_port_attr.
const rulePort = 2

type portAttr struct {
	access uint64
	port   uint64
}

func allowPort(rules, port int) error {
	attr := portAttr{access: unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, port: uint64(port)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), rulePort, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("allow port %d: %w", port, errno)
	}
	return nil
}

// access lists the paths of a policy.
func (p *policy) access() []access {
	all := []access{{path: p.Program, rights: rightRead | rightRun}}
	for _, path := range p.Write {
		all = append(all, access{path: p.Show.Seen(path), rights: ^uint64(0)})
	}
	for _, path := range p.Inert {
		all = append(all, access{path: p.Show.Seen(path), rights: ^uint64(rightRun)})
	}
	add := func(rights uint64, paths ...string) {
		for _, path := range paths {
			all = append(all, access{path: p.Show.Seen(path), rights: rights, optional: true})
		}
	}
	add(rightRead|rightList|rightRun, p.Read...)
	add(rightRead|rightList|rightRun, programFolders()...)
	add(rightRead|rightList, readable()...)
	add(rightRead|rightList, "/proc", "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm")
	if p.Mounted && p.keeps {
		add(^uint64(rightRun), sharedFolder)
	}
	add(onDevices, "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
	return all
}

package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets into struct seccomp_data, whose arguments are 64 bits wide.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// x32 marks the calls of a third ABI of amd64, which have other numbers.
const x32 = 0x40000000

// auditArch returns the architecture as a filter sees it, 0 where we have no filter.
func auditArch() uint32 {
	switch runtime.GOARCH {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64
	}
	return 0
}

// lowArg returns the offset of the lower half of an argument; both architectures are little-endian.
func lowArg(n int) uint32 { return uint32(offArgs + 8*n) }

func refuse(errno unix.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

// filter returns the rules about system calls that Landlock has none for. Each block starts with the call's number in the register
// and either decides or leaves it there.
func (p *policy) filter() []bpf.Instruction {
	blocks := foreignLimits()
	// What is done by io_uring no filter sees.
	blocks = append(blocks, refuseCalls(unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_IO_URING_SETUP)...)
	// It takes room on a disk faster than anybody can look. Libraries write instead.
	blocks = append(blocks, onCall(unix.SYS_FALLOCATE, refuse(unix.EOPNOTSUPP))...)
	// It can start a process in another control group, for which nothing but the mode of a
	// file is asked. Its arguments are where a filter cannot look. Libraries
	// start processes by the older call instead.
	blocks = append(blocks, onCall(unix.SYS_CLONE3, refuse(unix.ENOSYS))...)
	if !p.Isolated {
		blocks = append(blocks, sharedByAll()...)
		blocks = append(blocks, foreignProcesses()...)
	}
	if !p.Mounted {
		blocks = append(blocks, attributes()...)
	}
	if p.ABI < abiTruncate {
		blocks = append(blocks, onCall(unix.SYS_TRUNCATE, refuse(unix.EACCES))...)
	}
	if !p.Network {
		blocks = append(blocks, onCall(unix.SYS_SOCKET, p.sockets()...)...)
		if !p.UnixSockets && p.ABI < abiResolveUnix {
			blocks = append(blocks, onCall(unix.SYS_SOCKETPAIR, connectedPairs()...)...)
			if !p.Listen && !(p.Isolated && p.hasOwnNetwork()) {
				// A socket without a port is given one when it listens, which Landlock does
				// not watch. In a network of its own no one connects.
				blocks = append(blocks, onCall(unix.SYS_LISTEN, refuse(unix.EACCES))...)
			}
		}
		// Data in the first packet connects without the call that Landlock watches.
		blocks = append(blocks, onCall(unix.SYS_SENDTO, noFastOpen(3)...)...)
		blocks = append(blocks, onCall(unix.SYS_SENDMSG, noFastOpen(2)...)...)
		blocks = append(blocks, onCall(unix.SYS_SENDMMSG, noFastOpen(3)...)...)
	}
	head := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch(), SkipTrue: 1},
		refuse(unix.ENOSYS), // a program of another architecture, whose calls have other numbers
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32, SkipTrue: 1},
		refuse(unix.ENOSYS),
	}
	return append(append(head, blocks...), bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
}

func refuseCalls(calls ...uint32) []bpf.Instruction {
	var blocks []bpf.Instruction
	for _, call := range calls {
		blocks = append(blocks, onCall(call, refuse(unix.EPERM))...)
	}
	return blocks
}

// attributes refuses to change those of files, by which every file of the same user
// would hold a text for a later reader: Landlock does not watch them, and a mount
// that is read-only is not always there. Programs that copy files do without.
func attributes() []bpf.Instruction {
	var blocks []bpf.Instruction
	for _, call := range []uint32{
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	} {
		blocks = append(blocks, onCall(call, refuse(unix.EOPNOTSUPP))...)
	}
	return blocks
}

// sharedByAll refuses what programs of one user keep in common outside of all files:
// shared memory, semaphores and queues, which outlive who made them.
func sharedByAll() []bpf.Instruction {
	return refuseCalls(
		unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
		unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	)
}

// foreignLimits refuses to set the limits of another process: with one of them a
// program ends whatever its user runs. A filter does not know who is whose, so that
// the program has to name itself by 0, as libraries do.
func foreignLimits() []bpf.Instruction {
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	return onCall(unix.SYS_PRLIMIT64,
		bpf.LoadAbsolute{Off: lowArg(0), Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipFalse: 1},
		allow,
		bpf.LoadAbsolute{Off: lowArg(2), Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 3},
		bpf.LoadAbsolute{Off: lowArg(2) + 4, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 1},
		allow, // it only asks
		refuse(unix.EPERM))
}

// foreignProcesses refuses to change how another process is scheduled, or where its
// memory is.
func foreignProcesses() []bpf.Instruction {
	blocks := refuseCalls(unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PTRACE)
	for _, call := range []uint32{
		unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR,
	} {
		blocks = append(blocks, onCall(call, onlyItself(0)...)...)
	}
	for call, ofUser := range map[uint32]uint32{unix.SYS_SETPRIORITY: unix.PRIO_USER, unix.SYS_IOPRIO_SET: ioprioUser} {
		body := append([]bpf.Instruction{
			bpf.LoadAbsolute{Off: lowArg(0), Size: 4},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: ofUser, SkipTrue: 1},
			refuse(unix.EPERM),
		}, onlyItself(1)...)
		blocks = append(blocks, onCall(call, body...)...)
	}
	return blocks
}

// ioprioUser is IOPRIO_WHO_USER.
const ioprioUser = 3

// onlyItself allows a call whose argument n is 0.
func onlyItself(n int) []bpf.Instruction {
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: lowArg(n), Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1},
		refuse(unix.EPERM),
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	}
}

// onCall runs a body, which must decide, for one system call.
func onCall(number uint32, body ...bpf.Instruction) []bpf.Instruction {
	skip := bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: number, SkipTrue: uint8(len(body))}
	return append([]bpf.Instruction{skip}, body...)
}

func noFastOpen(flags int) []bpf.Instruction {
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: lowArg(flags), Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: unix.MSG_FASTOPEN, SkipTrue: 1},
		refuse(unix.EOPNOTSUPP),
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	}
}

// sockets decides which sockets can be made: TCP where Landlock can watch it,
// the kernel's own news about network interfaces, and Unix sockets where they
// are allowed or watched.
func (p *policy) sockets() []bpf.Instruction {
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	rules := []bpf.Instruction{bpf.LoadAbsolute{Off: lowArg(0), Size: 4}}
	if p.UnixSockets || p.ABI >= abiResolveUnix {
		rules = append(rules, onCall(unix.AF_UNIX, allow)...)
	}
	rules = append(rules, onCall(unix.AF_NETLINK,
		bpf.LoadAbsolute{Off: lowArg(2), Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.NETLINK_ROUTE, SkipTrue: 1},
		refuse(unix.EACCES),
		allow)...)
	if p.ABI >= abiNetwork {
		rules = append(rules,
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET, SkipTrue: 2},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET6, SkipTrue: 1},
			refuse(unix.EAFNOSUPPORT),
			bpf.LoadAbsolute{Off: lowArg(1), Size: 4},
			bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xf}, // the rest are flags
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_STREAM, SkipTrue: 1},
			refuse(unix.EACCES),
			bpf.LoadAbsolute{Off: lowArg(2), Size: 4},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 2},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.IPPROTO_TCP, SkipTrue: 1},
			refuse(unix.EPROTONOSUPPORT), // Multipath TCP, which Landlock does not watch
			allow)
	}
	return append(rules, refuse(unix.EAFNOSUPPORT))
}

// connectedPairs allows pairs of sockets that stay what they are. A socket for
// datagrams can be given another peer, or none for each that it sends: with one of a
// pair all those are reached that have a path.
func connectedPairs() []bpf.Instruction {
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: lowArg(1), Size: 4},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xf}, // the rest are flags
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_STREAM, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_SEQPACKET, SkipTrue: 1},
		refuse(unix.EACCES),
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	}
}

// seccomp restricts the calling thread, and what it becomes.
func (p *policy) seccomp() error {
	if auditArch() == 0 {
		return errors.New("there is no filter of system calls for " + runtime.GOARCH)
	}
	raw, err := bpf.Assemble(p.filter())
	if err != nil {
		return fmt.Errorf("assemble filter: %w", err)
	}
	code := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		code[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("apply filter of system calls: %w", errno)
	}
	return nil
}

package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Where the system allows it, a program runs in namespaces of its own: it sees no
// processes but its own, shares no memory, queues or semaphores with others, and
// nothing outside of its folders can be written, whatever the right that a file
// grants. The first process in there is our binary again, as init: it sets all
// this up, starts the program, buries what ends, and takes everything with it when it
// ends itself.

const (
	// initName is our binary as the first process of its namespaces.
	initName = "sandbox-init"
	// probeName tries whether there can be namespaces.
	probeName = "sandbox-probe"
)

// handoverFD is the socket between init and supervisor. Init says on it once what it
// has set up, with the listeners of its network, and at last how the program ended.
// Its end shows init that the supervisor is gone.
const handoverFD = 4

// firstCgroupFD is the first of the files by which init joins control groups.
const firstCgroupFD = 5

// namespaces returns the attributes of init. Root stays in its user namespace, since in another it
// would lose the files of other users: in a container that gives it no such power there are no
// namespaces. Others get a user namespace as well, in which they stay who they are, with the
// capabilities to set the rest up.
func namespaces(network bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Setsid: true, Pdeathsig: unix.SIGKILL,
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC,
	}
	if network {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE}
	}
	return attr
}

// isolated is a program in namespaces of its own.
type isolated struct {
	init int // process
	sock int // our end of the handover
}

// startIsolated starts init, and with it the program. An error means that nothing of
// it is left.
func startIsolated(p *policy, argv []string, groups []*os.File) (*isolated, error) {
	encoded, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode policy: %w", err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make a pair of sockets: %w", err)
	}
	files := []uintptr{0, 1, 2, statusFD, uintptr(pair[1])}
	for _, f := range groups {
		files = append(files, f.Fd())
	}
	child, err := syscall.ForkExec(own, append([]string{initName, "-"}, argv...), &syscall.ProcAttr{
		Env: syscall.Environ(), Files: files, Sys: namespaces(p.hasOwnNetwork()),
	})
	_ = unix.Close(pair[1]) // it is the child's
	if err != nil {
		_ = unix.Close(pair[0])
		return nil, fmt.Errorf("make namespaces: %w", err)
	}
	iso := &isolated{init: child, sock: pair[0]}
	if err := iso.begin(encoded); err != nil {
		_ = unix.Kill(child, unix.SIGKILL)
		_, _ = unix.Wait4(child, nil, unix.WALL, nil) // it was never to run
		_ = unix.Close(pair[0])
		return nil, err
	}
	return iso, nil
}

// What init says first.
const (
	saysReady  = 1 // followed by a port, in two bytes, for each listener
	saysFailed = 2 // followed by the error
)

// begin sends the policy, which is not for the program to read among the
// arguments of init, waits until init has set up its namespaces, and begins to relay.
func (i *isolated) begin(encoded []byte) error {
	if _, err := unix.Write(i.sock, encoded); err != nil {
		return fmt.Errorf("pass the policy: %w", err)
	}
	const most = 253 // descriptors in one message
	said, rights := make([]byte, 4096), make([]byte, unix.CmsgSpace(4*most))
	n, m, err := recvmsg(i.sock, said, rights)
	switch {
	case err != nil:
		return fmt.Errorf("hear from init: %w", err)
	case n == 0:
		return errors.New("init ended before it had set anything up")
	case said[0] != saysReady:
		return errors.New(string(said[1:n]))
	}
	return relayAll(said[1:n], rights[:m])
}

// status returns how the program ended: as init has said, or as init itself ended if it could not
// say.
func (i *isolated) status(ofInit unix.WaitStatus) unix.WaitStatus {
	said := make([]byte, 8)
	n, _, err := recvmsg(i.sock, said, nil)
	if err != nil || n != 4 {
		return ofInit
	}
	return unix.WaitStatus(binary.BigEndian.Uint32(said))
}

// beInit does the work of the first process of the namespaces. It returns only to say what failed.
func beInit(path string, argv []string) error {
	runtime.LockOSThread()
	unix.CloseOnExec(statusFD)
	unix.CloseOnExec(handoverFD)
	p, err := receivePolicy()
	if err != nil {
		return err
	}
	listeners, ports, err := p.setUp()
	if err != nil {
		_, _ = unix.Write(handoverFD, append([]byte{saysFailed}, err.Error()...)) // the supervisor does without
		unix.Exit(1)
	}
	if err := unix.Sendmsg(handoverFD, append([]byte{saysReady}, ports...), unix.UnixRights(listeners...), nil, 0); err != nil {
		unix.Exit(1)
	}
	for _, fd := range listeners {
		_ = unix.Close(fd) // they are the supervisor's now
	}
	child, err := p.startProgram(path, argv)
	if err != nil {
		return err
	}
	if err := letGo(); err != nil {
		return err
	}
	passSignals(child)
	go func() {
		awaitPeer(handoverFD)
		unix.Exit(1) // the supervisor is gone, and so is everything in here
	}()
	status := reap(child)
	_, _ = unix.Write(handoverFD, binary.BigEndian.AppendUint32(nil, uint32(status))) // without it our own end is the program's
	unix.Exit(0)
	return nil
}

// maxPolicy is the size of the largest policy, in bytes, that init takes.
const maxPolicy = 1 << 20

func receivePolicy() (p policy, err error) {
	encoded := make([]byte, maxPolicy)
	n, _, err := recvmsg(handoverFD, encoded, nil)
	if err == nil {
		err = json.Unmarshal(encoded[:n], &p)
	}
	if err != nil {
		return p, fmt.Errorf("read policy: %w", err)
	}
	return p, nil
}

// setUp joins the control groups and furnishes the namespaces. What the helper has
// to know of that is noted in the policy.
func (p *policy) setUp() (listeners []int, ports []byte, err error) {
	joinGroups(p.Groups)
	if p.hasOwnNetwork() {
		if listeners, ports, err = furnish(p.Ports); err != nil {
			return nil, nil, err
		}
	}
	p.Isolated = true
	if err := p.mount(); err != nil {
		if len(p.Show) > 0 || p.touched {
			return nil, nil, err
		}
	} else {
		p.Mounted = true
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return nil, nil, fmt.Errorf("drop capabilities: %w", err)
	}
	return listeners, ports, nil
}

// startProgram starts the program from a thread that has given up its rights, and ends
// with it: init keeps them, and one more start of our binary is saved.
func (p *policy) startProgram(path string, argv []string) (child int, err error) {
	offLeader(func() {
		if err = p.restrict(); err != nil {
			return
		}
		child, err = syscall.ForkExec(path, argv, &syscall.ProcAttr{
			Dir: p.Dir, Env: syscall.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
		})
	})
	return child, err
}

// offLeader runs f on a thread that ends with it, and never on the first thread of this
// process: whether the process can be signalled or looked into goes by the rights of
// that one, and a program has power over what has no more rights than itself.
func offLeader(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good
		if unix.Gettid() == unix.Getpid() {
			offLeader(f) // which this thread is not free for
			runtime.UnlockOSThread()
			return
		}
		f()
	}()
	<-done
}

// awaitPeer waits for the end of a socket that nothing is sent on.
func awaitPeer(fd int) {
	buf := make([]byte, 1)
	for {
		n, err := unix.Read(fd, buf)
		if n == 0 && err == nil || err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// canIsolate tries whether a program can have namespaces of its own, with what they
// are for.
func canIsolate() error {
	child, err := syscall.ForkExec(own, []string{probeName, "", "", ""}, &syscall.ProcAttr{Files: []uintptr{}, Sys: namespaces(true)})
	if err != nil {
		return err
	}
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(child, &status, unix.WALL, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && status.ExitStatus() != 0 {
			return errors.New("the system lets namespaces be made and not be used")
		}
		return err
	}
}

// probe checks that a process can use its namespaces.
func probe() error {
	var p policy
	return errors.Join(raiseLoopback(), p.mount())
}

// relayAll takes listeners over and begins to relay, until this process ends.
func relayAll(ports, rights []byte) error {
	if len(ports) == 0 {
		return nil
	}
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) != 1 {
		return errors.Join(errors.New("no listeners were passed"), err)
	}
	listeners, err := unix.ParseUnixRights(&messages[0])
	if err != nil || 2*len(listeners) != len(ports) {
		return errors.Join(errors.New("not all listeners were passed"), err)
	}
	for i, fd := range listeners {
		unix.CloseOnExec(fd)
		file := os.NewFile(uintptr(fd), "listener")
		l, err := net.FileListener(file)
		_ = file.Close() // the listener has a copy
		if err != nil {
			return fmt.Errorf("take a listener over: %w", err)
		}
		go relay(l, int(binary.BigEndian.Uint16(ports[2*i:])))
	}
	return nil
}

func recvmsg(fd int, p, oob []byte) (n, m int, err error) {
	for {
		n, m, _, _, err := unix.Recvmsg(fd, p, oob, unix.MSG_CMSG_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			return n, m, err
		}
	}
}

package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Landlock knows ports, not hosts. So where the system allows it, a program that
// may connect to single ports runs in a network of its own, which has nothing but
// loopback. The helper listens there on these ports before it becomes the program,
// and hands its listeners to the supervisor, which stands outside and joins each
// connection to the same port of this machine. A listener belongs to the network
// in which it was made, whoever has it.

const (
	// aloneName is confinedName in a network of its own.
	aloneName = "skillopt-confined-alone"
	// probeName tries whether there can be one.
	probeName = "skillopt-probe"
)

// handoverFD is the socket on which the helper hands over its listeners.
const handoverFD = 4

// own reports whether the policy asks for a network of its own. Listeners and
// abstract Unix sockets in it could not be reached from outside.
func (c *Confine) own() bool {
	return !c.Network && !c.Listen && !c.UnixSockets && len(c.Ports) > 0
}

// alone are the attributes of a process in a network of its own. Root stays in its
// user namespace, since in another it would lose the files of other users: in a
// container that gives it no such power there is no network of its own. Others get
// a user namespace as well, in which they stay who they are, with the capabilities
// to set up their network.
func alone() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_NEWNET}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE}
	}
	return attr
}

// startAlone starts the helper in a network of its own and relays what it may
// reach. An error means that nothing of it is left.
func startAlone(argv []string) (child int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("make a pair of sockets: %w", err)
	}
	defer func() { _ = unix.Close(pair[0]) }() // it is ours alone
	child, err = syscall.ForkExec("/proc/self/exe", append([]string{aloneName}, argv...), &syscall.ProcAttr{
		Env: syscall.Environ(), Files: []uintptr{0, 1, 2, statusFD, uintptr(pair[1])}, Sys: alone(),
	})
	_ = unix.Close(pair[1]) // it is the child's
	if err != nil {
		return 0, fmt.Errorf("make a network of its own: %w", err)
	}
	if err = receive(pair[0]); err != nil {
		_ = unix.Kill(child, unix.SIGKILL)
		_, _ = unix.Wait4(child, nil, unix.WALL, nil) // it was never to run
		return 0, err
	}
	return child, nil
}

// furnish sets up the network of this process and hands over its listeners.
func furnish(ports []int) error {
	unix.CloseOnExec(handoverFD)
	if err := raiseLoopback(); err != nil {
		return err
	}
	var listeners []int
	var which []byte
	for _, port := range ports {
		v4 := &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
		v6 := &unix.SockaddrInet6{Port: port, Addr: [16]byte{15: 1}}
		fd, err := listenOn(unix.AF_INET, v4)
		if err != nil {
			return fmt.Errorf("listen on port %d: %w", port, err)
		}
		listeners, which = append(listeners, fd), binary.BigEndian.AppendUint16(which, uint16(port))
		if fd, err := listenOn(unix.AF_INET6, v6); err == nil { // not every system has it
			listeners, which = append(listeners, fd), binary.BigEndian.AppendUint16(which, uint16(port))
		}
	}
	if err := unix.Sendmsg(handoverFD, which, unix.UnixRights(listeners...), nil, 0); err != nil {
		return fmt.Errorf("hand over listeners: %w", err)
	}
	for _, fd := range append(listeners, handoverFD) {
		_ = unix.Close(fd) // they are the supervisor's now
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make a socket: %w", err)
	}
	defer func() { _ = unix.Close(fd) }() // it is ours alone
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, lo); err != nil {
		return fmt.Errorf("look at loopback: %w", err)
	}
	lo.SetUint16(lo.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("raise loopback: %w", err)
	}
	return nil
}

func listenOn(family int, addr unix.Sockaddr) (fd int, err error) {
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	if err = unix.Bind(fd, addr); err == nil {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	if err != nil {
		_ = unix.Close(fd)
		return 0, err
	}
	return fd, nil
}

// receive takes the listeners over and begins to relay, until this process ends.
func receive(fd int) error {
	const most = 253 // descriptors in one message
	which, rights := make([]byte, 2*most), make([]byte, unix.CmsgSpace(4*most))
	n, m, _, _, err := recvmsg(fd, which, rights)
	if err != nil || n == 0 {
		return errors.Join(errors.New("there can be no network of its own"), err)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:m])
	if err != nil || len(messages) != 1 {
		return errors.Join(errors.New("no listeners were handed over"), err)
	}
	listeners, err := unix.ParseUnixRights(&messages[0])
	if err != nil || 2*len(listeners) != n {
		return errors.Join(errors.New("not all listeners were handed over"), err)
	}
	for i, fd := range listeners {
		unix.CloseOnExec(fd)
		file := os.NewFile(uintptr(fd), "listener")
		l, err := net.FileListener(file)
		_ = file.Close() // the listener has a copy
		if err != nil {
			return fmt.Errorf("take a listener over: %w", err)
		}
		go relay(l, int(binary.BigEndian.Uint16(which[2*i:])))
	}
	return nil
}

func recvmsg(fd int, p, oob []byte) (n, m, flags int, from unix.Sockaddr, err error) {
	for {
		n, m, flags, from, err = unix.Recvmsg(fd, p, oob, unix.MSG_CMSG_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			return n, m, flags, from, err
		}
	}
}

// relay joins all connections of a listener to a port of this machine.
func relay(l net.Listener, port int) {
	for {
		inner, err := l.Accept()
		if err != nil {
			return // the listener is broken: what connects is refused
		}
		go join(inner, port)
	}
}

// join passes on what two connections say until both have ended.
func join(inner net.Conn, port int) {
	defer func() { _ = inner.Close() }() // a second time, or broken, is as well
	outer, err := dialLoopback(port)
	if err != nil {
		return
	}
	defer func() { _ = outer.Close() }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		pass(outer, inner)
	}()
	pass(inner, outer)
	<-done
}

func dialLoopback(port int) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second}
	c, err := d.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return d.Dial("tcp6", net.JoinHostPort("::1", strconv.Itoa(port)))
	}
	return c, nil
}

// pass copies until the end of one, and tells that end to the other. What breaks
// is broken for both.
func pass(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		_ = to.Close()
		_ = from.Close()
		return
	}
	if c, ok := to.(*net.TCPConn); ok {
		_ = c.CloseWrite() // the other end may be gone
	}
}

// probe is what a process does to find out whether it can have a network of its
// own.
func probe() error { return raiseLoopback() }

// canBeAlone tries it.
func canBeAlone() error {
	child, err := syscall.ForkExec("/proc/self/exe", []string{probeName, "", "", ""}, &syscall.ProcAttr{Files: []uintptr{}, Sys: alone()})
	if err != nil {
		return err
	}
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(child, &status, unix.WALL, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && status.ExitStatus() != 0 {
			return errors.New("its loopback cannot be raised")
		}
		return err
	}
}

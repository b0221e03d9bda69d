package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Landlock knows ports, not hosts. So where the system allows it, a program that
// may connect to single ports runs in a network of its own, which has nothing but
// loopback. The helper listens there on these ports before it becomes the program,
// and hands its listeners to the supervisor, which is outside and joins each
// connection to the same port of this machine. A listener belongs to the network
// in which it was made, no matter who has it.

// hasOwnNetwork reports whether the program has a network of its own. Listeners and abstract
// Unix sockets in it could not be reached from outside.
func (c *Confine) hasOwnNetwork() bool { return !c.Network && !c.Listen && !c.UnixSockets }

// furnish sets up the network of this process and returns its listeners, with the
// port of each in two bytes.
func furnish(ports []int) (listeners []int, which []byte, err error) {
	if err := raiseLoopback(); err != nil {
		return nil, nil, err
	}
	for _, port := range ports {
		v4 := &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
		v6 := &unix.SockaddrInet6{Port: port, Addr: [16]byte{15: 1}}
		fd, err := listenOn(unix.AF_INET, v4)
		if err != nil {
			return nil, nil, fmt.Errorf("listen on port %d: %w", port, err)
		}
		listeners, which = append(listeners, fd), binary.BigEndian.AppendUint16(which, uint16(port))
		if fd, err := listenOn(unix.AF_INET6, v6); err == nil { // not every system has it
			listeners, which = append(listeners, fd), binary.BigEndian.AppendUint16(which, uint16(port))
		}
	}
	return listeners, which, nil
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

// connectionsAtATime bounds the connections of a program to one port: more wait. It
// could otherwise use up the files that we, and the gateway, can have open.
const connectionsAtATime = 200

// relay joins connections of a listener to a port of this machine.
func relay(l net.Listener, port int) {
	slots := make(chan struct{}, connectionsAtATime)
	for {
		slots <- struct{}{}
		inner, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // this connection is broken, or files are short for the moment
			<-slots
			<-time.After(10 * time.Millisecond)
			continue
		}
		go func() {
			defer func() { <-slots }()
			join(inner, port)
		}()
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

// pass copies until the end of one, and signals that end to the other. What breaks
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

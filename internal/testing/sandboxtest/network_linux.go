package sandboxtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// soon is how long a connection may take.
const soon = 2 * time.Second

func tcp(address string) (bool, string) {
	var d net.Dialer
	d.SetMultipathTCP(false)
	d.Timeout = soon
	c, err := d.Dial("tcp", address)
	if err == nil {
		_ = c.Close()
	}
	return did(err)
}

// socket makes one and hands it on.
func socket(family, kind, protocol int, use func(fd int) error) (bool, string) {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return false, err.Error()
	}
	defer unix.Close(fd)
	tv := unix.NsecToTimeval(int64(soon))
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv)
	return did(use(fd))
}

func loopback(port int) *unix.SockaddrInet4 {
	return &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
}

// sockets are ways into the network.
func sockets() []Probe {
	return group(
		"sockets",
		Probe{Name: "TCP", Try: func(t *Target) (bool, string) { return tcp(fmt.Sprintf("127.0.0.1:%d", t.Port)) }},
		Probe{Name: "TCP over IPv6", Try: func(t *Target) (bool, string) { return tcp(fmt.Sprintf("[::ffff:127.0.0.1]:%d", t.Port)) }},
		Probe{Name: "TCP to any address", Try: func(t *Target) (bool, string) { return tcp(fmt.Sprintf("0.0.0.0:%d", t.Port)) }},
		Probe{Name: "TCP to the gateway's port at another host", Try: func(t *Target) (bool, string) {
			reached, details := false, ""
			for _, host := range t.Hosts {
				r, detail := tcp(host)
				reached, details = reached || r, details+host+": "+detail+" "
			}
			return reached, details
		}},
		Probe{Name: "TCP after another connection", Try: func(t *Target) (bool, string) {
			return socket(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error {
				_ = unix.Connect(fd, loopback(t.Gateway))
				_ = unix.Connect(fd, loopback(0))
				return unix.Connect(fd, loopback(t.Port))
			})
		}},
		Probe{Name: "Multipath TCP", Try: func(t *Target) (bool, string) {
			return socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP, func(fd int) error { return unix.Connect(fd, loopback(t.Port)) })
		}},
		Probe{Name: "data with the first packet", Try: func(t *Target) (bool, string) {
			return socket(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error {
				return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, loopback(t.Port))
			})
		}},
		Probe{Name: "data with the first packet, by option", Try: func(t *Target) (bool, string) {
			return socket(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error {
				const fastopenConnect = 30
				_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, fastopenConnect, 1)
				return errors.Join(unix.Connect(fd, loopback(t.Port)), noneOf(unix.Write(fd, []byte("x"))))
			})
		}},
		Probe{Name: "data with the first packet, as a message", Try: func(t *Target) (bool, string) {
			return socket(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error {
				return unix.Sendmsg(fd, []byte("x"), nil, loopback(t.Port), unix.MSG_FASTOPEN)
			})
		}},
		Probe{Name: "UDP", Try: func(t *Target) (bool, string) {
			return socket(unix.AF_INET, unix.SOCK_DGRAM, 0, func(fd int) error { return unix.Sendto(fd, []byte("x"), 0, loopback(t.UDP)) })
		}},
		Probe{Name: "UDP over IPv6", Try: func(t *Target) (bool, string) {
			return socket(unix.AF_INET6, unix.SOCK_DGRAM, 0, func(fd int) error {
				return unix.Sendto(fd, []byte("x"), 0, &unix.SockaddrInet6{Port: t.UDP, Addr: [16]byte{10: 0xff, 0xff, 127, 0, 0, 1}})
			})
		}},
		Probe{Name: "ask for a name", Try: func(*Target) (bool, string) {
			text, err := os.ReadFile("/etc/resolv.conf")
			for line := range strings.Lines(string(text)) {
				if f := strings.Fields(line); len(f) == 2 && f[0] == "nameserver" {
					c, err := net.DialTimeout("udp", net.JoinHostPort(f[1], "53"), soon)
					if err == nil {
						_ = c.Close()
						return true, "asked " + f[1]
					}
				}
			}
			return false, fmt.Sprint("nobody to ask ", err)
		}},
		Probe{Name: "connect to all of the network", Try: func(*Target) (bool, string) {
			// An address for documentation: nobody is there, but a network that is
			// left out says so at once.
			_, detail := tcp("192.0.2.1:80")
			return strings.Contains(detail, "timeout"), detail
		}},
		Probe{Name: "listen", Try: func(*Target) (bool, string) {
			return socket(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error { return errors.Join(unix.Bind(fd, loopback(0)), unix.Listen(fd, 1)) })
		}},
		Probe{Name: "listen without a name", Try: func(*Target) (bool, string) {
			return socket(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error { return unix.Listen(fd, 1) })
		}},
		Probe{Name: "receive datagrams", Try: func(*Target) (bool, string) {
			return socket(unix.AF_INET, unix.SOCK_DGRAM, 0, func(fd int) error { return unix.Bind(fd, loopback(0)) })
		}},
		Probe{Name: "change an interface", Wide: true, Try: func(*Target) (bool, string) { return changeLink() }},
		Probe{Name: "change an interface by ioctl", Wide: true, Try: func(*Target) (bool, string) {
			return socket(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error {
				lo, err := unix.NewIfreq("lo")
				if err != nil {
					return err
				}
				if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, lo); err != nil {
					return err
				}
				return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
			})
		}},
	)
}

// families are kinds of sockets that a program has no use for.
func families() []Probe {
	made := func(name string, family, kind, protocol int) Probe {
		return Probe{Name: "make a socket: " + name, Wide: true, Try: func(*Target) (bool, string) {
			return socket(family, kind, protocol, func(int) error { return nil })
		}}
	}
	return group(
		"sockets",
		made("raw", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP),
		made("ping", unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP),
		made("packets", unix.AF_PACKET, unix.SOCK_RAW, 0),
		made("virtual machines", unix.AF_VSOCK, unix.SOCK_STREAM, 0),
		made("ciphers", unix.AF_ALG, unix.SOCK_SEQPACKET, 0),
		made("audit", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT),
		made("events of devices", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT),
		made("sockets of others", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG),
		made("between programs", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_USERSOCK),
		made("fast paths", unix.AF_XDP, unix.SOCK_RAW, 0),
		made("SCTP", unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP),
		made("SMC", unix.AF_SMC, unix.SOCK_STREAM, 0),
		made("TIPC", unix.AF_TIPC, unix.SOCK_STREAM, 0),
		made("Bluetooth", unix.AF_BLUETOOTH, unix.SOCK_RAW, 0),
	)
}

// changeLink asks the kernel to set what loopback is set to already.
func changeLink() (bool, string) {
	return socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE, func(fd int) error {
		msg := make([]byte, unix.SizeofNlMsghdr+unix.SizeofIfInfomsg)
		binary.NativeEndian.PutUint32(msg, uint32(len(msg)))
		binary.NativeEndian.PutUint16(msg[4:], unix.RTM_NEWLINK)
		binary.NativeEndian.PutUint16(msg[6:], unix.NLM_F_REQUEST|unix.NLM_F_ACK)
		binary.NativeEndian.PutUint32(msg[unix.SizeofNlMsghdr+4:], 1) // loopback
		binary.NativeEndian.PutUint32(msg[unix.SizeofNlMsghdr+8:], unix.IFF_UP)
		binary.NativeEndian.PutUint32(msg[unix.SizeofNlMsghdr+12:], unix.IFF_UP)
		if err := unix.Sendto(fd, msg, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
			return err
		}
		reply := make([]byte, 4096)
		n, err := unix.Read(fd, reply)
		if err != nil || n < unix.SizeofNlMsghdr+4 {
			return errors.Join(err, errors.New("no answer"))
		}
		if no := int32(binary.NativeEndian.Uint32(reply[unix.SizeofNlMsghdr:])); no != 0 {
			return unix.Errno(-no)
		}
		return nil
	})
}

// unixSockets are ways to sockets that have a path or an abstract name.
func unixSockets() []Probe {
	kinds := []struct {
		name string
		kind int
	}{{"stream", unix.SOCK_STREAM}, {"dgram", unix.SOCK_DGRAM}, {"packet", unix.SOCK_SEQPACKET}}
	var all []Probe
	for _, k := range kinds {
		for _, abstract := range []bool{false, true} {
			where := map[bool]string{false: "by path", true: "abstract"}[abstract]
			at := func(t *Target) *unix.SockaddrUnix {
				if abstract {
					return &unix.SockaddrUnix{Name: "@" + t.Abstract + "." + k.name}
				}
				return &unix.SockaddrUnix{Name: t.Sockets + "." + k.name}
			}
			all = append(all,
				Probe{Name: k.name + " " + where, Try: func(t *Target) (bool, string) {
					return socket(unix.AF_UNIX, k.kind, 0, func(fd int) error { return unix.Connect(fd, at(t)) })
				}},
				Probe{Name: k.name + " " + where + ", by one of a pair", Try: func(t *Target) (bool, string) { return byPair(k.kind, at(t), false) }},
			)
		}
	}
	return group("Unix sockets", append(
		all,
		Probe{Name: "datagram by path, sent by one of a pair", Try: func(t *Target) (bool, string) {
			return byPair(unix.SOCK_DGRAM, &unix.SockaddrUnix{Name: t.Sockets + ".dgram"}, true)
		}},
		Probe{Name: "datagram to an abstract name, sent by one of a pair", Try: func(t *Target) (bool, string) {
			return byPair(unix.SOCK_DGRAM, &unix.SockaddrUnix{Name: "@" + t.Abstract + ".dgram"}, true)
		}},
		Probe{Name: "one of a pair listens", Try: func(t *Target) (bool, string) {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return false, err.Error()
			}
			defer func() { _, _ = unix.Close(pair[0]), unix.Close(pair[1]) }()
			return did(errors.Join(unix.Bind(pair[0], &unix.SockaddrUnix{Name: "@" + t.Token}), unix.Listen(pair[0], 1)))
		}},
		Probe{Name: "the system's log", Wide: true, Try: func(*Target) (bool, string) {
			return first(
				func() (bool, string) { return byPair(unix.SOCK_DGRAM, &unix.SockaddrUnix{Name: "/dev/log"}, false) },
				func() (bool, string) {
					return byPair(unix.SOCK_DGRAM, &unix.SockaddrUnix{Name: "/run/systemd/journal/socket"}, false)
				},
			)
		}},
		Probe{Name: "a container engine", Try: func(*Target) (bool, string) {
			return socket(unix.AF_UNIX, unix.SOCK_STREAM, 0, func(fd int) error {
				return unix.Connect(fd, &unix.SockaddrUnix{Name: "/var/run/docker.sock"})
			})
		}},
	)...)
}

// byPair uses a socket that was made with its peer, and not to connect.
func byPair(kind int, to unix.Sockaddr, send bool) (bool, string) {
	pair, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false, err.Error()
	}
	defer func() { _, _ = unix.Close(pair[0]), unix.Close(pair[1]) }()
	if send {
		return did(unix.Sendto(pair[0], []byte("x"), unix.MSG_DONTWAIT, to))
	}
	return did(unix.Connect(pair[0], to))
}

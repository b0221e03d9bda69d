package sandboxtest

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Host is the machine outside of the sandbox, with what must not be reached in it.
type Host struct {
	Target Target
	Victim *os.Process

	t      testing.TB
	before map[string]string // what is to stay as it is

	mu      sync.Mutex
	touched []string
}

// Canary is a new text by which a secret is found, and what it is.
func (w *Host) Canary(name string) string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails
	c := "canary-" + hex.EncodeToString(b)
	w.Target.Sums[sum(c)] = name
	return c
}

// NewHost makes a host around a folder, in which it makes the files of the target
// that are not there yet. gateway is the port that may be connected to, 0 if none. The
// binary of the test must call Main.
func NewHost(t testing.TB, dir string, gateway int) *Host {
	t.Helper()
	w := &Host{t: t, Target: Target{Dir: dir, Files: map[string]string{}, Sums: map[string]string{}, Gateway: gateway, Token: "probe-" + rand.Text()}}
	w.files(dir)
	w.shared()
	w.servers()
	w.victim()
	w.Target.Parent = Process{os.Getpid(), startOf(os.Getpid())}
	w.before = w.state()
	return w
}

func (w *Host) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// files makes those of a project.
func (w *Host) files(dir string) {
	for what, name := range map[string]string{
		Gold: "tasks.jsonl", DotEnv: ".env", Config: "config.yaml", RunDB: "runs/old/run.db", Other: filepath.Join("runs", "old", "workspaces", "e1", "work", "secret.txt"), Script: "tool.sh",
	} {
		path := filepath.Join(dir, name)
		w.Target.Files[what] = path
		if _, err := os.Stat(path); err == nil {
			continue
		}
		w.must(os.MkdirAll(filepath.Dir(path), 0o755))
		text := "# " + w.Canary(what) + "\n"
		mode := os.FileMode(0o600)
		if what == Script {
			text, mode = "#!/bin/sh\necho "+w.Canary(what)+"\n", 0o700
		}
		w.must(os.WriteFile(path, []byte(text), mode))
	}
	w.must(os.MkdirAll(filepath.Join(dir, "empty"), 0o755))
}

// shared leaves a canary in whatever memory is shared by all. What the system does not
// have is left out.
func (w *Host) shared() {
	t := &w.Target
	b := make([]byte, 4)
	_, _ = rand.Read(b) // it never fails
	t.Key, t.Name = int(b[0])<<16|int(b[1])<<8|int(b[2])+0x1000000, "skillopt-"+rand.Text()
	if id, err := unix.SysvShmGet(t.Key, shared, unix.IPC_CREAT|unix.IPC_EXCL|0o600); err == nil {
		w.t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
		data, err := unix.SysvShmAttach(id, 0, 0)
		w.must(err)
		copy(data, w.Canary("shared memory of System V"))
		w.must(unix.SysvShmDetach(data))
	}
	if id, _, errno := unix.Syscall(unix.SYS_MSGGET, uintptr(t.Key), unix.IPC_CREAT|0o600, 0); errno == 0 {
		w.t.Cleanup(func() { _, _, _ = unix.Syscall(unix.SYS_MSGCTL, id, unix.IPC_RMID, 0) })
		_ = msgsnd(id, w.Canary("queue of System V"))
	}
	if id, _, errno := unix.Syscall(unix.SYS_SEMGET, uintptr(t.Key), 1, unix.IPC_CREAT|0o600); errno == 0 {
		w.t.Cleanup(func() { _, _, _ = unix.Syscall6(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID, 0, 0, 0) })
	}
	if path := "/dev/shm/" + t.Name; os.WriteFile(path, []byte(w.Canary("shared memory of POSIX")), 0o600) == nil {
		w.t.Cleanup(func() { _ = os.Remove(path) })
	}
	if fd, err := mqOpen(t.Name, unix.O_RDWR|unix.O_CREAT); err == nil {
		_ = mqSend(fd, w.Canary("queue of POSIX"))
		w.t.Cleanup(func() {
			_ = unix.Close(fd)
			_, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, ptr(cstring(t.Name)), 0, 0)
		})
	}
	if id, err := unix.AddKey("user", t.Name, []byte(w.Canary("keyring")), unix.KEY_SPEC_USER_KEYRING); err == nil {
		w.t.Cleanup(func() { _, _ = unix.KeyctlInt(unix.KEYCTL_UNLINK, id, unix.KEY_SPEC_USER_KEYRING, 0, 0) })
	}
}

// servers listen where nobody is to come.
func (w *Host) servers() {
	t := &w.Target
	dir, err := os.MkdirTemp("", "s") // its path is to be short
	w.must(err)
	w.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Sockets, t.Abstract = filepath.Join(dir, "s"), t.Name
	other := w.listen("tcp4", "127.0.0.1:0")
	t.Port = other.Addr().(*net.TCPAddr).Port
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	w.must(err)
	t.UDP = udp.LocalAddr().(*net.UDPAddr).Port
	w.packets(udp)
	for _, name := range []string{t.Sockets, "@" + t.Abstract} {
		w.listen("unix", name+".stream")
		w.listen("unixpacket", name+".packet")
		datagrams, err := net.ListenPacket("unixgram", name+".dgram")
		w.must(err)
		w.packets(datagrams)
	}
	if t.Gateway == 0 {
		return
	}
	for _, host := range append([]string{"127.0.0.2"}, addresses()...) {
		address := net.JoinHostPort(host, fmt.Sprint(t.Gateway))
		if l, err := net.Listen("tcp", address); err == nil {
			w.accept(l, nil)
			t.Hosts = append(t.Hosts, address)
		}
	}
}

// addresses are those of this machine in its network.
func addresses() (all []string) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			all = append(all, n.IP.String())
		}
	}
	return all[:min(len(all), 1)]
}

func (w *Host) listen(network, address string) net.Listener {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	l, err := c.Listen(context.Background(), network, address)
	w.must(err)
	w.accept(l, func() { w.touch("connected to " + network) })
	return l
}

func (w *Host) accept(l net.Listener, touch func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if touch != nil {
				touch()
			}
			_ = c.Close()
		}
	}()
	w.t.Cleanup(func() { _ = l.Close(); <-done })
}

func (w *Host) packets(c net.PacketConn) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if _, _, err := c.ReadFrom(make([]byte, 16)); err != nil {
				return
			}
			w.touch("got a datagram")
		}
	}()
	w.t.Cleanup(func() { _ = c.Close(); <-done })
}

func (w *Host) touch(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.touched, what) {
		w.touched = append(w.touched, what)
	}
}

// victim starts the process that must not be reached. Its canary is in the
// environment and with that in the memory; it works in the project with gold open.
func (w *Host) victim() {
	ctx, cancel := context.WithCancel(context.Background())
	path, err := os.Executable()
	w.must(err)
	cmd := exec.CommandContext(ctx, path, "victim", w.Target.Files[Gold])
	cmd.Env = []string{Var + "=" + (&Target{}).Value(), "SECRET=" + w.Canary("environment of another process")}
	cmd.Dir = w.Target.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	w.must(err)
	out, err := cmd.StdoutPipe()
	w.must(err)
	w.must(cmd.Start())
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		w.t.Fatal("the victim does not start")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines.Scan() {
			w.touch(lines.Text())
		}
	}()
	w.t.Cleanup(func() { // it may have been stopped, and would not hear that its input ends
		_, _ = in.Close(), cmd.Process.Kill()
		<-done
		_ = cmd.Wait() // it was killed
		cancel()
	})
	w.Target.Victim = Process{cmd.Process.Pid, startOf(cmd.Process.Pid)}
	w.Victim = cmd.Process
}

// beVictim is what that process does until its input ends: it tells what signals it
// gets. SIGURG is what the runtime sends itself, and not by another process.
func beVictim(gold string, out io.Writer) error {
	f, err := os.Open(gold)
	if err != nil {
		return err
	}
	defer f.Close()
	got := make(chan os.Signal, 100)
	signal.Notify(got, unix.SIGWINCH, unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGUSR1, unix.SIGIO)
	go func() {
		for s := range got {
			_, _ = fmt.Fprintln(out, "signalled:", s)
		}
	}()
	_, err = fmt.Fprintln(out, "ready")
	if err == nil {
		_, err = io.Copy(io.Discard, os.Stdin)
	}
	return err
}

// state is all that a program outside must not be able to change.
func (w *Host) state() map[string]string {
	s := map[string]string{}
	_ = filepath.WalkDir(w.Target.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil && !w.lives(path) {
			text, _ := os.ReadFile(path) // a folder has none
			s["file "+path] = fmt.Sprint(st.Mode, st.Uid, st.Gid, st.Mtim.Sec, st.Size, sum(string(text)))
		}
		return nil
	})
	name, err := os.Hostname()
	s["host"] = fmt.Sprint(name, err)
	for who, pid := range map[string]int{"victim": w.Target.Victim.PID, "parent": w.Target.Parent.PID} {
		if pid == 0 {
			pid = os.Getpid()
		}
		for _, r := range []int{unix.RLIMIT_NOFILE, unix.RLIMIT_CPU, unix.RLIMIT_AS, unix.RLIMIT_FSIZE, unix.RLIMIT_NPROC} {
			var l unix.Rlimit
			err := unix.Prlimit(pid, r, nil, &l)
			s[fmt.Sprint(who, " limit ", r)] = fmt.Sprint(l, err)
		}
		nice, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
		s[who+" priority"] = fmt.Sprint(nice, err)
		var set unix.CPUSet
		err = unix.SchedGetaffinity(pid, &set)
		s[who+" processors"] = fmt.Sprint(set, err)
		io, _, _ := unix.Syscall(unix.SYS_IOPRIO_GET, 1, uintptr(pid), 0)
		policy, _, _ := unix.Syscall(unix.SYS_SCHED_GETSCHEDULER, uintptr(pid), 0, 0)
		adj, _ := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid))
		s[who+" rest"] = fmt.Sprint(io, policy, string(adj), startOf(pid))
	}
	return s
}

// lives reports whether a run writes what is at a path meanwhile.
func (w *Host) lives(path string) bool {
	rel, err := filepath.Rel(filepath.Join(w.Target.Dir, "runs"), path)
	return err == nil && (rel == "." || filepath.IsLocal(rel) && !strings.HasPrefix(rel, "old"))
}

// Touched says what was done to the host, seen from outside, and who is left in it.
func (w *Host) Touched() (all []string) {
	after := w.state()
	for what, was := range w.before {
		if after[what] != was {
			all = append(all, fmt.Sprintf("%s was %s, is %s", what, was, after[what]))
		}
	}
	for what := range after {
		if _, ok := w.before[what]; !ok {
			all = append(all, what+" is new")
		}
	}
	all = append(all, w.left()...)
	for _, dir := range []string{"/tmp", "/var/tmp", "/run", "/var/lock", "/dev/shm", "/usr/bin", filepath.Dir(w.Target.Dir)} {
		if found, err := filepath.Glob(filepath.Join(dir, w.Target.Token+"*")); err == nil {
			all = append(all, found...)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	all = append(all, w.touched...)
	slices.Sort(all)
	return all
}

// left lists the processes that probes have left.
func (w *Host) left() (all []string) {
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	w.must(err)
	for _, path := range paths {
		line, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(line), w.Target.Token) {
			all = append(all, "a process is left: "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return all
}

// Forget takes what was found as it is now for what is to stay.
func (w *Host) Forget() {
	w.mu.Lock()
	w.touched = nil
	w.mu.Unlock()
	w.before = w.state()
}

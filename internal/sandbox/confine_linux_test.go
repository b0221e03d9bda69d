package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// confined is a Spec of a program under test that may write its folder.
func confined(t *testing.T, what string, args ...string) Spec {
	t.Helper()
	if can := Supports(); can.Kind != kindLandlock {
		t.Skipf("no Landlock here: %s", can.Why)
	}
	s := act(t, what, args...)
	s.Confine = &Confine{Write: []string{s.Dir}}
	return s
}

// bothWays runs a test with programs in namespaces of their own, where there can be
// any, and without. set changes a Spec accordingly.
func bothWays(t *testing.T, test func(t *testing.T, set func(Spec) Spec)) {
	t.Helper()
	for _, plain := range []bool{false, true} {
		t.Run(map[bool]string{false: "isolated", true: "plain"}[plain], func(t *testing.T) {
			t.Parallel()
			if !plain && !Probe().Isolated {
				t.Skip("there are no namespaces here")
			}
			test(t, func(s Spec) Spec {
				s.Confine.Plain = plain
				return s
			})
		})
	}
}

// inhabitants are the processes that work in a folder, whatever their number is where
// they are.
func inhabitants(t *testing.T, dir string) (pids []int) {
	t.Helper()
	want, err := os.Stat(dir)
	must(t, err)
	for _, pid := range processes("/proc") {
		if at, err := os.Stat(fmt.Sprintf("/proc/%d/cwd", pid)); err == nil && os.SameFile(at, want) && look(pid).running {
			pids = append(pids, pid)
		}
	}
	return pids
}

// refusal are the ways in which a system says no.
var refusal = regexp.MustCompile(`permission denied|operation not permitted|read-only file system|no such (file|process)|not permitted|resource busy`)

// TestFiles has a confined program try what it may and what it may not.
func TestFiles(t *testing.T) {
	t.Parallel()
	const denied = "denied"
	type place struct{ dir, read, outside, secret string }
	tests := []struct {
		name string
		act  string
		args func(place) []string
		want string // part of what it says
	}{
		{"write inside", "write", func(p place) []string { return []string{p.dir + "/new.txt"} }, "done"},
		{"write outside", "write", func(p place) []string { return []string{p.outside + "/new.txt"} }, denied},
		{"overwrite outside", "write", func(p place) []string { return []string{p.secret} }, denied},
		{"write by way of dots", "write", func(p place) []string { return []string{p.dir + "/../outside/new.txt"} }, denied},
		{"write by way of a symbolic link", "write", func(p place) []string { return []string{p.dir + "/link/new.txt"} }, denied},
		{"read by way of a symbolic link", "read", func(p place) []string { return []string{p.dir + "/link/secret.txt"} }, denied},
		{"read outside", "read", func(p place) []string { return []string{p.secret} }, denied},
		{"list outside", "list", func(p place) []string { return []string{p.outside} }, denied},
		{"truncate outside", "truncate", func(p place) []string { return []string{p.secret} }, denied},
		{"take from outside", "rename", func(p place) []string { return []string{p.secret, p.dir + "/mine"} }, "rename"},
		{"put outside", "rename", func(p place) []string { return []string{p.dir + "/own.txt", p.outside + "/x"} }, "rename"},
		{"move inside", "rename", func(p place) []string { return []string{p.dir + "/own.txt", p.dir + "/sub/own.txt"} }, "done"},
		{"make a link out", "link", func(p place) []string { return []string{p.outside, p.dir + "/other"} }, "done"},
		{"read what was given", "read", func(p place) []string { return []string{p.read + "/data.txt"} }, "done"},
		{"write what was given to read", "write", func(p place) []string { return []string{p.read + "/data.txt"} }, denied},
		{"read the system", "list", func(place) []string { return []string{"/usr/bin"} }, "done"},
		{"read where people keep projects", "list", func(place) []string { return []string{"/usr/src"} }, denied},
		{"write the system", "write", func(place) []string { return []string{"/usr/skillopt-test"} }, denied},
		{"read a secret of the system", "read", func(place) []string { return []string{"/etc/shadow"} }, denied},
		{"read our environment", "read", func(place) []string { return []string{fmt.Sprintf("/proc/%d/environ", os.Getpid())} }, denied},
		{"read our memory", "read", func(place) []string { return []string{fmt.Sprintf("/proc/%d/maps", os.Getpid())} }, denied},
		{"read its own environment", "read", func(place) []string { return []string{"/proc/self/environ"} }, "done"},
		{"write a device", "write", func(place) []string { return []string{"/dev/null"} }, "done"},
		{"write a temporary folder", "write", func(place) []string { return []string{"/tmp/skillopt-test"} }, denied},
	}
	for _, tt := range tests {
		bothWays(t, func(t *testing.T, set func(Spec) Spec) {
			root := t.TempDir()
			p := place{root + "/ws", root + "/given", root + "/outside", root + "/outside/secret.txt"}
			for _, dir := range []string{p.dir + "/sub", p.read, p.outside} {
				must(t, os.MkdirAll(dir, 0o700))
			}
			for _, file := range []string{p.secret, p.dir + "/own.txt", p.read + "/data.txt"} {
				must(t, os.WriteFile(file, []byte("secret"), 0o600))
			}
			must(t, os.Symlink(p.outside, p.dir+"/link"))
			s := confined(t, tt.act, tt.args(p)...)
			s.Dir = p.dir
			s.Confine = &Confine{Write: []string{p.dir}, Read: []string{p.read, root + "/not-there"}}
			r, out := run(t, set(s))
			said := strings.Contains(out, tt.want)
			if tt.want == denied {
				said = refusal.MatchString(out)
			}
			if r.Reason != Exited || !said || tt.want == "done" && r.Code != 0 {
				t.Errorf("%s: got %+v, it says %q, want %q", tt.name, r, out, tt.want)
			}
			if data, err := os.ReadFile(p.secret); err != nil || string(data) != "secret" {
				t.Errorf("the secret is %q now, %v", data, err)
			}
			if entries, err := os.ReadDir(p.outside); err != nil || len(entries) != 1 {
				t.Errorf("outside there are %v, %v", entries, err)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDeletesItsWorkspace(t *testing.T) {
	t.Parallel()
	s := confined(t, "remove")
	s.Dir = filepath.Join(t.TempDir(), "ws")
	must(t, os.MkdirAll(filepath.Join(s.Dir, "sub"), 0o700))
	must(t, os.WriteFile(filepath.Join(s.Dir, "sub", "f"), []byte("x"), 0o600))
	s.Argv = append(s.Argv, s.Dir)
	s.Confine = &Confine{Write: []string{s.Dir}}
	r, out := run(t, s)
	if r.Reason != Exited || !refusal.MatchString(out) {
		t.Errorf("got %+v, %q", r, out)
	}
	if entries, err := os.ReadDir(s.Dir); err != nil || len(entries) != 0 {
		t.Errorf("got %v, %v: it may empty the folder, and not remove it", entries, err)
	}
}

// TestChildrenAreConfined: what a program starts has no more rights than it.
func TestChildrenAreConfined(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret.txt")
	must(t, os.WriteFile(secret, []byte("secret"), 0o600))
	s := confined(t, "run", "/bin/sh", "-c", "cat "+secret+"; echo more >> "+secret)
	_, out := run(t, s)
	if strings.Contains(out, "secret\n") || !refusal.MatchString(strings.ToLower(out)) {
		t.Errorf("it says %q", out)
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "secret" {
		t.Errorf("the secret is %q now, %v", data, err)
	}
}

// listener accepts connections and counts them.
func listener(t *testing.T, network, address string) (net.Listener, <-chan struct{}) {
	t.Helper()
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	l, err := config.Listen(t.Context(), network, address)
	if err != nil {
		t.Skipf("cannot listen: %v", err)
	}
	got := make(chan struct{}, 100)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			got <- struct{}{}
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l, got
}

// TestNetwork connects confined programs with real listeners.
func TestNetwork(t *testing.T) {
	t.Parallel()
	if can := Supports(); !can.Network {
		t.Skipf("connections cannot be confined here: %s", can.Why)
	}
	gateway, _ := listener(t, "tcp4", "127.0.0.1:0")
	other, otherGot := listener(t, "tcp4", "127.0.0.1:0")
	unixSocket, unixGot := listener(t, "unix", filepath.Join(t.TempDir(), "s"))
	abstract, abstractGot := listener(t, "unix", "@skillopt-test-"+strconv.Itoa(os.Getpid()))
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = udp.Close() })
	port := gateway.Addr().(*net.TCPAddr).Port

	isolated := Probe().Isolated
	only := Confine{Ports: []int{port}}
	number := func(n ...int) []string { return strings.Fields(strings.Trim(fmt.Sprint(n), "[]")) }
	tests := []struct {
		name    string
		confine Confine
		act     string
		args    []string
		ok      bool
	}{
		{"the gateway", only, "connect", []string{"tcp", gateway.Addr().String()}, true},
		{"the gateway by name", only, "connect", []string{"tcp", fmt.Sprintf("localhost:%d", port)}, true},
		{"another port", only, "connect", []string{"tcp", other.Addr().String()}, false},
		{"no ports at all", Confine{}, "connect", []string{"tcp", gateway.Addr().String()}, false},
		{"UDP", only, "connect", []string{"udp", udp.LocalAddr().String()}, false},
		{"a Unix socket", only, "connect", []string{"unix", unixSocket.Addr().String()}, false},
		{"an abstract Unix socket", only, "connect", []string{"unix", abstract.Addr().String()}, false},
		{"listening", only, "listen", []string{"tcp", "127.0.0.1:0"}, false},
		{"listening, allowed", Confine{Listen: true}, "listen", []string{"tcp", "127.0.0.1:0"}, true},
		{"listening on a loopback of its own", Confine{Loopback: true}, "listen", []string{"tcp", "127.0.0.1:0"}, isolated},
		{"listening on loopback without namespaces", Confine{Loopback: true, Plain: true}, "listen", []string{"tcp", "127.0.0.1:0"}, false},
		{"with a loopback of its own: this machine's", Confine{Loopback: true}, "connect", []string{"tcp", other.Addr().String()}, false},
		{"with a loopback of its own: UDP", Confine{Loopback: true}, "connect", []string{"udp", udp.LocalAddr().String()}, false},
		{"with a loopback of its own: Unix", Confine{Loopback: true}, "connect", []string{"unix", abstract.Addr().String()}, false},
		{"Multipath TCP", only, "socket", number(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP), false},
		{"raw", only, "socket", number(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP), false},
		{"packets", only, "socket", number(unix.AF_PACKET, unix.SOCK_RAW, 0), false},
		{"vsock", only, "socket", number(unix.AF_VSOCK, unix.SOCK_STREAM, 0), false},
		{"news of interfaces", only, "socket", number(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE), true},
		{"other news", only, "socket", number(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT), false},
		{"all of the network: TCP", Confine{Network: true}, "connect", []string{"tcp", other.Addr().String()}, true},
		{"all of the network: UDP", Confine{Network: true}, "connect", []string{"udp", udp.LocalAddr().String()}, true},
		{"all of the network: Unix", Confine{Network: true, Read: []string{unixSocket.Addr().String()}}, "connect", []string{"unix", unixSocket.Addr().String()}, true},
		{"Unix sockets, allowed", Confine{UnixSockets: true}, "connect", []string{"unix", abstract.Addr().String()}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := confined(t, tt.act, tt.args...)
			s.Confine = &tt.confine
			r, out := run(t, s)
			if r.Reason != Exited || (out == "done\n") != tt.ok {
				t.Errorf("got %+v, it says %q", r, out)
			}
		})
	}
	t.Cleanup(func() {
		if len(otherGot) > 1 || len(unixGot) > 1 || len(abstractGot) > 1 {
			t.Errorf("connections that were refused arrived: %d, %d, %d", len(otherGot), len(unixGot), len(abstractGot))
		}
	})
}

// TestOlderKernels confines as an older Landlock can, and asks for what the
// filter of system calls then has to do.
func TestOlderKernels(t *testing.T) {
	t.Parallel()
	gateway, _ := listener(t, "tcp4", "127.0.0.1:0")
	victim := filepath.Join(t.TempDir(), "victim")
	must(t, os.WriteFile(victim, []byte("keep me"), 0o600))
	tests := []struct {
		name string
		abi  int
		act  string
		args []string
		want string
	}{
		{"no TCP", abiNetwork - 1, "connect", []string{"tcp", gateway.Addr().String()}, "address family not supported"},
		{"no cutting", abiTruncate - 1, "truncate", []string{victim}, "permission denied"},
		{"no writing", abiRefer, "write", []string{victim}, "permission denied"},
		{"no reading", abiScope - 1, "read", []string{victim}, "permission denied"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := confined(t, tt.act, tt.args...)
			s.Confine.Plain = true
			cmd, err := s.command()
			must(t, err)
			p := newProcess(s, cmd)
			must(t, p.confineByLandlock(tt.abi))
			var out strings.Builder
			p.spec.Stdout = &out
			must(t, p.start())
			r, err := p.run(t.Context())
			must(t, err)
			if r.Code != 1 || !strings.Contains(out.String(), tt.want) {
				t.Errorf("got %+v, it says %q", r, out.String())
			}
		})
	}
	if data, err := os.ReadFile(victim); err != nil || string(data) != "keep me" {
		t.Errorf("the file is %q now, %v", data, err)
	}
}

func TestSignalsStayInside(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, set func(Spec) Spec) {
		s := set(confined(t, "kill", strconv.Itoa(os.Getpid())))
		if s.Confine.Plain && landlockABI() < abiScope {
			t.Skip("this kernel cannot confine signals")
		}
		if r, out := run(t, s); r.Code != 1 {
			t.Errorf("got %+v, it says %q", r, out)
		}
	})
}

func TestMaxFile(t *testing.T) {
	t.Parallel()
	s := confined(t, "run", "/bin/sh", "-c", "head -c 3000000 /dev/zero > big; wc -c < big")
	s.Confine.MaxFile = 1 << 20
	_, out := run(t, s)
	if !strings.Contains(out, "1048576") {
		t.Errorf("it says %q", out)
	}
}

// TestNoPrivileges: a program of root keeps the capabilities about the owners of
// files, and nobody wins any.
func TestNoPrivileges(t *testing.T) {
	t.Parallel()
	s := confined(t, "run", "/bin/sh", "-c", "cat /proc/self/status; ulimit -c")
	_, out := run(t, s)
	var caps uint64
	for line := range strings.Lines(out) {
		if v, ok := strings.CutPrefix(line, "CapEff:"); ok {
			var err error
			caps, err = strconv.ParseUint(strings.TrimSpace(v), 16, 64)
			must(t, err)
		}
	}
	const allowed = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID
	if caps&^allowed != 0 {
		t.Errorf("it has the capabilities %x", caps)
	}
	if !strings.Contains(out, "NoNewPrivs:\t1") || !strings.Contains(out, "Seccomp:\t2") || !strings.HasSuffix(out, "\n0\ndone\n") {
		t.Errorf("it says %q", out)
	}
}

// TestConfinedEndsAsAWhole: children in sessions of their own, without the
// marker in their environment and without a parent, are found all the same.
func TestConfinedEndsAsAWhole(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"hang"}, {"hang", "hidden"}, {"leave"}, {"leave", "hidden"}, {"leave", "hold", "hidden"}} {
		bothWays(t, func(t *testing.T, set func(Spec) Spec) {
			s := set(confined(t, "brood", args...))
			want := Exited
			if args[0] == "hang" {
				s.Timeout, want = 2*time.Second, Deadline
			}
			r, out := run(t, s)
			if r.Reason != want || len(numbers(out)) != 2 {
				t.Fatalf("%v: got %+v, %q", args, r, out)
			}
			if left := inhabitants(t, s.Dir); len(left) > 0 {
				t.Errorf("%v: the processes %v are still there", args, left)
			}
		})
	}
}

// numbers finds the numbers of processes in what brood prints.
func numbers(out string) []int {
	var pids []int
	for _, word := range strings.Fields(out) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestSupervisorIsOutOfReach(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, set func(Spec) Spec) {
		s := set(confined(t, "kill-parent"))
		if landlockABI() < abiScope {
			t.Skip("this kernel cannot confine signals")
		}
		if r, out := run(t, s); r.Code != 1 || !strings.Contains(out, "operation not permitted") {
			t.Errorf("got %+v, it says %q", r, out)
		}
	})
}

// TestOurEndIsTheirs kills the process that runs a confined program, which has
// no time to clean up.
func TestOurEndIsTheirs(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, set func(Spec) Spec) {
		s := set(confined(t, "confine"))
		cmd := exec.Command(s.Argv[0], s.Dir, strconv.FormatBool(s.Confine.Plain))
		cmd.Env = s.Env
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		var pids []int
		lines := bufio.NewScanner(out)
		for len(pids) < 2 && lines.Scan() {
			pids = append(pids, numbers(lines.Text())...)
		}
		must(t, cmd.Process.Kill())
		_, err = io.Copy(io.Discard, out)
		must(t, err)
		_ = cmd.Wait() // it was killed
		if len(pids) != 2 {
			t.Fatalf("it printed the numbers %v", pids)
		}
		for deadline := time.Now().Add(20 * time.Second); len(inhabitants(t, s.Dir)) > 0; <-time.After(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the processes %v are still there", inhabitants(t, s.Dir))
			}
		}
	})
}

// killer kills the supervisor that has begun in dir once the program prints.
type killer struct {
	t   *testing.T
	dir string
}

func (k killer) Write(p []byte) (int, error) {
	for _, pid := range processes("/proc") {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.HasPrefix(string(line), supervisorName) && strings.Contains(string(line), k.dir) {
			must(k.t, syscall.Kill(pid, syscall.SIGKILL))
		}
	}
	return len(p), nil
}

// How a program ended whose supervisor was killed, as by the kernel where memory is short, is unknown: that is no result of the program.
func TestKilledSupervisorIsNoResult(t *testing.T) {
	t.Parallel()
	s := confined(t, "deaf")
	if landlockABI() < abiScope {
		t.Skip("before Linux 6.12 the program may have killed it, which is its own end")
	}
	s.Stdout = killer{t, s.Dir}
	if r, err := Run(t.Context(), s); err != nil || r.Reason != Starved || !strings.Contains(r.Detail, "its supervisor was killed") {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestConfinedResults(t *testing.T) {
	t.Parallel()
	s := confined(t, "fail")
	if r, _ := run(t, s); r.Code != 3 || r.Reason != Exited || !strings.Contains(r.Stderr, "it went") {
		t.Errorf("got %+v", r)
	}
	s = confined(t, "environ")
	if _, out := run(t, s); strings.Count(out, "\n") != 2 {
		t.Errorf("the program sees %q", out)
	}
	s = confined(t, "say", "")
	s.Argv[0] = filepath.Join(s.Dir, "script")
	must(t, os.WriteFile(s.Argv[0], []byte("no program\n"), 0o700))
	var start *StartError
	if r, err := Run(t.Context(), s); !errors.As(err, &start) || r != (Result{}) {
		t.Errorf("what cannot be executed: got %+v, %v", r, err)
	}
	for _, c := range []Confine{{Write: []string{"relative"}}, {Read: []string{"relative"}}, {Ports: []int{0}}, {MaxFile: -1}, {Write: []string{"/no/such/folder"}}} {
		s := confined(t, "say", "ran")
		s.Confine = &c
		if r, err := Run(t.Context(), s); !errors.As(err, &start) || r != (Result{}) {
			t.Errorf("%+v: got %+v, %v", c, r, err)
		}
	}
}

func TestSupport(t *testing.T) {
	t.Parallel()
	if got := support(false); got.Kind == kindLandlock || got.Why == "" {
		t.Errorf("without the helper: got %+v", got)
	}
	if got := Supports(); got.Why == "" {
		t.Errorf("got %+v", got)
	}
}

// TestRealPrograms confines programs that agents use, as far as they are
// installed among the system's.
func TestRealPrograms(t *testing.T) {
	t.Parallel()
	gateway, _ := listener(t, "tcp4", "127.0.0.1:0")
	port := strconv.Itoa(gateway.Addr().(*net.TCPAddr).Port)
	tests := []struct {
		argv []string
		want string
	}{
		{[]string{"sh", "-c", "mkdir a b && echo x > a/f && mv a/f b/ && ls b && cat b/f | tr x y"}, "f\ny\n"},
		{[]string{"bash", "-c", "cat <(echo sub) && echo $((1+1)) > /dev/null && head -c1 /dev/urandom | wc -c"}, "sub\n1\n"},
		{[]string{"sh", "-c", "git init -q . && echo x > f && git add f && git -c user.name=a -c user.email=b commit -q -m x && git log --format=%s"}, "x\n"},
		{[]string{"node", "-e", `
			const cp = require("child_process"), fs = require("fs"), net = require("net"), os = require("os");
			fs.writeFileSync("f.txt", "node");
			os.networkInterfaces();
			console.log(cp.execSync("cat f.txt").toString());
			try { fs.readdirSync("/home"); console.log("leak") } catch (e) { console.log(e.code) }
			net.connect(` + port + `, "localhost", function() { console.log("connected"); this.destroy() })`}, "node\nEACCES\nconnected\n"},
		{[]string{"/usr/bin/python3", "-c", `
import subprocess, tempfile, ssl, threading
open("p.txt", "w").write("python")
print(subprocess.check_output(["cat", "p.txt"]).decode())
try: open("/etc/shadow")
except PermissionError: print("refused")`}, "python\nrefused\n"},
	}
	for _, tt := range tests {
		t.Run(tt.argv[0], func(t *testing.T) {
			t.Parallel()
			s := confined(t, "")
			s.Argv = tt.argv
			s.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + s.Dir, "TMPDIR=" + s.Dir, "LANG=C.UTF-8"}
			p, _ := strconv.Atoi(port)
			s.Confine.Ports = []int{p}
			if _, err := s.command(); err != nil {
				t.Skip(err)
			}
			r, out := run(t, s)
			if r.Reason != Exited || !strings.HasPrefix(out+r.Stderr, tt.want) || r.Code != 0 {
				t.Errorf("got %+v, it says %q", r, out)
			}
		})
	}
}

// TestPseudoTerminal: a program gets one only if it is given the devices.
func TestPseudoTerminal(t *testing.T) {
	t.Parallel()
	for _, given := range []bool{false, true} {
		s := confined(t, "")
		s.Argv = []string{"/usr/bin/python3", "-c", "import os, pty, tty\nm, s = pty.openpty()\ntty.setraw(s)\nos.write(s, b'pty')\nprint(os.read(m, 3))"}
		s.Env = []string{"PATH=/usr/bin:/bin"}
		if given {
			s.Confine.Write = append(s.Confine.Write, "/dev/ptmx", "/dev/pts")
		}
		if _, err := s.command(); err != nil {
			t.Skip(err)
		}
		if r, out := run(t, s); (r.Code == 0 && out == "b'pty'\n") != given {
			t.Errorf("given the devices: %v: got %+v, %q", given, r, out)
		}
	}
}

func TestWhatWasUsed(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, set func(Spec) Spec) {
		s := confined(t, "say")
		s.Argv = []string{"/bin/sh", "-c", "i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done"}
		r, _ := run(t, set(s))
		if most := r.Took*time.Duration(runtime.NumCPU()) + time.Second; r.Code != 0 || r.CPU < 50*time.Millisecond || r.CPU > most {
			t.Errorf("got %+v, want processor time", r)
		}
		if r.Took > 3*lookEvery && (r.Peak < 100<<10 || r.Peak > 1<<30) {
			t.Errorf("got %+v, want its memory", r)
		}
	})
}

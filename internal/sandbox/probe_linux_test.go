package sandbox

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-f4525e22/skillopt/internal/testing/sandboxtest"
)

// TestProbes has a confined program try everything, in both ways, and as another user
// than root where we are root.
func TestProbes(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Run("not as root", func(t *testing.T) {
			t.Parallel()
			testAsNobody(t, "^TestProbes$")
		})
	}
	bothWays(t, func(t *testing.T, set func(Spec) Spec) {
		gateway, _ := listener(t, "tcp4", "127.0.0.1:0")
		port := gateway.Addr().(*net.TCPAddr).Port
		root := t.TempDir()
		project, ws := filepath.Join(root, "project"), filepath.Join(root, "ws")
		must(t, os.MkdirAll(project, 0o755))
		must(t, os.MkdirAll(ws, 0o755))
		w := sandboxtest.NewHost(t, project, port)
		inherit(t, w)
		s := confined(t, "")
		s.Dir, s.Timeout = ws, 2*time.Minute
		s.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + ws, sandboxtest.Var + "=" + w.Target.Value()}
		s.Confine = &Confine{Write: []string{ws}, Ports: []int{port}}
		s = set(s)
		r, out := run(t, s)
		if r.Reason != Exited || r.Code != 0 {
			t.Errorf("got %+v", r)
		}
		judgeProbes(t, w, out, sandboxtest.Excused(s.Confine.Plain))
	})
}

// TestProbesAreReal: without confinement most probes reach what they are after, so that
// it tells something when they do not. Those that would touch more than that are left
// out.
func TestProbesAreReal(t *testing.T) {
	t.Parallel()
	gateway, _ := listener(t, "tcp4", "127.0.0.1:0")
	root := t.TempDir()
	project := filepath.Join(root, "project")
	must(t, os.MkdirAll(project, 0o755))
	w := sandboxtest.NewHost(t, project, gateway.Addr().(*net.TCPAddr).Port)
	w.Target.Only = []string{"paths", "links", "proc", "sockets", "Unix sockets", "ipc", "keyrings", "execution", "limits", "ptrace"}
	s := act(t, "")
	w.Target.Harmless = true
	s.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", sandboxtest.Var + "=" + w.Target.Value()}
	r, out := run(t, s)
	found, err := sandboxtest.Findings(out)
	if err != nil || r.Reason != Exited {
		t.Fatalf("got %+v, %v", r, err)
	}
	reached := 0
	for _, f := range found {
		if f.Reached {
			reached++
		} else if testing.Verbose() {
			t.Logf("%s: %s", f.ID(), f.Detail)
		}
	}
	t.Logf("%d of %d reach it", reached, len(found))
	if len(found) == 0 || reached*10 < len(found)*6 {
		t.Errorf("only %d of %d reach it", reached, len(found))
	}
}

// inherit opens gold such that every child of ours has it, if nobody closes it.
func inherit(t *testing.T, w *sandboxtest.Host) {
	t.Helper()
	fd, err := unix.Open(w.Target.Files[sandboxtest.Gold], unix.O_RDONLY, 0)
	must(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
}

// judgeProbes fails for each probe that reached something without an excuse, or was
// not tried, and for whatever was done to the host.
func judgeProbes(t *testing.T, w *sandboxtest.Host, out string, excused map[string]string) {
	t.Helper()
	found, err := sandboxtest.Findings(out)
	must(t, err)
	var reached []string
	for _, f := range found {
		if f.Reached {
			reached = append(reached, f.ID())
		}
		if f.Reached && excused[f.ID()] == "" {
			t.Errorf("%s: %s", f.ID(), f.Detail)
		}
		if testing.Verbose() {
			t.Logf("%s: %v, %d ms: %s", f.ID(), f.Reached, f.Took, f.Detail)
		}
	}
	if len(found) != len(sandboxtest.Probes()) {
		t.Errorf("%d probes were tried, there are %d", len(found), len(sandboxtest.Probes()))
	}
	for _, what := range w.Touched() {
		if !(strings.HasPrefix(what, "file ") && slices.Contains(reached, "changes: mode")) {
			t.Errorf("seen from outside: %s", what)
		}
	}
}

// copied is a copy of this binary that everybody can run, beside a folder tmp that
// everybody can write.
func copied(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "everybody")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.Executable()
	must(t, err)
	data, err := os.ReadFile(self)
	must(t, err)
	must(t, os.Chmod(dir, 0o755))
	writeProgram(t, filepath.Join(dir, "test"), data)
	must(t, os.Chmod(filepath.Join(dir, "test"), 0o755))
	must(t, os.Mkdir(filepath.Join(dir, "tmp"), 0o777))
	must(t, os.Chmod(filepath.Join(dir, "tmp"), 0o777))
	return filepath.Join(dir, "test")
}

// writeProgram writes a file that is to be executed. No process is started meanwhile: it
// would have the file open for writing until it is another program, and whoever executes
// it then is told that it is busy (golang.org/issue/22315).
func writeProgram(t *testing.T, path string, data []byte) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	must(t, os.WriteFile(path, data, 0o755))
}

// testAsNobody runs tests of this binary as a user without privileges.
func testAsNobody(t *testing.T, pattern string) {
	t.Helper()
	self := copied(t)
	tmp := filepath.Join(filepath.Dir(self), "tmp")
	const nobody = 65534
	cmd := exec.CommandContext(t.Context(), self, "-test.run="+pattern, "-test.v="+strconv.FormatBool(testing.Verbose()))
	cmd.Dir, cmd.Env = tmp, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=" + tmp}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	if err := cmd.Wait(); err != nil || testing.Verbose() {
		t.Logf("%v: %s", err, out.String())
	}
	if !cmd.ProcessState.Success() {
		t.Error("it fails as nobody")
	}
}

// TestNothingIsKept: what a program leaves in all that a system has to leave something
// in, no later program finds.
func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Run("not as root", func(t *testing.T) {
			t.Parallel()
			testAsNobody(t, "^TestNothingIsKept$")
		})
	}
	bothWays(t, func(t *testing.T, set func(Spec) Spec) {
		w := sandboxtest.NewHost(t, t.TempDir(), 0)
		do := func(args ...string) string {
			s := confined(t, "", args...)
			s.Env = []string{sandboxtest.Var + "=" + w.Target.Value()}
			r, out := run(t, set(s))
			if r.Reason != Exited || r.Code != 0 {
				t.Errorf("%v: got %+v", args, r)
			}
			return strings.TrimSpace(out)
		}
		do("leave", w.Canary("what a program knew"))
		if found := do("look"); found != "nothing" {
			t.Errorf("a later program finds it in %s", found)
		}
		for _, what := range w.Touched() {
			t.Errorf("seen from outside: %s", what)
		}
	})
}

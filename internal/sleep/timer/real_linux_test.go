package timer

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

// long skips what takes a minute of the clock, or a manager of its own.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("SKILLOPT_LONG") == "" {
		t.Skip("takes a minute and more: SKILLOPT_LONG=1 runs it")
	}
}

func ownHost() Host {
	home := os.Getenv("HOME")
	return Host{OS: "linux", User: os.Getuid(), Folders: Folders{Home: home, Settings: home + "/.config", Data: home + "/.local/share"}, Lookup: os.LookupEnv}
}

// startCron starts cron unless it is at work.
func startCron(t *testing.T) {
	t.Helper()
	running, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range running {
		if comm, err := os.ReadFile(name); err == nil && (string(comm) == "cron\n" || string(comm) == "crond\n") {
			return
		}
	}
	path, err := exec.LookPath("cron")
	if err != nil {
		path = "/usr/sbin/cron"
	}
	if _, err := os.Stat(path); err != nil || os.Getuid() != 0 {
		t.Skip("no cron is at work, and none can be started (apt-get install cron, as root)")
	}
	cmd := exec.Command(path, "-f")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be gone
		_ = cmd.Wait()         // killed
	})
}

// waitFor waits for a file.
func waitFor(t *testing.T, path string, most time.Duration) {
	t.Helper()
	look := time.NewTicker(200 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(most); time.Now().Before(end); <-look.C {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("%s did not come within %s", path, most)
}

// TestTrap60RealCronRunsIt: an entry with an odd path is written into the crontab of this user, run by cron, and taken out.
func TestTrap60RealCronRunsIt(t *testing.T) {
	t.Parallel()
	long(t)
	c := cron{ownHost()}
	before, err := c.read(t.Context())
	if err != nil {
		t.Skipf("no crontab here: %v", err)
	}
	e := oddHere(t)
	e.ID = fmt.Sprintf("%016x", time.Now().UnixNano())
	// At least some seconds ahead: cron reads crontabs at the full minute.
	soon := time.Now().Add(65 * time.Second)
	e.At = At{soon.Hour(), soon.Minute()}
	t.Cleanup(func() { _, _ = c.Remove(context.WithoutCancel(t.Context()), e.ID) }) // most often it is gone
	if err := c.Install(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	startCron(t) // after it: a cron that has read crontabs in this second does not see that one has changed
	waitFor(t, filepath.Join(filepath.Dir(e.Program), "told"), 3*time.Minute)
	toldRight(t, e)
	if there, err := c.Remove(t.Context(), e.ID); err != nil || !there {
		t.Fatal(there, err)
	}
	if after, err := c.read(t.Context()); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the crontab is %q, %v, and was %q", after, err, before)
	}
}

// inManager is set in the process that is alone with a systemd user manager.
const inManager = "SKILLOPT_TEST_MANAGER"

// TestTrap60RealSystemdRunsIt: a timer with an odd path in a systemd user manager of its own, in a mount namespace of its own.
func TestTrap60RealSystemdRunsIt(t *testing.T) {
	t.Parallel()
	if os.Getenv(inManager) != "" {
		withManager(t)
		return
	}
	long(t)
	const manager = "/lib/systemd/systemd"
	if _, err := os.Stat(manager); err != nil || os.Getuid() != 0 {
		t.Skip("needs root, to lay out a /run of its own, and " + manager)
	}
	home := t.TempDir()
	setup := `mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system /run/user/0 && chmod 700 /run/user/0 || exit 77
` + manager + ` --user --log-target=console >"$HOME/manager" 2>&1 & M=$!
n=0; until systemctl --user show-environment >/dev/null 2>&1; do n=$((n+1)); [ $n -gt 100 ] && { kill $M; cat "$HOME/manager"; exit 77; }; sleep 0.1; done
"$0" -test.run='^TestTrap60RealSystemdRunsIt$' -test.v; C=$?
kill $M; wait $M; exit $C`
	cmd := exec.CommandContext(t.Context(), "unshare", "-m", "/bin/sh", "-c", setup, os.Args[0])
	cmd.Env = []string{inManager + "=1", "HOME=" + home, "XDG_RUNTIME_DIR=/run/user/0", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 77 || cmd.ProcessState == nil {
		t.Skipf("no systemd user manager can be started here: %v: %s", err, out)
	}
	if err != nil || !bytes.Contains(out, []byte("--- PASS")) {
		t.Fatalf("%v: %s", err, out)
	}
}

func withManager(t *testing.T) {
	h := ownHost()
	s := systemd{h}
	e := oddHere(t)
	soon := time.Now().Add(time.Hour)
	e.At = At{soon.Hour(), soon.Minute()}
	if kind, err := Choose(t.Context(), h); err != nil || kind != Systemd {
		t.Fatal(kind, err)
	}
	for range 2 {
		if err := s.Install(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "systemctl", append([]string{"--user"}, args...)...).CombinedOutput()
		if err != nil {
			t.Errorf("systemctl %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	if got := ask("list-timers", "--no-pager"); !strings.Contains(got, prefix+e.ID+".timer") {
		t.Errorf("timers: %s", got)
	}
	if got := ask("show", "-p", "Persistent,RandomizedDelayUSec,TimersCalendar", prefix+e.ID+".timer"); !strings.Contains(got, "Persistent=yes") || !strings.Contains(got, "RandomizedDelayUSec=10min") || !strings.Contains(got, "*-*-* "+e.At.String()+":00") {
		t.Errorf("the timer is %s", got)
	}
	ask("start", prefix+e.ID+".service")
	toldRight(t, e)
	if there, err := s.Remove(t.Context(), e.ID); err != nil || !there {
		t.Fatal(there, err)
	}
	if left := ask("list-units", "--all", "--no-pager", prefix+"*"); strings.Contains(left, e.ID) {
		t.Errorf("left: %s", left)
	}
	for _, dir := range []string{"/.config/systemd", "/.local/share/systemd"} {
		if left := tree(t, h.Folders.Home+dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	os.Exit(m.Run())
}

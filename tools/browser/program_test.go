package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is the binary under test.
func program(t *testing.T) string {
	t.Helper()
	path := os.Getenv("SKILLOPT_BINARY")
	if path == "" {
		t.Skip("SKILLOPT_BINARY names no program: .ci/browser/test.sh runs these tests")
	}
	return path
}

// process is a command that runs beside the test.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *bytes.Buffer
	done chan error
}

// begin starts the program; it is killed with the test.
func begin(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(program(t), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "XDG_CONFIG_HOME="+filepath.Join(dir, "home"), "XDG_STATE_HOME="+filepath.Join(dir, "home"))
	p := &process{t: t, cmd: cmd, out: &bytes.Buffer{}, done: make(chan error, 1)}
	cmd.Stdout, cmd.Stderr = p.out, p.out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- cmd.Wait() }()
	t.Cleanup(p.kill)
	return p
}

// kill ends it as a crash does.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
	p.wait()
}

// wait waits until it has ended, and returns its exit code.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case err := <-p.done:
		p.done <- err
	case <-time.After(2 * time.Minute):
		p.t.Fatalf("%s does not end", strings.Join(p.cmd.Args, " "))
	}
	return p.cmd.ProcessState.ExitCode()
}

// run runs the program to its end.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	p := begin(t, dir, args...)
	if code := p.wait(); code != 0 {
		t.Fatalf("skillopt %s: exit code %d\n%s", strings.Join(args, " "), code, p.out)
	}
	return p.out.String()
}

// served is a server with the address that it printed.
type served struct {
	*process
	Link string `json:"link"` // with the token
}

// serve starts the server over folders.
func serve(t *testing.T, dir string, args ...string) served {
	t.Helper()
	cmd := exec.Command(program(t), append([]string{"serve", "--json"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "XDG_CONFIG_HOME="+filepath.Join(dir, "home"), "XDG_STATE_HOME="+filepath.Join(dir, "home"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s := served{process: &process{t: t, cmd: cmd, out: &bytes.Buffer{}, done: make(chan error, 1)}}
	cmd.Stderr = s.out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first := make(chan string, 1)
	lines := bufio.NewScanner(out)
	go func() {
		for lines.Scan() {
			select {
			case first <- lines.Text():
			default:
			}
		}
		close(first)
		s.done <- cmd.Wait()
	}()
	t.Cleanup(s.kill)
	select {
	case line := <-first:
		if err := json.Unmarshal([]byte(line), &s); err != nil || s.Link == "" {
			t.Fatalf("serve printed %q: %v\n%s", line, err, s.out)
		}
	case <-time.After(time.Minute):
		t.Fatalf("serve printed nothing: %s", s.out)
	}
	return s
}

// chromium is the browser.
func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("SKILLOPT_CHROMIUM"); path != "" {
		return path
	}
	t.Skip("SKILLOPT_CHROMIUM names no browser: .ci/browser/test.sh runs these tests")
	return ""
}

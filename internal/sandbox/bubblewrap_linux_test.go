package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// wrapped runs s in bubblewrap, whether or not there is Landlock.
func wrapped(t *testing.T, s Spec) (Result, string, error) {
	t.Helper()
	if bubblewrap() == "" {
		t.Skip("bubblewrap is not installed")
	}
	cmd, err := s.command()
	must(t, err)
	p := newProcess(s, cmd)
	if err := p.confineByBubblewrap(); err != nil {
		return Result{}, "", err
	}
	var out strings.Builder
	p.spec.Stdout = &out
	must(t, p.start())
	r, err := p.run(t.Context())
	return r, out.String(), err
}

func TestBubblewrap(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	outside, ws := filepath.Join(root, "outside"), filepath.Join(root, "ws")
	must(t, os.MkdirAll(filepath.Join(ws, "sub"), 0o700))
	must(t, os.MkdirAll(outside, 0o700))
	secret := filepath.Join(outside, "secret.txt")
	must(t, os.WriteFile(secret, []byte("secret"), 0o600))
	must(t, os.Symlink(outside, filepath.Join(ws, "link")))
	other, _ := listener(t, "tcp4", "127.0.0.1:0")
	tests := []struct {
		name string
		act  string
		args []string
		code int
	}{
		{"exit code", "fail", nil, 3},
		{"write inside", "write", []string{ws + "/new.txt"}, 0},
		{"write outside", "write", []string{secret}, 1},
		{"read outside", "read", []string{secret}, 1},
		{"read by way of a symbolic link", "read", []string{ws + "/link/secret.txt"}, 1},
		{"write the system", "write", []string{"/usr/skillopt-test"}, 1},
		{"our environment", "read", []string{fmt.Sprintf("/proc/%d/environ", os.Getpid())}, 1},
		{"connect", "connect", []string{"tcp", other.Addr().String()}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := act(t, tt.act, tt.args...)
			s.Dir, s.Confine = ws, &Confine{Write: []string{ws}, Read: []string{root + "/none"}}
			r, out, err := wrapped(t, s)
			if err != nil || r.Reason != Exited || r.Code != tt.code {
				t.Errorf("got %+v, %v, it says %q", r, err, out)
			}
		})
	}
	t.Cleanup(func() {
		if data, err := os.ReadFile(secret); err != nil || string(data) != "secret" {
			t.Errorf("the secret is %q now, %v", data, err)
		}
	})
}

func TestBubblewrapFails(t *testing.T) {
	t.Parallel()
	s := act(t, "say", "ran")
	s.Confine = &Confine{}
	s.Dir = filepath.Join(t.TempDir(), "unseen")
	must(t, os.Mkdir(s.Dir, 0o700))
	var start *StartError
	if r, out, err := wrapped(t, s); !errors.As(err, &start) || out != "" {
		t.Errorf("got %+v, %q, %v", r, out, err)
	}
	s.Confine.Write = []string{"/no/such/folder"}
	if r, out, err := wrapped(t, s); !errors.As(err, &start) || out != "" {
		t.Errorf("got %+v, %q, %v", r, out, err)
	}
}

func TestBubblewrapEndsAsAWhole(t *testing.T) {
	t.Parallel()
	s := act(t, "brood", "hang")
	s.Confine = &Confine{Write: []string{s.Dir}}
	s.Timeout = 2 * time.Second
	mine := "SANDBOX_TEST_FOLDER=" + s.Dir
	s.Env = append(s.Env, mine)
	r, out, err := wrapped(t, s)
	if err != nil || r.Reason != Deadline || len(strings.Fields(out)) != 2 {
		t.Errorf("got %+v, %v, %q", r, err, out)
	}
	entries, err := os.ReadDir("/proc")
	must(t, err)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if strings.Contains(string(environ), mine) {
			t.Errorf("process %d is still there", pid)
		}
	}
}

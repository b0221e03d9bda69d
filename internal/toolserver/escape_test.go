package toolserver

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

// escape tries to get hold of what is not the server's own, and returns it.
func escape(how string) (string, error) {
	what, at, _ := strings.Cut(how, " ")
	switch what {
	case "connect":
		c, err := net.Dial("tcp4", at)
		if err != nil {
			return "", err
		}
		return "through", c.Close()
	case "read":
		data, err := os.ReadFile(at)
		return string(data), err
	case "link":
		if err := os.Symlink(at, "link"); err != nil {
			return "", err
		}
		data, err := os.ReadFile("link")
		return string(data), err
	case "list":
		entries, err := os.ReadDir(at)
		return fmt.Sprint(entries), err
	case "write":
		return "through", os.WriteFile(at, []byte("x"), 0o600)
	case "variables":
		return strings.Join(os.Environ(), "\n"), nil
	case "fork":
		for {
			self := exec.Command(os.Args[0])
			self.Env = []string{played + "=says nothing"}
			if _, err := self.StdinPipe(); err != nil {
				return "", err
			}
			if err := self.Start(); err != nil {
				return "", err
			}
		}
	}
	return "", fmt.Errorf("%q is not known", how)
}

// A server is not trusted. Each case returns what it got hold of to the model, and this test.
func TestEscapes(t *testing.T) {
	t.Parallel()
	if can := sandbox.Supports(); can.Kind == "" {
		t.Skip(can.Why)
	}
	const secret = "gold-4711"
	tasks := filepath.Join(t.TempDir(), "tasks.jsonl")
	must(t, os.WriteFile(tasks, []byte(secret), 0o644))
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	server := program(t, "plain")
	server.Confine.Limits = sandbox.Limits{Processes: 64}
	w := newWorld(t, Options{Servers: []Server{server}})
	for name, tt := range map[string]struct {
		how  string
		want []string // one of them is in the answer
	}{
		"network":         {"connect " + l.Addr().String(), []string{"permission denied", "refused"}},
		"gold":            {"read " + tasks, []string{"permission denied", "no such file"}},
		"gold by a link":  {"link " + tasks, []string{"permission denied", "no such file"}},
		"a file outside":  {"write " + filepath.Join(filepath.Dir(tasks), "new"), []string{"permission denied", "no such file", "read-only"}},
		"other folders":   {"list " + filepath.Dir(tasks), []string{"permission denied", "no such file"}},
		"other processes": {fmt.Sprintf("read /proc/%d/environ", os.Getpid()), []string{"permission denied", "no such file"}},
		"a fork bomb":     {"fork", []string{"processes", "resource temporarily unavailable"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := open(t, w)
			o, err := act(t, e, "reach", tt.how)
			answer, found := o.Text+fmt.Sprint(err), false
			for _, want := range tt.want {
				found = found || strings.Contains(answer, want)
			}
			if !found || strings.Contains(answer, secret) {
				t.Errorf("%+v, %v, want one of %q", o, err, tt.want)
			}
		})
	}
	t.Run("variables", func(t *testing.T) {
		t.Parallel()
		e, _ := open(t, w)
		o, err := act(t, e, "reach", "variables")
		for line := range strings.Lines(o.Text) {
			if name, _, _ := strings.Cut(line, "="); !strings.Contains("HOME TMPDIR PATH SANDBOX_ID "+played, name) {
				t.Errorf("it sees %q", line)
			}
		}
		if err != nil || o.Text == "" {
			t.Errorf("%+v, %v", o, err)
		}
	})
}

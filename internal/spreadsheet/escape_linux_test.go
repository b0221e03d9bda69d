package spreadsheet

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A program of the model is not trusted. Each case prints what it got hold of into the error that the
// model, and this test, sees.
func TestEscapes(t *testing.T) {
	t.Parallel()
	tasks := filepath.Join(t.TempDir(), "tasks.jsonl")
	must(t, os.WriteFile(tasks, []byte(secret), 0o644))
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	for name, tt := range map[string]struct {
		code string
		want []string // one of them is in the answer
	}{
		"network":          {fmt.Sprintf("import socket\nsocket.create_connection(('127.0.0.1', %d), 5)\nprint('through')", l.Addr().(*net.TCPAddr).Port), []string{"PermissionError", "ConnectionRefusedError"}},
		"names of hosts":   {"import socket\nsocket.getaddrinfo('example.org', 80)", []string{"gaierror", "PermissionError"}},
		"gold":             {fmt.Sprintf("raise ValueError(open(%q).read())", tasks), []string{"PermissionError", "FileNotFoundError"}},
		"gold by a link":   {fmt.Sprintf("import os\nos.symlink(%q, 'x')\nraise ValueError(open('x').read())", tasks), []string{"PermissionError", "FileNotFoundError"}},
		"a file outside":   {fmt.Sprintf("open(%q, 'w').write('x')", filepath.Join(filepath.Dir(tasks), "new")), []string{"PermissionError", "FileNotFoundError", "Read-only"}},
		"other folders":    {"import os\nraise ValueError(os.listdir(os.path.dirname(os.getcwd())))", []string{"PermissionError"}},
		"other processes":  {fmt.Sprintf("raise ValueError(open('/proc/%d/environ').read())", os.Getpid()), []string{"PermissionError", "FileNotFoundError"}},
		"a fork bomb":      {"import os\nwhile True:\n    os.fork()", []string{"processes at a time", "BlockingIOError"}},
		"8 GB of memory":   {"x = []\nfor i in range(512):\n    x.append(bytearray(b'x') * (16 << 20))\nraise ValueError('it has 8 GB')", []string{"of memory in use", "MemoryError"}},
		"endless output":   {"while True:\n    print('x' * 65536)", []string{"printed more than"}},
		"a file of 200 MB": {"f = open('big', 'wb')\nwhile True:\n    f.write(b'x' * (1 << 20))\n    assert f.tell() <= 150 << 20, 'it is there'", []string{"File too large", "SIGXFSZ"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := open(t, newWorld(t, Multi), book(t, map[string]any{"A1": 1}))
			o, err := e.Act(t.Context(), say(1, tt.code))
			found := false
			for _, want := range tt.want {
				found = found || strings.Contains(o.Text, want)
			}
			if err != nil || o.Done || !found || strings.Contains(o.Text, secret) {
				t.Errorf("%+v, %v, want one of %q", o, err, tt.want)
			}
		})
	}
}

// A process that a program leaves ends with it.
func TestNothingOutlivesAProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Multi)
	e, _ := open(t, w, book(t, map[string]any{"A1": 1}))
	mark := "outlives-" + strconv.Itoa(os.Getpid())
	o, err := e.Act(t.Context(), say(1, fmt.Sprintf(`
import os, subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", %q], start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
%s`, mark, sum)))
	if err != nil || !o.Done {
		t.Fatalf("%+v, %v", o, err)
	}
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(t, err)
	for _, p := range processes {
		if line, _ := os.ReadFile(p); strings.Contains(string(line), "time.sleep(600)\x00"+mark) {
			t.Errorf("%s is still there", p)
		}
	}
}

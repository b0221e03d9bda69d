package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMembership(t *testing.T) {
	t.Parallel()
	got := membership([]byte("12:cpu,cpuacct:/a\n4:memory:/b:c\n1:name=systemd:/\n0::/user.slice/x.scope\nrubbish\n"))
	want := map[string]string{"cpu": "/a", "cpuacct": "/a", "memory": "/b:c", "name=systemd": "/", "": "/user.slice/x.scope"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("membership (-want +got):\n%s", diff)
	}
}

func TestCounter(t *testing.T) {
	t.Parallel()
	text := "anon 4096\nshmem: 12\nPss_Anon:            34 kB\noom 2\noom_kill 3\n"
	for key, want := range map[string]int64{"anon": 4096, "shmem": 12, "Pss_Anon": 34, "oom": 2, "oom_kill": 3, "kill": 0, "": 0} {
		if got := counter(text, key); got != want {
			t.Errorf("%q is %d, want %d", key, got, want)
		}
	}
	if got := counter("987\n", ""); got != 987 {
		t.Errorf("the only counter is %d", got)
	}
}

// A group of version 1 and one of version 2 tell by which of their counters a program
// was ended.
func TestGroupsTellWhatEndedAProgram(t *testing.T) {
	t.Parallel()
	limits := Limits{Memory: 1 << 30, Processes: 8}
	tests := []struct {
		name    string
		unified bool
		files   map[string]string
		want    *overrun
	}{
		{"quiet 1", false, map[string]string{"memory.oom_control": "oom_kill_disable 0\noom_kill 0\n", "memory.failcnt": "7\n", "pids.events": "max 0\n"}, nil},
		{"limit 1", false, map[string]string{"memory.oom_control": "oom_kill 1\n", "memory.failcnt": "7\n"}, &overrun{"memory", "more memory in use than 1.0 GiB"}},
		{"machine 1", false, map[string]string{"memory.oom_control": "oom_kill 1\n", "memory.failcnt": "0\n"}, &overrun{"", "the machine ran out of memory"}},
		{"quiet 2", true, map[string]string{"memory.events": "low 0\nmax 9\noom 0\noom_kill 0\n"}, nil},
		{"limit 2", true, map[string]string{"memory.events": "oom 1\noom_kill 2\n"}, &overrun{"memory", "more memory in use than 1.0 GiB"}},
		{"machine 2", true, map[string]string{"memory.events": "oom 0\noom_kill 2\n"}, &overrun{"", "the machine ran out of memory"}},
		{"threads", true, map[string]string{"pids.events": "max 4\n"}, &overrun{"processes", "more threads at a time than 8 processes may have"}},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		for name, text := range tt.files {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		g := &group{unified: tt.unified, dirs: map[string]string{"memory": dir, "pids": dir}}
		if diff := cmp.Diff(tt.want, g.hit(limits)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

package sandbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// How long a program waited for a processor is what its control group says, else the system,
// else its processes.
func TestWaitedForAProcessor(t *testing.T) {
	t.Parallel()
	const some = "some avg10=1.00 avg60=1.00 avg300=1.00 total="
	for name, tt := range map[string]struct {
		before, after map[string]string // files below the root
		want          time.Duration
	}{
		"a control group of its own": {
			before: map[string]string{"proc/self/cgroup": "0::/us\n", "proc/pressure/cpu": some + "5000000\n"},
			after: map[string]string{
				"proc/pressure/cpu": some + "9000000\n", "proc/7/stat": "7 (a) S 1", "proc/8/stat": "8 (b ) c) S 7", "proc/7/cgroup": "0::/us\n", "proc/8/cgroup": "0::/theirs\n",
				"groups/theirs/cpu.pressure": some + "3000000\nfull avg10=0 total=1\n",
			},
			want: 3 * time.Second,
		},
		"our control group": {
			before: map[string]string{"proc/self/cgroup": "4:memory:/x\n0::/us\n", "groups/us/cpu.pressure": some + "1000000\n", "proc/pressure/cpu": some + "5000000\n"},
			after:  map[string]string{"groups/us/cpu.pressure": some + "3500000\n", "proc/pressure/cpu": some + "9000000\n", "proc/7/stat": "7 (a) S 1", "proc/7/cgroup": "0::/us\n"},
			want:   2500 * time.Millisecond,
		},
		"the system": {
			before: map[string]string{"proc/pressure/cpu": some + "5000000\n"},
			after:  map[string]string{"proc/pressure/cpu": some + "9000000\n", "proc/7/stat": "7 (a) S 1", "proc/7/schedstat": "1 2 3\n"},
			want:   4 * time.Second,
		},
		"processes": {
			after: map[string]string{"proc/7/stat": "7 (a) S 1", "proc/8/stat": "8 (b) S 7", "proc/9/stat": "9 (c) S 1", "proc/7/schedstat": "1 1000000000 3\n", "proc/8/schedstat": "1 500000000 3\n", "proc/9/schedstat": "1 90000000000 3\n"},
			want:  1500 * time.Millisecond,
		},
		"nothing tells": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write := func(files map[string]string) {
				for name, text := range files {
					path := filepath.Join(root, name)
					if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			write(tt.before)
			w := beginWait(filepath.Join(root, "proc"), filepath.Join(root, "groups"))
			write(tt.after)
			if got := w.Measure(7); got != tt.want {
				t.Errorf("waited %v, want %v", got, tt.want)
			}
		})
	}
}

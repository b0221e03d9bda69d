package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// What os.MkdirTemp makes of each mark is known again, and leaves room for a socket: 104 bytes
// are the most that macOS takes of its path.
func TestWhatIsMadeIsKnown(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{disk.Seat, disk.Agent, disk.Proof, disk.Check} {
		dir, err := os.MkdirTemp(t.TempDir(), mark)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(dir); !disk.IsOwnFolder(name) || len(name) > 34 {
			t.Errorf("%s: known: %v, %d bytes", name, disk.IsOwnFolder(name), len(name))
		}
	}
}

func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "skillopt", "skillopt-seat-", "skillopt-agent-demo", "skillopt-agent-proof-", "skillopt-check-1x", "my-skillopt-seat-1", "seat-123", "check-1"} {
		if disk.IsOwnFolder(name) {
			t.Errorf("%q is taken for one of ours", name)
		}
	}
}

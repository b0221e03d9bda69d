package memfolder_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/testing/memfolder"
)

func TestNew(t *testing.T) {
	t.Parallel()
	dir, remove := memfolder.New()
	defer remove()
	if dir == "" {
		t.Skip("there is no file system in memory")
	}
	other, removeOther := memfolder.New()
	defer removeOther()
	if dir == other {
		t.Errorf("%s is made twice", dir)
	}
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	remove()
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

package door

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// leastKey is the length of a key that is believed to be whole, in characters.
const leastKey = 40

// Key reads the key that signs sessions, and makes one where there is none that is closed to
// others. It is kept so that a page that is open keeps working when the server is started again.
func Key(path string) ([]byte, error) {
	text, err := disk.Read(context.Background(), path, 1<<10)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the key of sessions: %w", err)
	}
	if key := strings.TrimSpace(string(text)); err == nil && len(key) >= leastKey && private(path) {
		return []byte(key), nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("keep the key of sessions: %w", err)
	}
	key := NewSecret()
	if err := disk.WriteFile(path, []byte(key+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("keep the key of sessions: %w", err)
	}
	return []byte(key), nil
}

// private reports whether a file can be read by its owner alone, as far as its mode shows.
func private(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0)
}

package proof

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Cache keeps what was proven in a folder. The zero value keeps nothing. Only good
// results are kept: a user who fixes a bad one wants it to be looked at again.
type Cache struct{ Dir string }

// Kept is a result of an earlier time.
type Kept struct {
	Result Result    `json:"result"`
	At     time.Time `json:"at"`
}

// Key sums up what a result depends on.
func Key(of any) (string, error) {
	data, err := json.Marshal(of)
	if err != nil {
		return "", fmt.Errorf("sum up what is proven: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// Load returns what is kept under a key. A file that cannot be read is none.
func (c Cache) Load(key string) (Kept, bool) {
	if c.Dir == "" {
		return Kept{}, false
	}
	data, err := os.ReadFile(c.file(key))
	var k Kept
	if err != nil || json.Unmarshal(data, &k) != nil || !k.Result.OK {
		return Kept{}, false
	}
	return k, true
}

// Save keeps a good result.
func (c Cache) Save(key string, r Result, at time.Time) error {
	if c.Dir == "" || !r.OK {
		return nil
	}
	data, err := json.Marshal(Kept{Result: r, At: at})
	if err == nil {
		err = os.MkdirAll(c.Dir, 0o700)
	}
	if err == nil {
		err = disk.Replace(c.file(key), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the proof of an agent: %w", err)
	}
	return nil
}

func (c Cache) file(key string) string { return filepath.Join(c.Dir, key+".json") }

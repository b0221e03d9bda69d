package caller

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// Cache keeps usable answers across runs. It may be called concurrently.
type Cache interface {
	// Get returns what was put under key; found is false if nothing was.
	Get(key string) (data []byte, found bool, err error)
	Put(key string, data []byte) error
}

// DirCache keeps each answer in a file of its own. Several runs may share it.
type DirCache struct{ Dir string }

var _ Cache = DirCache{}

// Get implements Cache.
func (d DirCache) Get(key string) ([]byte, bool, error) {
	data, err := os.ReadFile(d.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read cache: %w", err)
	}
	return data, true, nil
}

// Put implements Cache.
func (d DirCache) Put(key string, data []byte) error {
	path := d.path(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write cache: %w", err)
	}
	if err := disk.Replace(path, data, 0o644); err != nil {
		return fmt.Errorf("write cache: %w", err)
	}
	return nil
}

func (d DirCache) path(key string) string {
	return filepath.Join(d.Dir, key[:2], key[2:]+".json")
}

// CacheKey names an answer across runs: by the endpoint and by the digest of
// everything that the answer depends on, the seed of the sample among it.
func CacheKey(endpoint string, digest journal.Digest) string {
	sum := sha256.Sum256(append([]byte(endpoint+"\x00"), digest[:]...))
	return hex.EncodeToString(sum[:])
}

func cacheKey(r *role, digest journal.Digest) string { return CacheKey(r.Endpoint, digest) }

// cached answers a first attempt from the cache and records the answer as one
// that another run paid for. A damaged entry is no answer.
func (c *Caller) cached(r *role, s *step) (rep reply, found bool, err error) {
	if c.opts.Cache == nil || s.attempt > 0 {
		return rep, false, nil
	}
	data, found, err := c.opts.Cache.Get(cacheKey(r, s.digest))
	if err != nil || !found {
		return rep, false, err
	}
	if json.Unmarshal(data, &rep) != nil || s.call.refuses(rep.Response) != nil {
		return reply{}, false, nil
	}
	return rep, true, nil
}

// keep puts a usable answer into the cache. It is paid for and recorded: that the cache
// cannot be written is reported once, and keeps no one from the answer.
func (c *Caller) keep(r *role, s *step, rep reply, encoded []byte) {
	if c.opts.Cache == nil || rep.Limit != "" || s.call.refuses(rep.Response) != nil {
		return
	}
	err := c.opts.Cache.Put(cacheKey(r, s.digest), encoded)
	if err == nil || c.opts.Unkept == nil {
		return
	}
	c.unkept.Do(func() { c.opts.Unkept(err) })
}

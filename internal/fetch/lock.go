package fetch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// LockName is the name of the lock file in a folder.
const LockName = "bench.lock"

// Pin is what the lock file knows of one file.
type Pin struct {
	Origin string `json:"origin"` // as of File
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// lockFile is what bench.lock holds, by origin.
type lockFile map[string]Pin

const (
	// lockSchema is the version of the format.
	lockSchema = 1
	// mostLock bounds a lock file, in bytes.
	mostLock = 16 << 20
)

type lockDocument struct {
	Schema int   `json:"schema"`
	Files  []Pin `json:"files"`
}

// ReadPins reads a lock file, for example one that comes with a benchmark.
func ReadPins(data []byte) ([]Pin, error) {
	var version struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, &Error{Msg: fmt.Sprintf("the lock file is broken: %v; remove it to note the hashes again", err), Err: ErrLockFile}
	}
	if version.Schema != lockSchema {
		return nil, &Error{Msg: fmt.Sprintf("the lock file has schema %d, this version reads %d: was it written by a newer one?", version.Schema, lockSchema), Err: ErrLockFile}
	}
	var doc lockDocument
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return nil, &Error{Msg: fmt.Sprintf("the lock file is broken: %v", err), Err: ErrLockFile}
	}
	return doc.Files, lockFile{}.add(doc.Files)
}

// add takes pins in, none of which may contradict another.
func (l lockFile) add(pins []Pin) error {
	for _, p := range pins {
		if p.Origin == "" || !isHex(p.SHA256, 64) || p.Size < 0 {
			return &Error{Origin: p.Origin, Msg: "the lock file has no SHA-256 of 64 hex digits and no size for it", Err: ErrLockFile}
		}
		if old, there := l[p.Origin]; there && old != p {
			return &Error{Origin: p.Origin, Msg: fmt.Sprintf("the lock file has it with SHA-256 %s (%d bytes), and %s (%d bytes) is known too", old.SHA256, old.Size, p.SHA256, p.Size), Err: ErrHash}
		}
		l[p.Origin] = p
	}
	return nil
}

func readLock(ctx context.Context, path string) (lockFile, error) {
	l := lockFile{}
	data, err := disk.Read(ctx, path, mostLock)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, fmt.Errorf("fetch: read the lock file: %w", err)
	}
	pins, err := ReadPins(data)
	var own *Error
	if errors.As(err, &own) {
		own.Msg = path + ": " + own.Msg
	}
	if err != nil {
		return nil, err
	}
	return l, l.add(pins)
}

func (l lockFile) write(path string) error {
	doc := lockDocument{Schema: lockSchema, Files: slices.SortedFunc(maps.Values(l), func(a, b Pin) int { return cmp.Compare(a.Origin, b.Origin) })}
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("fetch: write the lock file: %w", err)
	}
	if err := disk.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	return nil
}

// inUse is the name of the file whose lock the process has that is at work in a folder.
const inUse = ".fetch.lock"

func takeLock(dir string) (free func() error, err error) {
	lock := flock.New(filepath.Join(dir, inUse))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("fetch: lock %s: %w", dir, err)
	}
	if !ok {
		return nil, &Error{Msg: fmt.Sprintf("another process fetches into %s: wait until it has ended, or use another folder", dir), Err: ErrLocked}
	}
	return lock.Close, nil
}

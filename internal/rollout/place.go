package rollout

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Agents work at a place that shows nothing: its name is as long for every episode
// and drawn by chance, and it lies outside of the run, whose folders are named after what
// is measured. What they leave is moved into the run when they have ended.

// placeFile, in the run directory, holds the path of the folder of places: a later
// session cleans up after one that was killed, and finds paths again that an agent has
// written into its files. ownerFile, in that folder, says whose it is: a run directory
// may have been copied.
const (
	placeFile = ".place"
	ownerFile = "owner"
)

// nameLength is the length of the name of a place.
const nameLength = 26

// maxPlace is how long the path of a folder may be that a file names, in bytes.
const maxPlace = 64 << 10

// Open makes the folder of places. What a killed session left in it is deleted.
func (w *Workspaces) Open() error {
	if err := os.MkdirAll(filepath.Dir(w.Dir), 0o755); err != nil {
		return fmt.Errorf("make the run directory: %w", err)
	}
	text, err := disk.Read(context.Background(), w.placeFile(), maxPlace)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("find the folder of places: %w", err)
	}
	if place := strings.TrimSpace(string(text)); w.ours(place) && removeAll(place) == nil && w.claim(place) == nil {
		return nil
	}
	for _, parent := range w.parents() {
		place := filepath.Join(parent, "."+rand.Text()[:nameLength])
		if w.claim(place) == nil {
			return os.WriteFile(w.placeFile(), []byte(place+"\n"), 0o600)
		}
	}
	return fmt.Errorf("make a folder for agents to work in: neither %s can hold one from which files can be moved into the run", strings.Join(w.parents(), " nor "))
}

func (w *Workspaces) placeFile() string { return filepath.Join(filepath.Dir(w.Dir), placeFile) }

// parents returns the folders that the folder of places may be in. The second is on the same disk
// as the run.
func (w *Workspaces) parents() []string {
	return []string{filepath.Clean(os.TempDir()), filepath.Dir(filepath.Dir(w.Dir))}
}

// ours reports whether a path is that of this run's folder of places, which need not be
// there any more, and not what somebody has written into the file.
func (w *Workspaces) ours(path string) bool {
	if !slices.Contains(w.parents(), filepath.Dir(path)) || !isPlaceName(filepath.Base(path)) {
		return false
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return true
	}
	owner, err := disk.Read(context.Background(), filepath.Join(path, ownerFile), maxPlace)
	return err == nil && string(owner) == w.Dir
}

// isPlaceName reports whether a name is one that make gives: a dot and letters and
// digits as rand.Text has them.
func isPlaceName(name string) bool {
	rest, ok := strings.CutPrefix(name, ".")
	return ok && len(rest) == nameLength && strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// claim makes a folder of places from which files can be moved into the run: renaming
// does not lead from one disk to another.
func (w *Workspaces) claim(place string) error {
	if err := os.Mkdir(place, 0o700); err != nil {
		return err
	}
	trial := filepath.Join(place, "x")
	there := filepath.Join(filepath.Dir(w.Dir), filepath.Base(place))
	err := os.Mkdir(trial, 0o700)
	if err == nil {
		err = errors.Join(os.Rename(trial, there), os.Remove(there), os.WriteFile(filepath.Join(place, ownerFile), []byte(w.Dir), 0o600))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(place))
	}
	w.place = place
	return nil
}

// Close deletes the folder of places, and the file that names it, unless workspaces are left
// that are yet to be scored.
func (w *Workspaces) Close() error {
	if w.place == "" {
		return nil
	}
	err := removeAll(w.place)
	if left, readErr := os.ReadDir(w.Dir); len(left) == 0 && (readErr == nil || errors.Is(readErr, fs.ErrNotExist)) {
		if gone := os.Remove(w.placeFile()); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// episodePlace returns where the episode of a key works. The place is the same in each session of
// the run, and does not reveal the key.
func (w *Workspaces) episodePlace(key string) workspace {
	sum := sha256.Sum256([]byte(w.place + "\n" + key))
	name := base32.StdEncoding.EncodeToString(sum[:])[:nameLength]
	root := filepath.Join(w.place, name)
	return workspace{Root: root, Dir: filepath.Join(root, "work"), Home: filepath.Join(root, "home")}
}

// settle moves what an agent left into the run.
func (w *Workspaces) settle(key string, from workspace) error {
	to := w.at(key)
	if err := os.MkdirAll(to.Root, 0o700); err != nil {
		return err
	}
	err := os.Rename(from.Dir, to.Dir)
	if errors.Is(err, fs.ErrNotExist) { // the agent has deleted it
		return os.Remove(from.Root)
	}
	if err != nil {
		return err
	}
	return removeAll(from.Root)
}

// linkPlace links the workspace of a key to where its agent had it, and returns that path: paths
// that the agent has written into its files lead there. Where links cannot be made it returns the
// path of the workspace itself.
func (w *Workspaces) linkPlace(key string) string {
	place, to := w.episodePlace(key), w.at(key).Dir
	if w.place == "" {
		return to
	}
	if target, err := os.Readlink(place.Dir); err == nil && target == to {
		return place.Dir
	}
	if errors.Join(os.MkdirAll(place.Root, 0o700), os.Symlink(to, place.Dir)) != nil {
		return to
	}
	return place.Dir
}

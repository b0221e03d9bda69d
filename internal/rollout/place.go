package rollout

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Agents work at a place that tells nothing: its name is as long for every episode
// and drawn by chance, and it lies outside of the run, whose folders are named by what
// is measured. What they leave is moved into the run when they have ended.

// placeFile, in the folder of workspaces, holds the path of the folder of places: a
// later session cleans up after one that was killed, and finds paths again that an
// agent has written into its files.
const placeFile = ".place"

// nameLength is the length of the name of a place.
const nameLength = 26

// Open makes the folder of places. What a killed session left in it is deleted.
func (w *Workspaces) Open() error {
	if err := os.MkdirAll(w.Dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of workspaces: %w", err)
	}
	file := filepath.Join(w.Dir, placeFile)
	if text, err := os.ReadFile(file); err == nil {
		if w.place = strings.TrimSpace(string(text)); w.ours(w.place) {
			err := removeAll(w.place)
			if err == nil {
				err = os.Mkdir(w.place, 0o700)
			}
			if err == nil {
				return nil
			}
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("find the folder of places: %w", err)
	}
	for _, parent := range w.parents() {
		place, err := w.make(parent)
		if err == nil {
			w.place = place
			return os.WriteFile(file, []byte(place+"\n"), 0o600)
		}
	}
	return fmt.Errorf("make a folder for agents to work in: neither %s can hold one from which files can be moved into the run", strings.Join(w.parents(), " nor "))
}

// parents are where the folder of places may be. The second is on the same disk as
// the run.
func (w *Workspaces) parents() []string {
	return []string{filepath.Clean(os.TempDir()), filepath.Dir(filepath.Dir(w.Dir))}
}

// ours reports whether a path is that of a folder of places, and not what somebody has
// written into the file.
func (w *Workspaces) ours(path string) bool {
	info, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return false
	}
	for _, parent := range w.parents() {
		if filepath.Dir(path) == parent && isPlaceName(filepath.Base(path)) {
			return true
		}
	}
	return false
}

// isPlaceName reports whether a name is one that make gives: a dot and letters and
// digits as rand.Text has them.
func isPlaceName(name string) bool {
	rest, ok := strings.CutPrefix(name, ".")
	return ok && len(rest) == nameLength && strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// make makes a folder from which files can be moved into the run: renaming does not
// lead from one disk to another.
func (w *Workspaces) make(parent string) (place string, err error) {
	place = filepath.Join(parent, "."+rand.Text()[:nameLength])
	if err := os.Mkdir(place, 0o700); err != nil {
		return "", err
	}
	trial := filepath.Join(place, "x")
	there := filepath.Join(w.Dir, filepath.Base(place))
	err = os.Mkdir(trial, 0o700)
	if err == nil {
		err = errors.Join(os.Rename(trial, there), os.Remove(there))
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(place))
	}
	return place, nil
}

// Close deletes the folder of places, and what tells of it unless workspaces are left
// that are yet to be scored.
func (w *Workspaces) Close() error {
	if w.place == "" {
		return nil
	}
	err := removeAll(w.place)
	if left, readErr := os.ReadDir(w.Dir); readErr == nil && len(left) == 1 && left[0].Name() == placeFile {
		err = errors.Join(err, os.Remove(filepath.Join(w.Dir, placeFile)))
	}
	return err
}

// placeOf is where the episode of a key works. It is the same in each session of the
// run, and tells nothing of the key to who does not know it.
func (w *Workspaces) placeOf(key string) workspace {
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

// seen makes the workspace of a key stand where its agent had it, so that paths that
// the agent has written into its files lead there, and returns that path. Where links
// cannot be made it is that of the workspace itself.
func (w *Workspaces) seen(key string) string {
	place, to := w.placeOf(key), w.at(key).Dir
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

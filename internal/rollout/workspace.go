package rollout

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/task"
)

// Workspaces makes the folders that agents work in, and keeps what they leave below
// one folder of the run. Open comes first and Close last.
type Workspaces struct {
	Dir      string // absolute, in the run directory
	Template string // a folder whose content every workspace starts with, "" = none
	TasksDir string // what a task's own workspace is relative to

	// Lay puts further files of a task into its workspace, and into the home of its agent; nil: no
	// task has any.
	Lay func(ctx context.Context, root *os.Root, home string, t task.Task) error

	place string // the folder in which agents work, see Open
}

// The fields of a task that say what its workspace starts with, apart from the
// template: a folder, and files by their path.
const (
	FieldWorkspace = "workspace"
	FieldFiles     = "files"
)

// workspace is where one episode works.
type workspace struct {
	Root string // holds the other two
	Dir  string // the agent works here
	Home string // the agent's own files, not part of its work
}

// at returns where the workspace of a key is once its agent has ended. Its name is safe for every
// file system: keys hold slashes and whatever is in an id.
func (w *Workspaces) at(key string) workspace {
	sum := sha256.Sum256([]byte(key))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, key)
	if len(name) > 60 {
		name = name[:60]
	}
	root := filepath.Join(w.Dir, name+"-"+hex.EncodeToString(sum[:6]))
	return workspace{Root: root, Dir: filepath.Join(root, "work"), Home: filepath.Join(root, "home")}
}

// prepare makes the workspace of a key afresh, at its place: what an earlier try left
// is gone.
func (w *Workspaces) prepare(ctx context.Context, key string, t task.Task) (workspace, error) {
	if w.place == "" {
		return workspace{}, errors.New("there is no place for agents to work at: Open was not called")
	}
	ws := w.episodePlace(key)
	err := removeAll(w.at(key).Root)
	if err == nil {
		err = w.fill(ctx, ws, t)
	}
	if err != nil {
		return ws, fmt.Errorf("prepare workspace of task %s (%s): %w", t.ID, t.Origin, err)
	}
	return ws, nil
}

func (w *Workspaces) fill(ctx context.Context, ws workspace, t task.Task) error {
	if err := removeAll(ws.Root); err != nil {
		return err
	}
	for _, dir := range []string{ws.Dir, ws.Home} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(ws.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing is written through it at its end
	own, err := w.own(t)
	if err != nil {
		return err
	}
	for _, from := range []string{w.Template, own} {
		if from == "" {
			continue
		}
		if err := copyTree(root, from); err != nil {
			return err
		}
	}
	if w.Lay != nil {
		if err := w.Lay(ctx, root, ws.Home, t); err != nil {
			return err
		}
	}
	files, err := parseFiles(t)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := write(root, name, strings.NewReader(files[name]), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// own returns the folder that a task names as its workspace, "" if it does not.
func (w *Workspaces) own(t task.Task) (string, error) {
	v, ok := t.Data[FieldWorkspace]
	if !ok || v == nil {
		return "", nil
	}
	name, ok := v.(string)
	if !ok || !filepath.IsLocal(name) {
		return "", fmt.Errorf("the field %s is %v, want the path of a folder below %s", FieldWorkspace, v, w.TasksDir)
	}
	return filepath.Join(w.TasksDir, name), nil
}

// parseFiles returns the files that a task brings: path to text.
func parseFiles(t task.Task) (map[string]string, error) {
	v, ok := t.Data[FieldFiles]
	if !ok || v == nil {
		return nil, nil
	}
	if text, cell := v.(string); cell { // of a table
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return nil, fmt.Errorf("the field %s is text that is no JSON, want an object of paths and texts: %w", FieldFiles, err)
		}
	}
	list, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the field %s is %T, want an object of paths and texts", FieldFiles, v)
	}
	files := make(map[string]string, len(list))
	for name, text := range list {
		s, ok := text.(string)
		if !ok || !filepath.IsLocal(name) {
			return nil, fmt.Errorf("the field %s has %q: %T, want a path within the workspace and a text", FieldFiles, name, text)
		}
		files[name] = s
	}
	return files, nil
}

// copyTree copies a folder's files and folders. Links are refused: what they
// point at is not the task's, and an agent could write through them.
func copyTree(root *os.Root, from string) error {
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // read only
	return fs.WalkDir(source.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case d.IsDir():
			return root.MkdirAll(name, 0o700)
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is no plain file", filepath.Join(from, name))
		}
		return copyFile(root, source, name)
	})
}

func copyFile(root, source *os.Root, name string) error {
	f, err := source.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read only
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return write(root, name, f, info.Mode().Perm()|0o600)
}

func write(root *os.Root, name string, from io.Reader, mode fs.FileMode) (err error) {
	name = filepath.ToSlash(name)
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, from)
	return err
}

// remove deletes the workspace of a key, wherever it is.
func (w *Workspaces) remove(key string) error {
	err := removeAll(w.at(key).Root)
	if w.place != "" {
		err = errors.Join(err, removeAll(w.episodePlace(key).Root))
	}
	return err
}

// removeAll deletes a folder that an agent has written to. Agents write-protect
// folders at times.
func removeAll(dir string) error {
	err := disk.RemoveAll(dir)
	if err == nil {
		return nil
	}
	unlock(dir)
	if again := disk.RemoveAll(dir); again != nil {
		return errors.Join(err, again)
	}
	return nil
}

// prune deletes what nests deeper than anybody looks, which only an agent leaves that
// wants to hide it or to keep us busy.
func prune(dir string) error {
	pruned, err := disk.Prune(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && pruned {
		err = fmt.Errorf("%w: what lay deeper was deleted", disk.ErrDeep)
	}
	return err
}

// unlock lets us into all folders below dir. What cannot be changed stays as it
// is: the one who stumbles over it reports it. Links are not followed.
func unlock(dir string) {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return
	}
	// A folder is visited before it is read: none below it is missed.
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, _ error) error {
		if d == nil || !d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().Perm()&0o700 != 0o700 {
			_ = os.Chmod(name, info.Mode().Perm()|0o700)
		}
		return nil
	})
}

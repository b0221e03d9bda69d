package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/skill"
)

// WriteExport writes a file outside of a run directory: whole or not at all.
func WriteExport(path string, data []byte) error {
	if err := disk.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// ReadBest reads the best skill of the run in dir with all its files. Nothing outside of
// the directory is read. Without one it is the empty skill.
func ReadBest(dir string) (skill.Skill, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return skill.Skill{}, fmt.Errorf("open run: %w", err)
	}
	defer root.Close()
	s, err := skill.Read(root.FS(), BestFolder)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, skill.ErrNoSkill) { // it has no other files
		s, err = skill.ReadDocument(root.FS(), BestFile)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return skill.Skill{}, nil
	}
	if err != nil {
		return skill.Skill{}, fmt.Errorf("read the best skill of %s: %w", dir, err)
	}
	return s, nil
}

// ExportFolder writes all files of a skill into a folder. One that is not there is made
// whole or not at all; in one that is, each file is written whole, and others stay.
func ExportFolder(dir string, s skill.Skill) error {
	if err := exportFolder(dir, s); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

func exportFolder(dir string, s skill.Skill) error {
	if _, err := os.Lstat(dir); err == nil {
		return writeInto(dir, s)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".export-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := errors.Join(os.Chmod(temp, 0o755), writeInto(temp, s)); err != nil {
		return err
	}
	return os.Rename(temp, dir)
}

// writeInto writes the files of a skill into a folder, through no link.
func writeInto(dir string, s skill.Skill) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range s.Files() {
		mode := os.FileMode(0o644)
		if s.Executable(name) {
			mode = 0o755
		}
		local := filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.Dir(local), 0o755); err != nil {
			return err
		}
		content, _ := s.File(name)
		if err := disk.WriteIn(root, name, []byte(content), mode); err != nil {
			return err
		}
	}
	return nil
}

// replacedDir is the folder of a run with what its exports have replaced, by number.
const replacedDir = "replaced"

// KeepReplaced copies those files of a folder into the run that an export is about to replace with other content, and
// returns where they are; "": there are none.
func KeepReplaced(ctx context.Context, runDir, dir string, files map[string]string) (kept string, err error) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		was, err := disk.Read(ctx, path, maxReplaced)
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && string(was) == files[name]:
			continue
		case err == nil && kept == "":
			kept, err = newReplaced(runDir)
		}
		if err == nil {
			err = disk.WriteFile(filepath.Join(kept, filepath.FromSlash(name)), was, 0o644)
		}
		if err != nil {
			return "", fmt.Errorf("keep %s, which would be replaced: %w", path, err)
		}
	}
	return kept, nil
}

// maxReplaced bounds a file that is kept.
const maxReplaced = 64 << 20

// newReplaced makes the next folder of what exports have replaced.
func newReplaced(runDir string) (string, error) {
	for n := 1; ; n++ {
		dir := filepath.Join(runDir, replacedDir, strconv.Itoa(n))
		if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
			return "", err
		}
		if err := os.Mkdir(dir, 0o755); !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
	}
}

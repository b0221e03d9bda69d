package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

// folder is a folder whose runs and nights are shown.
type folder struct {
	record.Folder

	name string // of no two the same, without a colon
}

// newFolders returns folders with names. A run directory is a folder with that run alone, and a night with that night alone.
func newFolders(paths []string) []folder {
	var out []folder
	for _, path := range paths {
		f := folder{Folder: record.InspectFolder(path)}
		if slices.ContainsFunc(out, func(o folder) bool { return o.Folder == f.Folder }) {
			continue
		}
		f.name = freeName(out, shortName(f.Path))
		out = append(out, f)
	}
	return out
}

// shortName returns what a folder is called in addresses.
func shortName(path string) string {
	name := strings.Map(func(r rune) rune {
		if r < 128 && (r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '-'
	}, filepath.Base(path))
	if strings.Trim(name, ".-") == "" {
		return "runs"
	}
	return name
}

func freeName(taken []folder, name string) string {
	next := name
	for i := 2; slices.ContainsFunc(taken, func(f folder) bool { return f.name == next }); i++ {
		next = fmt.Sprintf("%s-%d", name, i)
	}
	return next
}

// toResult returns the folder as a document.
func (f folder) toResult() result.Folder {
	out := result.Folder{Name: f.name, Path: f.Path}
	if _, err := os.ReadDir(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		out.Error = err.Error()
	}
	return out
}

// id returns the name of a run in addresses.
func (f folder) id(dir string) string { return f.name + ":" + filepath.Base(dir) }

// shows reports whether a run of the folder is shown.
func (f folder) shows(dir string) bool {
	return f.Night == "" && (f.Run == "" || f.Run == filepath.Base(dir))
}

// found is a run that an address names.
type found struct {
	folder folder
	id     string
	dir    string
}

// find finds the run that an address names, in the listing of its folder: no part of the
// address becomes a part of a path. A link is no run.
func (s *Server) find(id string) (found, error) {
	name, base, ok := strings.Cut(id, ":")
	at := slices.IndexFunc(s.folders, func(f folder) bool { return f.name == name && f.shows(base) })
	if !ok || at < 0 {
		return found{}, noRun(id)
	}
	return s.folders[at].find(base)
}

func noRun(id string) error {
	return notFoundError("there is no run " + quoteText(id) + " in the folders that are shown")
}

// find finds a run by its name.
func (f folder) find(base string) (found, error) {
	id := f.name + ":" + base
	if base == "" || base != filepath.Base(base) || !f.shows(base) {
		return found{}, noRun(id)
	}
	if err := f.CheckRuns(); err != nil {
		return found{}, err
	}
	entries, err := os.ReadDir(f.Runs)
	if err != nil {
		return found{}, err
	}
	i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return e.Name() == base && e.IsDir() })
	if i < 0 {
		return found{}, noRun(id)
	}
	dir := filepath.Join(f.Runs, entries[i].Name())
	if err := checkLinks(dir); err != nil {
		return found{}, err
	}
	return found{folder: f, id: id, dir: dir}, nil
}

// checkLinks checks that no file of a run directory is a link that leads out of it: some files
// are opened by their paths.
func checkLinks(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only looked into
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		if _, err := root.Stat(e.Name()); err != nil {
			return damageError("the run is not shown: its file " + quoteText(e.Name()) + " is a link that leads out of it")
		}
	}
	return nil
}

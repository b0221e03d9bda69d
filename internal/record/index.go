package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// IndexFile is the file in a folder of runs that keeps rows of runs that have ended. It may be
// deleted: it is made again. It is no part of any run.
const IndexFile = ".runs_index.json"

// indexFormat changes whenever a row says more, or something else: rows of another format are
// read again.
const indexFormat = 4

// maxIndex bounds the index, in bytes; a larger one is made again.
const maxIndex = 16 << 20

// Index lists runs, and knows those again that have not changed. The zero value is ready to
// use. Its methods may be called concurrently.
type Index struct {
	NoFile bool // nothing is kept in the folders

	mu       sync.Mutex
	folders  map[string]*folderIndex
	watchers map[string]*counting // of runs at work or without a result, so that a look counts what is new alone

	large sync.Mutex // of who reads a run whose documents are large
}

type counting struct {
	sync.Mutex

	*Watcher
}

// folderIndex is what is known of the runs of a folder.
type folderIndex struct {
	Format int             `json:"format"`
	Runs   map[string]kept `json:"runs"` // by name
}

// kept is a row and what its files were when it was read.
type kept struct {
	Stamp     string        `json:"stamp"`               // "": it is not kept
	Directory string        `json:"directory,omitempty"` // by the manifest, device and inode
	Row       result.RunRow `json:"row"`
}

// Rows lists the runs in a folder, oldest first. A run that cannot be read is a row that says
// so; a folder that does not exist holds no runs. Rows of runs that have ended are kept in the
// folder, if it can be written.
func (x *Index) Rows(ctx context.Context, folder string) ([]result.RunRow, error) {
	names, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return []result.RunRow{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	known := x.folder(folder)
	found := make([]*kept, len(names))
	var group errgroup.Group
	group.SetLimit(2 * runtime.GOMAXPROCS(0))
	for i, n := range names {
		if !n.IsDir() {
			continue
		}
		group.Go(func() error {
			found[i] = x.look(ctx, filepath.Join(folder, n.Name()), known[n.Name()])
			return context.Cause(ctx)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	rows, now := []result.RunRow{}, map[string]kept{}
	for i, k := range found {
		if k == nil {
			continue
		}
		if rows = append(rows, k.Row); k.Stamp != "" {
			now[names[i].Name()] = *k
		}
	}
	for i := range rows {
		annotate(&rows[i]) // notes have files of their own, next to the runs
	}
	sortRows(rows)
	x.keep(folder, known, now)
	return rows, nil
}

// sortRows sorts rows, oldest first. The time has seconds; the id of a run rises within one.
func sortRows(rows []result.RunRow) {
	at := func(r result.RunRow) time.Time {
		if r.CreatedAt == nil {
			return time.Time{}
		}
		return *r.CreatedAt
	}
	slices.SortStableFunc(rows, func(a, b result.RunRow) int {
		return cmp.Or(at(a).Compare(at(b)), cmp.Compare(a.RunID, b.RunID))
	})
}

// folder returns what is known of a folder's runs: what was read before, or what its index says.
func (x *Index) folder(folder string) map[string]kept {
	x.mu.Lock()
	defer x.mu.Unlock()
	if f := x.folders[folder]; f != nil {
		return f.Runs
	}
	f := &folderIndex{}
	data, found, err := run.ReadFile(folder, IndexFile, maxIndex)
	if err != nil || !found || run.Decode(IndexFile, data, f) != nil || f.Format != indexFormat || f.Runs == nil {
		f.Runs = map[string]kept{} // it is made again
	}
	if x.folders == nil {
		x.folders = map[string]*folderIndex{}
	}
	x.folders[folder] = f
	return f.Runs
}

// keep notes what was found, and writes it if it differs from what was known. A folder that
// cannot be written has no index.
func (x *Index) keep(folder string, known, now map[string]kept) {
	same := len(known) == len(now)
	for name, k := range now {
		same = same && known[name].Stamp == k.Stamp
	}
	if same {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	f := &folderIndex{Format: indexFormat, Runs: now}
	x.folders[folder] = f
	if x.NoFile {
		return
	}
	path := filepath.Join(folder, IndexFile)
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return // it is no file of ours
	}
	if len(now) == 0 {
		_ = os.Remove(path) // so too
		return
	}
	if data, err := json.Marshal(f); err == nil {
		_ = disk.Replace(path, data, 0o644) // nothing depends on it but the time that the next list takes
	}
}

// look returns the row of a folder that is a run, nil of another.
func (x *Index) look(ctx context.Context, dir string, known kept) *kept {
	stamp := computeStamp(dir)
	if stamp == "" {
		return nil
	}
	if known.Stamp == stamp && (known.Row.Status != RowKilled || !busy(dir)) {
		known.Row.Dir, known.Row.Name, known.Row.Copy = dir, filepath.Base(dir), run.IsCopy(dir, run.Manifest{Directory: known.Directory})
		return &known
	}
	return x.refreshRow(ctx, dir, stamp)
}

// refreshRow reads a row. One that may change before its files do has no stamp.
func (x *Index) refreshRow(ctx context.Context, dir, stamp string) *kept {
	size := DocumentSize(dir)
	if size > Large {
		x.large.Lock()
		defer x.large.Unlock()
	}
	w := x.watcher(dir)
	w.Lock()
	defer w.Unlock()
	row, err := readRow(ctx, dir, w.Watcher)
	var gone *run.MissingError
	if errors.As(err, &gone) {
		x.forget(dir)
		return nil // it was moved away meanwhile, or has not begun
	}
	if err != nil || size > 4*Large {
		x.forget(dir) // what was read of it is not kept
	}
	if err != nil || row.Status == string(result.Running) || computeStamp(dir) != stamp {
		return &kept{Row: row}
	}
	x.forget(dir)
	m, _, err := run.ReadManifest(dir)
	if err != nil {
		return &kept{Row: row}
	}
	return &kept{Stamp: stamp, Directory: m.Directory, Row: row}
}

// watcher returns the watcher of a run.
func (x *Index) watcher(dir string) *counting {
	x.mu.Lock()
	defer x.mu.Unlock()
	w := x.watchers[dir]
	if w == nil {
		if x.watchers == nil {
			x.watchers = map[string]*counting{}
		}
		w = &counting{Watcher: Watch(dir, time.Now)}
		x.watchers[dir] = w
	}
	return w
}

func (x *Index) forget(dir string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.watchers, dir)
}

// busy reports whether a process works on a run; what cannot be known is taken as so.
func busy(dir string) bool {
	alive, err := run.InUse(dir)
	return err != nil || alive
}

// computeStamp returns a text that changes with the files that a row is read from, "" of a folder
// that is no run.
func computeStamp(dir string) string {
	var b strings.Builder
	for _, name := range []string{
		run.ManifestFile, run.HistoryFile, run.SummaryFile, evaluationFile, comparisonFile, result.AblationFile, result.PruningFile, result.GatewayFile,
		result.NoiseFile, draftedFile, fallenFile, candidatesFile, run.DBFile, run.DBFile + "-mark",
	} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			if name == run.ManifestFile && errors.Is(err, fs.ErrNotExist) {
				return ""
			}
			b.WriteString("-;")
			continue
		}
		fmt.Fprintf(&b, "%d,%d,%s;", info.Size(), info.ModTime().UnixNano(), run.FileIdentity(info))
	}
	return b.String()
}

package benchmark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/dataset"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fetch"
)

// fileCommits keeps the commits of sources that name none, next to the files.
const fileCommits = "commits.json"

// Fetching says what to fetch, and how.
type Fetching struct {
	Folder   *folder.Folder
	Dir      string
	Options  fetch.Options
	Progress func(fetch.Event)
}

// Fetched is its result.
type Fetched struct {
	Benchmark string   `json:"benchmark"`
	Dir       string   `json:"dir"`
	Files     []File   `json:"files"`
	New       int      `json:"new"`    // that were not there
	Bytes     int64    `json:"bytes"`  // that came over the network
	Pinned    []File   `json:"pinned"` // whose hash is known from now on
	Fixed     []string `json:"fixed"`  // sources that are fixed at a commit from now on
}

// Fetch brings the files of a benchmark into a folder, and unpacks archives there.
func Fetch(ctx context.Context, g Fetching) (Fetched, error) {
	out := Fetched{Benchmark: g.Folder.Name, Dir: g.Dir, Files: []File{}, Pinned: []File{}, Fixed: []string{}}
	if err := os.MkdirAll(g.Dir, 0o755); err != nil {
		return out, fmt.Errorf("fetch %s: %w", g.Folder.Name, err)
	}
	sources, fixed, err := g.sources(ctx)
	if err != nil {
		return out, err
	}
	out.Fixed = append(out.Fixed, fixed...)
	report, err := fetch.Fetch(ctx, g.Options, sources, g.Dir, g.Progress)
	if err != nil {
		return out, err
	}
	out.New, out.Bytes = report.Fetched, report.Bytes
	for _, f := range report.Files {
		out.Files = append(out.Files, File{Path: f.Path, SHA256: f.SHA256, Bytes: f.Size})
	}
	for _, f := range report.Pinned {
		out.Pinned = append(out.Pinned, File{Path: f.Path, SHA256: f.SHA256, Bytes: f.Size})
	}
	return out, g.unpack(ctx, report.Files)
}

// sources returns the sources of the folder, each at a commit. It fixes one that names none at the commit it is at now.
func (g Fetching) sources(ctx context.Context) (sources []fetch.Source, fixed []string, err error) {
	commits, err := readCommits(ctx, g.Dir)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range g.Folder.Sources {
		at := s.Revision
		if s.HF != "" && len(at) != 40 {
			branch := at
			if branch == "" {
				branch = "main"
			}
			key := s.HF + "@" + branch
			if at = commits[key]; at == "" {
				if at, err = fetch.Head(ctx, g.Options, s.HF, branch, g.Progress); err != nil {
					return nil, nil, err
				}
				commits[key] = at
				fixed = append(fixed, key+" at "+at)
			}
		}
		sources = append(sources, fetch.Source{HF: s.HF, Revision: at, Files: s.Files, GitHub: s.GitHub, Tag: s.Tag, Asset: s.Asset, URL: s.URL, SHA256: s.SHA256, To: s.To})
	}
	if fixed == nil {
		return sources, nil, nil
	}
	text, err := json.MarshalIndent(commits, "", " ")
	if err != nil {
		return nil, nil, fmt.Errorf("write %s: %w", fileCommits, err)
	}
	return sources, fixed, disk.WriteFile(filepath.Join(g.Dir, fileCommits), append(text, '\n'), 0o644)
}

// readCommits reads which commits sources are fixed at.
func readCommits(ctx context.Context, dir string) (map[string]string, error) {
	commits := map[string]string{}
	text, err := disk.Read(ctx, filepath.Join(dir, fileCommits), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return commits, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &commits)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w; remove it to fix the sources again", filepath.Join(dir, fileCommits), err)
	}
	return commits, nil
}

// unpack unpacks the archives among the files, each into a folder of its name. One that was unpacked
// before, and is the same still, stays as it is.
func (g Fetching) unpack(ctx context.Context, files []fetch.File) (err error) {
	root, err := os.OpenRoot(g.Dir)
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, f := range files {
		if !g.Folder.Sources[f.Source].Unpack {
			continue
		}
		dir, mark := archiveFolder(f.Path), f.Path+".unpacked"
		if was, err := disk.ReadIn(ctx, root, mark, 1<<10); err == nil && string(was) == f.SHA256 {
			continue
		}
		if err := disk.RemoveAll(filepath.Join(g.Dir, filepath.FromSlash(dir))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("unpack %s: %w", f.Path, err)
		}
		if _, err := dataset.Unpack(ctx, root, f.Path, root, dir, dataset.ArchiveBounds{}); err != nil {
			return err
		}
		if err := disk.WriteFile(filepath.Join(g.Dir, filepath.FromSlash(mark)), []byte(f.SHA256), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// archiveFolder returns the folder for what an archive holds.
func archiveFolder(name string) string {
	for _, end := range []string{".tar.gz", ".tgz", ".tar", ".zip"} {
		if stem, ok := strings.CutSuffix(name, end); ok {
			return stem
		}
	}
	return name + ".d" + path.Ext(name)
}

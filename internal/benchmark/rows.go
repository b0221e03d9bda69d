package benchmark

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/dataset"
	"github.com/seed-f4525e22/skillopt/task"
)

// rowFile is a file with rows, and the split that its place represents.
type rowFile struct {
	name  string
	split task.Split
	whole bool // the file is a row, whose field file is its path
}

// sources finds the files with rows: those of the folder's pattern, or the splits that SkillOpt
// keeps a data set in: train, val and test, each with one CSV or JSON file.
func (p *preparation) sources() ([]rowFile, error) {
	if !p.Fixture {
		own, err := p.ownSplits()
		if err != nil || own != nil {
			return own, err
		}
	}
	if games, err := p.games(); err == nil && games != nil {
		return games, nil
	}
	names, err := dataset.Files(p.ctx, p.from, p.Folder.Task.Rows, dataset.Bounds{})
	for _, src := range p.Folder.Sources { // as they are published, and not as bench fetch lays them
		for _, pattern := range []string{src.Files, path.Base(src.Files), "**/" + path.Base(src.Files)} {
			if errors.Is(err, dataset.ErrNoFile) && src.Files != "" && !src.Unpack && !p.Folder.Brings(path.Join(src.To, src.Files)) {
				names, err = dataset.Files(p.ctx, p.from, pattern, dataset.Bounds{})
			}
		}
	}
	if errors.Is(err, dataset.ErrNoFile) {
		return nil, &DataError{Where: p.Folder.Where, Name: p.Folder.Name, Msg: fmt.Sprintf("no file %s is in %s, and no folders train, val and test", p.Folder.Task.Rows, p.From)}
	}
	if err != nil {
		return nil, err
	}
	var out []rowFile
	for _, name := range names {
		if isRows(name) {
			out = append(out, rowFile{name: name})
		}
	}
	if out == nil {
		return nil, &DataError{Where: p.Folder.Where, Name: p.Folder.Name, Msg: fmt.Sprintf("none of the files %s in %s is one with rows (.parquet, .json, .jsonl, .csv)", p.Folder.Task.Rows, p.From)}
	}
	return out, nil
}

func isRows(name string) bool {
	return slices.Contains([]string{".parquet", ".json", ".jsonl", ".ndjson", ".csv", ".tsv"}, strings.ToLower(path.Ext(name)))
}

// ownSplits finds folders of splits; nil: there are none. All three, or it is something else.
func (p *preparation) ownSplits() ([]rowFile, error) {
	var out []rowFile
	entries, err := fs.ReadDir(p.from.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", p.From, err)
	}
	seen := map[task.Split]bool{}
	for _, e := range entries {
		split, err := task.ParseSplit(e.Name())
		if err != nil || !e.IsDir() {
			continue
		}
		if seen[split] {
			return nil, fmt.Errorf("%s: two folders are the %s split: keep one", p.From, split)
		}
		name, err := p.oneFile(e.Name())
		if err != nil {
			return nil, err
		}
		if name == "" {
			continue
		}
		seen[split] = true
		out = append(out, rowFile{name: name, split: split})
	}
	if !seen[task.Train] || !seen[task.Test] {
		return nil, nil
	}
	return out, nil
}

// oneFile returns the first file with rows in a folder, CSV before JSON, as SkillOpt takes it.
func (p *preparation) oneFile(dir string) (string, error) {
	entries, err := fs.ReadDir(p.from.FS(), dir)
	if err != nil {
		return "", fmt.Errorf("list %s: %w", dir, err)
	}
	for _, ends := range [][]string{{".csv"}, {".json", ".jsonl"}} {
		for _, e := range entries {
			if !e.IsDir() && slices.Contains(ends, strings.ToLower(path.Ext(e.Name()))) {
				return path.Join(dir, e.Name()), nil
			}
		}
	}
	return "", nil
}

package task

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxFile is the largest task file, in bytes.
const MaxFile = 256 << 20

// RejectedFile is where a review keeps the tasks that it took out of a file
// beside it. Load passes over it in directories.
const RejectedFile = "rejected.jsonl"

// Load reads the tasks at path: a JSONL, JSON, YAML or CSV file, a directory
// that holds one, or a directory with one per split (train, val or selection,
// test; each a file or a directory such as train/items.json).
//
// Fields id, type (or task_type), prompt, gold (or answer, answers), hidden,
// checks, split and reviewed are read as such, all others become data. A task without an
// id gets one from its content. A path that cannot be read is the error of the
// operating system, wrapped; everything else is an *Error that names every
// problem with its line.
func Load(path string, rules Rules) (Set, error) {
	sources, err := find(path)
	if err != nil {
		return Set{}, err
	}
	ps := &problems{path: path}
	var tasks []Task
	for _, src := range sources {
		list, err := src.read(ps)
		if err != nil {
			return Set{}, err
		}
		tasks = append(tasks, list...)
	}
	return newSet(tasks, rules, ps)
}

// source is one file to read, and the split that its place stands for.
type source struct {
	path  string
	split Split
}

// find lists the files to read.
func find(path string) ([]source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("load tasks: %w", err)
	}
	if !info.IsDir() {
		return []source{{path: path}}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("load tasks: %w", err)
	}
	sources, err := splitSources(path, entries)
	if err != nil || len(sources) > 0 {
		return sources, err
	}
	file, err := dataFile(path, entries)
	if err != nil {
		return nil, err
	}
	return []source{{path: file}}, nil
}

// splitSources finds the files of a split directory; none if it is not one.
func splitSources(dir string, entries []os.DirEntry) ([]source, error) {
	bySplit := map[Split]string{}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		name := e.Name()
		if !isDir(path) {
			if !isData(name) {
				continue
			}
			name = strings.TrimSuffix(name, filepath.Ext(name))
		}
		s, err := ParseSplit(name)
		if err != nil {
			continue // something else that lies beside the splits
		}
		if other, twice := bySplit[s]; twice {
			return nil, bad(dir, "both %s and %s stand for the %s split: keep one", filepath.Base(other), e.Name(), s)
		}
		bySplit[s] = path
	}
	var sources []source
	for _, s := range []Split{Train, Selection, Test} {
		path, ok := bySplit[s]
		if !ok {
			continue
		}
		if isDir(path) {
			inner, err := os.ReadDir(path)
			if err != nil {
				return nil, fmt.Errorf("load tasks: %w", err)
			}
			if path, err = dataFile(path, inner); err != nil {
				return nil, err
			}
		}
		sources = append(sources, source{path: path, split: s})
	}
	return sources, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isData(name string) bool {
	return slices.Contains([]string{".jsonl", ".ndjson", ".json", ".yaml", ".yml", ".csv", ".tsv"}, strings.ToLower(filepath.Ext(name)))
}

// dataFile returns the one data file of a directory: items.* or tasks.* before
// any other.
func dataFile(dir string, entries []os.DirEntry) (string, error) {
	var named, others []string
	for _, e := range entries {
		name := e.Name()
		if !isData(name) || name == RejectedFile || isDir(filepath.Join(dir, name)) {
			continue
		}
		stem := strings.TrimSuffix(name, filepath.Ext(name))
		if stem == "items" || stem == "tasks" {
			named = append(named, name)
			continue
		}
		others = append(others, name)
	}
	if len(named) > 0 {
		others = named
	}
	switch len(others) {
	case 1:
		return filepath.Join(dir, others[0]), nil
	case 0:
		return "", bad(dir, "no task file (items or tasks with .jsonl, .json, .yaml or .csv), and no directories train, val, test")
	}
	return "", bad(dir, "several task files (%s): name one of them, or call it items%s", strings.Join(others, ", "), filepath.Ext(others[0]))
}

func bad(path, format string, args ...any) error {
	ps := problems{path: path}
	ps.add(path, "", format, args...)
	return ps.err()
}

// read reads the tasks of one file. What is wrong with them goes to ps; the
// error is the operating system's.
func (s source) read(ps *problems) ([]Task, error) {
	data, err := readFile(s.path)
	if errors.Is(err, errTooLarge) {
		ps.add(s.path, "", "%v", err)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load tasks: %w", err)
	}
	list, err := s.items(data)
	if err != nil {
		ps.list = append(ps.list, s.problem(err))
		return nil, nil
	}
	if len(list) == 0 && s.split != "" {
		ps.add(s.path, "", "the %s split is empty: the file holds no tasks", s.split)
	}
	tasks := make([]Task, 0, len(list))
	for _, it := range list {
		t, err := decode(it, fmt.Sprintf("%s:%d", s.path, it.Line))
		for _, e := range unjoin(err) {
			ps.about(t, "%v", e)
		}
		if err != nil {
			continue // further faults of it would only follow from this one
		}
		if s.split != "" && t.Split != "" && t.Split != s.split {
			ps.about(t, "its split field says %s, but it lies in %s", t.Split, s.split)
		}
		if s.split != "" {
			t.Split = s.split
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

func (s source) problem(err error) Problem {
	var se *syntaxError
	if errors.As(err, &se) {
		return Problem{Origin: fmt.Sprintf("%s:%d", s.path, se.Line), Msg: se.Msg}
	}
	return Problem{Origin: s.path, Msg: err.Error()}
}

// readFile reads a file of at most MaxFile bytes, else fails with errTooLarge.
func readFile(path string) (data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > MaxFile {
		return nil, errTooLarge
	}
	var buf bytes.Buffer
	buf.Grow(int(info.Size()) + bytes.MinRead) // so that reading never has to grow it
	_, err = buf.ReadFrom(io.LimitReader(f, MaxFile+1))
	if buf.Len() > MaxFile { // not a regular file, or one that grows
		err = errTooLarge
	}
	return buf.Bytes(), err
}

var errTooLarge = fmt.Errorf("the file is larger than %d MB", MaxFile>>20)

func (s source) items(data []byte) ([]Item, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if line := invalidUTF8(data); line > 0 {
		return nil, &syntaxError{Line: line, Msg: "not valid UTF-8: save the file as UTF-8"}
	}
	switch ext := strings.ToLower(filepath.Ext(s.path)); ext {
	case ".jsonl", ".ndjson":
		return lines(data, 1)
	case ".json":
		return items(data, "tasks", "data")
	case ".yaml", ".yml":
		return yamlItems(data)
	case ".csv", ".tsv":
		return tableItems(data)
	default:
		return nil, fmt.Errorf("unknown kind of file %q: .jsonl, .json, .yaml and .csv are read", ext)
	}
}

// invalidUTF8 returns the line of the first byte that is not UTF-8, 0 if there
// is none.
func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return 0
	}
	line := 1
	for row := range bytes.Lines(data) {
		if !utf8.Valid(row) {
			return line
		}
		line++
	}
	return line
}

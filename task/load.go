package task

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// RejectedFile is where a review keeps the tasks that it took out of a file
// next to it. Load passes over it in directories.
const RejectedFile = "rejected.jsonl"

// schemaSuffix ends the names of schemas, which Load passes over in directories.
const schemaSuffix = ".schema.json"

// Load reads the tasks at path: a JSONL, JSON, YAML or CSV file, a directory
// that holds one, or a directory with one per split (train, val or selection,
// test; each a file or a directory such as train/items.json).
//
// Fields id, type (or task_type), prompt, gold (or answer, answers), hidden,
// checks, split, trigger and reviewed are read as such, all others become data. Objects
// with query and should_trigger, in a list or under any key of a JSON object, are read as
// trigger tasks. A task without an
// id gets one from its content. A path that cannot be read is the error of the
// operating system, wrapped; everything else is an *Error that names every
// problem with its line.
func Load(path string, rules Rules) (Set, error) {
	return LoadContext(context.Background(), path, rules)
}

// LoadContext loads tasks as Load does, but ends with ctx. It then returns the cause of ctx, wrapped.
func LoadContext(ctx context.Context, path string, rules Rules) (Set, error) {
	return load(ctx, path, rules, nil)
}

// Survey loads tasks as LoadContext does, for a caller who wants to know whether tasks are sound
// and what they are, not to carry them out. It keeps of each task id, type, split, trigger, checks,
// whether it is reviewed, and the named fields of its data. What is asked and answered is gone once
// it has been looked at, so that a long file takes little memory.
func Survey(ctx context.Context, path string, rules Rules, fields ...string) (Set, error) {
	kinds := map[string]string{}
	return load(ctx, path, rules, func(t Task) Task {
		// What is cut from a row of a table keeps all of the row.
		short := Task{ID: strings.Clone(t.ID), Split: t.Split, Trigger: t.Trigger, Checks: t.Checks, Unreviewed: t.Unreviewed, Origin: t.Origin}
		if _, known := kinds[t.Type]; !known {
			kind := strings.Clone(t.Type)
			kinds[kind] = kind
		}
		short.Type = kinds[t.Type]
		for _, name := range fields {
			if v, ok := t.Data[name]; ok {
				if short.Data == nil {
					short.Data = map[string]any{}
				}
				short.Data[name] = v
			}
		}
		return short
	})
}

// load reads the tasks at path. keep makes of a task that has been checked what the
// set holds of it; nil: all.
func load(ctx context.Context, path string, rules Rules, keep func(Task) Task) (Set, error) {
	sources, err := find(path, rules.Guard)
	if err != nil {
		return Set{}, err
	}
	ps := &problems{path: path}
	l, templateErr := newLinter(rules, keep)
	for _, src := range sources {
		if err := src.read(ctx, l, ps); err != nil {
			return Set{}, err
		}
	}
	return l.set(ps, templateErr)
}

// Parse reads tasks as the lines of a file. name is what messages call it.
func Parse(name string, lines []byte, rules Rules) (Set, error) {
	ps := &problems{path: name}
	l, templateErr := newLinter(rules, nil)
	items, err := Items(lines)
	if err != nil {
		return Set{}, fmt.Errorf("%s: %w", name, err)
	}
	from := source{path: name}
	for _, it := range items {
		if t, ok := from.task(it, ps); ok {
			l.add(t)
		}
	}
	return l.set(ps, templateErr)
}

// find lists the files to read. Of what leads out of the folders of guard nothing is looked at.
func find(path string, guard Guard) ([]source, error) {
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
	sources, err := splitSources(path, entries, guard)
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
func splitSources(dir string, entries []os.DirEntry, guard Guard) ([]source, error) {
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
			continue // something else that lies next to the splits
		}
		if other, twice := bySplit[s]; twice {
			return nil, bad(dir, "both %s and %s are the %s split: keep one", filepath.Base(other), e.Name(), s)
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
			if guard != nil {
				if err := guard.Inside(path); err != nil {
					return nil, err
				}
			}
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
		if !isData(name) || name == RejectedFile || strings.HasSuffix(name, schemaSuffix) || isDir(filepath.Join(dir, name)) {
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

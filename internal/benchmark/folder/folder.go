// Package folder reads what the folder of a benchmark says: where its rows come from, what a row
// becomes as a task, how tasks are split, and the configuration beneath that of the user.
//
// A folder is embedded in the program, or one of the user's own with the same files. It may come
// from a stranger: it is read strictly, within bounds, and never leads out of itself.
//
// It knows nothing about rows, downloads, checks, models or what the configuration means.
package folder

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
	"strings"

	"github.com/seed-f4525e22/skillopt/benchmarks"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// The files of a folder whose names are fixed.
const (
	FileAbout     = "benchmark.yaml"
	FileGuide     = "guide.md"
	FilePublished = "published.yaml"
	FileWorld     = "world.yaml" // of the simulated models of the fixture
	DirFixture    = "fixture"
)

// WithSeed is the setting of converters that draw an order.
const WithSeed = "seed"

// The ways in which answers can be scored.
const (
	Reference = "reference" // as the program does whose figures are published
	Robust    = "robust"    // as a careful person would
)

// MaxFile is the size of the largest file that a folder says something in, in bytes.
const MaxFile = 1 << 20

// maxFixture is how many files a fixture has at most.
const maxFixture = 1000

// Folder is a benchmark as its folder describes it.
type Folder struct {
	About

	// Where is how messages name it: "benchmark searchqa", or the path of the folder.
	Where string
	// Path is the folder of the user's own; "" for one that the program brings.
	Path string

	files fs.FS
}

// About is what benchmark.yaml says.
type About struct {
	Name     string   `yaml:"name"`
	Title    string   `yaml:"title"`
	Licence  string   `yaml:"licence"`
	Homepage string   `yaml:"homepage"`
	Sources  []Source `yaml:"source"`
	Task     Task     `yaml:"task"`
	Files    []string `yaml:"files"` // patterns of files of the source that a prepared folder has as they are
	Splits   Splits   `yaml:"splits"`
	Config   string   `yaml:"config"`
	Scoring  Scoring  `yaml:"scoring"`
	Skill    string   `yaml:"skill"`
}

// Source is where files come from.
type Source struct {
	HF       string `yaml:"hf"`       // OWNER/NAME of a data set at Hugging Face
	Revision string `yaml:"revision"` // of it: a commit or a branch
	Files    string `yaml:"files"`    // those of its files: a pattern with * and **
	GitHub   string `yaml:"github"`   // OWNER/NAME, whose release Tag has Asset
	Tag      string `yaml:"tag"`
	Asset    string `yaml:"asset"`
	URL      string `yaml:"url"`
	SHA256   string `yaml:"sha256"`
	To       string `yaml:"to"`     // the folder for them
	Unpack   bool   `yaml:"unpack"` // they are archives, whose files are wanted
}

// Task says what a row becomes.
type Task struct {
	Convert string            `yaml:"convert"` // a converter that the program brings, instead of the rest
	With    map[string]string `yaml:"with"`    // its settings
	Rows    string            `yaml:"rows"`    // the files with rows: a pattern; absent: rows/**
	Each    string            `yaml:"each"`    // files that are a row each, with the field file: a pattern; absent: none

	ID     string            `yaml:"id"` // templates over the fields of a row
	Type   string            `yaml:"type"`
	Prompt string            `yaml:"prompt"`
	Hidden string            `yaml:"hidden"`
	Fields map[string]string `yaml:"fields"` // further fields of the task
	Keep   []string          `yaml:"keep"`   // fields of the row that the task has as they are
	Gold   Gold              `yaml:"gold"`
	Images []Image           `yaml:"images"`
	Where  map[string]string `yaml:"where"` // a row counts if its fields have these values
}

// Gold is where the accepted answers are.
type Gold struct {
	Field   string `yaml:"field"`
	Split   string `yaml:"split"` // how a text is several answers: json, python, lines, comma; absent: it is one
	Default string `yaml:"default"`
}

// Image is a picture of a task.
type Image struct {
	Field string `yaml:"field"` // bytes, {bytes, path}, base64 text, or the path of a file next to the rows
	Name  string `yaml:"name"`  // template of the file's name
}

// Splits says how tasks are divided. One of its ways holds.
type Splits struct {
	IDs      string `yaml:"ids"`      // a folder with train.txt, selection.txt, test.txt: an id a line
	Ratio    string `yaml:"ratio"`    // train:selection:test
	Stratify string `yaml:"stratify"` // a field of the task, each value of which is divided by the ratio
	Seed     int64  `yaml:"seed"`     // 42 if absent
	Field    string `yaml:"field"`    // a field of the row that names the split
}

// Scoring names the files that say how answers are scored: extract and checks.
type Scoring struct {
	Default   string `yaml:"default"`
	Reference string `yaml:"reference"`
	Robust    string `yaml:"robust"`
}

// UnknownError is a benchmark that there is not.
type UnknownError struct{ Name, Near string }

func (e *UnknownError) Error() string {
	near := ""
	if e.Near != "" {
		near = fmt.Sprintf("; did you mean %s?", e.Near)
	}
	return fmt.Sprintf("there is no benchmark %q%s\nthere are %s (`skillopt bench list`), and folders of your own, named with a slash: ./my-bench", e.Name, near, strings.Join(Names(), ", "))
}

// Names returns the names of the benchmarks that the program brings, sorted.
func Names() []string {
	entries, err := benchmarks.Folders.ReadDir(".")
	if err != nil {
		panic("folder: list embedded folders: " + err.Error()) // they are part of the program
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// IsPath reports whether a name is that of a folder of the user's own.
func IsPath(name string) bool {
	return strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") || filepath.IsAbs(name)
}

// Open reads the folder of a benchmark: one that the program brings, by its name, or one of the
// user's own, by its path from dir. An unknown name is an *UnknownError.
func Open(ctx context.Context, name, dir string) (*Folder, error) {
	f := &Folder{Where: "benchmark " + name}
	switch {
	case IsPath(name):
		f.Path = name
		if !filepath.IsAbs(name) {
			f.Path = filepath.Join(dir, filepath.FromSlash(name))
		}
		f.Where = name
		info, err := os.Stat(f.Path)
		if err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%s: no folder is there; a benchmark of your own is one with %s (`skillopt init DIR --bench` writes one)", name, FileAbout)
		}
		f.files = own{ctx: ctx, path: f.Path}
	case slices.Contains(Names(), name):
		sub, err := fs.Sub(benchmarks.Folders, name)
		if err != nil {
			return nil, fmt.Errorf("open benchmark %s: %w", name, err)
		}
		f.files = sub
	default:
		near, _ := wording.Suggest(name, Names())
		return nil, &UnknownError{Name: name, Near: near}
	}
	if err := f.about(); err != nil {
		return nil, err
	}
	return f, nil
}

// about reads benchmark.yaml.
func (f *Folder) about() error {
	text, err := f.Read(FileAbout)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: it holds no %s (`skillopt init DIR --bench` writes one)", f.Where, FileAbout)
	}
	if err != nil {
		return err
	}
	if _, err := yamlx.DecodeStrict(text, &f.About); err != nil {
		return f.unreadable(FileAbout, err)
	}
	return f.check()
}

// unreadable names file and line.
func (f *Folder) unreadable(name string, err error) error {
	var at *yamlx.Error
	if errors.As(err, &at) && at.Line > 0 {
		return fmt.Errorf("%s, %s:%d: %s", f.Where, name, at.Line, at.Msg)
	}
	return fmt.Errorf("%s, %s: %w", f.Where, name, err)
}

// Read returns a file of the folder, of at most MaxFile bytes.
func (f *Folder) Read(name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, fmt.Errorf("%s: %q leads out of it", f.Where, name)
	}
	data, err := fs.ReadFile(f.files, name)
	if err != nil {
		return nil, fmt.Errorf("%s: read %s: %w", f.Where, name, err)
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%s: %s is larger than %s", f.Where, name, disk.Size(MaxFile))
	}
	return data, nil
}

// Has reports whether the folder has a file.
func (f *Folder) Has(name string) bool {
	_, err := fs.Stat(f.files, name)
	return err == nil
}

// CopyWithSeed returns the folder with another seed, for a split by a ratio and for converters that take one; 0 keeps its own.
func (f *Folder) CopyWithSeed(seed int64) *Folder {
	if seed == 0 {
		return f
	}
	out := *f
	out.Splits.Seed = seed
	if _, takes := f.Task.With[WithSeed]; takes {
		out.Task.With = maps.Clone(f.Task.With)
		out.Task.With[WithSeed] = strconv.FormatInt(seed, 10)
	}
	return &out
}

// Brings reports whether a prepared folder has a file of the source as it is.
func (f *Folder) Brings(name string) bool {
	return slices.ContainsFunc(f.Files, func(pattern string) bool { return disk.Match(pattern, name) })
}

// FixtureFiles returns the files with rows of our own in the form of the source, by their paths in
// the folder; none if there is no fixture.
func (f *Folder) FixtureFiles() ([]string, error) {
	var names []string
	err := fs.WalkDir(f.files, DirFixture, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			names = append(names, name)
		}
		if len(names) > maxFixture {
			return fmt.Errorf("more than %d files", maxFixture)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: list %s: %w", f.Where, DirFixture, err)
	}
	return names, nil
}

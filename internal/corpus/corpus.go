// Package corpus is a world of documents: a folder whose texts the target searches with tools, the pages
// that a task names, or rounds of questions to a search endpoint of the user's own.
//
// The folder is not trusted: it is read through os.Root, regular files alone, each within bounds, and a
// file is read when it is asked for. What the target does wrong is answered to it. It knows nothing about
// benchmarks, scores, skills and how dialogues are recorded.
package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/dataset"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

// The ways in which the target acts.
const (
	ModeTools  = "tools"  // it calls glob, read and grep
	ModePages  = "pages"  // it is shown the pages that its task names, and answers at once
	ModeSearch = "search" // it writes queries for an endpoint, and reads their results
)

// The fields of a task that a corpus reads.
const (
	FieldFiles = "source_files" // base names of the documents that its answer is in; none: all
	FieldDocs  = "source_docs"  // addresses with ?page=N, one for each of those files
)

// Bounds of a corpus.
const (
	maxFiles = 20_000   // documents
	maxText  = 16 << 20 // bytes of a document that is read
	maxPages = 64 << 20 // bytes of a file with pages
	maxCopy  = 64 << 20 // bytes of the documents that are copied for a task
)

// The folders of a corpus whose documents were parsed: texts, and pages of them.
const (
	dirTexts = "transformed"
	dirPages = "jsons"
)

// Options say what a corpus is made of.
type Options struct {
	Dir    string // the folder; "" for ModeSearch without pages
	Mode   string // "" is ModeTools
	Turns  int    // replies of the target to a task: ModeSearch says how many are left
	Search Search // of ModeSearch
}

// Corpus implements world.World. It is safe for concurrent use.
type Corpus struct {
	dir    string
	mode   string
	turns  int
	search *searcher

	root   *os.Root // nil: there is no folder
	docs   string   // folder of the documents within root
	pages  string   // folder of their pages
	files  []string // the documents, relative to docs, sorted
	byName map[string][]string
}

// DocsError says that documents are not there, and how to get them.
type DocsError struct{ Dir, Msg string }

func (e *DocsError) Error() string {
	return fmt.Sprintf("env.docs: the folder %s %s; name the folder of the documents, or get those of a benchmark: skillopt bench fetch NAME", e.Dir, e.Msg)
}

// ErrorKind reports to package fault that the input is wrong.
func (*DocsError) ErrorKind() string { return "bad_input" }

// New opens a corpus. A folder that is missing or has no documents is a *DocsError.
func New(o Options) (*Corpus, error) {
	c := &Corpus{dir: o.Dir, mode: cmp.Or(o.Mode, ModeTools), turns: o.Turns}
	switch c.mode {
	case ModeTools, ModePages:
	case ModeSearch:
		s, err := newSearcher(o.Search)
		if err != nil {
			return nil, err
		}
		if c.search = s; o.Dir == "" {
			return c, nil
		}
	default:
		return nil, fmt.Errorf("env.mode: found %q, allowed: %s, %s, %s", o.Mode, ModeTools, ModePages, ModeSearch)
	}
	if err := c.open(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// open lists the documents of the folder.
func (c *Corpus) open() (err error) {
	if c.root, err = os.OpenRoot(c.dir); err != nil {
		return &DocsError{Dir: c.dir, Msg: "cannot be opened: " + cause(err)}
	}
	c.locate()
	pattern := path.Join(c.docs, "**")
	names, err := dataset.Files(context.Background(), c.root, pattern, dataset.Bounds{Files: maxFiles})
	switch {
	case errors.Is(err, dataset.ErrBound):
		return &DocsError{Dir: c.dir, Msg: fmt.Sprintf("has more than %d files", maxFiles)}
	case err != nil && !errors.Is(err, dataset.ErrNoFile):
		return &DocsError{Dir: c.dir, Msg: "cannot be read: " + cause(err)}
	}
	c.byName = map[string][]string{}
	for _, name := range names {
		if c.docs == "." && strings.HasPrefix(name, dirPages+"/") {
			continue
		}
		name = strings.TrimPrefix(name, c.docs+"/")
		c.files = append(c.files, name)
		c.byName[path.Base(name)] = append(c.byName[path.Base(name)], name)
	}
	if len(c.files) == 0 {
		return &DocsError{Dir: c.dir, Msg: "has no documents"}
	}
	return nil
}

// locate finds where in the folder texts and pages are: in children of it, or of a folder in it, as
// parsed documents are published, else in the folder itself.
func (c *Corpus) locate() {
	c.docs, c.pages = ".", dirPages
	for _, pattern := range []string{dirTexts, "*/" + dirTexts} {
		found, _ := fs.Glob(c.root.FS(), pattern) // the pattern is sound
		for _, dir := range found {
			if info, err := c.root.Stat(dir); err == nil && info.IsDir() {
				c.docs, c.pages = dir, path.Join(path.Dir(dir), dirPages)
				return
			}
		}
	}
}

// cause returns an error of the file system without its path.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// Close implements io.Closer.
func (c *Corpus) Close() error {
	if c.root == nil {
		return nil
	}
	return c.root.Close()
}

// Pure implements world.World: what an endpoint finds differs from day to day.
func (c *Corpus) Pure() bool { return c.mode != ModeSearch }

// Open implements world.World.
func (c *Corpus) Open(_ context.Context, s world.Setting) (world.Episode, error) {
	files, err := c.candidates(s.Task)
	if err != nil {
		return nil, err
	}
	return &episode{corpus: c, task: s.Task, files: files}, nil
}

// Check reports the first task that the folder has nothing for, as a *DocsError: none of the files that
// it names, or in ModePages none of its pages.
func (c *Corpus) Check(tasks []task.Task) error {
	for _, t := range tasks {
		if _, err := c.candidates(t); err != nil {
			return err
		}
		if c.mode == ModePages && !slices.ContainsFunc(pageRefs(t), c.hasPages) {
			return &DocsError{Dir: c.dir, Msg: fmt.Sprintf("has no parsed pages in %s for what the task %s names in %s", c.pages, t.ID, FieldDocs)}
		}
	}
	return nil
}

// candidates returns the documents of a task: those that it names, else all.
func (c *Corpus) candidates(t task.Task) ([]string, error) {
	names := texts(t.Data[FieldFiles])
	if len(names) == 0 || c.root == nil {
		return c.files, nil
	}
	var out []string
	for _, name := range names {
		out = append(out, c.byName[path.Base(name)]...)
	}
	if len(out) == 0 {
		return nil, &DocsError{Dir: c.dir, Msg: fmt.Sprintf("has no file %s, which the task %s names in %s", names[0], t.ID, FieldFiles)}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// texts returns a list of a task's field: a list, or a text with an entry a line.
func texts(v any) (out []string) {
	list, many := v.([]any)
	if s, ok := v.(string); ok && !many {
		for line := range strings.Lines(s) {
			list = append(list, line)
		}
	}
	for _, entry := range list {
		if s, ok := entry.(string); ok && strings.TrimSpace(s) != "" {
			out = append(out, strings.TrimSpace(s))
		}
	}
	return out
}

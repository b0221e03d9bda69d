package draft

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/skill"
)

// Bounds on what is read next to SKILL.md. A file beyond them is left out, and
// named in Material.Skipped.
const (
	MaxReferences     = 32        // files
	MaxReferenceBytes = 64 << 10  // of one file
	MaxReferenceSum   = 512 << 10 // of all files, in bytes
	maxReferenceDepth = 4         // folders below that of the skill
)

// File is a text of a skill.
type File struct {
	Path  string // slash-separated, relative to the folder of the skill
	Lines []string
	First int // lines of front matter, which states no rules
}

// Material is what a skill says: SKILL.md, then the files that it may refer to,
// by path.
type Material struct {
	Files   []File
	Skipped []string // "path: why", of files that were left out
}

// Read reads the skill at name: a folder with a SKILL.md, that SKILL.md, or any
// other Markdown file, which has no references. Nothing outside of the folder is
// read, whatever links it holds. References are Markdown and text files, and in
// folders that are meant for them (references, assets, ...) data files as well.
// Errors are those of skill.ReadDocument or of the file system.
func Read(name string) (m Material, err error) {
	name = filepath.Clean(name)
	info, err := os.Stat(name)
	if err != nil {
		return m, fmt.Errorf("read skill: %w", err)
	}
	dir, file := name, skill.Main
	if !info.IsDir() {
		dir, file = filepath.Split(name)
		dir = cmp.Or(dir, ".")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return m, fmt.Errorf("read skill: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	s, err := skill.ReadDocument(root.FS(), file)
	if errors.Is(err, fs.ErrNotExist) && info.IsDir() {
		err = &skill.ReadError{Path: name, Err: skill.ErrNoSkill}
	}
	if err != nil {
		return m, err
	}
	if _, err := skill.Parse(s.Text()); err != nil {
		return m, fmt.Errorf("%s, %w", filepath.Join(dir, file), err)
	}
	m.Files = []File{newFile(file, s.Text())}
	if file != skill.Main {
		return m, nil
	}
	return m, m.references(root.FS())
}

func newFile(name, text string) File {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	f := File{Path: name, Lines: strings.Split(text, "\n")}
	if doc, _ := skill.Parse(text); doc.Head != "" {
		f.First = strings.Count(doc.Head, "\n")
	}
	return f
}

// references adds the files that lie next to SKILL.md.
func (m *Material) references(fsys fs.FS) error {
	sum := 0
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			m.skip(name, "it cannot be read")
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case name == ".":
			return nil
		case d.IsDir():
			if isForeign(d.Name()) || strings.Count(name, "/")+1 > maxReferenceDepth {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || !isReference(name):
			return nil
		}
		text, why := readReference(fsys, name)
		switch {
		case why == "" && len(m.Files) > MaxReferences:
			why = fmt.Sprintf("there are more than %d files", MaxReferences)
		case why == "" && sum+len(text) > MaxReferenceSum:
			why = fmt.Sprintf("all together have more than %d KB", MaxReferenceSum>>10)
		}
		if why != "" {
			m.skip(name, why)
			return nil
		}
		sum += len(text)
		m.Files = append(m.Files, newFile(name, text))
		return nil
	})
	if err != nil {
		return fmt.Errorf("read references: %w", err)
	}
	slices.SortFunc(m.Files[1:], func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

func (m *Material) skip(name, why string) { m.Skipped = append(m.Skipped, name+": "+why) }

// isForeign reports whether a folder holds something else than what a skill says.
func isForeign(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"runs", RunDir, TriggerDir, "scripts", "node_modules", "vendor", "__pycache__", "tests", "evals"}, name)
}

// isReference reports whether a file, by its name, says what to do. Data next to
// SKILL.md may be the tasks themselves; in a folder of references it is not.
func isReference(name string) bool {
	base := strings.ToLower(path.Base(name))
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	if strings.HasPrefix(base, ".") || strings.EqualFold(name, skill.Main) ||
		slices.Contains([]string{"readme", "license", "licence", "changelog", "contributing", "notice"}, stem) {
		return false
	}
	if slices.Contains([]string{".md", ".markdown", ".txt", ".rst"}, ext) {
		return true
	}
	top, _, _ := strings.Cut(strings.ToLower(name), "/")
	return slices.Contains([]string{"references", "reference", "resources", "assets", "docs"}, top) &&
		slices.Contains([]string{".csv", ".tsv", ".json", ".yaml", ".yml"}, ext)
}

// readReference reads a text file, or says why not.
func readReference(fsys fs.FS, name string) (text, why string) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", "it cannot be read"
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxReferenceBytes+1))
	switch {
	case err != nil:
		return "", "it cannot be read"
	case len(data) > MaxReferenceBytes:
		return "", fmt.Sprintf("it has more than %d KB", MaxReferenceBytes>>10)
	case !utf8.Valid(data):
		return "", "it is not UTF-8 text"
	}
	return string(data), ""
}

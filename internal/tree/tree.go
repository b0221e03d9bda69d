package tree

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/git"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// Bounds of a workspace. A zero is the default.
type Bounds struct {
	Bytes int64 // of all files; 200 MB
	Files int   // 50,000
}

func (b Bounds) orDefault() Bounds {
	if b.Bytes <= 0 {
		b.Bytes = 200_000_000
	}
	if b.Files <= 0 {
		b.Files = 50_000
	}
	return b
}

// LeftOut counts what a commit has and a workspace has not.
type LeftOut struct {
	Links      int `json:"links"`
	Submodules int `json:"submodules"`
	Steering   int `json:"steering"`      // files that steer agents
	Secrets    int `json:"secrets"`       // files that look like secrets
	Names      int `json:"names"`         // that are not safe everywhere, or that the file system takes for another's
	LFS        int `json:"lfs,omitempty"` // files that are kept elsewhere, by Git LFS
}

// Tree is what a workspace is made of: the files of a commit below a project's folder. Its
// methods may be called concurrently.
type Tree struct {
	Commit  string // whole hash
	LeftOut LeftOut
	Bytes   int64 // of the files

	Project string // whose commit it is

	git   *git.Repo
	files []File              // sorted by path
	at    map[string]int      // path -> index in files
	out   map[string]string   // path of what is left out -> why
	dirs  map[string]struct{} // that have files
	whole *whole              // of OpenTree; else nil
}

// File is a file of a commit.
type File struct {
	Path   string // with slashes
	Object string
	Size   int64
	Exec   bool
	Link   string // where it leads, if it is a link, relative to its folder
}

var hash = pattern.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Open looks at a commit of the repository that a project lies in. Where the project is a folder
// of its repository, the workspace is that folder. The error is an *[Unfit] where there is no such
// workspace, and wraps [ErrNoGit] where git is missing.
func Open(ctx context.Context, env git.Env, project, commit string, b Bounds) (*Tree, error) {
	if !hash.MatchString(commit) {
		return nil, &Unfit{Reason: "no commit is known by its whole hash"}
	}
	dir, prefix, err := git.Find(ctx, project)
	if err != nil {
		return nil, err
	}
	t := &Tree{Commit: commit, git: git.New(dir, env), Project: project, out: map[string]string{}}
	// A hash that is not a commit's would be taken for a tree's.
	var kind bytes.Buffer
	if err := t.git.Run(ctx, nil, &kind, 4<<10, "cat-file", "-t", commit); err != nil {
		return nil, fmt.Errorf("look at commit %.12s: %w", commit, err)
	}
	if strings.TrimSpace(kind.String()) != "commit" {
		return nil, &Unfit{Reason: "the hash is not a commit's"}
	}
	if err := t.list(ctx, commit+":"+prefix); err != nil {
		return nil, err
	}
	return t, t.indexFiles(b)
}

// list reads what a tree has.
func (t *Tree) list(ctx context.Context, tree string) error {
	var list bytes.Buffer
	if err := t.git.Run(ctx, nil, &list, git.MaxListing, "ls-tree", "-r", "-z", "-l", "--full-tree", tree); err != nil {
		return fmt.Errorf("list commit %.12s: %w", t.Commit, err)
	}
	return t.take(list.String())
}

// indexFiles orders the files, and fails where there are too many.
func (t *Tree) indexFiles(b Bounds) error {
	b = b.orDefault()
	slices.SortFunc(t.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	t.Bytes, t.at, t.dirs = 0, map[string]int{}, map[string]struct{}{".": {}}
	for i, f := range t.files {
		t.Bytes += f.Size
		t.at[f.Path] = i
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			t.dirs[dir] = struct{}{}
		}
	}
	switch {
	case t.Bytes > b.Bytes:
		return &Unfit{Reason: fmt.Sprintf("the files of the commit take %d MB, more than the %d MB of a workspace", (t.Bytes+999_999)/1_000_000, b.Bytes/1_000_000)}
	case len(t.files) > b.Files:
		return &Unfit{Reason: fmt.Sprintf("the commit has %d files, more than the %d of a workspace", len(t.files), b.Files)}
	}
	return nil
}

// entry is a line of ls-tree -l: mode, kind, object, size or "-" or, where the object is missing, "BAD", and the path behind a tab.
var entry = pattern.New(`(?s)^([0-7]{6}) (\w+) ([0-9a-f]{40,64}) +(\d+|-|BAD)\t(.+)$`)

// Find returns the file under a path.
func (t *Tree) Find(name string) (File, bool) {
	i, there := t.at[name]
	if !there {
		return File{}, false
	}
	return t.files[i], true
}

// MissingReason returns why a workspace does not have a path that the commit has; "" if it has it, or the commit has not.
func (t *Tree) MissingReason(name string) string { return t.out[name] }

// Holds reports whether a path is a folder with files.
func (t *Tree) Holds(name string) bool { _, folder := t.dirs[name]; return folder }

// Head returns the commit that is checked out now; "" where that is unknown.
func (t *Tree) Head(ctx context.Context) string { return t.git.Head(ctx) }

// take reads what ls-tree has listed.
func (t *Tree) take(list string) error {
	for line := range strings.SplitSeq(list, "\x00") {
		if line == "" {
			continue
		}
		m := entry.FindStringSubmatch(line)
		if m == nil {
			return &Unfit{Reason: git.Lost}
		}
		mode, kind, object, name := m[1], m[2], m[3], m[5]
		if why := t.leftOut(mode, kind, name); why != "" {
			t.out[name] = why
			continue
		}
		size, err := strconv.ParseInt(m[4], 10, 64)
		if err != nil || size < 0 || t.Bytes+size < 0 {
			return &Unfit{Reason: git.Lost}
		}
		t.Bytes += size
		f := File{Path: name, Object: object, Size: size, Exec: mode == git.Executable}
		if mode == git.Link {
			t.whole.links = append(t.whole.links, f)
			continue
		}
		t.files = append(t.files, f)
	}
	return nil
}

// leftOut says why an entry is left out, and counts it; "" if it is not.
func (t *Tree) leftOut(mode, kind, name string) string {
	switch {
	case mode == git.Link && t.whole == nil:
		t.LeftOut.Links++
		return "it is a link"
	case kind != "blob":
		t.LeftOut.Submodules++
		return "it is a submodule"
	case !safe(name):
		t.LeftOut.Names++
		return "its name is not safe everywhere"
	case Steers(name):
		t.LeftOut.Steering++
		return "it steers agents"
	case Secret(name):
		t.LeftOut.Secrets++
		return "it looks like a secret"
	}
	return ""
}

// safe reports whether a path means a file below a folder on every system, that no program takes
// for a part of a repository. The path of git has slashes.
func safe(name string) bool {
	const most = 4 << 10
	if len(name) > most || !utf8.ValidString(name) || !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.ContainsAny(part, "\\:*?\"<>|") || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || len(part) > 255 || isReserved(part) {
			return false
		}
		for _, r := range part {
			if r < ' ' || r == 0x7f || unseen(r) {
				return false
			}
		}
	}
	return true
}

// unseen reports whether a file system or a reader passes a character over, so that .git could
// be written with it.
func unseen(r rune) bool {
	return r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff
}

// isReserved reports whether a name is a repository's, or a device's on Windows.
func isReserved(part string) bool {
	base, _, _ := strings.Cut(strings.ToLower(part), ".")
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	if len(base) == 4 && (base[:3] == "com" || base[:3] == "lpt") && base[3] >= '1' && base[3] <= '9' {
		return true
	}
	lower := strings.ToLower(part)
	return lower == ".git" || strings.HasPrefix(lower, "git~")
}

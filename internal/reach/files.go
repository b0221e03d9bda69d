package reach

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Kind is what is at a path.
type Kind int

// The kinds. Nothing is also what cannot be looked at.
const (
	Nothing Kind = iota
	File
	Folder
	Link
	Other
)

// Node is what is known of a path, without following a link at its end.
type Node struct {
	Kind   Kind
	Target string // of a link, as it is written
	Runs   bool   // a file that somebody may execute
	ID     string // equal for paths that are the same file, bind mounts too; "" = not known
}

// Files is a file system to look at. It may be called concurrently.
type Files interface {
	Look(path string) Node
	// Text returns the beginning of a file, "" if it cannot be read.
	Text(path string) string
}

// Disk returns the file system of this machine.
func Disk() Files { return machine{} }

type machine struct{}

func (machine) Look(path string) Node {
	info, err := os.Lstat(path)
	if err != nil {
		return Node{}
	}
	n := Node{Kind: Other, ID: identity(info)}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		n.Kind, n.Runs = File, mode&0o111 != 0
	case mode.IsDir():
		n.Kind = Folder
	case mode&os.ModeSymlink != 0:
		n.Kind = Link
		if n.Target, err = os.Readlink(path); err != nil {
			return Node{}
		}
	}
	return n
}

// maxText is enough for a first line and for a pyvenv.cfg.
const maxText = 4 << 10

func (machine) Text(path string) string {
	f, err := disk.Open(context.Background(), path, 1<<40)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxText))
	if err != nil {
		return ""
	}
	return string(data)
}

const maxLinks = 40

// resolve follows all links of a path. What is not there counts as it is written.
func resolve(files Files, path string) string {
	path = filepath.Clean(path)
	at, rest := filepath.VolumeName(path)+separator, parts(path)
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		n := files.Look(next)
		if n.Kind != Link || links == maxLinks {
			at, rest = next, rest[1:]
			continue
		}
		links++
		rest = append(parts(n.Target), rest[1:]...)
		if filepath.IsAbs(n.Target) {
			at = filepath.VolumeName(n.Target) + separator
		}
	}
	return at
}

const separator = string(filepath.Separator)

// parts splits a path at its separators. ".." is kept: it is taken off what is
// before it when that is resolved.
func parts(path string) []string {
	var out []string
	for p := range strings.SplitSeq(path[len(filepath.VolumeName(path)):], separator) {
		if p != "" && p != "." {
			out = append(out, p)
		}
	}
	return out
}

// hops returns a path and what it links to, one link at the end after the other. The
// folders above are resolved; the last hop is no link.
func hops(files Files, path string) []string {
	var out []string
	for range maxLinks {
		path = filepath.Join(resolve(files, filepath.Dir(path)), filepath.Base(path))
		out = append(out, path)
		n := files.Look(path)
		if n.Kind != Link {
			break
		}
		if path = n.Target; !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(out[len(out)-1]), path)
		}
	}
	return out
}

// kind returns what a path leads to.
func kind(files Files, path string) Kind { return files.Look(resolve(files, path)).Kind }

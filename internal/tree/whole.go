package tree

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/git"
)

// OpenTree looks at the whole of a tree, or of a commit's, by its hash. In contrast to [Open] it has links that lead to a place inside
// of the tree, whether something is there or not, and has no files of which the tree holds only where they are (Git LFS). What is left
// out is counted, and [Tree.MissingReason] says why.
func OpenTree(ctx context.Context, repo *git.Repo, tree string, b Bounds) (*Tree, error) {
	if !hash.MatchString(tree) {
		return nil, &Unfit{Reason: "no tree is known by its whole hash"}
	}
	t := &Tree{Commit: tree, git: repo, out: map[string]string{}, whole: &whole{}}
	if err := t.list(ctx, tree); err != nil {
		return nil, err
	}
	if err := t.indexFiles(b); err != nil {
		return nil, err
	}
	if err := t.follow(ctx); err != nil {
		return nil, err
	}
	if err := t.point(ctx); err != nil {
		return nil, err
	}
	return t, t.indexFiles(b)
}

// whole is what is known of a whole tree apart from its files.
type whole struct {
	links []File // as they are listed
}

// Files returns the files and links, sorted by path.
func (t *Tree) Files() []File { return slices.Clone(t.files) }

const (
	maxTarget = 4 << 10 // bytes of where a link leads
	maxHops   = 40      // links on the way, as many as systems follow
	maxRules  = 1 << 20 // bytes of a file .gitattributes
	lfsSize   = 1 << 10 // bytes of what represents a file of LFS
)

const (
	leadsOut = "it is a link that leads outside"
	onLFS    = "its content is kept elsewhere (Git LFS)"
)

// follow takes those links that lead to a place inside.
func (t *Tree) follow(ctx context.Context) error {
	targets := map[string]string{}
	for name := range t.out {
		targets[name] = "/" // what is left out leads nowhere
	}
	short := slices.DeleteFunc(slices.Clone(t.whole.links), func(f File) bool { return f.Size > maxTarget })
	for _, f := range t.whole.links {
		if _, twice := t.at[f.Path]; twice || t.Holds(f.Path) {
			return &Unfit{Reason: "the tree has a link and a file or folder of one name"}
		}
		targets[f.Path] = "/"
	}
	err := t.Read(ctx, short, func(f File, data []byte) error {
		targets[f.Path] = string(data)
		return nil
	})
	if err != nil {
		return err
	}
	for _, f := range t.whole.links {
		if !leadsInside(targets, f.Path) {
			t.LeftOut.Links++
			t.out[f.Path] = leadsOut
			continue
		}
		f.Link = targets[f.Path]
		t.files = append(t.files, f)
	}
	return nil
}

// leadsInside reports whether a link leads to a place inside of the tree, over other links too. targets has all links.
func leadsInside(targets map[string]string, name string) bool {
	at, rest := path.Dir(name), []string{path.Base(name)}
	for hops := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && at == ".":
			return false
		case part == "..":
			at = path.Dir(at)
			continue
		}
		target, link := targets[path.Join(at, part)]
		if !link {
			at = path.Join(at, part)
			continue
		}
		if hops++; hops > maxHops || target == "" || path.IsAbs(target) || !utf8.ValidString(target) {
			return false
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at == "." || safe(at)
}

// point leaves out what Git LFS keeps elsewhere. Only where rules of the tree name it are contents read.
func (t *Tree) point(ctx context.Context) error {
	rules, small, named := []File{}, []File{}, false
	for _, f := range t.files {
		if path.Base(f.Path) == ".gitattributes" && f.Size <= maxRules && f.Link == "" {
			rules = append(rules, f)
		}
		if f.Size < lfsSize && f.Link == "" {
			small = append(small, f)
		}
	}
	err := t.Read(ctx, rules, func(_ File, data []byte) error {
		named = named || bytes.Contains(data, []byte("filter=lfs"))
		return nil
	})
	if err != nil || !named {
		return err
	}
	err = t.Read(ctx, small, func(f File, data []byte) error {
		if bytes.HasPrefix(data, []byte(lfsPointer)) {
			t.out[f.Path] = onLFS
			t.LeftOut.LFS++
		}
		return nil
	})
	t.files = slices.DeleteFunc(t.files, func(f File) bool { return t.out[f.Path] == onLFS })
	return err
}

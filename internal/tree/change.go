package tree

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/git"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Change is what happens to a path of a tree.
type Change struct {
	Path string // with slashes
	Data []byte
	Exec bool
	Link string // where it leads: it becomes a link
	Gone bool   // the file, or the folder with all in it, is taken away
}

// Tree adds a tree that is another one of the store with changes, and returns its hash. base "" is the empty tree. Each change is made
// to what those before it have left.
func (s *Store) Tree(ctx context.Context, base string, changes []Change) (string, error) {
	for _, c := range changes {
		if !proper(c.Path) {
			return "", &Unfit{Reason: wording.Plain(fmt.Sprintf("%.200q is no path of a tree", c.Path))}
		}
	}
	objects, err := s.blobs(ctx, changes)
	if err != nil {
		return "", fmt.Errorf("add files to store: %w", err)
	}
	f, err := s.folders(ctx, base, changes)
	if err != nil {
		return "", fmt.Errorf("change tree: %w", err)
	}
	for i, c := range changes {
		f.change(c, objects[i])
	}
	made, err := s.make(ctx, f)
	if err != nil {
		return "", fmt.Errorf("change tree: %w", err)
	}
	return made, nil
}

// blobs adds what files hold as it is, and returns their objects; "" for a change that takes away.
func (s *Store) blobs(ctx context.Context, changes []Change) ([]string, error) {
	objects := make([]string, len(changes))
	var in bytes.Buffer
	var at []int
	for i, c := range changes {
		data := c.Data
		switch {
		case c.Gone:
			continue
		case c.Link != "":
			data = []byte(c.Link)
		}
		at = append(at, i)
		fmt.Fprintf(&in, "blob\nmark :%d\ndata %d\n%s\nget-mark :%d\n", len(at), len(data), data, len(at))
	}
	if len(at) == 0 {
		return objects, nil
	}
	var out bytes.Buffer
	if err := s.repo.Run(ctx, &in, &out, maxObjects, "fast-import", "--quiet"); err != nil {
		return nil, err
	}
	made := strings.Fields(out.String())
	if len(made) != len(at) {
		return nil, &Unfit{Reason: "git added fewer files than it was given"}
	}
	for k, i := range at {
		objects[i] = made[k]
	}
	return objects, nil
}

// folders are those of a tree that changes lie in, by their paths: what each has, by name.
type folders map[string]map[string]node

// folders reads them.
func (s *Store) folders(ctx context.Context, base string, changes []Change) (folders, error) {
	f := folders{".": {}}
	for _, c := range changes {
		for dir := path.Dir(c.Path); f[dir] == nil; dir = path.Dir(dir) {
			f[dir] = map[string]node{}
		}
	}
	if base == "" {
		return f, nil
	}
	if !hash.MatchString(base) {
		return nil, &Unfit{Reason: "no tree is known by its whole hash"}
	}
	var list bytes.Buffer
	if err := s.repo.Run(ctx, nil, &list, maxObjects, "ls-tree", "-r", "-t", "-z", "--full-tree", base); err != nil {
		return nil, err
	}
	err := eachNode(list.String(), func(n node) {
		dir, name := path.Split(n.name)
		if in := f[path.Clean(dir)]; in != nil {
			in[name] = node{n.mode, n.kind, n.object, name}
		}
	})
	return f, err
}

// change makes a change. object is what the path holds then.
func (f folders) change(c Change, object string) {
	for dir := range f {
		if dir == c.Path || strings.HasPrefix(dir, c.Path+"/") {
			clear(f[dir])
		}
	}
	dir, name := path.Dir(c.Path), path.Base(c.Path)
	if c.Gone {
		delete(f[dir], name)
		return
	}
	mode := git.Plain
	switch {
	case c.Link != "":
		mode = git.Link
	case c.Exec:
		mode = git.Executable
	}
	f[dir][name] = node{mode, "blob", object, name}
	for ; dir != "."; dir = path.Dir(dir) { // no file is where a folder is now
		if in := f[path.Dir(dir)]; in[path.Base(dir)].kind != "tree" {
			delete(in, path.Base(dir))
		}
	}
}

// make adds the trees of folders, from the innermost to the outermost, and returns the outermost one.
func (s *Store) make(ctx context.Context, f folders) (string, error) {
	levels := map[int][]string{}
	for dir := range f {
		depth := 0
		if dir != "." {
			depth = 1 + strings.Count(dir, "/")
		}
		levels[depth] = append(levels[depth], dir)
	}
	for depth := len(levels) - 1; depth > 0; depth-- {
		dirs := slices.DeleteFunc(levels[depth], func(dir string) bool {
			in, name := f[path.Dir(dir)], path.Base(dir)
			if len(f[dir]) == 0 && in[name].kind == "tree" {
				delete(in, name)
			}
			return len(f[dir]) == 0
		})
		made, err := s.trees(ctx, f, dirs)
		if err != nil {
			return "", err
		}
		for i, dir := range dirs {
			f[path.Dir(dir)][path.Base(dir)] = node{"040000", "tree", made[i], path.Base(dir)}
		}
	}
	made, err := s.trees(ctx, f, []string{"."})
	if err != nil {
		return "", err
	}
	return made[0], nil
}

// trees adds the trees of some folders.
func (s *Store) trees(ctx context.Context, f folders, dirs []string) ([]string, error) {
	if len(dirs) == 0 {
		return nil, nil
	}
	var in strings.Builder
	for i, dir := range dirs {
		if i > 0 {
			in.WriteByte(0)
		}
		for _, name := range slices.Sorted(maps.Keys(f[dir])) {
			n := f[dir][name]
			in.WriteString(n.mode + " " + n.kind + " " + n.object + "\t" + n.name + "\x00")
		}
	}
	var out bytes.Buffer
	args := []string{"mktree", "-z", "--missing"}
	if len(dirs) > 1 {
		args = append(args, "--batch")
	}
	if err := s.repo.Run(ctx, strings.NewReader(in.String()), &out, maxObjects, args...); err != nil {
		return nil, err
	}
	made := strings.Fields(out.String())
	if len(made) != len(dirs) {
		return nil, &Unfit{Reason: "git added fewer trees than it was given"}
	}
	return made, nil
}

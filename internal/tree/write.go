package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/git"
)

// Written is what a workspace has got.
type Written struct {
	Files   int     `json:"files"`
	Bytes   int64   `json:"bytes"`
	Lfs     int     `json:"lfs"` // files of which the commit has only where they are (Git LFS)
	LeftOut LeftOut `json:"left_out"`
}

// Write writes the files into an empty folder, with modes 0644 and 0755, but for those that omit,
// which may be nil, reports: documents that the caller puts there itself. It is asked for paths with
// slashes. After an error the folder holds a part of the files.
func (t *Tree) Write(ctx context.Context, dir string, omit func(name string) bool) (Written, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Written{}, fmt.Errorf("write workspace: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing is written through it at its end
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return Written{}, fmt.Errorf("write workspace: %w", err)
	}
	if len(entries) > 0 {
		return Written{}, fmt.Errorf("write workspace: %s is not empty", dir)
	}
	return t.writeInto(ctx, &writer{root: root}, omit)
}

// WriteOver writes the files and links into a folder that may hold others. What lies where one of them belongs is removed first, and no
// link of the folder is followed.
func (t *Tree) WriteOver(ctx context.Context, root *os.Root, omit func(name string) bool) (Written, error) {
	return t.writeInto(ctx, &writer{root: root, over: true}, omit)
}

func (t *Tree) writeInto(ctx context.Context, w *writer, omit func(name string) bool) (Written, error) {
	w.done, w.made = Written{LeftOut: t.LeftOut}, map[string]bool{".": true}
	var files, links []File
	for _, f := range t.files {
		switch {
		case omit != nil && omit(f.Path):
		case f.Link != "":
			links = append(links, f)
		default:
			files = append(files, f)
		}
	}
	err := errors.Join(t.Read(ctx, files, w.file), w.close())
	for _, f := range links {
		if err == nil {
			err = w.link(f)
		}
	}
	for _, f := range links {
		if err == nil {
			err = w.removeOutsideLink(f)
		}
	}
	if err != nil {
		return w.done, fmt.Errorf("write workspace: %w", err)
	}
	return w.done, nil
}

// writer writes files below a folder.
type writer struct {
	root *os.Root
	over bool            // what is there is replaced
	made map[string]bool // folders that are there and are no links
	done Written

	at string   // folder of the last file, which the next one mostly lies in
	in *os.Root // that folder, if it is open
}

const lfsPointer = "version https://git-lfs.github.com/spec/"

// place makes the folder of a file, and room for it.
func (w *writer) place(name string) error {
	if err := w.folder(path.Dir(name)); err != nil || !w.over {
		return err
	}
	return w.root.RemoveAll(name)
}

// folder makes a folder and those that it lies in.
func (w *writer) folder(name string) error {
	if w.made[name] {
		return nil
	}
	if err := w.folder(path.Dir(name)); err != nil {
		return err
	}
	err := w.root.Mkdir(name, 0o755)
	if errors.Is(err, fs.ErrExist) {
		info, looked := w.root.Lstat(name)
		switch {
		case looked == nil && info.IsDir():
			err = nil
		case looked == nil && w.over:
			err = errors.Join(w.root.Remove(name), w.root.Mkdir(name, 0o755))
		}
	}
	w.made[name] = err == nil
	return err
}

// link writes a link.
func (w *writer) link(f File) error {
	if err := w.place(f.Path); err != nil {
		return w.equal(err)
	}
	if err := w.root.Symlink(f.Link, f.Path); err != nil {
		return w.equal(err)
	}
	w.done.Files++
	w.done.Bytes += int64(len(f.Link))
	return nil
}

// removeOutsideLink removes a link that leads outside after all, since the file system takes a name for another's.
func (w *writer) removeOutsideLink(f File) error {
	_, err := w.root.Stat(f.Path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	w.done.LeftOut.Links++
	return w.root.Remove(f.Path)
}

// open opens a folder, and closes the last one.
func (w *writer) open(dir string) (*os.Root, error) {
	if w.in != nil && w.at == dir {
		return w.in, nil
	}
	if err := w.close(); err != nil {
		return nil, err
	}
	in, err := w.root.OpenRoot(dir)
	w.at, w.in = dir, in
	return in, err
}

func (w *writer) close() error {
	if w.in == nil {
		return nil
	}
	err := w.in.Close()
	w.in = nil
	return err
}

func (w *writer) file(f File, data []byte) error {
	if err := w.place(f.Path); err != nil {
		return w.equal(err)
	}
	mode := fs.FileMode(0o644)
	if f.Exec {
		mode = 0o755
	}
	in, err := w.open(path.Dir(f.Path))
	if err != nil {
		return err
	}
	out, err := in.OpenFile(path.Base(f.Path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return w.equal(err)
	}
	_, err = out.Write(data)
	err = errors.Join(err, out.Chmod(mode), out.Close())
	if err != nil {
		return err
	}
	w.done.Files++
	w.done.Bytes += int64(len(data))
	if bytes.HasPrefix(data, []byte(lfsPointer)) {
		w.done.Lfs++
	}
	return nil
}

// equal counts a name that the file system takes for another one of the commit, as it does where it
// does not distinguish capital letters. Other errors stay.
func (w *writer) equal(err error) error {
	var bad *fs.PathError
	if errors.Is(err, fs.ErrExist) || errors.As(err, &bad) && strings.Contains(bad.Err.Error(), "not a directory") {
		w.done.LeftOut.Names++
		return nil
	}
	return err
}

// Read passes the content of files to each, in order.
func (t *Tree) Read(ctx context.Context, files []File, each func(f File, data []byte) error) error {
	if len(files) == 0 {
		return nil
	}
	var in strings.Builder
	most := int64(0)
	for _, f := range files {
		in.WriteString(f.Object + "\n")
		most += f.Size + int64(len(f.Object)) + 64
	}
	r := &batch{files: files, each: each}
	if err := t.git.Run(ctx, strings.NewReader(in.String()), r, most, "cat-file", "--batch"); err != nil {
		return err
	}
	if r.n < len(files) {
		return &Unfit{Reason: "git gave fewer files than the commit has"}
	}
	return nil
}

// batch reads what cat-file --batch prints: of each object its hash, kind and size in a line, its
// content, and a line break.
type batch struct {
	files []File
	each  func(f File, data []byte) error
	n     int // files that were passed on

	head []byte // of a line that has not ended
	left int64  // of the content, with its line break; 0: a line is expected
	data []byte
}

// Write takes what comes.
func (b *batch) Write(p []byte) (int, error) {
	taken := len(p)
	for len(p) > 0 {
		if b.left == 0 {
			i := bytes.IndexByte(p, '\n')
			if i < 0 {
				if b.head = append(b.head, p...); len(b.head) > 1<<10 {
					return 0, &Unfit{Reason: "git printed what is no object"}
				}
				return taken, nil
			}
			b.head, p = append(b.head, p[:i]...), p[i+1:]
			if err := b.begin(string(b.head)); err != nil {
				return 0, err
			}
			b.head = b.head[:0]
			continue
		}
		n := min(int64(len(p)), b.left)
		b.data, p = append(b.data, p[:n]...), p[n:]
		if b.left -= n; b.left == 0 {
			if err := b.each(b.files[b.n], b.data[:len(b.data)-1]); err != nil {
				return 0, err
			}
			b.n++
		}
	}
	return taken, nil
}

// begin reads the line before the content of an object.
func (b *batch) begin(line string) error {
	if b.n >= len(b.files) {
		return &Unfit{Reason: "git gave more files than the commit has"}
	}
	f := b.files[b.n]
	parts := strings.Fields(line)
	if len(parts) != 3 || parts[0] != f.Object || parts[1] != "blob" {
		return &Unfit{Reason: git.Lost}
	}
	size, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || size != f.Size {
		return &Unfit{Reason: "git gave a file of another size than the commit has"}
	}
	b.left = size + 1
	if b.data = b.data[:0]; int64(cap(b.data)) < b.left {
		b.data = make([]byte, 0, b.left)
	}
	return nil
}

// Texts returns what files hold, by their paths, of those that the workspace has and that are no larger than most bytes.
func (t *Tree) Texts(ctx context.Context, names []string, most int64) (map[string]string, error) {
	var files []File
	for _, name := range names {
		if i, there := t.at[name]; there && t.files[i].Size <= most && !slices.Contains(files, t.files[i]) {
			files = append(files, t.files[i])
		}
	}
	out := map[string]string{}
	err := t.Read(ctx, files, func(f File, data []byte) error {
		out[f.Path] = string(data)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read files of commit %.12s: %w", t.Commit, err)
	}
	return out, nil
}

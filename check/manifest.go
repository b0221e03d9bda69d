package check

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Bounds of a manifest. A workspace beyond them cannot be compared.
const (
	maxManifestFiles = 50_000
	maxManifestBytes = 1 << 30
	maxManifestLines = 4_000_000
)

// Manifest is what was in a folder: every file by its path, with slashes. The
// folders named .git are left out, so that committing changes nothing. It can be
// written as JSON. A name that is not UTF-8 is written with escapes, as in Go.
type Manifest struct {
	Files map[string]File `json:"files"`
	// Over says why the manifest is not complete: the folder has more files or
	// bytes than can be compared, or something in it cannot be read.
	Over string `json:"over,omitempty"`
}

// File is one entry of a Manifest.
type File struct {
	Hash string `json:"hash"` // SHA-256 of the content, or of where a link leads
	// Lines are hashes of the lines, in their order. They hold no content.
	Lines []uint64 `json:"lines,omitempty"`
}

// Snapshot returns the manifest of a folder, to be kept as Evidence.Before. A
// folder that is beyond the bounds (50,000 files, 1 GB, 4 million lines) is an
// error. Symbolic links are not followed.
func Snapshot(dir string) (Manifest, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Manifest{}, fmt.Errorf("take a snapshot: %w", err)
	}
	defer func() { _ = root.Close() }() // it was only read
	m, err := readManifest(root)
	if err != nil {
		return Manifest{}, fmt.Errorf("take a snapshot of %s: %w", dir, err)
	}
	if m.Over != "" {
		return Manifest{}, fmt.Errorf("take a snapshot of %s: %s", dir, m.Over)
	}
	return m, nil
}

// readManifest lists a folder. What keeps the list from being complete is in Over;
// the error is one of the machine.
func readManifest(root *os.Root) (Manifest, error) {
	w := &walker{files: map[string]File{}}
	err := disk.Walk(root, w.visit)
	m := Manifest{Files: w.files}
	if ours(err) {
		return m, err
	}
	if err != nil {
		m.Over = err.Error()
	}
	return m, nil
}

// unreadable says that a path cannot be read. It says why only if that is our
// own fault.
func unreadable(path string, err error) error {
	if ours(err) {
		return fmt.Errorf("%s cannot be read: %w", path, err)
	}
	return fmt.Errorf("%s cannot be read", path)
}

// walker collects the files of a folder.
type walker struct {
	files map[string]File
	bytes int64
	lines int
}

func (w *walker) visit(dir *os.Root, path string, d fs.DirEntry, err error) error {
	if errors.Is(err, disk.ErrDeep) {
		return err
	}
	if err != nil {
		return unreadable(path, err)
	}
	if d.Name() == ".git" {
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if d.IsDir() {
		return nil
	}
	if len(w.files) >= maxManifestFiles {
		return fmt.Errorf("there are more than %d files", maxManifestFiles)
	}
	f, err := w.file(dir, path, d)
	if err != nil {
		return err
	}
	w.files[manifestKey(path)] = f
	return nil
}

// manifestKey returns a path as a manifest has it. JSON holds no bytes that are not
// UTF-8: as they are, a file would have another name once it was recorded.
func manifestKey(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	quoted := strconv.Quote(path)
	return quoted[1 : len(quoted)-1]
}

func (w *walker) file(dir *os.Root, path string, d fs.DirEntry) (File, error) {
	switch mode := d.Type(); {
	case mode&fs.ModeSymlink != 0:
		target, err := dir.Readlink(d.Name())
		if err != nil {
			return File{}, unreadable(path, err)
		}
		return File{Hash: hashText("link to " + target)}, nil
	case !mode.IsRegular():
		return File{Hash: hashText("special file " + mode.String())}, nil // reading it might wait forever
	}
	f, err := dir.Open(d.Name())
	if err != nil {
		return File{}, unreadable(path, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	return w.content(path, f)
}

func (w *walker) content(path string, r io.Reader) (File, error) {
	whole := sha256.New()
	// A read that fails is no end: only an end of the file is.
	in := bufio.NewReaderSize(io.TeeReader(io.LimitReader(r, maxManifestBytes-w.bytes+1), whole), 64<<10)
	var lines []uint64
	for {
		hash, n, err := hashLine(in)
		if n > 0 {
			lines = append(lines, hash)
		}
		w.bytes += n
		w.lines += min(1, int(n))
		switch {
		case w.bytes > maxManifestBytes:
			return File{}, fmt.Errorf("there are more than %d MB", maxManifestBytes>>20)
		case w.lines > maxManifestLines:
			return File{}, fmt.Errorf("there are more than %d lines", maxManifestLines)
		case errors.Is(err, io.EOF):
			return File{Hash: hex.EncodeToString(whole.Sum(nil)), Lines: lines}, nil
		case err != nil:
			return File{}, unreadable(path, err)
		}
	}
}

// hashLine reads one line, of any length, with its end.
func hashLine(in *bufio.Reader) (hash uint64, n int64, err error) {
	h := sha256.New()
	for {
		part, err := in.ReadSlice('\n')
		h.Write(part) // never fails
		n += int64(len(part))
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return binary.LittleEndian.Uint64(h.Sum(nil)), n, err
	}
}

func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

package check

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/seed-f4525e22/skillopt/task"
)

// maxFile is the largest file that a check reads, in bytes.
const maxFile = 8 << 20

// subject is what checks look at: what an agent left, and how to ask further.
type subject struct {
	Evidence
	task task.Task
	by   Means

	dry   bool     // nothing was done, and nothing is asked: checks are being checked
	root  *os.Root // of the workspace; nil if it was deleted, or there is none
	after Manifest // of the workspace, if a check wants it
}

// open opens the workspace. What an agent did to it, deleting it too, is no
// error.
func (s *subject) open(manifest bool) error {
	if s.Dir == "" {
		return nil
	}
	root, err := os.OpenRoot(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s.root = root
	if manifest {
		s.after, err = readManifest(root)
	}
	return err
}

func (s *subject) close() {
	if s.root != nil {
		_ = s.root.Close() // it was only read
	}
}

// isDeleted reports whether the workspace is gone.
func (s *subject) isDeleted() bool { return s.root == nil && !s.dry }

// stat looks at a path of the workspace. A path that is not there is
// fs.ErrNotExist.
func (s *subject) stat(path string) (fs.FileInfo, error) {
	if s.root == nil {
		return nil, fs.ErrNotExist
	}
	return s.root.Stat(path)
}

// ours reports whether an error of a file system is about the machine that looks,
// not about what an agent left there: too many open files, a broken disk. Nothing
// is measured by it.
func ours(err error) bool {
	for _, e := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EIO, syscall.ENOSPC, syscall.EROFS, syscall.ESTALE, os.ErrClosed,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// read returns the content of a file of the workspace. Its errors are about what
// the agent left, in words for a reason, but for those that are ours.
func (s *subject) read(path string) (string, error) {
	info, err := s.stat(path)
	if err != nil {
		return "", s.fault(path, err)
	}
	if !info.Mode().IsRegular() { // reading a pipe would wait for a writer
		return "", fmt.Errorf("%s is no regular file", path)
	}
	if info.Size() > maxFile {
		return "", fmt.Errorf("%s has %d bytes, a check reads at most %d", path, info.Size(), maxFile)
	}
	f, err := s.root.Open(path)
	if err != nil {
		return "", s.fault(path, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return "", s.fault(path, err)
	}
	return string(data), nil
}

// fault words what keeps a path from being read. The missing file keeps its
// error, for those who ask.
func (s *subject) fault(path string, err error) error {
	switch {
	case s.isDeleted():
		return fmt.Errorf("the workspace was deleted: %w", fs.ErrNotExist)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is not there: %w", path, fs.ErrNotExist)
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s cannot be read: %w", path, err)
}

// reason returns the text of a fault without the cause that only code wants.
func reason(err error) string {
	return strings.TrimSuffix(err.Error(), ": "+fs.ErrNotExist.Error())
}

// localPath reads a path within the workspace, with slashes.
func (s *spec) localPath(key string) string {
	v, ok := s.get(key)
	if !ok {
		s.fail(key, "is missing; %s needs a path within the workspace", s.kind)
		return ""
	}
	text, ok := v.(string)
	if !ok || text == "" {
		s.fail(key, "a path expected, found %s", describe(v))
		return ""
	}
	s.checkLocal(key, text)
	return text
}

func (s *spec) checkLocal(key, path string) {
	switch {
	case strings.Contains(path, `\`):
		s.fail(key, "%q: write / between folders", path)
	case path == ".":
		s.fail(key, "%q is the workspace itself; name something in it, like src/main.go", path)
	case !fs.ValidPath(path):
		s.fail(key, "%q leads out of the workspace, or is not in its simplest form: write it from the workspace, like src/main.go", path)
	}
}

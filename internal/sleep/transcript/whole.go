package transcript

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// maxDocument is the size, in bytes, above which a file that has to be read whole is left out.
const maxDocument = 32 << 20

// whole reads a file of a store that is one JSON object. What is none, or is too large, is
// named and left out: ok is false.
func (r *Reading) whole(ctx context.Context, s Store, name string) (doc gjson.Result, ok bool, err error) {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return doc, false, fmt.Errorf("open %s: %w", s.Path(), err)
	}
	defer func() { _ = root.Close() }() // it was only read
	path := filepath.Join(s.Root, filepath.FromSlash(name))
	info, err := root.Stat(name)
	if err != nil {
		return doc, false, fmt.Errorf("look at %s: %w", path, err)
	}
	if info.Size() > maxDocument {
		r.problem(Problem{Path: path, What: fmt.Sprintf("larger than %s, which is the most that is read of a file that is one document", disk.Size(maxDocument))})
		return doc, false, nil
	}
	data, err := disk.ReadIn(ctx, root, name, maxDocument)
	if err != nil {
		return doc, false, fmt.Errorf("read %s: %w", path, err)
	}
	r.Bytes += int64(len(data))
	text := strings.TrimPrefix(string(data), "\ufeff")
	if strings.TrimSpace(text) == "" {
		return doc, false, nil
	}
	if tooDeep(text) {
		r.problem(Problem{Path: path, What: fmt.Sprintf("nested deeper than %d, which is the most that is read", maxDepth)})
		return doc, false, nil
	}
	if !utf8.ValidString(text) || !gjson.Valid(text) || !gjson.Parse(text).IsObject() {
		r.problem(Problem{Path: path, What: "not a JSON object"})
		return doc, false, nil
	}
	return gjson.Parse(text), true, nil
}

// document reads a store that is one JSON object, and makes its mark.
func (r *Reading) document(ctx context.Context, s Store) (doc gjson.Result, ok bool, err error) {
	if err := r.mark(ctx, s); err != nil {
		return doc, false, err
	}
	return r.whole(ctx, s, s.Name)
}

// mark makes the mark of a store that is not read by lines or as a database.
func (r *Reading) mark(ctx context.Context, s Store) error {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return fmt.Errorf("open %s: %w", s.Path(), err)
	}
	defer func() { _ = root.Close() }() // it was only read
	if r.Mark, err = peek(ctx, root, s); err != nil {
		return fmt.Errorf("look at %s: %w", s.Path(), err)
	}
	return nil
}

// small reads a small JSON file of settings below a root; without one, or where it is none,
// the result does not exist.
func small(ctx context.Context, root *os.Root, name string) gjson.Result {
	data, err := disk.ReadIn(ctx, root, name, maxDocument)
	if err != nil || !validJSON(string(data)) {
		return gjson.Result{}
	}
	return gjson.ParseBytes(data)
}

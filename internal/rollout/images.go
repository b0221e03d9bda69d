package rollout

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

// MaxImage is the size of the largest picture of a task, in bytes.
const MaxImage = 20 << 20

// Images are the pictures of tasks. They are looked at once, before a run, and
// read when a task is carried out: all of a set may be more than fits into memory.
// A nil *Images has none. It is safe for concurrent use.
type Images struct {
	dir  string
	sums map[string]string // path -> hash of the content
}

// NewImages looks at the pictures of tasks, whose paths are relative to dir. It
// fails if one is not there, too large, or nothing that models are shown.
func NewImages(ctx context.Context, dir string, tasks []task.Task) (*Images, error) {
	i := &Images{dir: dir, sums: map[string]string{}}
	for _, t := range tasks {
		names, err := t.Images()
		if err != nil {
			return nil, fmt.Errorf("task %s (%s): %w", t.ID, t.Origin, err)
		}
		for _, name := range names {
			if _, known := i.sums[name]; known {
				continue
			}
			_, sum, err := i.read(ctx, name)
			if err != nil {
				return nil, fmt.Errorf("task %s (%s): %w", t.ID, t.Origin, err)
			}
			i.sums[name] = sum
		}
	}
	return i, nil
}

// Digest sums up the pictures of a task, "" if it has none.
func (i *Images) Digest(t task.Task) string {
	names, err := t.Images()
	if i == nil || err != nil || len(names) == 0 {
		return ""
	}
	h := sha256.New()
	for _, name := range names {
		fmt.Fprintf(h, "%s\n", i.sums[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// of reads the pictures of a task, in its order. One that has changed since is an
// error: what is measured with it would be of another task.
func (i *Images) of(t task.Task) ([]model.Image, error) {
	if i == nil {
		return nil, nil
	}
	names, err := t.Images()
	if err != nil {
		return nil, err
	}
	var images []model.Image
	for _, name := range names {
		img, sum, err := i.read(context.Background(), name)
		if err == nil && sum != i.sums[name] {
			err = fmt.Errorf("the picture %s has changed since the run began", filepath.Join(i.dir, name))
		}
		if err != nil {
			return nil, fmt.Errorf("task %s (%s): %w", t.ID, t.Origin, err)
		}
		images = append(images, img)
	}
	return images, nil
}

// read reads a picture. No link leads out of the folder.
func (i *Images) read(ctx context.Context, name string) (img model.Image, sum string, err error) {
	fail := func(err error) (model.Image, string, error) {
		var own *disk.Error
		if errors.As(err, &own) {
			err = fmt.Errorf("%s; allowed: a file of at most %d MB", own.Reason(), MaxImage>>20)
		}
		return model.Image{}, "", fmt.Errorf("read the picture %s: %w", filepath.Join(i.dir, name), err)
	}
	root, err := os.OpenRoot(i.dir)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = root.Close() }() // read only
	data, err := disk.ReadIn(ctx, root, filepath.FromSlash(name), MaxImage)
	if err != nil {
		return fail(err)
	}
	img = model.Image{MIME: http.DetectContentType(data), Data: data}
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, img.MIME) {
		return fail(fmt.Errorf("it is %s, allowed: png, jpeg, gif, webp", img.MIME))
	}
	hash := sha256.Sum256(data)
	return img, hex.EncodeToString(hash[:]), nil
}

// addImageNames returns a question with the names of its pictures, as a record and analysts read
// it: what a picture shows is left out.
func addImageNames(question string, t task.Task) string {
	names, err := t.Images()
	if err != nil || len(names) == 0 {
		return question
	}
	return question + "\n\n[with the pictures " + strings.Join(names, ", ") + "]"
}

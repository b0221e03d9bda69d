package benchmark

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/dataset"
	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// dirImages is the folder of the pictures, within that of the tasks.
const dirImages = "images"

// maxPicture is the size of the largest picture, in bytes, as rollouts take them.
const maxPicture = 20 << 20

// parsePictures reads the pictures in a field of a row: bytes, {bytes, path} as data sets at Hugging
// Face have them, base64 text, the path of a file, or a list of these.
func parsePictures(v any, name, field string) ([]picture, error) {
	list, many := v.([]any)
	if !many {
		one, err := parsePicture(v, name, field)
		if err != nil {
			return nil, err
		}
		return []picture{one}, nil
	}
	var out []picture
	for i, entry := range list {
		stem, ext := strings.TrimSuffix(name, path.Ext(name)), path.Ext(name)
		one, err := parsePicture(entry, fmt.Sprintf("%s_%d%s", stem, i+1, ext), field)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		out = append(out, one)
	}
	return out, nil
}

func parsePicture(v any, name, field string) (picture, error) {
	p := picture{name: name, field: field}
	switch v := v.(type) {
	case []byte:
		p.bytes = v
	case map[string]any:
		if data, ok := v["bytes"]; ok && data != nil {
			return parsePicture(data, name, field)
		}
		return parsePicture(v["path"], name, field)
	case string:
		if data, ok := fromBase64(v); ok {
			p.bytes = data
		} else {
			p.path = v
		}
	}
	if len(p.bytes) == 0 && p.path == "" {
		return p, errors.New("no picture is there")
	}
	return p, nil
}

// fromBase64 reads a text that is a picture, with or without the head of a data URI.
func fromBase64(text string) ([]byte, bool) {
	if head, rest, ok := strings.Cut(text, ";base64,"); ok && strings.HasPrefix(head, "data:image/") {
		text = rest
	} else if len(text) < 64 {
		return nil, false
	}
	data, err := base64.StdEncoding.DecodeString(text)
	return data, err == nil && detectSuffix(data) != ""
}

// detectSuffix returns the end of the name of a picture with these bytes, "" if it is none that models are shown.
func detectSuffix(data []byte) string {
	switch http.DetectContentType(data) {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "image/gif":
		return ".gif"
	case "image/webp":
		return ".webp"
	}
	return ""
}

// gallery writes pictures into the folder that is made, each once.
type gallery struct {
	ctx   context.Context // of the preparation
	from  *os.Root        // of the rows
	dir   string          // where that is
	above []*os.Root      // folders above that, for paths from a project's root
	to    *os.Root        // the folder that is made
	sums  map[string]string
	files []File
}

// add writes the pictures of an item, and gives it their names.
func (g *gallery) add(it *item) error {
	var names []any
	for _, p := range it.pictures {
		name, err := g.one(it, p)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	if names != nil {
		it.fields["images"] = names
	}
	return nil
}

func (g *gallery) one(it *item, p picture) (string, error) {
	fail := func(format string, args ...any) error {
		return &rowError{file: it.file, row: it.row, key: p.field, msg: fmt.Sprintf(format, args...)}
	}
	data := p.bytes
	if data == nil {
		var err error
		if data, err = g.find(path.Dir(it.file), p.path); err != nil {
			return "", fail("the picture %q of task %q is missing: %v", p.path, it.id, err)
		}
	}
	kind := detectSuffix(data)
	if err := dataset.Pointer(data); err != nil {
		return "", fail("the picture of task %q: %v", it.id, err)
	}
	if kind == "" {
		return "", fail("the picture of task %q is neither png, jpeg, gif nor webp by its first bytes", it.id)
	}
	if len(data) > maxPicture {
		return "", fail("the picture of task %q is larger than %s", it.id, disk.Size(maxPicture))
	}
	name := path.Join(dirImages, safeName(p.name, kind))
	sum := sha256.Sum256(data)
	text := hex.EncodeToString(sum[:])
	if before, written := g.sums[strings.ToLower(name)]; written {
		if before != text {
			return "", fail("two pictures have the name %s", name)
		}
		return name, nil
	}
	g.sums[strings.ToLower(name)] = text
	if err := writeNew(g.to, name, data); err != nil {
		return "", err
	}
	g.files = append(g.files, File{Path: name, SHA256: text, Bytes: int64(len(data))})
	return name, nil
}

// find reads a file that a row names: next to the rows, in a folder images there, from the folder of
// the data, or from one above it. An absolute path is one that leads into the folder of the data.
func (g *gallery) find(beside, name string) ([]byte, error) {
	if rel, err := filepath.Rel(g.dir, name); filepath.IsAbs(name) && err == nil {
		name = filepath.ToSlash(rel)
	}
	clean := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if !fs.ValidPath(clean) {
		return nil, errors.New("its path leads out of the folder")
	}
	for _, at := range []string{path.Join(beside, clean), path.Join(beside, dirImages, clean), path.Join(beside, dirImages, dirImages, clean), clean, path.Join(dirImages, clean)} {
		data, err := disk.ReadIn(g.ctx, g.from, at, maxPicture)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return data, err
		}
	}
	for _, root := range g.above {
		data, err := disk.ReadIn(g.ctx, root, clean, maxPicture)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return data, err
		}
	}
	return nil, errors.New("no such file next to the rows, in images/, or from the folder of the data")
}

// safeName makes the name of a file of what a row says: small set of characters, no folders, an end
// that fits what the picture is.
func safeName(name, kind string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.' && b.Len() > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "~%02x", c)
		}
	}
	out := b.String()
	if ext := strings.ToLower(path.Ext(out)); ext == kind || ext == ".jpeg" && kind == ".jpg" {
		out = strings.TrimSuffix(out, path.Ext(out))
	}
	if len(out) > 120 {
		sum := sha256.Sum256([]byte(name))
		out = out[:96] + "-" + hex.EncodeToString(sum[:8])
	}
	return out + kind
}

// writeNew writes a file below a root, with the folders that it needs.
func writeNew(root *os.Root, name string, data []byte) (err error) {
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

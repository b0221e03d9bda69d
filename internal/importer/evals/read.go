package evals

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/dataset"
	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// Bounds of what is read. Whatever is larger is no set of tasks.
const (
	maxFile  = 256 << 20 // bytes of a file of rows
	maxText  = 16 << 20  // bytes of any other, and of a row
	maxRows  = 200_000
	maxItems = 100_000
)

// reader reads files below the folder of the source.
type reader struct{ fsys fs.FS }

var errTooLarge = errors.New("is larger than is read")

// plain returns an error of the file system without the path, which is before it.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func (r reader) bytes(name string, most int64) ([]byte, error) {
	f, err := r.fsys.Open(name)
	if err != nil {
		return nil, plain(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, plain(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no regular file")
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%w: %d MB are allowed", errTooLarge, most>>20)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%w: %d MB are allowed", errTooLarge, most>>20)
	}
	if err == nil {
		err = dataset.Pointer(data)
	}
	return bytes.TrimPrefix(data, []byte("\ufeff")), plain(err)
}

// checkPointer returns an error for a pointer of Git LFS. The file itself is not read.
func (r reader) checkPointer(name string) error {
	info, err := fs.Stat(r.fsys, name)
	if err != nil || info.Size() > 1024 {
		return plain(err)
	}
	_, err = r.bytes(name, 1024)
	return err
}

// text reads a file of text.
func (r reader) text(name string) (string, error) {
	data, err := r.bytes(name, maxText)
	if err == nil && !utf8.Valid(data) {
		err = errors.New("is not text in UTF-8")
	}
	return string(data), err
}

// yaml reads a file of YAML, or of JSON, which is YAML too but may be larger.
func (r reader) yaml(name string) (any, error) {
	data, err := r.bytes(name, maxText)
	if err != nil {
		return nil, err
	}
	return decodeYAML(name, data)
}

func decodeYAML(name string, data []byte) (any, error) {
	if v, err := decodeJSON(data); err == nil || strings.EqualFold(path.Ext(name), ".json") {
		return v, err
	}
	var v any
	if _, err := yamlx.Decode(data, &v); err != nil {
		return nil, err
	}
	return v, nil
}

// decodeJSON reads one value. A key that occurs twice in an object is an error.
func decodeJSON(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("JSON that ends too early")
		}
		return nil, fmt.Errorf("JSON that cannot be read: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the JSON value")
	}
	if twice := jsonx.FindRepeat(data, 0); twice != nil {
		return nil, errors.New(twice.String())
	}
	return v, nil
}

// row is one row of a file.
type row struct {
	n int // from 1: its line, or its place in a list
	m map[string]any
}

// first reads the first value of a file of JSON, JSONL or CSV.
func (r reader) first(name string) (any, error) {
	for row, err := range r.rows(name) {
		if err != nil {
			if v, whole := r.yaml(name); whole == nil {
				return v, nil
			}
			return nil, err
		}
		if strings.EqualFold(path.Ext(name), ".json") {
			break
		}
		return row.m, nil
	}
	return r.yaml(name)
}

// rows reads a file of rows: JSON lines, a JSON list of objects, or a table with a header.
// An error ends it; it names the row, as the error of a rowError.
func (r reader) rows(name string) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		data, err := r.bytes(name, maxFile)
		if err != nil {
			yield(row{}, err)
			return
		}
		switch strings.ToLower(path.Ext(name)) {
		case ".csv", ".tsv":
			tableRows(data, yield)
		case ".json", ".yaml", ".yml":
			listRows(name, data, yield)
		default:
			lineRows(data, yield)
		}
	}
}

// rowError is a fault of one row.
type rowError struct {
	n   int
	err error
}

func (e *rowError) Error() string { return fmt.Sprintf("row %d: %v", e.n, e.err) }

func (e *rowError) Unwrap() error { return e.err }

func lineRows(data []byte, yield func(row, error) bool) {
	for n := 1; len(data) > 0; n++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if len(line) > maxText || n > maxRows {
			yield(row{}, &rowError{n, errTooLarge})
			return
		}
		v, err := decodeJSON(line)
		m, ok := v.(map[string]any)
		if err == nil && !ok {
			err = errors.New("found " + describe(v) + ", allowed: an object")
		}
		if err != nil {
			m, err = nil, &rowError{n, err}
		}
		if !yield(row{n, m}, err) {
			return
		}
	}
}

func listRows(name string, data []byte, yield func(row, error) bool) {
	v, err := decodeYAML(name, data)
	if err != nil {
		yield(row{}, err)
		return
	}
	if m, ok := v.(map[string]any); ok {
		for _, key := range []string{"data", "rows", "samples", "tasks"} {
			if inner, ok := m[key].([]any); ok {
				v = inner
			}
		}
	}
	list, ok := v.([]any)
	if !ok {
		yield(row{}, errors.New("found "+describe(v)+", allowed: a list of objects"))
		return
	}
	for i, one := range list {
		m, ok := one.(map[string]any)
		if !ok {
			if !yield(row{}, &rowError{i + 1, errors.New("found " + describe(one) + ", allowed: an object")}) {
				return
			}
			continue
		}
		if wrapped, ok := m["row"].(map[string]any); ok && m["row_idx"] != nil {
			m = wrapped // as the data set server of Hugging Face answers
		}
		if !yield(row{i + 1, m}, nil) {
			return
		}
	}
}

func tableRows(data []byte, yield func(row, error) bool) {
	in := csv.NewReader(bytes.NewReader(data))
	in.FieldsPerRecord = -1
	header, _, _ := bytes.Cut(data, []byte("\n"))
	if bytes.ContainsRune(header, '\t') && !bytes.ContainsRune(header, ',') {
		in.Comma = '\t'
	}
	names, err := in.Read()
	if err != nil {
		yield(row{}, errors.New("has no header"))
		return
	}
	for i := range names {
		if names[i] = strings.TrimSpace(names[i]); names[i] != "" && slices.Contains(names[:i], names[i]) {
			yield(row{}, &rowError{1, fmt.Errorf("the column %q is there twice", names[i])})
			return
		}
	}
	for n := 2; ; n++ {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if line, _ := in.FieldPos(0); err == nil {
			n = line
		}
		if err == nil && len(cells) > len(names) {
			err = fmt.Errorf("has %d cells, and the header %d columns", len(cells), len(names))
		}
		if n > maxRows {
			yield(row{}, &rowError{n, errTooLarge})
			return
		}
		if err != nil {
			var parse *csv.ParseError
			if errors.As(err, &parse) {
				n, err = parse.StartLine, parse.Err
			}
			if !yield(row{}, &rowError{n, err}) {
				return
			}
			continue
		}
		m := make(map[string]any, len(names))
		for i, name := range names {
			if name != "" && i < len(cells) {
				m[name] = cells[i]
			}
		}
		if !yield(row{n, m}, nil) {
			return
		}
	}
}

func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return fmt.Sprintf("the text %.60q", v)
	case bool:
		return fmt.Sprint(v)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("the number %v", v)
}

// drive is how a path of Windows begins that is no path of a folder.
var drive = pattern.New(`^[A-Za-z]:`)

// resolve returns a path that the source names, below the folder of the file that names it. It
// refuses a path that leads out of the folder that is imported.
func resolve(base, name string) (string, error) {
	name = strings.ReplaceAll(strings.TrimPrefix(name, "file://"), `\`, "/")
	if strings.HasPrefix(name, "/") || drive.MatchString(name) || strings.HasPrefix(name, "~") {
		return "", fmt.Errorf("%.80q is an absolute path, which is not read", name)
	}
	full := path.Join(base, name)
	if !fs.ValidPath(full) || strings.ContainsRune(full, 0) {
		return "", fmt.Errorf("%.80q leads out of the folder that is imported", name)
	}
	return full, nil
}

// helpOutside is what helps with a path that leads out.
const helpOutside = "copy the file below the folder and name it there, or import the folder above"

// glob lists the files that a pattern names, at most maxGlob; ** represents any folders.
func (r reader) glob(pattern string) ([]string, error) {
	const maxGlob = 10_000
	if !strings.ContainsAny(pattern, "*?[{") {
		return []string{pattern}, nil
	}
	if !strings.Contains(pattern, "**") {
		names, err := fs.Glob(r.fsys, pattern)
		slices.Sort(names)
		return names[:min(len(names), maxGlob)], err
	}
	head, tail, _ := strings.Cut(pattern, "**")
	tail = strings.TrimPrefix(tail, "/")
	var out []string
	err := fs.WalkDir(r.fsys, path.Clean(head), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if ok, err := path.Match(tail, path.Base(name)); err != nil || ok {
			out = append(out, name)
			return err
		}
		if len(out) > maxGlob {
			return fs.SkipAll
		}
		return nil
	})
	return out, err
}

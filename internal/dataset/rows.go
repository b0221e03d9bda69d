package dataset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Rows goes over the rows of the file name below root, in their order. Its format is recognized
// by the end of its name and by its first bytes:
//
//   - .parquet
//   - .json: a list of objects; an object with such a list named data; an object whose
//     values are objects, each a row with its name as Key; objects one after another
//   - .jsonl, .ndjson: an object a line
//   - .csv, .tsv: a header, then rows
//   - another name: what the first bytes say of Parquet and JSON
//
// A row of JSON has no key twice. The first error ends it, and is the last that comes. root
// stays open until then. The iterator may be used again; it opens the file again.
func Rows(ctx context.Context, root *os.Root, name string, b Bounds) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		r := &reader{ctx: ctx, root: root, name: name, bounds: b.withDefaults(), yield: yield}
		if err := r.read(); err != nil && !errors.Is(err, errStop) {
			yield(Row{File: name}, r.fault(err))
		}
	}
}

// errStop says that the caller wants no more rows.
var errStop = errors.New("no more rows are wanted")

// reader is one reading of one file.
type reader struct {
	ctx    context.Context // of the reading, which the caller has begun
	root   *os.Root
	name   string
	bounds Bounds
	yield  func(Row, error) bool
	rows   int // that have come
	left   garbage
}

func (r *reader) read() error {
	head, err := r.head()
	if err != nil {
		return err
	}
	switch ext := strings.ToLower(path.Ext(r.name)); ext {
	case ".parquet":
		return r.parquet(head)
	case ".json", ".jsonl", ".ndjson":
		return r.json(ext != ".json", head)
	case ".csv", ".tsv":
		if err := notOtherwise(head); err != nil {
			return err
		}
		return r.stream(func(in *bufio.Reader) error { return r.table(in, ext == ".tsv") })
	}
	switch text := bytes.TrimLeft(head, " \t\r\n"); {
	case bytes.HasPrefix(head, []byte(parquetMark)):
		return r.parquet(head)
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return r.json(false, head)
	}
	return &Error{Err: ErrFormat, Msg: "neither its name nor its first bytes show what it is; .parquet, .json, .jsonl, .ndjson, .csv and .tsv are read, and archives are unpacked first"}
}

// take hands one row over.
func (r *reader) take(row Row) error {
	if r.rows++; r.rows > r.bounds.Rows {
		return &Error{Err: ErrBound, Msg: fmt.Sprintf("more than %d rows", r.bounds.Rows)}
	}
	row.File, row.Number = r.name, r.rows
	if !r.yield(row, nil) {
		return errStop
	}
	return nil
}

// fault completes an error with the file.
func (r *reader) fault(err error) error {
	var own *Error
	if errors.As(err, &own) {
		out := *own
		out.File = r.name
		return &out
	}
	var size *disk.Error
	if errors.As(err, &size) && errors.Is(err, disk.ErrTooLarge) {
		return &Error{File: r.name, Msg: size.Reason(), Err: ErrBound}
	}
	if errors.Is(err, encoding.ErrInvalidUTF8) {
		return &Error{File: r.name, Row: r.rows + 1, Msg: "not valid UTF-8: save the file as UTF-8", Err: ErrBroken}
	}
	if r.ctx.Err() != nil {
		return fmt.Errorf("read %s: %w", r.name, context.Cause(r.ctx))
	}
	return &Error{File: r.name, Msg: disk.Reason(err), Err: err}
}

// head returns the first bytes of the file.
func (r *reader) head() ([]byte, error) {
	f, err := disk.OpenIn(r.ctx, r.root, r.name, r.bounds.FileBytes)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, 512)
	n, err := io.ReadFull(f, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return bytes.TrimPrefix(buf[:n], []byte(byteOrderMark)), errors.Join(err, f.Close())
}

const byteOrderMark = "\ufeff"

// stream opens the file as a text, which fails with the first byte that is not UTF-8.
func (r *reader) stream(use func(*bufio.Reader) error) (err error) {
	f, err := disk.OpenIn(r.ctx, r.root, r.name, r.bounds.FileBytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := bufio.NewReaderSize(transform.NewReader(f, encoding.UTF8Validator), 64<<10)
	if mark, _ := in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = in.Discard(len(mark)) // it has been seen
	}
	return use(in)
}

// Pointer returns an error for the first bytes of what Git LFS has instead of a file.
func Pointer(head []byte) error {
	if bytes.HasPrefix(head, []byte("version https://git-lfs.github.com/")) {
		return &Error{Err: ErrFormat, Msg: "it is the pointer of Git LFS, not the file: fetch it, or run git lfs pull"}
	}
	return nil
}

// notOtherwise reports what is often found instead of a data file.
func notOtherwise(head []byte) error {
	text := bytes.ToLower(bytes.TrimLeft(head, " \t\r\n"))
	if err := Pointer(head); err != nil {
		return err
	}
	switch {
	case bytes.HasPrefix(text, []byte("<!doctype html")), bytes.HasPrefix(text, []byte("<html")):
		return &Error{Err: ErrFormat, Msg: "it is a web page: was the address of the page downloaded instead of that of the file?"}
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}), bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}), bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return &Error{Err: ErrFormat, Msg: "it is compressed: unpack it first"}
	}
	return nil
}

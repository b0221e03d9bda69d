package transcript

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// MaxLine is the length of a line, in bytes, above which it is skipped and named.
const MaxLine = 16 << 20

// errStop ends the reading of a store early: the rest is not wanted.
var errStop = errors.New("the rest is not read")

// lines hands the JSON objects of a file of lines to each, in order, with their numbers from 1.
// A file NAME.zst is unpacked. Lines that printed reports, which may be nil, are abridged. It
// ends early, without an error, where each returns errStop. A line that is too long, not UTF-8
// or no JSON object is named and left out; a last line without its end that is no whole object
// waits for the next reading.
func (r *Reading) lines(ctx context.Context, s Store, printed printed, each func(n int, record gjson.Result) error) error {
	f, err := r.open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, done, err := unpackText(s, io.LimitReader(f, f.Size()))
	if err != nil {
		return fmt.Errorf("read %s: %w", s.Path(), err)
	}
	defer done()
	in := bufio.NewReaderSize(text, 64<<10)
	var long []byte
	for n := 1; ; n++ {
		line, ended, err := readLine(in, &long)
		if err != nil && !errors.Is(err, errLong) {
			return fmt.Errorf("read %s: %w", s.Path(), err)
		}
		if line == nil && !ended {
			return nil
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if printed != nil && len(line) > longText && printed(line) {
			line = abridgeLine(line)
		}
		if err := r.line(s, n, line, ended, errors.Is(err, errLong), each); err != nil {
			if errors.Is(err, errStop) {
				return nil
			}
			return err
		}
	}
}

// open opens the file of a store and makes its mark.
func (r *Reading) open(ctx context.Context, s Store) (*disk.File, error) {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", s.Path(), err)
	}
	defer func() { _ = root.Close() }() // it was only read
	if r.Mark, err = peek(ctx, root, s); err != nil {
		return nil, fmt.Errorf("look at %s: %w", s.Path(), err)
	}
	f, err := disk.OpenIn(ctx, root, s.Name, maxStore)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", s.Path(), err)
	}
	r.Bytes += f.Size()
	return f, nil
}

// Bounds of what is unpacked: of its window in memory, and of all of it, in bytes.
const (
	maxWindow   = 32 << 20
	maxUnpacked = 8 << 30
)

// unpackText returns the text of a store: for a file NAME.zst what it holds when unpacked.
func unpackText(s Store, in io.Reader) (text io.Reader, done func(), err error) {
	if path.Ext(s.Name) != ".zst" {
		return in, func() {}, nil
	}
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, err
	}
	return &bounded{in: z, left: maxUnpacked}, z.Close, nil
}

// bounded reads up to a number of bytes; more is an error.
type bounded struct {
	in   io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("more than %s when unpacked, which is the most that is read", disk.Size(maxUnpacked))
	}
	return n, err
}

// line hands one line over, or says what is wrong with it.
func (r *Reading) line(s Store, n int, line []byte, ended, long bool, each func(int, gjson.Result) error) error {
	if long {
		r.problem(Problem{Path: s.Path(), Line: n, What: fmt.Sprintf("longer than %s, which is the most that is read of a line", disk.Size(MaxLine))})
		return nil
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	text := string(line) // what is read of a record may be kept, and the buffer is used again
	if tooDeep(text) {
		r.problem(Problem{Path: s.Path(), Line: n, What: fmt.Sprintf("nested deeper than %d, which is the most that is read", maxDepth)})
		return nil
	}
	whole := text[0] == '{' && gjson.Valid(text)
	switch {
	case !whole && !ended:
		return nil // somebody is writing it
	case !utf8.ValidString(text):
		r.problem(Problem{Path: s.Path(), Line: n, What: "not UTF-8"})
		return nil
	case !whole:
		r.problem(Problem{Path: s.Path(), Line: n, What: "not a JSON object"})
		return nil
	}
	return each(n, gjson.Parse(text))
}

// maxDepth is how deep values may be nested. Who checks JSON goes down into each, and no stack
// is deep enough for a line of brackets.
const maxDepth = 10_000

// validJSON reports whether a text is JSON that can be read.
func validJSON(text string) bool { return !tooDeep(text) && gjson.Valid(text) }

// tooDeep reports whether a text is nested deeper than maxDepth.
func tooDeep(text string) bool {
	// Without as many brackets there is no such depth; to count them costs next to nothing.
	if strings.Count(text, "[")+strings.Count(text, "{") <= maxDepth {
		return false
	}
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// errLong is a line beyond MaxLine: it is read to its end and left out.
var errLong = errors.New("line too long")

// readLine reads a line without its end. ended: it had one. At the end of the file line is nil.
// *long is room for lines that do not fit into the reader's.
func readLine(in *bufio.Reader, long *[]byte) (line []byte, ended bool, err error) {
	*long = (*long)[:0]
	tooLong := false
	for {
		part, err := in.ReadSlice('\n')
		if err == nil && len(*long) == 0 && !tooLong {
			return part[:len(part)-1], true, nil
		}
		switch {
		case len(*long)+len(part) > MaxLine:
			tooLong = true
		case len(*long)+len(part) > cap(*long) && cap(*long) >= 1<<20:
			*long = append(make([]byte, 0, MaxLine), *long...) // once, rather than in ever larger steps
		}
		if !tooLong {
			*long = append(*long, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil && tooLong:
			return nil, true, errLong
		case err == nil:
			return (*long)[:len(*long)-1], true, nil
		case errors.Is(err, io.EOF) && tooLong:
			return []byte{}, false, errLong
		case errors.Is(err, io.EOF) && len(*long) == 0:
			return nil, false, nil
		case errors.Is(err, io.EOF):
			return *long, false, nil
		}
		return nil, false, err
	}
}

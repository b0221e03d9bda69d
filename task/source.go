package task

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// MaxFile is the largest task file, in bytes.
const MaxFile = 256 << 20

// source is one file to read, and the split that its place represents.
type source struct {
	path  string
	split Split
	sum   hash.Hash // of the bytes that are read; nil: no guard asks
}

// read hands the tasks of one file to l. Items are made into tasks one by one: of a
// long file hardly more than what l keeps is in memory. What is wrong with them goes
// to ps; the error is the operating system's or the context's. A file that cannot be
// read as what it should be has that one problem and no tasks.
func (s source) read(ctx context.Context, l *linter, ps *problems) error {
	before, faults, n := l.mark(), len(ps.list), 0
	guard, refused := l.rules.Guard, problems{}
	if guard != nil {
		s.sum = sha256.New()
		if err := guard.Inside(s.path); err != nil {
			return err
		}
	}
	err := s.each(ctx, l, func(it Item) {
		n++
		t, ok := s.task(it, ps)
		if !ok {
			return
		}
		if guard != nil {
			for _, e := range guard.Refuse(t) {
				refused.about(t, "%v", e)
			}
		}
		l.add(t)
	})
	var system *systemError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("load tasks: %w", context.Cause(ctx))
	case errors.As(err, &system):
		return fmt.Errorf("load tasks: %w", system.error)
	case err != nil:
		l.forget(before)
		ps.list = append(ps.list[:faults], s.problem(err))
	case n == 0 && s.split != "":
		ps.add(s.path, "", "the %s split is empty: the file holds no tasks", s.split)
	}
	if err == nil && len(refused.list) > 0 {
		if e := guard.Trust(fmt.Sprintf("%x", s.sum.Sum(nil))); e != nil {
			ps.list = append(ps.list, refused.list...)
			ps.add(s.path, "", "the file is not trusted: %v", e)
		}
	}
	return nil
}

// task reads an item as a task. One with faults is left out: further faults of it
// would only follow from the first ones.
func (s source) task(it Item, ps *problems) (Task, bool) {
	t, err := decode(it, fmt.Sprintf("%s:%d", s.path, it.Line))
	for _, e := range unjoin(err) {
		ps.about(t, "%v", e)
	}
	if err != nil {
		return t, false
	}
	if s.split != "" && t.Split != "" && t.Split != s.split {
		ps.about(t, "its split field says %s, but it lies in %s", t.Split, s.split)
	}
	if s.split != "" {
		t.Split = s.split
	}
	return t, true
}

func (s source) problem(err error) Problem {
	var se *syntaxError
	if errors.As(err, &se) {
		return Problem{Origin: fmt.Sprintf("%s:%d", s.path, se.Line), Msg: se.Msg}
	}
	return Problem{Origin: s.path, Msg: err.Error()}
}

// systemError is no fault of what a file holds.
type systemError struct{ error }

// each calls take with the items of the file in their order.
func (s source) each(ctx context.Context, l *linter, take func(Item)) error {
	ext := strings.ToLower(filepath.Ext(s.path))
	table := ext == ".csv" || ext == ".tsv"
	if len(l.rules.Columns) > 0 && !table && isData(s.path) {
		return fmt.Errorf("tasks.columns is for tables (.csv and .tsv), and the fields of a %s file have names of their own: take tasks.columns out", ext)
	}
	named := func(it Item) { take(l.usual.item(s.path, it)) }
	switch ext {
	case ".jsonl", ".ndjson":
		return s.stream(ctx, func(r *bufio.Reader) error { return streamLines(r, named) })
	case ".csv", ".tsv":
		return s.stream(ctx, tableReader{source: s, rules: l.rules, used: l.used, usual: l.usual, seen: l.saw, take: take}.read)
	case ".json":
		return s.whole(ctx, func(data []byte) error { return eachTask(data, named) })
	case ".yaml", ".yml":
		return s.whole(ctx, func(data []byte) error { return eachYAML(ctx, data, named) })
	}
	if err := s.stream(ctx, func(*bufio.Reader) error { return nil }); err != nil {
		return err
	}
	return fmt.Errorf("unknown kind of file %q: .jsonl, .json, .yaml and .csv are read", ext)
}

// whole reads the file into memory.
func (s source) whole(ctx context.Context, use func(data []byte) error) error {
	data, err := disk.Read(ctx, s.path, MaxFile)
	if err != nil {
		return s.unread(err)
	}
	if s.sum != nil {
		s.sum.Write(data)
	}
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	if line := invalidUTF8(data); line > 0 {
		return notText(line)
	}
	return use(data)
}

const byteOrderMark = "\ufeff"

// stream goes over the file twice: what is no text at all is reported before anything
// else.
func (s source) stream(ctx context.Context, use func(*bufio.Reader) error) error {
	if err := s.open(ctx, checkText); err != nil {
		return err
	}
	return s.open(ctx, use)
}

func (s source) open(ctx context.Context, use func(*bufio.Reader) error) (err error) {
	f, err := disk.Open(ctx, s.path, MaxFile)
	if err != nil {
		return s.unread(err)
	}
	defer func() {
		if e := f.Close(); e != nil && err == nil {
			err = &systemError{e}
		}
	}()
	from := io.Reader(f)
	if s.sum != nil {
		s.sum.Reset()
		from = io.TeeReader(f, s.sum)
	}
	r := bufio.NewReaderSize(from, 64<<10)
	if mark, _ := r.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = r.Discard(len(mark)) // it has been seen
	}
	var se *syntaxError
	if err = use(r); err == nil {
		_, err = io.Copy(io.Discard, r) // the sum is of all
	}
	if err == nil || errors.As(err, &se) {
		return err
	}
	return s.unread(err)
}

// unread distinguishes a file that is none, or too large, from a fault of the system.
func (s source) unread(err error) error {
	var own *disk.Error
	switch {
	case errors.Is(err, disk.ErrTooLarge):
		return fmt.Errorf("the file is larger than %d MB", MaxFile>>20)
	case errors.As(err, &own):
		return errors.New(own.Reason())
	}
	return &systemError{err}
}

func notText(line int) error {
	return &syntaxError{Line: line, Msg: "not valid UTF-8: save the file as UTF-8"}
}

// checkText fails with the line of the first byte that is not UTF-8.
func checkText(r *bufio.Reader) error {
	line := 1
	var rest []byte // a character that the last block ended in
	for {
		block, err := r.Peek(1)
		if len(block) == 0 {
			break
		}
		block, _ = r.Peek(r.Buffered())
		text := append(rest, block...)
		n := len(text)
		for back := 1; back < utf8.UTFMax && back <= n && err == nil; back++ {
			if utf8.RuneStart(text[n-back]) {
				if !utf8.FullRune(text[n-back:]) {
					n -= back
				}
				break
			}
		}
		if bad := invalidUTF8(text[:n]); bad > 0 {
			return notText(line + bad - 1)
		}
		line += bytes.Count(text[:n], []byte("\n"))
		rest = bytes.Clone(text[n:])
		if _, err := r.Discard(len(block)); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		return notText(line)
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// invalidUTF8 returns the line of the first byte that is not UTF-8, 0 if there
// is none.
func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return 0
	}
	line := 1
	for row := range bytes.Lines(data) {
		if !utf8.Valid(row) {
			return line
		}
		line++
	}
	return line
}

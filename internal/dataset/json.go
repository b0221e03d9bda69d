package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
)

// mostNested is how deep values may nest: deeper ones would exhaust the stack.
const mostNested = 500

// json reads a document, or lines. What the name says is believed unless the first byte says
// otherwise: lists are found in .jsonl, and lines in .json.
func (r *reader) json(lines bool, head []byte) error {
	if err := notOtherwise(head); err != nil {
		return err
	}
	if text := bytes.TrimLeft(head, " \t\r\n"); lines && len(text) > 0 && text[0] == '[' {
		lines = false
	}
	if lines {
		return r.stream(r.lines)
	}
	return r.document()
}

// lines reads an object a line.
func (r *reader) lines(in *bufio.Reader) error {
	for n := 1; ; n++ {
		line, err := r.line(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && len(bytes.TrimSpace(line)) > 0 {
			err = r.lineRow(line, n)
		}
		var own *Error
		if errors.As(err, &own) && own.Line == 0 {
			own.Row, own.Line = r.rows+1, n
		}
		if err != nil {
			return err
		}
	}
}

// line returns the next line, io.EOF after the last.
func (r *reader) line(in *bufio.Reader) ([]byte, error) {
	var all []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(all)+len(part) > r.bounds.RowBytes {
			return nil, r.tooLong()
		}
		all = append(all, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(all) > 0:
			return all, nil
		}
		return all, err
	}
}

func (r *reader) tooLong() error {
	return &Error{Row: r.rows + 1, Err: ErrBound, Msg: fmt.Sprintf("the row has more than %d bytes: is it one object a line, or one list of objects?", r.bounds.RowBytes)}
}

func (r *reader) lineRow(line []byte, n int) error {
	p := newParser(bytes.NewReader(line), len(line))
	fields, err := p.row()
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return p.fault(err)
	}
	return r.take(Row{Line: n, Fields: fields})
}

// shape is how the rows of a document are laid out.
type shape int

const (
	shapeList   shape = iota // of objects
	shapeData                // an object with a list named data
	shapeValues              // an object whose values are the rows
	shapeMany                // objects one after another
)

// dataKey names the list of a document that is an object.
const dataKey = "data"

// document reads the file twice where it is an object: its shape is not certain before its
// end.
func (r *reader) document() error {
	var sh shape
	var p *parser
	err := r.stream(func(in *bufio.Reader) (err error) {
		p = newParser(in, r.bounds.RowBytes)
		sh, err = p.shape()
		return err
	})
	if err == nil {
		err = r.stream(func(in *bufio.Reader) error {
			p = newParser(in, r.bounds.RowBytes)
			return r.ofRow(p.fault(r.yieldRows(p, sh)))
		})
	}
	return r.addErrorLine(p, err)
}

// addErrorLine completes an error with the line that it is in, which is counted when it is
// needed.
func (r *reader) addErrorLine(p *parser, err error) error {
	if err == nil || errors.Is(err, errStop) {
		return err
	}
	err = p.fault(err)
	var own *Error
	if !errors.As(err, &own) || errors.Is(err, ErrFormat) {
		return err
	}
	_ = r.stream(func(in *bufio.Reader) error {
		own.Line = 1 + countLines(io.LimitReader(in, p.at()))
		return nil
	})
	return own
}

// ofRow completes an error with the row that was to come.
func (r *reader) ofRow(err error) error {
	var own *Error
	if errors.As(err, &own) && own.Row == 0 {
		own.Row = r.rows + 1
	}
	return err
}

func countLines(in io.Reader) (n int) {
	buf := make([]byte, 64<<10)
	for {
		got, err := in.Read(buf)
		n += bytes.Count(buf[:got], []byte("\n"))
		if err != nil {
			return n
		}
	}
}

// yieldRows yields the rows of a document.
func (r *reader) yieldRows(p *parser, sh shape) error {
	switch sh {
	case shapeMany:
		for {
			if _, err := p.peek(); errors.Is(err, io.EOF) {
				return nil
			}
			if err := r.next(p, ""); err != nil {
				return err
			}
		}
	case shapeList:
		if err := p.list(func() error { return r.next(p, "") }); err != nil {
			return err
		}
	default:
		err := p.object(func(key string) error {
			switch {
			case sh == shapeValues:
				return r.next(p, key)
			case key == dataKey:
				return p.list(func() error { return r.next(p, "") })
			}
			p.begin()
			return p.skip()
		})
		if err != nil {
			return err
		}
	}
	return p.end()
}

// next reads a row and hands it over.
func (r *reader) next(p *parser, key string) error {
	fields, err := p.row()
	if err != nil {
		return err
	}
	return r.take(Row{Key: key, Fields: fields})
}

// parser reads JSON token by token.
type parser struct {
	in    *window
	dec   *json.Decoder
	path  []string // of names, to the value that is read
	depth int
	ahead []json.Token // read and not used: one or none
}

// newParser returns a parser of a text whose rows have at most limit bytes.
func newParser(in io.Reader, limit int) *parser {
	w := &window{in: in, limit: int64(limit)}
	dec := json.NewDecoder(w)
	dec.UseNumber()
	return &parser{in: w, dec: dec}
}

// window refuses a row that takes too much before it is in memory.
type window struct {
	in    io.Reader
	read  int64
	from  int64 // where the row begins
	limit int64
}

var errLong = errors.New("too long")

// slack is what a decoder reads ahead at most.
const slack = 1 << 20

func (w *window) Read(p []byte) (int, error) {
	if w.read-w.from > w.limit+slack {
		return 0, errLong
	}
	n, err := w.in.Read(p[:min(len(p), slack)])
	w.read += int64(n)
	return n, err
}

// begin marks the beginning of a row.
func (p *parser) begin() { p.in.from = p.at() }

// at returns how many bytes of the text are read.
func (p *parser) at() int64 { return p.dec.InputOffset() }

func (p *parser) token() (json.Token, error) {
	if len(p.ahead) > 0 {
		t := p.ahead[0]
		p.ahead = p.ahead[:0]
		return t, nil
	}
	t, err := p.dec.Token()
	if err == nil && p.at()-p.in.from > p.in.limit {
		return nil, errLong
	}
	return t, err
}

// peek returns the next token and keeps it for token. It is nil for null.
func (p *parser) peek() (json.Token, error) {
	t, err := p.token()
	if err == nil {
		p.ahead = append(p.ahead, t)
	}
	return t, err
}

// end fails unless nothing is left.
func (p *parser) end() error {
	_, err := p.dec.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return p.bad("there is more after the end of the value")
}

func (p *parser) bad(format string, args ...any) error {
	return &Error{Column: strings.Join(p.path, "."), Msg: fmt.Sprintf(format, args...), Err: ErrBroken}
}

// fault makes an *Error of what the decoder says.
func (p *parser) fault(err error) error {
	var own *Error
	var syntax *json.SyntaxError
	column := strings.Join(p.path, ".")
	switch {
	case err == nil, errors.As(err, &own), errors.Is(err, errStop), errors.Is(err, encoding.ErrInvalidUTF8):
		return err
	case errors.Is(err, errLong):
		return &Error{Column: column, Err: ErrBound, Msg: fmt.Sprintf("the row has more than %d bytes", p.in.limit)}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Column: column, Err: ErrBroken, Msg: "it ends in the middle of a value: was it cut?"}
	case errors.As(err, &syntax):
		msg := syntax.Error()
		if strings.Contains(msg, "'N'") || strings.Contains(msg, "'I'") {
			msg += " (NaN and Infinity, which Python writes, are no JSON: write null)"
		}
		return &Error{Column: column, Err: ErrBroken, Msg: msg}
	}
	return err
}

// shape goes through the text once to see how its rows are laid out.
func (p *parser) shape() (shape, error) {
	p.begin()
	first, err := p.peek()
	switch {
	case errors.Is(err, io.EOF):
		return 0, &Error{Err: ErrBroken, Msg: "it is empty"}
	case err != nil:
		return 0, err
	case first == json.Delim('['):
		return shapeList, nil
	case first != json.Delim('{'):
		return 0, p.bad("a list of objects or an object expected, found %s", kind(first))
	}
	sh, other := shapeValues, ""
	err = p.object(func(key string) error {
		p.begin()
		value, err := p.peek()
		if err != nil {
			return err
		}
		if key == dataKey && value == json.Delim('[') {
			sh = shapeData
			return errShape
		}
		if value != json.Delim('{') && other == "" {
			other = fmt.Sprintf("%q is %s", key, kind(value))
		}
		return p.skip()
	})
	if errors.Is(err, errShape) {
		return sh, nil
	}
	if err != nil {
		return 0, err
	}
	if p.dec.More() {
		return shapeMany, nil
	}
	if other != "" {
		p.path = nil
		return 0, &Error{Err: ErrFormat, Msg: "it is an object without a list named data whose values are not all objects (" + other + "): a list of objects, or an object a line, is read"}
	}
	return sh, nil
}

var errShape = errors.New("the shape is known")

// list calls each before every element of a list.
func (p *parser) list(each func() error) error {
	p.begin()
	if err := p.open('[', "a list"); err != nil {
		return err
	}
	for p.dec.More() {
		if err := each(); err != nil {
			return err
		}
	}
	return p.close()
}

// object calls each before the value of every key, none of which may occur twice.
func (p *parser) object(each func(key string) error) error {
	if err := p.open('{', "an object"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for p.dec.More() {
		t, err := p.token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // the decoder has seen to it
		p.path = append(p.path, key)
		if seen[key] {
			return p.bad("the key is there twice in one object")
		}
		seen[key] = true
		if err := each(key); err != nil {
			return err
		}
		p.path = p.path[:len(p.path)-1]
	}
	return p.close()
}

func (p *parser) open(sign json.Delim, what string) error {
	t, err := p.token()
	if err != nil {
		return err
	}
	if t != sign {
		return p.bad("%s expected, found %s", what, kind(t))
	}
	if p.depth++; p.depth > mostNested {
		return p.bad("nested deeper than %d levels", mostNested)
	}
	return nil
}

func (p *parser) close() error {
	p.depth--
	_, err := p.token()
	return err
}

// row reads an object.
func (p *parser) row() (map[string]any, error) {
	p.begin()
	fields := map[string]any{}
	err := p.object(func(key string) error {
		v, err := p.value()
		fields[key] = v
		return err
	})
	return fields, err
}

func (p *parser) value() (any, error) {
	t, err := p.peek()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		m := map[string]any{}
		err := p.object(func(key string) error {
			v, err := p.value()
			m[key] = v
			return err
		})
		return m, err
	case json.Delim('['):
		items := []any{}
		if err := p.open('[', ""); err != nil {
			return nil, err
		}
		for p.dec.More() {
			v, err := p.value()
			if err != nil {
				return nil, err
			}
			items = append(items, v)
		}
		return items, p.close()
	}
	_, err = p.token()
	return t, err
}

// skip reads a value and keeps nothing.
func (p *parser) skip() error {
	t, err := p.peek()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'):
		return p.object(func(string) error { return p.skip() })
	case json.Delim('['):
		if err := p.open('[', ""); err != nil {
			return err
		}
		for p.dec.More() {
			if err := p.skip(); err != nil {
				return err
			}
		}
		return p.close()
	}
	_, err = p.token()
	return err
}

// kind names what a token begins.
func kind(t json.Token) string {
	switch t := t.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(t)
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case json.Delim:
		if t == '[' {
			return "a list"
		}
		return "an object"
	}
	return "something else"
}

// Package yamlx reads YAML that somebody else has written, within bounds, and writes
// YAML. It is the only package that knows the YAML library: others get a text as plain
// values, or as nodes with their lines and columns. A scalar is read by YAML 1.2, or by
// 1.1 for files that were written for PyYAML.
//
// The YAML library takes time and memory out of all proportion for a few hundred
// bytes of brackets, dashes, aliases or blank lines. So a text is measured before
// each part of the work: its marks before it is cut into tokens, its nesting and
// the length of its mappings before it is parsed, and what its aliases represent
// before it is decoded. Errors name the place and quote nothing of the text, which
// may be a file of keys that was named by mistake.
//
// It knows nothing about what the YAML means.
package yamlx

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// Bounds of a text. All are far beyond what people write.
const (
	MaxBytes  = 1 << 20
	MaxDepth  = 100     // levels of lists and mappings within each other
	MaxTokens = 100_000 // of the text: a scalar, a comma, a dash are one each
	MaxKeys   = 2000    // of one mapping in block style, and documents of one text
	MaxValues = 100_000 // with each alias counted as all that it represents
)

// Error is a text that is no YAML, or none within the bounds. It quotes nothing.
type Error struct {
	Line   int // 1-based; 0: the text as a whole
	Column int // 1-based; 0: the line as a whole
	Msg    string
}

func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return e.Msg
	case e.Column == 0:
		return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// Parse returns the nodes of a text in which no mapping has a key twice. The error is
// an *Error.
func Parse(data []byte) (File, error) { return parse(data) }

// ParseRepeated parses as Parse does, for a text whose mappings may have a key more than once.
func ParseRepeated(data []byte) (File, error) { return parse(data, parser.AllowDuplicateMapKey()) }

func parse(data []byte, opts ...parser.Option) (file File, err error) {
	// The library panics on some malformed texts.
	defer func() {
		if recover() != nil {
			file, err = File{}, &Error{Msg: unreadable}
		}
	}()
	if err := measureText(data); err != nil {
		return File{}, err
	}
	tokens := lexer.Tokenize(string(data))
	if err := measureTokens(tokens); err != nil {
		return File{}, err
	}
	tree, err := parser.Parse(tokens, 0, opts...)
	if err != nil {
		return File{}, plain(err)
	}
	if err := measureNodes(tree); err != nil {
		return File{}, err
	}
	return File{tree}, nil
}

// Decode fills v, a pointer, from the first document of a text by YAML 1.2, and returns
// the nodes too. The error is an *Error.
func Decode(data []byte, v any) (File, error) { return decode(data, v) }

// DecodeStrict decodes as Decode does, and fails for a key that a struct in v has no field for.
func DecodeStrict(data []byte, v any) (File, error) { return decode(data, v, yaml.Strict()) }

func decode(data []byte, v any, opts ...yaml.DecodeOption) (file File, err error) {
	if file, err = parse(data); err != nil {
		return File{}, err
	}
	defer func() {
		if recover() != nil {
			file, err = File{}, &Error{Msg: unreadable}
		}
	}()
	if err := yaml.UnmarshalWithOptions(data, v, opts...); err != nil {
		return File{}, plain(err)
	}
	return file, nil
}

const unreadable = "YAML that cannot be read"

// quoted is what the library quotes of a text.
var quoted = pattern.New(` ?"(?:[^"\\]|\\.)*"`)

// plain returns an error of the library without what it quotes. The library's own text shows the
// lines around the place.
func plain(err error) *Error {
	out := &Error{Msg: unreadable}
	var at yaml.Error
	if !errors.As(err, &at) {
		return out
	}
	if tok := at.GetToken(); tok != nil && tok.Position != nil {
		out.Line, out.Column = tok.Position.Line, tok.Position.Column
	}
	var unknown *yaml.UnknownFieldError
	msg := at.GetMessage()
	if !errors.As(err, &unknown) { // a key of a mapping that was read is no secret
		msg = strings.TrimSpace(quoted.ReplaceAllString(msg, ""))
	}
	if msg != "" {
		out.Msg = msg
	}
	return out
}

package importer

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// MaxFile is the size of the largest file that is read, in bytes.
const MaxFile = 64 << 10

// ParseError is a file that cannot be read as a configuration. It quotes nothing
// of the file, which may hold keys.
type ParseError struct {
	File string
	Line int // 0 = the file as a whole
	What string
}

func (e *ParseError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.What
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.What)
}

// Parse reads one YAML document by the rules of YAML 1.1, as PyYAML has them: on
// and off are truth values, 010 is 8, 1:30 is 90, 1e3 is text. Dates stay text. A
// key that is said twice counts where it is said last, "<<" merges. An empty
// document is an empty configuration. The error is a *ParseError.
func Parse(file string, data []byte) (cfg map[string]any, err error) {
	if len(data) > MaxFile {
		return nil, &ParseError{File: file, What: fmt.Sprintf("larger than a configuration is (%d KB at most)", MaxFile>>10)}
	}
	if err := plainText(file, data); err != nil {
		return nil, err
	}
	tree, err := yamlx.ParseRepeated(bytes.TrimPrefix(data, []byte("\ufeff")))
	if err != nil {
		return nil, unreadable(file, err)
	}
	r := reader{file: file, anchors: map[string]any{}}
	var found any
	documents := 0
	for doc := range tree.Documents() {
		switch doc.Kind() {
		case yamlx.None, yamlx.Comments, yamlx.Directive:
			continue
		}
		if documents++; documents > 1 {
			return nil, r.fail(doc, "a second YAML document")
		}
		if found, err = r.value(doc); err != nil {
			return nil, err
		}
	}
	if m, ok := found.(map[string]any); ok {
		return m, nil
	}
	if empty(found) {
		return map[string]any{}, nil
	}
	return nil, &ParseError{File: file, What: "found " + describe(found) + ", want a mapping"}
}

// empty reports whether Python takes a value for false.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case int64:
		return v == 0
	case float64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// plainText refuses what YAML does not take for text.
func plainText(file string, data []byte) error {
	line := 1
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			return &ParseError{File: file, Line: line, What: "found a byte that is not UTF-8: save the file as UTF-8 text"}
		case r == '\n':
			line++
		case r < ' ' && r != '\t' && r != '\r' || r == 0x7f:
			return &ParseError{File: file, Line: line, What: fmt.Sprintf("found the control character %U, which YAML does not allow", r)}
		}
		data = data[size:]
	}
	return nil
}

func unreadable(file string, err error) error {
	out := &ParseError{File: file, What: "YAML that cannot be read: " + err.Error()}
	var at *yamlx.Error
	if errors.As(err, &at) {
		out.Line, out.What = at.Line, "YAML that cannot be read: "+at.Msg
	}
	return out
}

// reader turns the nodes of one file into values.
type reader struct {
	file    string
	anchors map[string]any
}

func (r *reader) fail(n yamlx.Node, what string) error {
	return &ParseError{File: r.file, Line: n.Line(), What: what}
}

func (r *reader) value(n yamlx.Node) (any, error) {
	switch n.Kind() {
	case yamlx.None, yamlx.Null, yamlx.Comments:
		return nil, nil
	case yamlx.Mapping:
		return r.readMapping(n)
	case yamlx.List:
		return r.sequence(n)
	case yamlx.Anchored:
		v, err := r.value(n.Inner())
		if err == nil {
			r.anchors[n.Name()] = v
		}
		return v, err
	case yamlx.Alias:
		return r.alias(n)
	case yamlx.Tagged:
		return r.resolveTag(n)
	}
	if n.Scalar() {
		return n.Value11(), nil
	}
	return nil, r.fail(n, "YAML that no configuration has")
}

func (r *reader) sequence(n yamlx.Node) (any, error) {
	list := make([]any, 0, n.Len())
	for _, inner := range n.Items() {
		v, err := r.value(inner)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// readMapping reads keys and values. Keys that are written there win over keys that are merged in.
func (r *reader) readMapping(n yamlx.Node) (any, error) {
	said, merged := map[string]any{}, map[string]any{}
	for name, value := range n.Pairs() {
		v, err := r.value(value)
		if err != nil {
			return nil, err
		}
		if name.Kind() == yamlx.MergeKey {
			if err := r.merge(name, merged, v); err != nil {
				return nil, err
			}
			continue
		}
		key, err := r.key(name)
		if err != nil {
			return nil, err
		}
		said[key] = v
	}
	for key, v := range merged {
		if _, ok := said[key]; !ok {
			said[key] = v
		}
	}
	return said, nil
}

// merge adds a mapping or a list of them; the first that has a key counts.
func (r *reader) merge(n yamlx.Node, into map[string]any, v any) error {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, one := range list {
		m, ok := one.(map[string]any)
		if !ok {
			return r.fail(n, "<< merges mappings, found "+describe(one))
		}
		for key, value := range m {
			if _, ok := into[key]; !ok {
				into[key] = value
			}
		}
	}
	return nil
}

// key returns a key as text: one that is a number or a truth value by the rules
// of YAML is nothing that a configuration knows, and stays as it is written.
func (r *reader) key(n yamlx.Node) (string, error) {
	switch n.Kind() {
	case yamlx.ExplicitKey, yamlx.Anchored:
		return r.key(n.Inner())
	case yamlx.String, yamlx.Literal:
		return n.Text(), nil
	}
	if n.Scalar() {
		return n.TokenText(), nil
	}
	return "", r.fail(n, "a key that is no text")
}

// alias copies what is under an anchor. What all of them represent has been
// bounded by yamlx.
func (r *reader) alias(n yamlx.Node) (any, error) {
	v, ok := r.anchors[n.Name()]
	if !ok {
		return nil, r.fail(n, "an alias without its anchor before it")
	}
	return cloneValue(v), nil
}

func (r *reader) resolveTag(n yamlx.Node) (any, error) {
	if inner := n.Inner(); n.TokenText() == "!!str" && inner.Scalar() {
		return inner.Text(), nil
	}
	v, err := r.value(n.Inner())
	if err != nil {
		return nil, err
	}
	switch n.TokenText() {
	case "!!int", "!!float", "!!bool", "!!null":
		if s, ok := v.(string); ok {
			return yamlx.Plain11(s), nil
		}
		return v, nil
	case "!!map", "!!seq", "!!str":
		return v, nil
	default:
		return nil, r.fail(n, "a tag that no configuration has")
	}
}

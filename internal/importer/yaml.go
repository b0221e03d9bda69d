package importer

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// MaxFile is the size of the largest file that is read, in bytes.
const MaxFile = 64 << 10

// maxNodes bounds the values of a file, each alias counted with all that it stands
// for.
const maxNodes = 100_000

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
	tree, err := yamlx.Parse(bytes.TrimPrefix(data, []byte("\ufeff")), parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, unreadable(file, err)
	}
	r := reader{file: file, anchors: map[string]any{}}
	var found any
	documents := 0
	for _, doc := range tree.Docs {
		switch doc.Body.(type) {
		case nil, *ast.CommentGroupNode, *ast.DirectiveNode:
			continue
		}
		if documents++; documents > 1 {
			return nil, r.fail(doc.Body, "a second YAML document")
		}
		if found, err = r.value(doc.Body); err != nil {
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
	nodes   int
}

func (r *reader) fail(n ast.Node, what string) error {
	e := &ParseError{File: r.file, What: what}
	if tok := n.GetToken(); tok != nil && tok.Position != nil {
		e.Line = tok.Position.Line
	}
	return e
}

func (r *reader) value(n ast.Node) (any, error) {
	if r.nodes++; r.nodes > maxNodes {
		return nil, r.fail(n, "more values than a configuration has")
	}
	switch n := n.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return nil, nil
	case *ast.MappingNode:
		return r.mapping(n.Values)
	case *ast.MappingValueNode:
		return r.mapping([]*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		return r.sequence(n)
	case *ast.AnchorNode:
		v, err := r.value(n.Value)
		if err == nil {
			r.anchors[n.Name.GetToken().Value] = v
		}
		return v, err
	case *ast.AliasNode:
		return r.alias(n)
	case *ast.TagNode:
		return r.tagged(n)
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.StringNode:
		if n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType {
			return n.Value, nil
		}
		return plain(n.Value), nil
	case ast.ScalarNode:
		return plain(n.GetToken().Value), nil
	}
	return nil, r.fail(n, "YAML that no configuration has")
}

func (r *reader) sequence(n *ast.SequenceNode) (any, error) {
	list := make([]any, 0, len(n.Values))
	for _, inner := range n.Values {
		v, err := r.value(inner)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// mapping reads keys and values. What is merged in gives way to what is said.
func (r *reader) mapping(entries []*ast.MappingValueNode) (any, error) {
	said, merged := map[string]any{}, map[string]any{}
	for _, entry := range entries {
		v, err := r.value(entry.Value)
		if err != nil {
			return nil, err
		}
		if _, ok := entry.Key.(*ast.MergeKeyNode); ok {
			if err := r.merge(entry, merged, v); err != nil {
				return nil, err
			}
			continue
		}
		key, err := r.key(entry.Key)
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
func (r *reader) merge(n ast.Node, into map[string]any, v any) error {
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
func (r *reader) key(n ast.Node) (string, error) {
	switch n := n.(type) {
	case *ast.MappingKeyNode:
		return r.key(n.Value)
	case *ast.AnchorNode:
		return r.key(n.Value)
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case ast.ScalarNode:
		return n.GetToken().Value, nil
	}
	return "", r.fail(n, "a key that is no text")
}

// alias copies what stands under an anchor and counts it, so that a few lines
// cannot stand for endless data.
func (r *reader) alias(n *ast.AliasNode) (any, error) {
	v, ok := r.anchors[n.Value.GetToken().Value]
	if !ok {
		return nil, r.fail(n, "an alias without its anchor before it")
	}
	if r.nodes += size(v, maxNodes-r.nodes); r.nodes > maxNodes {
		return nil, r.fail(n, "more values than a configuration has")
	}
	return cloneValue(v), nil
}

// size counts values, up to little more than most.
func size(v any, most int) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			if n > most {
				break
			}
			n += size(inner, most-n)
		}
	case []any:
		for _, inner := range v {
			if n > most {
				break
			}
			n += size(inner, most-n)
		}
	}
	return n
}

func (r *reader) tagged(n *ast.TagNode) (any, error) {
	if n.GetToken().Value == "!!str" {
		if scalar, ok := n.Value.(ast.ScalarNode); ok {
			return scalarText(scalar), nil
		}
	}
	v, err := r.value(n.Value)
	if err != nil {
		return nil, err
	}
	switch tag := n.GetToken().Value; tag {
	case "!!int", "!!float", "!!bool", "!!null":
		if s, ok := v.(string); ok {
			return plain(s), nil
		}
		return v, nil
	case "!!map", "!!seq", "!!str":
		return v, nil
	default:
		return nil, r.fail(n, "a tag that no configuration has: "+strings.TrimSpace(tag))
	}
}

func scalarText(n ast.ScalarNode) string {
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value
	}
	if s, ok := n.(*ast.LiteralNode); ok {
		return s.Value.Value
	}
	if _, ok := n.(*ast.NullNode); ok && n.GetToken().Type == token.ImplicitNullType {
		return ""
	}
	return n.GetToken().Value
}

package config

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/goccy/go-yaml/ast"

	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// parse reads one YAML document as plain values, with the line of each key.
func parse(name string, data []byte) (tree map[string]any, lines map[string]int, err error) {
	file, err := yamlx.Decode(data, &tree)
	if err != nil {
		return nil, nil, unreadable(name, err)
	}
	if tree == nil {
		tree = map[string]any{}
	}
	lines = map[string]int{}
	found := false
	for _, doc := range file.Docs {
		if !holdsValue(doc) {
			continue
		}
		if found { // the rest would be dropped without a word
			return nil, nil, problem(fmt.Sprintf("%s:%d", name, doc.Body.GetToken().Position.Line), "a second YAML document", "one YAML mapping")
		}
		found = true
		keyLines(doc.Body, "", lines)
		asWritten(doc.Body, spot{holds: reflect.TypeFor[Config]()}, tree)
	}
	return tree, lines, nil
}

// unreadable says where the YAML is wrong. It shows nothing of the file: what is no
// config may be a file of keys.
func unreadable(name string, err error) error {
	found := err.Error()
	var at *yamlx.Error
	if errors.As(err, &at) {
		found = at.Msg
		if at.Line > 0 {
			name = fmt.Sprintf("%s:%d", name, at.Line)
		}
		if at.Column > 0 {
			found += fmt.Sprintf(" (column %d)", at.Column)
		}
	}
	return problem(name, "YAML that cannot be read: "+found, "one YAML mapping")
}

func holdsValue(doc *ast.DocumentNode) bool {
	switch doc.Body.(type) {
	case nil, *ast.CommentGroupNode, *ast.NullNode:
		return false
	}
	return true
}

func keyLines(n ast.Node, prefix string, lines map[string]int) {
	for _, v := range entries(n) {
		tok := v.Key.GetToken()
		key := join(prefix, tok.Value)
		lines[key] = tok.Position.Line
		keyLines(v.Value, key, lines)
	}
}

// entries returns what is in a mapping, which may have one key only.
func entries(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// asWritten returns v, which n says, with the numbers as they are written where
// text is held: an account 0123 or a version 1.10 is no number.
func asWritten(n ast.Node, at spot, v any) any {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		if at.holds != nil && at.holds.Kind() == reflect.String {
			return n.GetToken().Value
		}
	case *ast.SequenceNode:
		list, _ := v.([]any)
		for i := range min(len(list), len(n.Values)) {
			list[i] = asWritten(n.Values[i], at.element(), list[i])
		}
	default:
		m, _ := v.(map[string]any)
		for _, e := range entries(n) {
			name := e.Key.GetToken().Value
			if inner, ok := m[name]; ok {
				m[name] = asWritten(e.Value, at.below(name), inner)
			}
		}
	}
	return v
}

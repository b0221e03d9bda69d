package config

import (
	"errors"
	"fmt"
	"reflect"

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
	for doc := range file.Documents() {
		if !holdsValue(doc) {
			continue
		}
		if found { // the rest would be dropped without a word
			return nil, nil, problemAt(fmt.Sprintf("%s:%d", name, doc.Line()), "", "a second YAML document", "one YAML mapping")
		}
		found = true
		keyLines(doc, "", lines)
		asWritten(doc, spot{holds: reflect.TypeFor[Config]()}, tree)
	}
	return tree, lines, nil
}

// SetKeys lists the keys that a file which a run has kept sets to another value than the default. What of it cannot be
// read is left out.
func SetKeys(text []byte) []string {
	tree, _, _ := parse("", text) // of a newer version, or damaged: the text itself is shown
	return setKeys(tree)
}

func setKeys(tree map[string]any) []string {
	c, d, out := Default(), &decoder{}, []string{}
	d.structure(reflect.ValueOf(&c).Elem(), "", tree)
	defaults := Default().Keys()
	for i, k := range c.Keys() {
		if k.Value != defaults[i].Value {
			out = append(out, k.Path)
		}
	}
	return out
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
	return problemAt(name, "", "YAML that cannot be read: "+found, "one YAML mapping")
}

func holdsValue(doc yamlx.Node) bool {
	switch doc.Kind() {
	case yamlx.None, yamlx.Comments, yamlx.Null:
		return false
	}
	return true
}

func keyLines(n yamlx.Node, prefix string, lines map[string]int) {
	for k, v := range n.Pairs() {
		key := join(prefix, k.TokenText())
		lines[key] = k.Line()
		keyLines(v, key, lines)
	}
}

// asWritten returns v, which n says, with the numbers as they are written where
// text is held: an account 0123 or a version 1.10 is no number.
func asWritten(n yamlx.Node, at spot, v any) any {
	switch n.Kind() {
	case yamlx.Integer, yamlx.Float:
		if at.holds != nil && at.holds.Kind() == reflect.String {
			return n.TokenText()
		}
	case yamlx.List:
		list, _ := v.([]any)
		for i, item := range n.Items() {
			if i < len(list) {
				list[i] = asWritten(item, at.element(), list[i])
			}
		}
	case yamlx.Mapping:
		m, _ := v.(map[string]any)
		for key, value := range n.Pairs() {
			name := key.TokenText()
			if inner, ok := m[name]; ok {
				m[name] = asWritten(value, at.child(name), inner)
			}
		}
	}
	return v
}

package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// lintSchema finds what the validator takes without a word, and then fails right
// answers by, or never comes back from. It returns the schemas within the schema
// by their JSON pointers.
func lintSchema(schema any) (nodes map[string]map[string]any, err error) {
	l := schemaLint{nodes: map[string]map[string]any{}, names: map[string]string{}, state: map[string]int{}}
	l.collect("#", schema)
	var errs []error
	if top, ok := schema.(map[string]any); ok {
		errs = append(errs, lintVersion(top))
	}
	for _, at := range slices.Sorted(maps.Keys(l.nodes)) {
		errs = append(errs, lintTypes(at, l.nodes[at]), lintMultiple(at, l.nodes[at]))
		if l.endless(at) {
			errs = append(errs, fmt.Errorf("%s: it refers to itself without ever looking into the answer", at))
			break // the others go round the same way
		}
	}
	return l.nodes, errors.Join(errs...)
}

func lintVersion(schema map[string]any) error {
	known := []string{"https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"}
	v, given := schema["$schema"]
	version, _ := v.(string)
	if !given || slices.Contains(append(known, "https://json-schema.org/draft-07/schema#"), version) {
		return nil
	}
	return fmt.Errorf("$schema: found %s, allowed: %s", describe(v), strings.Join(known, ", "))
}

func lintTypes(at string, schema map[string]any) error {
	v, given := schema["type"]
	if !given {
		return nil
	}
	known := []string{"object", "array", "string", "number", "integer", "boolean", "null"}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, one := range list {
		if word, ok := one.(string); !ok || !slices.Contains(known, word) {
			return fmt.Errorf("%s/type: found %s, allowed: %s", at, describe(one), strings.Join(known, ", "))
		}
	}
	return nil
}

// lintMultiple refuses what right answers would fail: numbers are read as binary
// fractions, of which none is a multiple of 0.01.
func lintMultiple(at string, schema map[string]any) error {
	n, ok := schema["multipleOf"].(json.Number)
	if !ok {
		return nil // the reader of the schema says so
	}
	of, ok := rational(n)
	if d := new(big.Int); ok && d.And(of.Denom(), d.Sub(of.Denom(), big.NewInt(1))).Sign() == 0 {
		return nil
	}
	return fmt.Errorf("%s/multipleOf: found %s, allowed: a whole number, or a fraction such as 0.5 or 0.25: right answers would fail others, as numbers are read in binary", at, n)
}

// exactNumbers puts the whole numbers of const and enum, which the reader of
// schemas rounds to 53 bits, into a schema as they are. nodes are the schemas
// within it as JSON, by their pointers.
func exactNumbers(at string, schema *jsonschema.Schema, nodes map[string]map[string]any) {
	if schema == nil || nodes[at] == nil {
		return
	}
	if v, ok := nodes[at]["const"]; ok {
		v = plainNumbers(v)
		schema.Const = &v
	}
	if list, ok := nodes[at]["enum"].([]any); ok {
		schema.Enum, _ = plainNumbers(list).([]any)
	}
	v := reflect.ValueOf(schema).Elem()
	for i := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if key == "-" {
			key = map[string]string{"Items": "items", "ItemsArray": "items", "DependencySchemas": "dependencies"}[v.Type().Field(i).Name]
		}
		below := at + "/" + pointerPart(key)
		switch inner := v.Field(i).Interface().(type) {
		case *jsonschema.Schema:
			exactNumbers(below, inner, nodes)
		case []*jsonschema.Schema:
			for j, one := range inner {
				exactNumbers(below+"/"+strconv.Itoa(j), one, nodes)
			}
		case map[string]*jsonschema.Schema:
			for name, one := range inner {
				exactNumbers(below+"/"+pointerPart(name), one, nodes)
			}
		}
	}
}

// schemaLint knows the schemas within a schema by their JSON pointers.
type schemaLint struct {
	nodes map[string]map[string]any
	names map[string]string // pointers by $id, and by "#" and the anchor
	state map[string]int    // of endless: 1 = on the way, 2 = it ends
}

// collect finds the schemas in what is one, or a list of them.
func (l *schemaLint) collect(at string, v any) {
	if list, ok := v.([]any); ok {
		for i, inner := range list {
			l.collect(at+"/"+strconv.Itoa(i), inner)
		}
		return
	}
	schema, ok := v.(map[string]any)
	if !ok {
		return
	}
	l.nodes[at] = schema
	for key, inner := range schema {
		below := at + "/" + pointerPart(key)
		switch key {
		case "$id", "$anchor", "$dynamicAnchor":
			name, ok := inner.(string)
			if ok && key != "$id" {
				name = "#" + name
			}
			if ok {
				l.names[name] = at
			}
		case "const", "enum", "default", "examples", "dependentRequired":
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
			named, _ := inner.(map[string]any)
			for name, one := range named {
				l.collect(below+"/"+pointerPart(name), one)
			}
		default:
			l.collect(below, inner)
		}
	}
}

func pointerPart(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

// endless reports whether a schema comes back to itself for the same value.
func (l *schemaLint) endless(at string) bool {
	switch l.state[at] {
	case 1:
		return true
	case 2:
		return false
	}
	l.state[at] = 1
	defer func() { l.state[at] = 2 }()
	return slices.ContainsFunc(l.sameValue(at), l.endless)
}

// sameValue lists the schemas that a schema holds the same value against.
func (l *schemaLint) sameValue(at string) []string {
	node := l.nodes[at]
	var next []string
	for _, key := range []string{"$ref", "$dynamicRef"} {
		if ref, ok := node[key].(string); ok {
			next = append(next, l.target(ref))
		}
	}
	for _, key := range []string{"not", "if", "then", "else"} {
		next = append(next, at+"/"+key)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := node[key].([]any)
		for i := range list {
			next = append(next, at+"/"+key+"/"+strconv.Itoa(i))
		}
	}
	for _, key := range []string{"dependentSchemas", "dependencies"} {
		schemas, _ := node[key].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(schemas)) {
			next = append(next, at+"/"+key+"/"+pointerPart(name))
		}
	}
	return slices.DeleteFunc(next, func(to string) bool { return l.nodes[to] == nil })
}

// target returns the pointer that a reference within the schema represents.
func (l *schemaLint) target(ref string) string {
	if at, ok := l.names[ref]; ok {
		return at
	}
	base, fragment, _ := strings.Cut(ref, "#")
	from := "#"
	if base != "" {
		from = l.names[base]
	}
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	return from + strings.TrimSuffix(fragment, "/")
}

package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema returns the JSON Schema (draft 2020-12) of a config file, for editors.
func Schema() ([]byte, error) {
	s := object(reflect.TypeFor[Config]())
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "skillopt configuration"
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	return append(out, '\n'), nil
}

func object(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for i, tag := range keyFields(t) {
		p := typeSchema(t.Field(i).Type, tag)
		p.Description = tag.Get("doc")
		if mark := tag.Get("untrusted"); mark != "" {
			p.Extra = map[string]any{"untrusted": mark}
		}
		if sub := tag.Get("short"); sub != "" {
			p = &jsonschema.Schema{Description: p.Description, AnyOf: []*jsonschema.Schema{{Type: "string"}, p}}
		}
		s.Properties[tag.Get("key")] = p
		s.PropertyOrder = append(s.PropertyOrder, tag.Get("key"))
	}
	return s
}

func typeSchema(t reflect.Type, tag reflect.StructTag) *jsonschema.Schema {
	if t == reflect.TypeFor[Duration]() {
		return &jsonschema.Schema{Type: "string", Pattern: `^([0-9.]+(ns|us|ms|s|m|h))+$|^\$\{`}
	}
	if t == reflect.TypeFor[Age]() {
		return &jsonschema.Schema{Type: "string", Pattern: `^[0-9.]+d$|^([0-9.]+(ns|us|ms|s|m|h))+$|^\$\{`}
	}
	if t == reflect.TypeFor[Size]() {
		return &jsonschema.Schema{Types: []string{"string", "integer"}, Pattern: `^[0-9.]+ ?([kKmMgGtTpP]i?)?[bB]?$|^\$\{`}
	}
	if t == reflect.TypeFor[Auto]() {
		return autoSchema(tag)
	}
	switch t.Kind() {
	case reflect.Pointer:
		s := typeSchema(t.Elem(), tag)
		s.Types, s.Type = []string{s.Type, "null"}, ""
		return s
	case reflect.Struct:
		return object(t)
	case reflect.Map:
		s := &jsonschema.Schema{Type: "object"}
		if t.Elem().Kind() != reflect.Interface {
			s.AdditionalProperties = typeSchema(t.Elem(), "")
		}
		return s
	case reflect.Slice:
		s := &jsonschema.Schema{Type: "array"}
		if t.Elem().Kind() != reflect.Interface {
			s.Items = typeSchema(t.Elem(), "")
		}
		return s
	case reflect.Interface:
		return &jsonschema.Schema{}
	}
	return scalarSchema(t, tag)
}

func autoSchema(tag reflect.StructTag) *jsonschema.Schema {
	number := scalarSchema(reflect.TypeFor[int](), tag)
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{number, {Type: "string", Pattern: `^auto$|^off$|^\$\{`}}}
}

func scalarSchema(t reflect.Type, tag reflect.StructTag) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Float64: "number",
		reflect.Int: "integer", reflect.Int64: "integer",
	}[t.Kind()]}
	if list, ok := tag.Lookup("enum"); ok {
		for _, v := range strings.Split(list, ",") {
			s.Enum = append(s.Enum, v)
		}
	}
	if lo, ok := tag.Lookup("min"); ok {
		s.Minimum = jsonschema.Ptr(bound(lo))
	}
	if hi, ok := tag.Lookup("max"); ok {
		s.Maximum = jsonschema.Ptr(bound(hi))
	}
	return s
}

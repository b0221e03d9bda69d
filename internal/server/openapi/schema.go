package openapi

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemas are those of types, by the names under which the document has them.
type schemas struct {
	own   map[reflect.Type]*jsonschema.Schema // of types that write themselves
	names map[reflect.Type]string
	taken map[string]reflect.Type
	all   map[string]*jsonschema.Schema
}

const refPrefix = "#/components/schemas/"

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

// of returns the schema of a type as encoding/json writes its values. A pointer may be null. Lists
// and maps are not: the code that answers makes those that no one has made.
func (s *schemas) of(t reflect.Type) *jsonschema.Schema {
	if own := s.own[t]; own != nil {
		return own
	}
	switch t {
	case timeType:
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case rawType:
		return &jsonschema.Schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(s.of(t.Elem()))
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
		}
		return &jsonschema.Schema{Type: "array", Items: s.of(t.Elem())}
	case reflect.Map:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: s.of(t.Elem())}
	case reflect.Struct:
		return s.reference(t)
	case reflect.String:
		return &jsonschema.Schema{Type: "string"}
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.Float32, reflect.Float64:
		return &jsonschema.Schema{Type: "number"}
	case reflect.Interface:
		return &jsonschema.Schema{}
	}
	return &jsonschema.Schema{Type: "integer"}
}

// nullable returns a schema that null meets too.
func nullable(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Type == "" && len(s.Types) == 0 && s.Ref == "" {
		return s // anything does, or null does already
	}
	if s.Type == "" || s.Ref != "" {
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
	}
	out := *s
	out.Types, out.Type = []string{s.Type, "null"}, ""
	return &out
}

// reference returns a reference to the schema of a struct.
func (s *schemas) reference(t reflect.Type) *jsonschema.Schema {
	if t.Name() == "" {
		return s.object(t)
	}
	name := s.names[t]
	if name == "" {
		name = s.name(t)
		s.names[t], s.taken[name] = name, t
		s.all[name] = nil // it may refer to itself
		s.all[name] = s.object(t)
	}
	return &jsonschema.Schema{Ref: refPrefix + name}
}

// name returns the name of a type. It puts the name of the package before that of a second type of the same name.
func (s *schemas) name(t reflect.Type) string {
	if s.taken[t.Name()] == nil {
		return t.Name()
	}
	room := t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:]
	return strings.ToUpper(room[:1]) + room[1:] + t.Name()
}

func (s *schemas) object(t reflect.Type) *jsonschema.Schema {
	out := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	s.fields(t, out, true)
	return out
}

// fields adds the fields of a struct: its own first, since they hide those of the structs in
// it. Those behind a pointer may be missing.
func (s *schemas) fields(t reflect.Type, to *jsonschema.Schema, there bool) {
	var inner []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && structType(f.Type) != nil:
			inner = append(inner, f)
			continue
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			name = f.Name
		}
		if to.Properties[name] != nil {
			continue
		}
		of := s.of(f.Type)
		if optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero"); optional {
			of = present(of)
		} else if there {
			to.Required = append(to.Required, name)
		}
		to.Properties[name] = of
		to.PropertyOrder = append(to.PropertyOrder, name)
	}
	for _, f := range inner {
		s.fields(structType(f.Type), to, there && f.Type.Kind() == reflect.Struct)
	}
}

// structType returns a struct type, also that of a pointer to one; nil if there is none.
func structType(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

// present returns the schema of what is left out instead of null.
func present(s *jsonschema.Schema) *jsonschema.Schema {
	if len(s.Types) == 2 && s.Types[1] == "null" {
		out := *s
		out.Type, out.Types = s.Types[0], nil
		return &out
	}
	if len(s.AnyOf) == 2 && s.AnyOf[1].Type == "null" {
		return s.AnyOf[0]
	}
	return s
}

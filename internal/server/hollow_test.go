package server

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// hollow is a value of a type with one of everything, in which no list or map is made.
func hollow(t reflect.Type, deep int) reflect.Value {
	v := reflect.New(t).Elem()
	if deep == 0 || t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return v
	}
	switch t.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(hollow(t.Elem(), deep-1))
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				v.Field(i).Set(hollow(t.Field(i).Type, deep-1))
			}
		}
	}
	return v
}

// filled is hollow with one element in each list and map.
func filled(t reflect.Type, deep int) reflect.Value {
	v := hollow(t, 1)
	if deep == 0 || t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return v
	}
	switch t.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(filled(t.Elem(), deep-1))
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				v.Field(i).Set(filled(t.Field(i).Type, deep-1))
			}
		}
	case reflect.Slice:
		v.Set(reflect.Append(v, filled(t.Elem(), deep-1)))
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(reflect.Zero(t.Key()), filled(t.Elem(), deep-1))
	}
	return v
}

// No answer has null where the document says that there is a list, whatever nobody has made in
// it: at its top, or within the elements of its lists.
func TestNoListIsNull(t *testing.T) {
	t.Parallel()
	text, err := Document()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), `["null"`) || strings.Contains(string(text), `"array", "null"`) {
		t.Error("the document has lists that may be null")
	}
	var doc described
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	const deep = 12
	for _, rt := range (&Server{}).routes() {
		if rt.Kind != "" || rt.Path == "/openapi.json" || rt.Path == "/schema" {
			continue
		}
		for _, answer := range append([]any{rt.Answer}, rt.Others...) {
			if answer == nil {
				continue
			}
			schema := doc.schema(t, prefix+rt.Path, strings.ToLower(rt.Method), "200")
			of := reflect.TypeOf(answer)
			for name, v := range map[string]reflect.Value{"zero": reflect.Zero(of), "hollow": hollow(of, deep), "filled": filled(of, deep)} {
				if err := answersAs(schema, v.Interface()); err != nil {
					t.Errorf("%s %s, %s %v: %v", rt.Method, rt.Path, name, of, err)
				}
			}
		}
	}
}

func answersAs(schema *jsonschema.Resolved, v any) error {
	text, err := document(v)
	if err != nil {
		return err
	}
	var answer any
	if err := json.Unmarshal(text, &answer); err != nil {
		return err
	}
	return schema.Validate(answer)
}

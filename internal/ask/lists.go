package ask

import (
	"encoding/json"
	"reflect"
	"strings"
)

var writesItself = reflect.TypeFor[json.Marshaler]()

// WithLists returns an answer in which lists and maps that no one has made are empty ones, unless
// they are left out then: the reader of an answer need not distinguish null from empty. v itself is not
// changed.
func WithLists[T any](v T) T {
	out := reflect.ValueOf(&v).Elem()
	out.Set(copyWithLists(out))
	return v
}

func copyWithLists(v reflect.Value) reflect.Value {
	if v.Type().Implements(writesItself) {
		return v
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		if v.Kind() == reflect.Interface {
			out.Set(copyWithLists(v.Elem()))
			return out
		}
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(copyWithLists(v.Elem()))
		return out
	case reflect.Slice:
		if v.IsNil() || plainValues(v.Type().Elem()) {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(replaceNil(copyWithLists(v.Index(i))))
		}
		return out
	case reflect.Map:
		if v.IsNil() || plainValues(v.Type().Elem()) {
			return v
		}
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for at := v.MapRange(); at.Next(); {
			out.SetMapIndex(at.Key(), replaceNil(copyWithLists(at.Value())))
		}
		return out
	case reflect.Struct:
		return listedFields(v)
	}
	return v
}

// plainValues reports whether values of a type hold no list and no map: long lists of them are not
// copied.
func plainValues(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map, reflect.Array, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return false
	case reflect.Struct:
		for i := range t.NumField() {
			if !plainValues(t.Field(i).Type) {
				return false
			}
		}
	}
	return true
}

func listedFields(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		field := copyWithLists(v.Field(i))
		if _, options, _ := strings.Cut(f.Tag.Get("json"), ","); !strings.Contains(options, "omit") {
			field = replaceNil(field)
		}
		out.Field(i).Set(field)
	}
	return out
}

// replaceNil returns a list, bytes or a map, and an empty one for nil.
func replaceNil(v reflect.Value) reflect.Value {
	switch {
	case v.Type().Implements(writesItself):
		return v
	case v.Kind() == reflect.Slice && v.IsNil():
		return reflect.MakeSlice(v.Type(), 0, 0)
	case v.Kind() == reflect.Map && v.IsNil():
		return reflect.MakeMap(v.Type())
	}
	return v
}

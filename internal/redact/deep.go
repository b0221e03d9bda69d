package redact

import (
	"reflect"
	"slices"
)

// Strings returns v with all texts in it as mask returns them, at any depth: in exported fields, lists
// and values of maps, behind pointers and interfaces. Fields named in keep stay as they are, and v is
// not changed. Unlike Redactor.Value it knows nothing of what a name promises.
func Strings[T any](mask func(string) string, v T, keep ...string) T {
	out := reflect.ValueOf(&v).Elem()
	out.Set(cleaner{text: mask, keep: keep}.clean(out))
	return v
}

type cleaner struct {
	text func(string) string
	keep []string
}

// clean returns a copy of v. Lists that it need not change are shared with v: they may be long.
func (c cleaner) clean(v reflect.Value) reflect.Value {
	if slices.Contains([]reflect.Kind{reflect.Interface, reflect.Pointer, reflect.Map}, v.Kind()) && v.IsNil() {
		return v
	}
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(c.text(v.String()))
	case reflect.Interface:
		out.Set(c.clean(v.Elem()))
	case reflect.Pointer:
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(c.clean(v.Elem()))
	case reflect.Slice:
		if c.canShare(v) {
			return v
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(c.clean(v.Index(i)))
		}
	case reflect.Map:
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(it.Key(), c.clean(it.Value()))
		}
	case reflect.Struct:
		out.Set(v)
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(c.keep, f.Name) {
				out.Field(i).Set(c.clean(v.Field(i)))
			}
		}
	default:
		return v
	}
	return out
}

// canShare reports whether a list is one of numbers, or of texts without a secret.
func (c cleaner) canShare(v reflect.Value) bool {
	kind := v.Type().Elem().Kind()
	for i := 0; i < v.Len() && kind == reflect.String; i++ {
		if text := v.Index(i).String(); c.text(text) != text {
			return false
		}
	}
	return kind < reflect.Array || kind == reflect.String || v.Len() == 0
}

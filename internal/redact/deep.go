package redact

import (
	"reflect"
	"slices"
)

// Strings returns v with all texts in it as mask returns them, at any depth: in the exported
// fields of structs, in lists, behind pointers and interfaces, and the values of maps.
// Fields named in keep, such as those of paths, stay as they are. v itself is not
// changed. Unlike Redactor.Value it knows nothing of what a name promises.
func Strings[T any](mask func(string) string, v T, keep ...string) T {
	c := cleaner{text: mask, keep: keep, holds: map[reflect.Type]bool{}}
	out := reflect.ValueOf(&v).Elem()
	out.Set(c.clean(out))
	return v
}

type cleaner struct {
	text  func(string) string
	keep  []string
	holds map[reflect.Type]bool // whether values of a type can hold text
}

// clean returns a copy of v. Lists and maps that hold no text are shared with v, and lists of
// texts without a secret: they may be long.
func (c cleaner) clean(v reflect.Value) reflect.Value {
	kind := v.Kind()
	if kind == reflect.String {
		return reflect.ValueOf(c.text(v.String())).Convert(v.Type())
	}
	if !c.holdsText(v.Type()) || slices.Contains([]reflect.Kind{reflect.Interface, reflect.Pointer, reflect.Slice, reflect.Map}, kind) && v.IsNil() {
		return v
	}
	out := reflect.New(v.Type()).Elem()
	switch kind {
	case reflect.Interface:
		out.Set(c.clean(v.Elem()))
	case reflect.Pointer:
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(c.clean(v.Elem()))
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.String {
			return c.texts(v)
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

// texts is clean for a list of texts, which is copied when the first secret is found.
func (c cleaner) texts(v reflect.Value) reflect.Value {
	out, copied := v, false
	for i := range v.Len() {
		text := v.Index(i).String()
		if masked := c.text(text); masked != text {
			if !copied {
				copied = true
				out = reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)
			}
			out.Index(i).SetString(masked)
		}
	}
	return out
}

// holdsText reports whether values of a type can hold text.
func (c cleaner) holdsText(t reflect.Type) bool {
	if holds, known := c.holds[t]; known {
		return holds
	}
	c.holds[t] = true // of a type within itself
	holds := t.Kind() == reflect.String || t.Kind() == reflect.Interface
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		holds = c.holdsText(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			holds = t.Field(i).IsExported() && c.holdsText(t.Field(i).Type) || holds
		}
	}
	c.holds[t] = holds
	return holds
}

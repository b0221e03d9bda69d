package redact

import (
	"reflect"
	"slices"
	"strings"
)

// Strings returns v with all texts in it without secrets, at any depth: in the exported
// fields of structs, in lists, behind pointers and interfaces, and the values of maps.
// Fields named in keep, such as those of paths, stay as they are. v itself is not
// changed. Unlike Value it knows nothing of what a name promises.
func Strings[T any](r *Redactor, v T, keep ...string) T {
	c := cleaner{text: r.Text, keep: keep}
	out := reflect.ValueOf(&v).Elem()
	out.Set(c.clean(out))
	return v
}

type cleaner struct {
	text func(string) string
	keep []string
}

// clean returns a copy of v. What holds no text is shared with v.
func (c cleaner) clean(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		return reflect.ValueOf(c.text(v.String())).Convert(v.Type())
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return v
		}
		inner := c.clean(v.Elem())
		out := reflect.New(v.Type()).Elem()
		if v.Kind() == reflect.Pointer {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(inner)
		} else {
			out.Set(inner)
		}
		return out
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(c.clean(v.Index(i)))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(it.Key(), c.clean(it.Value()))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(c.keep, f.Name) {
				out.Field(i).Set(c.clean(v.Field(i)))
			}
		}
		return out
	}
	return v
}

// Lines returns the lines of a document without secrets, as many as there were: each by
// itself, and those of a private key that goes over several as a mask each.
func (r *Redactor) Lines(lines []string) []string {
	out := make([]string, len(lines))
	var b blocks
	left := 0 // of a key of PuTTY
	for i, line := range lines {
		if at := strings.Index(line, linesBegin); at >= 0 && !b.inside {
			_, left = keyLines(line[at+len(linesBegin):] + "\n")
		} else if before := listing(line); left > 0 && !b.inside {
			if left--; before < len(line) && run(line, before, alnum|signs) == len(line) {
				out[i] = line[:before] + Mask
				continue
			}
			left = 0
		}
		if !b.inside && !strings.Contains(line, blockBegin) {
			out[i] = r.Text(line)
			continue
		}
		before := ""
		if b.inside {
			before = Mask
		}
		out[i] = r.Text(before + b.pass(line, true))
		b.rest = ""
	}
	return out
}

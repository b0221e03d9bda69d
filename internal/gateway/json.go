package gateway

import (
	"bytes"
	"encoding/json"
	"slices"
)

// object is a JSON object whose members are written as they are.
type object []member

// member is one of an object.
type member struct {
	name  string
	value any
}

// get returns the value of a member, nil if there is none of that name.
func (o object) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// with returns a copy in which a member has another value.
func (o object) with(name string, value any) object {
	o = slices.Clone(o)
	for i := range o {
		if o[i].name == name {
			o[i].value = value
			return o
		}
	}
	return append(o, member{name, value})
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	b, err := document(o)
	return bytes.TrimSuffix(b, []byte("\n")), err
}

// document writes a value as JSON without escapes for HTML, with a line break at
// its end.
func document(v any) ([]byte, error) {
	var w writer
	w.enc = json.NewEncoder(&w.buf)
	w.enc.SetEscapeHTML(false)
	err := w.value(v)
	w.buf.WriteByte('\n')
	return w.buf.Bytes(), err
}

// writer writes objects, and lists of them, member by member: as a json.Marshaler in a
// json.Marshaler each would be checked and copied once for every level above it.
type writer struct {
	buf bytes.Buffer
	enc *json.Encoder
}

func (w *writer) value(v any) error {
	switch v := v.(type) {
	case object:
		if v != nil {
			return w.object(v)
		}
		return w.value(nil)
	case []object:
		if v != nil {
			return list(w, v)
		}
	case []any:
		if v != nil {
			return list(w, v)
		}
	}
	err := w.enc.Encode(v)
	if n := w.buf.Len() - 1; err == nil {
		w.buf.Truncate(n) // an Encoder ends each value with a line break
	}
	return err
}

func (w *writer) object(o object) error {
	w.buf.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			w.buf.WriteByte(',')
		}
		if err := w.value(m.name); err != nil {
			return err
		}
		w.buf.WriteByte(':')
		if err := w.value(m.value); err != nil {
			return err
		}
	}
	w.buf.WriteByte('}')
	return nil
}

func list[T any](w *writer, all []T) error {
	w.buf.WriteByte('[')
	for i, v := range all {
		if i > 0 {
			w.buf.WriteByte(',')
		}
		if err := w.value(v); err != nil {
			return err
		}
	}
	w.buf.WriteByte(']')
	return nil
}

// encodeOnce returns a value that is part of several events as JSON. A value that cannot be written
// stays as it is, so that the write of the whole finds it.
func encodeOnce(v any) any {
	b, err := document(v)
	if err != nil {
		return v
	}
	return json.RawMessage(b)
}

package gateway

import (
	"bytes"
	"encoding/json"
	"slices"
)

// object is a JSON object whose members are written as they stand.
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
	if o == nil {
		return []byte("null"), nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for i, m := range o {
		buf.WriteByte("{,"[min(i, 1)])
		if err := enc.Encode(m.name); err != nil {
			return nil, err
		}
		buf.WriteByte(':')
		if err := enc.Encode(m.value); err != nil {
			return nil, err
		}
	}
	if len(o) == 0 {
		buf.WriteByte('{')
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

// document writes a value as JSON without escapes for HTML, with a line break at
// its end.
func document(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return buf.Bytes(), err
}

// once writes a value that is part of several events. What cannot be written
// stays as it is, for the one that writes the whole to find.
func once(v any) any {
	b, err := document(v)
	if err != nil {
		return v
	}
	return json.RawMessage(b)
}

package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Target is what our configuration may hold: its keys with their kinds, allowed
// values and ranges, as its JSON Schema says. A key that the schema does not have
// has no counterpart, and has one as soon as it is there.
type Target struct{ top *field }

// NewTarget reads the JSON Schema of our configuration.
func NewTarget(schema []byte) (Target, error) {
	var top field
	if err := json.Unmarshal(schema, &top); err != nil {
		return Target{}, fmt.Errorf("read schema: %w", err)
	}
	return Target{&top}, nil
}

// Has reports whether our configuration has a key, such as train.epochs.
func (t Target) Has(key string) bool { return t.at(key) != nil }

func (t Target) at(key string) *field {
	f := t.top
	for name := range strings.SplitSeq(key, ".") {
		if f == nil {
			return nil
		}
		f = f.fields[name]
	}
	return f
}

// first returns the first of several names that is there, or the first.
func (t Target) first(keys ...string) string {
	for _, key := range keys {
		if t.Has(key) {
			return key
		}
	}
	return keys[0]
}

// field is one key of the schema.
type field struct {
	kinds    []string // of JSON; none = any
	names    []string // of the keys below, in order
	fields   map[string]*field
	enum     []string
	min, max *float64
}

func (f *field) UnmarshalJSON(data []byte) error {
	var s struct {
		Type       any             `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Enum       []any           `json:"enum"`
		Minimum    *float64        `json:"minimum"`
		Maximum    *float64        `json:"maximum"`
		AnyOf      []*field        `json:"anyOf"`
	}
	if bytes.Equal(bytes.TrimSpace(data), []byte("true")) {
		return nil // anything
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	for _, alternative := range s.AnyOf { // the long form of a key with a short one
		if alternative != nil && alternative.fields != nil {
			*f = *alternative
			return nil
		}
	}
	if s.Type == nil && len(s.AnyOf) > 0 && s.AnyOf[0] != nil { // a number, or a word that the source does not have
		*f = *s.AnyOf[0]
		return nil
	}
	f.min, f.max = s.Minimum, s.Maximum
	for _, v := range s.Enum {
		f.enum = append(f.enum, fmt.Sprint(v))
	}
	switch kind := s.Type.(type) {
	case string:
		f.kinds = []string{kind}
	case []any:
		for _, k := range kind {
			f.kinds = append(f.kinds, fmt.Sprint(k))
		}
	}
	if s.Properties == nil {
		return nil
	}
	if err := json.Unmarshal(s.Properties, &f.fields); err != nil {
		return err
	}
	f.names = keyOrder(s.Properties)
	return nil
}

// keyOrder returns the keys of a JSON object in their order.
func keyOrder(object []byte) []string {
	var names []string
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return names
		}
		names = append(names, fmt.Sprint(name))
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return names
		}
	}
	return names
}

// fit returns v as the field takes it, or what it takes instead.
func (f *field) fit(v any) (value any, allowed string) {
	value, ok := f.kind(v)
	if !ok {
		return nil, f.kindText()
	}
	if text, isText := value.(string); isText && len(f.enum) > 0 && !slices.Contains(f.enum, text) {
		return nil, strings.Join(slices.DeleteFunc(slices.Clone(f.enum), func(s string) bool { return s == "" }), ", ")
	}
	if n, isNumber := number(value); isNumber && (f.min != nil && n < *f.min || f.max != nil && n > *f.max) {
		return nil, f.rangeText()
	}
	return value, ""
}

// kind reads numbers and truth values also where they are written as text.
func (f *field) kind(v any) (any, bool) {
	if len(f.kinds) == 0 {
		return v, true
	}
	text, isText := v.(string)
	for _, kind := range f.kinds {
		switch kind {
		case "string":
			if isText {
				return text, true
			}
			if n, ok := v.(int64); ok {
				return strconv.FormatInt(n, 10), true
			}
		case "integer", "number", "boolean":
			value := v
			if isText {
				value = Cast(strings.TrimFunc(text, isSpace))
			}
			if out, ok := simple(kind, value); ok {
				return out, true
			}
		case "array":
			if list, ok := v.([]any); ok {
				return list, true
			}
		case "object":
			if m, ok := v.(map[string]any); ok {
				return m, true
			}
		}
	}
	return nil, false
}

func simple(kind string, v any) (any, bool) {
	n, isNumber := number(v)
	switch kind {
	case "boolean":
		if b, ok := v.(bool); ok {
			return b, true
		}
		return n == 1, isNumber && (n == 0 || n == 1)
	case "integer":
		return int64(n), isNumber && n == math.Trunc(n) && math.Abs(n) < 1<<53
	}
	return n, isNumber && !math.IsNaN(n) && !math.IsInf(n, 0)
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func (f *field) kindText() string {
	words := map[string]string{
		"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
		"array": "a list", "object": "a mapping",
	}
	var out []string
	for _, kind := range f.kinds {
		if word, ok := words[kind]; ok {
			out = append(out, word)
		}
	}
	return strings.Join(out, " or ")
}

func (f *field) rangeText() string {
	switch {
	case f.max == nil:
		return fmt.Sprintf("%v or more", *f.min)
	case f.min == nil:
		return fmt.Sprintf("%v or less", *f.max)
	}
	return fmt.Sprintf("%v to %v", *f.min, *f.max)
}

package run

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// What values take in memory in addition to their text, in bytes.
const (
	mapEntry = 48 // of a map, in addition to key and value: its share of slots that are free, and of those that it grew from
	word     = 16 // an allocation of its own, at least
	ownShare = 4  // of what reads itself: this many times its text
)

// mostDeep is how deep a JSON text may be: what is deeper the decoder refuses.
const mostDeep = 10_000

// boundRoom bounds the memory that a JSON text takes while it is decoded as a type: the lists with
// what they grew from, entries of maps, texts. A text that is damaged takes none after the damage,
// since the decoder looks at all of it before it begins.
func boundRoom(data []byte, t reflect.Type) int64 {
	s := sizer{data: data, types: map[reflect.Type]map[string]reflect.Type{}}
	s.value(t, 0)
	return s.room + int64(len(data))
}

// sizer goes through a JSON text together with the type that it is decoded as.
type sizer struct {
	data  []byte
	at    int
	room  int64
	types map[reflect.Type]map[string]reflect.Type // of the members of structs, by name
}

// next returns the next byte that is no white space, and does not take it; 0 at the end.
func (s *sizer) next() byte {
	for ; s.at < len(s.data); s.at++ {
		switch b := s.data[s.at]; b {
		case ' ', '\n', '\t', '\r':
		default:
			return b
		}
	}
	return 0
}

// value goes behind the next value, which is decoded as a type; nil: it is left out.
func (s *sizer) value(t reflect.Type, deep int) {
	if deep > mostDeep {
		s.at = len(s.data)
		return
	}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
		s.room += max(word, int64(t.Size()))
	}
	from := s.at
	if t != nil && readsItself(t) {
		s.value(nil, deep)
		s.room += ownShare * int64(s.at-from)
		return
	}
	switch s.next() {
	case '"':
		s.text()
		if t != nil { // the text itself counts once already
			s.room += word
		}
	case '[':
		s.list(t, deep)
	case '{':
		s.object(t, deep)
	default:
		if t != nil && t.Kind() == reflect.Interface {
			s.room += word
		}
		s.plain()
	}
}

// readsItself reports whether a type reads its text by itself, or keeps it.
func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// list goes behind a list. Each of its elements counts twice: lists grow.
func (s *sizer) list(t reflect.Type, deep int) {
	var elem reflect.Type
	each := int64(0)
	switch {
	case t == nil:
	case t.Kind() == reflect.Slice:
		elem = t.Elem()
		each = 2 * int64(elem.Size())
	case t.Kind() == reflect.Array:
		elem = t.Elem()
	case t.Kind() == reflect.Interface:
		elem, each = t, 2*word
	}
	s.members(']', func() {
		s.room += each
		s.value(elem, deep+1)
	})
}

// object goes behind an object.
func (s *sizer) object(t reflect.Type, deep int) {
	var known map[string]reflect.Type
	var elem reflect.Type
	each := int64(0)
	switch {
	case t == nil:
	case t.Kind() == reflect.Struct:
		known = s.structMembers(t)
	case t.Kind() == reflect.Map:
		elem = t.Elem()
		each = mapEntry + word + 2*(int64(t.Key().Size())+int64(elem.Size()))
	case t.Kind() == reflect.Interface:
		elem, each = t, mapEntry+word+4*word
	}
	s.members('}', func() {
		if s.next() != '"' {
			s.at = len(s.data)
			return
		}
		key := s.text()
		if s.next() != ':' {
			s.at = len(s.data)
			return
		}
		s.at++
		if s.room += each; known != nil {
			elem = member(known, key)
		}
		s.value(elem, deep+1)
	})
}

// member returns the type of a member of a struct, nil for one that it does not have. It compares names as
// the decoder does: escapes represent what they mean, and large and small letters represent each other.
func member(known map[string]reflect.Type, key []byte) reflect.Type {
	if t, ok := known[string(key)]; ok {
		return t
	}
	name := string(key)
	if bytes.IndexByte(key, '\\') >= 0 && json.Unmarshal(slices.Concat([]byte{'"'}, key, []byte{'"'}), &name) != nil {
		return nil
	}
	return known[foldCase(name)]
}

func foldCase(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// structMembers returns the types of the members of a struct, by their names, and by these folded.
func (s *sizer) structMembers(t reflect.Type) map[string]reflect.Type {
	if m, ok := s.types[t]; ok {
		return m
	}
	m := map[string]reflect.Type{}
	s.types[t] = m
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		m[name], m[foldCase(name)] = f.Type, f.Type
	}
	return m
}

// members calls f at each member between two brackets.
func (s *sizer) members(closing byte, f func()) {
	s.at++
	for {
		switch s.next() {
		case 0:
			return
		case closing:
			s.at++
			return
		case ',':
			s.at++
		default:
			before := s.at
			if f(); s.at == before { // damaged
				s.at = len(s.data)
				return
			}
		}
	}
}

// text goes behind a string, and returns it as it is encoded, without its quotes.
func (s *sizer) text() []byte {
	s.at++
	for from := s.at; s.at < len(s.data); s.at++ {
		switch s.data[s.at] {
		case '"':
			s.at++
			return s.data[from : s.at-1]
		case '\\':
			s.at++
		}
	}
	s.at = len(s.data)
	return nil
}

// plain goes behind a number or a word.
func (s *sizer) plain() {
	for ; s.at < len(s.data); s.at++ {
		switch s.data[s.at] {
		case ',', ':', '}', ']', '{', '[', '"', ' ', '\n', '\t', '\r':
			return
		}
	}
}

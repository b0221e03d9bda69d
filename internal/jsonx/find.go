// Package jsonx finds JSON in the prose of a model's reply.
//
// A block fenced as json wins; otherwise the text from the first opening to
// the last closing brace is taken. What is almost JSON is repaired only where
// there is no doubt about its meaning: trailing commas, comments, Python's
// literals, raw control characters inside strings. A reply that was cut off is
// never closed: a shorter document than the model meant is worse than none.
// Everything runs in linear time.
//
// It knows nothing about what a reply should say, and does no I/O. Its
// functions are pure and safe for concurrent use.
package jsonx

import (
	"fmt"
	"strings"
	"unicode"
)

// Shape is the kind of value that a reply should hold, named by its opening
// bracket.
type Shape byte

const (
	Objects Shape = '{'
	Arrays  Shape = '['
)

func (s Shape) closingBracket() byte {
	if s == Objects {
		return '}'
	}
	return ']'
}

func (s Shape) String() string {
	if s == Objects {
		return "object"
	}
	return "array"
}

// Error says why there is no value in a reply. Its text may be shown to the
// model that is asked again.
type Error struct {
	Offset int // bytes into the reply, -1 when the fault has no place
	Msg    string
}

func (e *Error) Error() string {
	if e.Offset < 0 {
		return e.Msg
	}
	return fmt.Sprintf("%s at byte %d", e.Msg, e.Offset)
}

// Object returns the JSON object that a reply holds. Numbers are json.Number;
// the NaN and infinities that Python's encoder writes are float64. When there
// is none, or more than one to choose from, or it is cut off, the error is an
// *Error.
func Object(text string) (map[string]any, error) {
	v, err := Find(text, Objects)
	if err != nil {
		return nil, err
	}
	return asObject(v)
}

// Unique returns what Find returns, for a value that decides something: if a key is twice in an
// object, at whatever depth, it returns an *Error that names the key. Readers disagree about which
// of the two counts.
func Unique(text string, want Shape) (any, error) {
	var f finder
	v, err := f.find(text, want)
	if err == nil && f.repeated != nil {
		return nil, &Error{Offset: -1, Msg: fmt.Sprintf("the key %q is there twice in one object", *f.repeated)}
	}
	return v, err
}

// UniqueObject returns what Object returns, by the rule of Unique.
func UniqueObject(text string) (map[string]any, error) {
	v, err := Unique(text, Objects)
	if err != nil {
		return nil, err
	}
	return asObject(v)
}

func asObject(v any) (map[string]any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, &Error{Offset: -1, Msg: "the json block holds " + kind(v) + ", not an object"}
	}
	return m, nil
}

// Exact returns what Object returns, without repair: it reads only valid JSON.
func Exact(text string) (map[string]any, error) {
	if fence, ok := jsonFence(text); ok {
		if v, err := parse(fence.text(text)); err == nil {
			return asObject(v)
		}
	}
	whole, ok := widest(text)
	if !ok {
		return nil, absent(text, Objects)
	}
	v, err := parse(whole.text(text))
	if err != nil {
		return nil, shift(err, whole.from)
	}
	return asObject(v)
}

// Array returns the JSON array that a reply holds, as Object does for objects.
// Of several arrays it takes the only one that is valid JSON. Nothing is
// repaired.
func Array(text string) ([]any, error) { return asArray(Find(text, Arrays)) }

func asArray(v any, err error) ([]any, error) {
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		return nil, &Error{Offset: -1, Msg: "the json block holds " + kind(v) + ", not an array"}
	}
	return list, nil
}

// Find returns the value that a reply holds. A block fenced as json is
// returned whatever its shape, as SkillOpt does; Object and Array refuse the
// wrong one. The last of repeated keys wins.
func Find(text string, want Shape) (any, error) {
	var f finder
	return f.find(text, want)
}

// finder looks for a value, and notes a key that occurs twice in an object of
// what it has read.
type finder struct{ repeated *string }

func (f *finder) find(text string, want Shape) (any, error) {
	fence, fenced := jsonFence(text)
	if fenced {
		if v, err := f.parse(fence.text(text)); err == nil {
			if whole, ok := f.findEnclosingObject(text, fence, v, want); ok {
				return whole, nil
			}
			return v, nil
		}
	}
	if want == Arrays {
		return f.onlyArray(text)
	}
	whole, ok := widest(text)
	if !ok {
		return nil, absent(text, want)
	}
	v, err := f.parse(whole.text(text))
	if err == nil {
		return v, nil
	}
	if v, ok := f.repair(text, fence, fenced); ok {
		return v, nil
	}
	return nil, shift(err, whole.from)
}

// findEnclosingObject returns the object that holds the marks of a block in its texts: what is
// between two of them may by chance be a text or a number of its own.
func (f *finder) findEnclosingObject(text string, fence span, block any, want Shape) (any, bool) {
	switch block.(type) {
	case map[string]any, []any:
		return nil, false
	}
	whole, ok := widest(text)
	if !ok || want != Objects || fence.from < whole.from || fence.to > whole.to {
		return nil, false
	}
	v, err := f.parse(whole.text(text))
	return v, err == nil
}

// parse reads s as parse does. What cannot be read has no keys to note.
func (f *finder) parse(s string) (any, error) { return f.note(&parser{s: s}, parseDocument) }

func (f *finder) parseRepaired(s string) (any, error) {
	return f.note(&parser{s: s, repair: true}, repairDocument)
}

func (f *finder) note(p *parser, read func(*parser) (any, error)) (any, error) {
	v, err := read(p)
	if err == nil && f.repeated == nil {
		f.repeated = p.repeated
	}
	return v, err
}

// FencedObject returns the JSON object that a reply holds by the rules of
// skillrl 1.0.0: the first fenced block counts whether or not it is marked as
// json, a block of another shape is final, and nothing is repaired.
func FencedObject(text string) (map[string]any, error) {
	if fence, ok := anyFence(text); ok {
		if v, err := parse(fence.text(text)); err == nil {
			m, ok := v.(map[string]any)
			if !ok {
				return nil, &Error{Offset: fence.from, Msg: "the fenced block holds " + kind(v) + ", not an object"}
			}
			return m, nil
		}
	}
	whole, ok := widest(text)
	if !ok {
		return nil, absent(text, Objects)
	}
	v, err := parse(whole.text(text))
	if err != nil {
		return nil, shift(err, whole.from)
	}
	return v.(map[string]any), nil
}

func (f *finder) onlyArray(text string) (any, error) {
	var found []any
	var first error
	for _, sp := range spans(text, Arrays) {
		v, err := f.parse(sp.text(text))
		if err != nil {
			if first == nil {
				first = shift(err, sp.from)
			}
			continue
		}
		found = append(found, v)
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if len(found) > 1 {
		return nil, &Error{Offset: -1, Msg: fmt.Sprintf("%d JSON arrays to choose from", len(found))}
	}
	if first != nil {
		return nil, first
	}
	return nil, absent(text, Arrays)
}

// repair reads what is almost an object. Only two texts are candidates: the json
// block, and the sole balanced object of the reply.
func (f *finder) repair(text string, fence span, fenced bool) (any, bool) {
	if fenced {
		block := fence.text(text)
		if startsLikeObject(block) && strings.HasSuffix(strings.TrimRightFunc(block, isSpace), "}") {
			v, err := f.parseRepaired(block)
			return v, err == nil
		}
	}
	all := spans(text, Objects)
	if len(all) != 1 {
		return nil, false
	}
	sp := all[0]
	overlaps := fenced && sp.from < fence.to && sp.to > fence.from
	if overlaps || !startsLikeObject(sp.text(text)) || !sole(text, sp) {
		return nil, false
	}
	v, err := f.parseRepaired(sp.text(text))
	return v, err == nil
}

// sole reports whether nothing else around the span could be the value, or
// hold it: no other opening brace, and no list still open before it. Otherwise
// a part of a broken value, or a draft, would pass for the whole.
func sole(text string, sp span) bool {
	before, after := text[:sp.from], text[sp.to:]
	return !strings.Contains(before, "{") && !strings.Contains(after, "{") &&
		strings.Count(before, "[") <= strings.Count(before, "]")
}

func startsLikeObject(s string) bool {
	s = strings.TrimLeftFunc(s, isSpace)
	if !strings.HasPrefix(s, "{") {
		return false
	}
	s = strings.TrimLeftFunc(s[1:], isSpace)
	return strings.HasPrefix(s, `"`) || strings.HasPrefix(s, "}")
}

func absent(text string, want Shape) error {
	if strings.TrimSpace(text) == "" {
		return &Error{Offset: -1, Msg: "the reply is empty"}
	}
	if i := strings.IndexByte(text, byte(want)); i >= 0 {
		return &Error{Offset: i, Msg: fmt.Sprintf("the JSON %s is never closed: the reply may have been cut off; it begins", want)}
	}
	return &Error{Offset: -1, Msg: fmt.Sprintf("there is no JSON %s in the reply", want)}
}

// shift moves the offset of a parser's error from the part to the reply.
func shift(err error, from int) error {
	if e, ok := err.(*Error); ok && e.Offset >= 0 {
		return &Error{Offset: e.Offset + from, Msg: e.Msg}
	}
	return err
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// isSpace is white space as Python's regular expressions know it.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

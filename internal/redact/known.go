package redact

import (
	"encoding/json"
	"strings"
)

// minExact is the length in bytes from which Exact looks for a value: shorter ones, as "none" and
// "not-needed", are written instead of a key that no one asks for, and are in ordinary text.
const minExact = 12

// Exact takes values out of text wherever they occur, and nothing else: what only looks like a
// secret stays. It is for text that counts, such as the replies of models, where a Redactor would
// change answers. It is safe for concurrent use; nil and the zero value change nothing.
type Exact struct{ known *matcher }

// NewExact returns an Exact for values as they are and in all their echoes: with escapes, also one
// in another, in hexadecimal and in base64. Those below 12 bytes are left out.
func NewExact(secrets ...string) *Exact { return &Exact{known: newMatcher(secrets, minExact)} }

// values returns what is looked for; nil if there is nothing.
func (e *Exact) values() *matcher {
	if e == nil {
		return nil
	}
	return e.known
}

// Empty reports whether there is nothing to look for.
func (e *Exact) Empty() bool { return e.values() == nil }

// Has reports whether one of the values is in text.
func (e *Exact) Has(text string) bool { return len(e.values().spans(text)) > 0 }

// Text returns text without the values.
func (e *Exact) Text(text string) string { return e.values().text(text) }

// Across returns texts without the values that are in all of them together, each masked where it begins.
func (e *Exact) Across(texts []string) []string {
	spans := e.values().spans(strings.Join(texts, ""))
	if len(spans) == 0 {
		return texts
	}
	out := make([]string, len(texts))
	at := 0
	for i, text := range texts {
		var own []span
		for _, s := range spans {
			if s.begin < at {
				s.with = ""
			}
			s.begin, s.end = max(0, s.begin-at), min(len(text), s.end-at)
			if s.begin < s.end {
				own = append(own, s)
			}
		}
		out[i] = maskSpans(text, own)
		at += len(text)
	}
	return out
}

// Tail returns the end of text without the values, at most n bytes. If text is cut at its beginning,
// as much is left out there as can belong to a value, at most up to a blank.
func (e *Exact) Tail(text string, cut bool, n int) string {
	if cut && !e.Empty() {
		text = text[min(len(text), e.known.reach(), strings.IndexAny(text+" ", " \t\r\n")+1):]
	}
	text = e.Text(text)
	return text[max(0, len(text)-n):]
}

// Ready returns how many bytes of the beginning of text can be passed on, without the values in it,
// before what follows is known: the rest may be the beginning of one.
func (e *Exact) Ready(text string) int { return e.values().ready(text) }

// JSON returns an encoded JSON value without the values. A value that cannot be
// taken out of it without breaking it takes all of it along.
func (e *Exact) JSON(raw json.RawMessage) json.RawMessage {
	text := string(raw)
	clean := e.Text(text)
	if clean != text && !json.Valid([]byte(clean)) && json.Valid(raw) {
		return json.RawMessage(`"` + Mask + `"`)
	}
	return json.RawMessage(clean)
}

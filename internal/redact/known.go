package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// minExact is the length in bytes from which Exact looks for a value. Shorter ones
// are what people write in the place of a key that nobody asks for ("none",
// "not-needed"), and would be found in ordinary text.
const minExact = 12

// Exact takes values out of text wherever they occur, and nothing else: what only
// looks like a secret stays. It is for text that counts, such as the replies of
// models, where a Redactor would change answers. It is immutable and safe for
// concurrent use; nil and the zero value change nothing.
type Exact struct {
	forms   []string
	replace *strings.Replacer
}

// NewExact returns an Exact for values as they are and as they stand in JSON, in
// URLs and in base64, alone or with what is around them. Those below 12 bytes are
// left out.
func NewExact(secrets ...string) *Exact {
	e := &Exact{}
	for _, s := range secrets {
		if len(s) >= minExact {
			e.forms = append(e.forms, forms(s)...)
		}
	}
	longestFirst(e.forms)
	e.forms = slices.Compact(e.forms)
	e.replace = masking(e.forms)
	return e
}

// Empty reports whether there is nothing to look for.
func (e *Exact) Empty() bool { return e == nil || len(e.forms) == 0 }

// Has reports whether one of the values is in text.
func (e *Exact) Has(text string) bool {
	return e != nil && slices.ContainsFunc(e.forms, func(form string) bool { return strings.Contains(text, form) })
}

// Text returns text without the values.
func (e *Exact) Text(text string) string {
	if !e.Has(text) {
		return text
	}
	return e.replace.Replace(text)
}

// JSON returns an encoded JSON value without the values.
func (e *Exact) JSON(raw json.RawMessage) json.RawMessage {
	if text := string(raw); e.Has(text) {
		return json.RawMessage(e.replace.Replace(text)) // neither a form nor the mask ends a string
	}
	return raw
}

// forms returns how a secret may be written.
func forms(s string) []string {
	out := []string{s, url.QueryEscape(s), url.PathEscape(s)}
	if quoted, err := json.Marshal(s); err == nil {
		out = append(out, string(quoted[1:len(quoted)-1]))
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			out = append(out, within(enc, s, shift))
		}
	}
	return slices.DeleteFunc(out, func(form string) bool { return len(form) < minKnown })
}

// within returns what is sure of the base64 of a text that has s after shift bytes,
// counted modulo 3, whatever stands around it.
func within(enc *base64.Encoding, s string, shift int) string {
	all := enc.EncodeToString(append(make([]byte, shift), s...))
	begin, end := (shift*8+5)/6, len(all)
	if (shift+len(s))%3 != 0 {
		end--
	}
	return all[min(begin, end):end]
}

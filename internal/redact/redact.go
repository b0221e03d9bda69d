// Package redact takes secrets out of text and of decoded data before they are shown or stored: the
// known values wherever they occur, what has the shape of a key, and what is under a secret's name.
//
// Three tables hold what it looks for: keyShapes, the prefixes of keys; the names of secrets; and
// contexts, the forms of commands and files in which a secret has no name. A scanner of our own
// finds the words of these in one pass, and patterns read what is around a word of a context. The
// detector of gitleaks (v8.30) was measured instead: 62 modules and 11 MB more in a program,
// 2 MB/s on prose, and of eight common shapes it found three.
//
// Known values are found in all their echoes: with escapes of JSON, of URLs and of
// HTML, in hexadecimal and in base64. What is under a name is on its line or is the next one.
// References, placeholders, code and sentences are no secrets. What looks random is a secret
// only under a name that suggests it.
//
// It knows nothing about where secrets come from. A Redactor is safe for concurrent use.
package redact

import (
	"maps"
	"slices"
	"strings"
)

// Mask replaces a secret.
const Mask = "[redacted]"

// minKnown is the least length of a known value: shorter ones would tear up ordinary text.
const minKnown = 6

// Redactor knows the secrets of a run.
type Redactor struct{ known *matcher }

// New returns a Redactor for the given secret values, if any; those below 6 bytes are left out.
func New(secrets ...string) *Redactor { return &Redactor{known: newMatcher(secrets, minKnown)} }

// Text returns s without what looks like a secret.
func Text(s string) string { return New().Text(s) }

// Keys returns s without what has the shape of a key, by itself; what is only under a name stays.
func Keys(s string) string {
	return repeat(s, func(s string) string { return replaceSecrets(s, true, maskSpans, new(int)) })
}

// Has reports whether there is what looks like a secret in s.
func Has(s string) bool { return Text(s) != s }

// IsSecret reports whether a text is a secret as a whole, also by the name that it is under.
func IsSecret(name, text string) bool { return New().Entry(name, text) == Mask }

// Text returns s without secrets. It does not change what it has returned: a mask stays as it is.
func (r *Redactor) Text(s string) string { return r.text(s, new(int)) }

// text returns what Text returns, and counts the bytes that are looked at.
func (r *Redactor) text(s string, looked *int) string {
	return repeat(s, func(s string) string { return replaceSecrets(r.known.text(s), false, maskSpans, looked) })
}

// Lines returns the lines of a document without secrets, as many as there were: those of a
// private key that goes over several as a mask each.
func Lines(lines []string) []string {
	return strings.Split(repeat(strings.Join(lines, "\n"), func(s string) string { return replaceSecrets(s, false, maskedLines, new(int)) }), "\n")
}

// repeat calls clean until it changes a text no more: each call masks more bytes. A text that still
// changes after many calls, which no rule should make, is masked whole.
func repeat(text string, clean func(string) string) string {
	for range 100 {
		next := clean(text)
		if next == text {
			return text
		}
		text = next
	}
	return Mask
}

// Ready returns how many bytes of the beginning of text hold known values whole, whatever follows.
func (r *Redactor) Ready(text string) int { return r.known.ready(text) }

// replaceSecrets returns text without what looks like a secret, or only what has the shape of a key.
func replaceSecrets(text string, keys bool, replaced func(string, []span) string, looked *int) string {
	parts := pieces(replaced(text, blocks(text, looked)))
	for i, part := range parts {
		parts[i] = repeat(part, func(s string) string { return replaced(s, scan(s, keys, looked)) })
	}
	return strings.Join(parts, "")
}

// Value returns decoded data (maps, lists, texts, numbers) without secrets.
// Whatever is under the name of a secret is masked whole, unless it is an empty
// text, a reference such as ${NAME}, or true or false. v itself is not changed.
func (r *Redactor) Value(v any) any { return r.redactValue("", v) }

func (r *Redactor) redactValue(key string, v any) any {
	if s, ok := v.(string); ok {
		return r.Entry(key, s)
	}
	if _, yesNo := v.(bool); !yesNo && secretName(key) {
		return Mask
	}
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, inner := range v {
			list[i] = r.redactValue("", inner)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, inner := range v {
			m[key] = r.redactValue(key, inner)
		}
		return m
	case map[string]string:
		m := make(map[string]string, len(v))
		for key, s := range v {
			m[key] = r.Entry(key, s)
		}
		return m
	}
	return v
}

// Entry returns the text that is under name, without secrets.
func (r *Redactor) Entry(name, text string) string {
	reference := strings.HasPrefix(text, "${") && strings.IndexByte(text, '}') == len(text)-1
	if secretName(name) && text != "" && !reference && maskAt(text) != len(text) {
		return Mask
	}
	return r.Text(text)
}

// Finding is a line of a document with what looks like a secret.
type Finding struct {
	Line  int  // from 0
	Shape bool // it has the shape of a key; else it is random, behind the name of a secret
}

// Find returns where documents that people read hold secrets, in the order of lines: less than is
// masked, no examples and nothing that may be a word.
func Find(lines []string) (out []Finding) {
	text := strings.Join(lines, "\n")
	found := map[int]bool{} // whether it has a known shape, by line
	for _, s := range blocks(text, new(int)) {
		if s.holdsKey(text) {
			found[strings.Count(text[:s.begin], "\n")] = true
		}
	}
	first := 0
	for _, part := range pieces(text) {
		for _, keys := range []bool{true, false} {
			for _, s := range scan(part, keys, new(int)) {
				if keys && s.holdsKey(part) || !keys && isSurelyRandom(part[s.begin:s.end]) {
					line := first + strings.Count(part[:s.begin], "\n")
					found[line] = found[line] || keys
				}
			}
		}
		first += strings.Count(part, "\n")
	}
	for _, line := range slices.Sorted(maps.Keys(found)) {
		out = append(out, Finding{Line: line, Shape: found[line]})
	}
	return out
}

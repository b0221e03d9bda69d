// Package redact takes secrets out of text and of decoded data before they are
// shown or stored: the known values wherever they occur, what has the shape of
// a key, and what is under the name of a secret.
//
// A scanner of our own does it, in one pass over words, separators and values. The
// detector of gitleaks (v8.30) was measured for it: 62 modules and 11 MB more in a
// program, 2 MB/s on prose and 24 MB/s on source code, and of eight common shapes it
// found three; it reports, and does not say what a value under a name is.
//
// Known values are found in all their echoes: with escapes of JSON, of URLs and of
// HTML, in hexadecimal and in base64. Shapes and names are looked for line by line;
// only the blocks of private keys go over lines, without their end up to the end of
// the text, and what a line says of the next one ("password:"). What looks random is a secret only under a name that suggests it.
//
// It knows nothing about where secrets come from. A Redactor is immutable and
// safe for concurrent use.
package redact

import "strings"

// Mask replaces a secret.
const Mask = "[redacted]"

// minKnown is the length below which a known value is not searched for: it
// would tear up ordinary text, and is no secret worth the name.
const minKnown = 6

// Redactor knows the secrets of a run.
type Redactor struct{ known *matcher }

// New returns a Redactor for the given secret values, which may be none. They are
// found in all their echoes; those below 6 bytes are left out.
func New(secrets ...string) *Redactor { return &Redactor{known: newMatcher(secrets, minKnown)} }

// Text returns s without what looks like a secret.
func Text(s string) string { return New().Text(s) }

// Lines returns the lines of a document without what looks like a secret: see Redactor.Lines.
func Lines(lines []string) []string { return New().Lines(lines) }

// Has reports whether there is what looks like a secret in s.
func Has(s string) bool { return Text(s) != s }

// IsSecret reports whether a text is a secret as a whole, also by the name that it is under.
func IsSecret(name, text string) bool { return New().Entry(name, text) == Mask }

// Text returns s without secrets. What it returns it does not change any more: a
// mask stays as it is.
func (r *Redactor) Text(s string) string {
	var looked int
	return r.text(s, &looked)
}

// text is Text, and counts the bytes that are looked at.
func (r *Redactor) text(s string, looked *int) string {
	for range maxRounds { // each masks more bytes
		clean := r.once(s, looked)
		if clean == s {
			return s
		}
		s = clean
	}
	return Mask
}

// maxRounds bounds how often a text is looked at: one that changes each time, which no rule
// should make, is masked whole.
const maxRounds = 100

// Ready returns how many bytes of the beginning of text hold the known values whole,
// whatever follows text: the rest may be the beginning of one.
func (r *Redactor) Ready(text string) int { return r.known.ready(text) }

func (r *Redactor) once(s string, looked *int) string {
	if r.known != nil {
		s = r.known.text(s)
	}
	return withoutLines(withoutBlocks(s, looked), looked)
}

// withoutLines returns text without what looks like a secret, line by line.
func withoutLines(text string, looked *int) string {
	var b strings.Builder
	from := 0 // of what is not written yet
	said := nothing
	for i := 0; i < len(text); {
		n := piece(text[i:], looked)
		clean := withoutShapes(text[i:i+n], said, looked)
		if said = promiseOf(clean); clean != text[i:i+n] {
			b.WriteString(text[from:i])
			b.WriteString(clean)
			from = i + n
		}
		i += n
	}
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}

// withoutShapes returns a piece without what looks like a secret, or what the line before it
// has said of it.
func withoutShapes(text string, said promise, looked *int) string {
	end := ""
	if strings.HasSuffix(text, "\n") {
		end = "\n"
	}
	for range maxRounds {
		spans := scan(text, said, looked)
		if len(spans) == 0 {
			return text
		}
		text = masked(text, spans)
	}
	return Mask + end
}

// Value returns decoded data (maps, lists, texts, numbers) without secrets.
// Whatever is under the name of a secret is masked whole, unless it is an empty
// text, a reference such as ${NAME}, or true or false. v itself is not changed.
func (r *Redactor) Value(v any) any {
	switch v := v.(type) {
	case string:
		return r.Text(v)
	case []any:
		list := make([]any, len(v))
		for i, inner := range v {
			list[i] = r.Value(inner)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, inner := range v {
			m[key] = r.under(key, inner)
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

func (r *Redactor) under(key string, v any) any {
	if s, ok := v.(string); ok {
		return r.Entry(key, s)
	}
	if _, yesNo := v.(bool); !yesNo && secretName(key) {
		return Mask
	}
	return r.Value(v)
}

// Entry returns the text that is under name, without secrets.
func (r *Redactor) Entry(name, text string) string {
	if secretName(name) && text != "" && !reference(text) && maskAt(text) != len(text) {
		return Mask
	}
	return r.Text(text)
}

func reference(text string) bool {
	return strings.HasPrefix(text, "${") && strings.IndexByte(text, '}') == len(text)-1
}

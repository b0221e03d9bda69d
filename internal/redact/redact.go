// Package redact takes secrets out of text and of decoded data before they are
// shown or stored: the known values wherever they occur, what has the shape of
// a key, and what stands under the name of a secret.
//
// It knows nothing about where secrets come from. A Redactor is immutable and
// safe for concurrent use.
package redact

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Mask stands in the place of a secret.
const Mask = "[redacted]"

// minKnown is the length below which a known value is not searched for: it
// would tear up ordinary text, and is no secret worth the name.
const minKnown = 6

// Redactor knows the secrets of a run.
type Redactor struct {
	known  *strings.Replacer
	shapes []shape
}

// shape is how a kind of secret looks; with is the replacement, which keeps
// what is not secret of the match.
type shape struct {
	re   *regexp.Regexp
	with string
}

// New returns a Redactor for the given secret values, which may be none. They are
// found as they are and as they stand in JSON, in URLs and in base64.
func New(secrets ...string) *Redactor {
	var known []string
	for _, s := range secrets {
		if len(s) >= minKnown {
			known = append(known, forms(s)...)
		}
	}
	longestFirst(known)
	return &Redactor{known: masking(known), shapes: shapes()}
}

// longestFirst sorts texts so that one that begins with another goes whole.
func longestFirst(texts []string) {
	slices.SortFunc(texts, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
}

// masking returns what puts the mask in the place of each text.
func masking(texts []string) *strings.Replacer {
	var pairs []string
	for _, s := range slices.Compact(texts) {
		pairs = append(pairs, s, Mask)
	}
	return strings.NewReplacer(pairs...)
}

// shapes are compiled once: a run needs a Redactor in many places, and they are
// the same for all.
var shapes = sync.OnceValue(func() []shape {
	return []shape{
		{regexp.MustCompile(`\b(?:sk|rk|pk)-[A-Za-z0-9_-]{12,}`), Mask},
		{regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}`), Mask},
		{regexp.MustCompile(`\bxox[abeprs]-[A-Za-z0-9-]{10,}`), Mask},
		{regexp.MustCompile(`\bAKIA[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{30,}|\bhf_[A-Za-z0-9]{20,}`), Mask},
		{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`), Mask},
		{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/-]{8,}=*`), "${1} " + Mask},
		{regexp.MustCompile(`(://[^/\s:@]*:)[^/\s@]+@`), "${1}" + Mask + "@"},
		{regexp.MustCompile(`(?i)((?:api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|client[_-]?secret|secret|password|passwd)["']?\s*[:=]\s*["']?)[^\s"'&,;{}$\[\]]{6,}`), "${1}" + Mask},
	}
})

// Text returns s without secrets.
func (r *Redactor) Text(s string) string {
	s = r.known.Replace(s)
	for _, sh := range r.shapes {
		s = sh.re.ReplaceAllString(s, sh.with)
	}
	return s
}

// Value returns decoded data (maps, lists, texts, numbers) without secrets.
// Every text under the name of a secret is masked whole, unless it is empty or
// a reference such as ${NAME}. v itself is not changed.
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
			if s, ok := inner.(string); ok {
				m[key] = r.Entry(key, s)
				continue
			}
			m[key] = r.Value(inner)
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

// Entry returns the text that stands under name, without secrets.
func (r *Redactor) Entry(name, text string) string {
	if secretName(name) && text != "" && !reference(text) {
		return Mask
	}
	return r.Text(text)
}

func reference(text string) bool {
	return strings.HasPrefix(text, "${") && strings.IndexByte(text, '}') == len(text)-1
}

// secretName reports whether a key or header holds a secret. A name such as
// api_key_env holds the name of one, which is no secret.
func secretName(name string) bool {
	name = strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToLower(name))
	switch name {
	case "authorization", "proxy_authorization", "cookie", "set_cookie", "token", "credentials":
		return true
	}
	for _, end := range []string{"api_key", "apikey", "access_key", "secret_key", "private_key", "_token", "secret", "password", "passwd"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

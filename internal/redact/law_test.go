package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/testing/redacttest"
)

// marks are around the secret in planted texts.
var marks = regexp.MustCompile(`«([^»]*)»`)

// unmark returns a planted text and what is to become of it.
func unmark(marked string) (in, want string) {
	in = marks.ReplaceAllString(marked, "$1")
	return in, marks.ReplaceAllStringFunc(marked, func(m string) string {
		if strings.Contains(marked, `"accessToken": «`) { // a number becomes a text
			return `"` + Mask + `"`
		}
		return Mask
	})
}

// messy draws texts out of what the scanner looks for, so that it meets itself.
func messy() *rapid.Generator[string] {
	parts := []string{
		"token", "password", "api_key", "Authorization", "Cookie", "PWD", "sig", "Bearer ", "=", ": ", ":", "://", "@", "\"", "'", "\\", "\\\"", "\\n", "\n", " ", "{", "}", "[", "]", ")", ";", "&", ",",
		"sk-abcDEF1234567890", "ghp_a1b2c3d4e5f6g7h8i9j0k1", "AKIAABCDEFGHIJKLMNOP", "eyJhbGciOiJI.eyJzdWIiOiIx.abc", Mask, "[REDACTED_X]", "redacted]", "[redac",
		"-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "-----BEGIN ", "abc123", "x", "ß", "%3D", "%2", "&quot;", "null", "42", "--", "hunter2hunter2", `\u0022`, "\t", "-", "_", ".",
	}
	for _, marked := range redacttest.Planted() {
		in, _ := unmark(marked)
		parts = append(parts, in)
	}
	parts = append(parts, "Private-Lines: 3", "name: API_KEY\n", "value: ", "password:\n  ", ": |\n", "login me\n", "curl -u me:", "echo ", " | docker login --password-stdin", "h:5432:d:u:", " -p ", "$6$", "curl -b '", "QUJD\n", "curl -u ]e:", " -p [x", " = ", "string", "(", " <- ")
	slices.Sort(parts)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(parts), rapid.StringN(0, 3, -1)), 0, 14).Draw(t, "parts"), "")
	})
}

func TestTextIsIdempotent(t *testing.T) {
	t.Parallel()
	r := New("hunter2hunter2", `q"Z7/key+value`)
	rapid.Check(t, func(t *rapid.T) {
		in := messy().Draw(t, "text")
		once := r.Text(in)
		if twice := r.Text(once); twice != once {
			t.Fatalf("%q became %q, and that %q", in, once, twice)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, marked := range redacttest.Planted() {
		in, _ := unmark(marked)
		f.Add(in)
	}
	for _, text := range append(slices.Clone(harmless40), harmlessForms...) {
		f.Add(text)
	}
	r := New("hunter2hunter2", "correct horse/battery")
	f.Fuzz(func(t *testing.T, text string) {
		once := r.Text(text)
		if twice := r.Text(once); twice != once {
			t.Errorf("%q became %q, and that %q", text, once, twice)
		}
	})
}

// inParts returns text without known values, where it comes in parts and each is passed on as far as
// it is ready.
func inParts(r *Redactor, text string, size func() int) (out string) {
	held := ""
	for text != "" {
		n := min(len(text), max(1, size()))
		held, text = held+text[:n], text[n:]
		n = r.Ready(held)
		out, held = out+r.known.text(held[:n]), held[n:]
	}
	return out + r.known.text(held)
}

// Lines without end are cut, and no secret with them.
func TestLongLinesAreCutBetweenSecrets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var in strings.Builder
		for in.Len() < 4*maxPiece {
			in.WriteString(strings.Repeat(rapid.SampledFrom([]string{"word ", "x", `"a":1,`}).Draw(t, "filling"), rapid.IntRange(1, maxPiece/4).Draw(t, "times")))
			in.WriteString(` {"password": "my secret one"} sk-abcDEF1234567890 token = 'se cret2' `)
		}
		r := New()
		got := r.Text(in.String())
		if strings.Contains(got, "secret") || strings.Contains(got, "DEF1234567890") || strings.Contains(got, "cret2") {
			t.Fatal("a secret is left")
		}
	})
}

// echoed returns the ways in which a text may come back.
func echoed(s string) map[string]string {
	var escaped, upper strings.Builder
	for _, r := range s {
		if r < 0x10000 {
			fmt.Fprintf(&escaped, `\u%04x`, r)
		} else {
			escaped.WriteRune(r)
		}
	}
	for _, b := range []byte(s) {
		fmt.Fprintf(&upper, "%%%02X", b)
	}
	plain := func(v any, escapeHTML bool) string {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(escapeHTML)
		_ = enc.Encode(v)
		return strings.TrimSpace(b.String())
	}
	out := map[string]string{
		"plain": s, "json": plain(s, true), "json without html": plain(s, false), "json in json": plain(plain(s, true), true),
		"slashes": strings.ReplaceAll(plain(s, false), "/", `\/`), "unicode": escaped.String(), "Unicode": strings.ReplaceAll(strings.ToUpper(escaped.String()), `\U`, `\u`),
		"query": url.QueryEscape(s), "path": url.PathEscape(s), "percent": upper.String(), "percent, lower": strings.ToLower(upper.String()),
		"hex": hex.EncodeToString([]byte(s)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(s))), "html": html.EscapeString(s),
		"html, named": strings.NewReplacer("&", "&amp;", "'", "&apos;", `"`, "&quot;", "<", "&lt;", ">", "&gt;").Replace(s), "html, hex": strings.NewReplacer("&", "&#x26;", "'", "&#x27;", "/", "&#x2F;").Replace(s),
	}
	for name, enc := range map[string]*base64.Encoding{"base64": base64.StdEncoding, "base64url": base64.RawURLEncoding} {
		for shift := range 3 {
			out[fmt.Sprint(name, shift)] = enc.EncodeToString([]byte("xyz"[:shift] + s + "tail"[:shift]))
		}
		out[name+" in json"] = strings.ReplaceAll(enc.EncodeToString([]byte(s)), "/", `\/`)
		out[name+" in a url"] = url.QueryEscape(enc.EncodeToString([]byte(s)))
	}
	return out
}

// All echoes of a known value are found, also when they come in parts.
func TestEchoesAreFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.OneOf(
			rapid.StringMatching(`[!-~]{12,40}`), rapid.StringMatching(`[a-zA-Z0-9]{8,40}`), rapid.StringMatching(`[\\/%&"'<>+=a-c]{12,20}x{8}`), rapid.StringMatching(`[äöüß日本🙂a-z]{8,20}`),
		).Draw(t, "secret")
		r := New(secret)
		forms := echoed(secret)
		for _, form := range slices.Sorted(maps.Keys(forms)) {
			text := forms[form]
			in := "a " + text + " b"
			got := r.Text(in)
			if !strings.Contains(got, Mask) || strings.Contains(got, text) {
				t.Fatalf("%s of %q: %q became %q", form, secret, in, got)
			}
			if len(secret) >= minExact {
				if e := NewExact(secret); !e.Has(in) || strings.Contains(e.Text(in), text) {
					t.Fatalf("%s of %q is not found exactly", form, secret)
				}
			}
			parts := inParts(r, in, func() int { return rapid.IntRange(1, 30).Draw(t, "size") })
			if !strings.Contains(parts, Mask) || strings.Contains(parts, text) {
				t.Fatalf("%s of %q: in parts %q became %q", form, secret, in, parts)
			}
		}
	})
}

// A JSON text stays one, whatever stands in its texts.
func TestJSONStaysJSON(t *testing.T) {
	t.Parallel()
	r := New("hunter2hunter2", `q"Z7/key+value`)
	rapid.Check(t, func(t *rapid.T) {
		doc := map[string]any{}
		for range rapid.IntRange(1, 4).Draw(t, "pairs") {
			key := rapid.OneOf(rapid.SampledFrom([]string{"token", "text", "api_key", "n", "pwd", "Authorization", "cookie", "a-password"}), messy()).Draw(t, "key")
			doc[key] = rapid.OneOf(
				rapid.Map(messy(), func(s string) any { return s }), rapid.Just[any](nil), rapid.Map(rapid.Float64Range(-9, 9), func(f float64) any { return f }),
				rapid.Just[any](true), rapid.Map(messy(), func(s string) any { return []any{s, map[string]any{"password": s}} }),
			).Draw(t, "value")
		}
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "nested") {
			text, _ = json.Marshal(map[string]string{"line": string(text)})
		}
		if got := r.Text(string(text)); !json.Valid([]byte(got)) {
			t.Fatalf("%s became\n%s", text, got)
		}
	})
}

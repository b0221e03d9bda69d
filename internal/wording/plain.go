package wording

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// This file makes texts of strangers plain: what models, tasks and programs
// write can hold characters that steer what displays them (a terminal, a page, an
// editor) or that no one sees and a model reads.
//
// Plain leaves such characters out, for texts that are kept; Shown writes them as
// escapes, for texts that are looked at.

// Steers reports whether r steers or hides: a control character other than line
// feed and tab, a break of lines or paragraphs that not everybody takes for one,
// one that turns the direction of text around, or one without any picture that
// languages have no need of. The joiners of scripts and emoji, and the marks of
// direction that affect nothing but their neighbours, are text.
func Steers(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r <= 0x9f: // C0, DEL, C1
		return true
	case r < 0x180e:
		return false
	case unicode.Is(hidden, r):
		return true
	}
	return false
}

// hidden are the characters past Latin-1 that steer or hide.
var hidden = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x180e, 0x180e, 1}, // a separator without width
		{0x200b, 0x200b, 1}, // a space without width
		{0x2028, 0x2029, 1}, // line and paragraph separator
		{0x202a, 0x202e, 1}, // embeddings and overrides of direction
		{0x2060, 0x2064, 1}, // word joiner, invisible operators
		{0x2066, 0x206f, 1}, // isolates of direction, deprecated formats
		{0xfeff, 0xfeff, 1}, // byte order mark
		{0xfff9, 0xfffb, 1}, // annotations between lines
	},
	R32: []unicode.Range32{
		{0xe0000, 0xe007f, 1}, // tags: ASCII that no one sees
	},
}

// breaks reports whether r, which steers, represents the end of a line.
func breaks(r rune) bool {
	switch r {
	case '\r', '\v', '\f', 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// Plain returns s without the characters that steer. Those that end a line become
// line feeds, so that no words run into each other; carriage return and line feed
// together stay. A byte that is not UTF-8 becomes U+FFFD: what was around a
// character that is left out must not make a new one.
func Plain(s string) string {
	return replaceSteering(s, func(b *strings.Builder, r rune) {
		if breaks(r) {
			b.WriteByte('\n')
		}
	}, "\r\n", func(b *strings.Builder, _ byte) { b.WriteRune(utf8.RuneError) })
}

// Escape returns s with each character that steers as an escape such as \u001b,
// which is also what JSON writes for it inside a string: a JSON document stays
// the same document. Carriage return and line feed together are a line feed;
// bytes that are not UTF-8 are escapes such as \x9b.
func Escape(s string) string {
	return replaceSteering(s, func(b *strings.Builder, r rune) {
		if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
			fmt.Fprintf(b, `\u%04x\u%04x`, hi, lo)
			return
		}
		fmt.Fprintf(b, `\u%04x`, r)
	}, "\n", func(b *strings.Builder, c byte) { fmt.Fprintf(b, `\x%02x`, c) })
}

// EscapeBytes does what Escape does for a long text. It returns text itself where nothing in it steers.
func EscapeBytes(text []byte) []byte {
	if bytes.IndexFunc(text, odd) < 0 {
		return text
	}
	return []byte(Escape(string(text)))
}

// odd reports whether a character steers, or represents a byte that is not UTF-8.
func odd(r rune) bool { return Steers(r) || r == utf8.RuneError }

// replaceSteering passes the characters of s that steer to steer and bytes that are not UTF-8 to
// broken, and writes crlf for the two that end a line together.
func replaceSteering(s string, steer func(*strings.Builder, rune), crlf string, broken func(*strings.Builder, byte)) string {
	at := strings.IndexFunc(s, odd)
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:at])
	for i, n := at, 0; i < len(s); i += n {
		var r rune
		r, n = utf8.DecodeRuneInString(s[i:])
		switch {
		case strings.HasPrefix(s[i:], "\r\n"):
			b.WriteString(crlf)
			n = 2
		case r == utf8.RuneError && n == 1:
			broken(&b, s[i])
		case Steers(r):
			steer(&b, r)
		default:
			b.WriteString(s[i : i+n])
		}
	}
	return b.String()
}

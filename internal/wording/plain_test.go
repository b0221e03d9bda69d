package wording

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestTextAndShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, text, shown string }{
		{"nothing to do", "a\tb\nÜ 任务 👩‍👩‍👧\n", "a\tb\nÜ 任务 👩‍👩‍👧\n", "a\tb\nÜ 任务 👩‍👩‍👧\n"},
		{"escape sequence", "\x1b[2Ja", "[2Ja", `\u001b[2Ja`},
		{"C0, DEL", "a\x00b\x07c\x7f", "abc", `a\u0000b\u0007c\u007f`},
		{"C1", "a\u0080b\u009b31mc", "ab31mc", `a\u0080b\u009b31mc`},
		{"CRLF", "a\r\nb", "a\r\nb", "a\nb"},
		{"lone CR", "a\rb\r", "a\nb\n", `a\u000db\u000d`},
		{"CR CR LF", "a\r\r\nb", "a\n\r\nb", "a\\u000d\nb"},
		{"other breaks", "a\u2028b\u2029c\u0085d\ve\f", "a\nb\nc\nd\ne\n", `a\u2028b\u2029c\u0085d\u000be\u000c`},
		{"overrides", "a\u202eb\u2066c\u2069", "abc", `a\u202eb\u2066c\u2069`},
		{"without width", "\ufeffa\u200bb\u2060c", "abc", `\ufeffa\u200bb\u2060c`},
		{"tags", "a\U000e0041b", "ab", `a\udb40\udc41b`},
		{"marks and joiners", "\u200e\u200f\u200d\u200c", "\u200e\u200f\u200d\u200c", "\u200e\u200f\u200d\u200c"},
		{"no UTF-8", "a\x9b31m", "a\ufffd31m", `a\x9b31m`},
		{"a replacement character", "\ufffd\x1b", "\ufffd", `` + "\ufffd" + `\u001b`},
	} {
		if diff := cmp.Diff([]string{c.text, c.shown}, []string{Plain(c.in), Escape(c.in)}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, s := range []string{"", "a\r\nb\rc", "\x1b[2J\u009b\u202e\U000e0041\xff", `{"a":"\u001b"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, shown := Plain(s), Escape(s)
		if strings.ContainsFunc(strings.ReplaceAll(text, "\r\n", ""), Steers) || !utf8.ValidString(text) {
			t.Errorf("Plain(%q) = %q steers", s, text)
		}
		if strings.ContainsFunc(shown, Steers) || !utf8.ValidString(shown) {
			t.Errorf("Shown(%q) = %q steers", s, shown)
		}
		if Plain(text) != text || Escape(shown) != shown {
			t.Errorf("%q: not the same the second time", s)
		}
		if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r > 0x17ff || r == utf8.RuneError }) {
			return
		}
		if text != s {
			t.Errorf("Plain(%q) = %q", s, text)
		}
	})
}

func FuzzShownJSON(f *testing.F) {
	f.Add("a\u009b\u202e\U000e0041\x7f\ufeff\u0085")
	f.Fuzz(func(t *testing.T, s string) {
		doc, err := json.Marshal(s)
		if err != nil {
			t.Skip()
		}
		var got, want string
		if err := json.Unmarshal([]byte(Escape(string(doc))), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if err := json.Unmarshal(doc, &want); err != nil || got != want {
			t.Errorf("%q became %q (%v)", want, got, err)
		}
	})
}

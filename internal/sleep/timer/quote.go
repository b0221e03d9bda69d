package timer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// systemdWord writes a word of a command line of a unit: in double quotes, with specifiers and,
// but for the program, variables escaped.
func systemdWord(text string, program bool) string {
	r := []string{`\`, `\\`, `"`, `\"`, `%`, `%%`}
	if !program { // of the program no variables are replaced
		r = append(r, `$`, `$$`)
	}
	return `"` + strings.NewReplacer(r...).Replace(text) + `"`
}

// cronWord writes a word of a command in a crontab: in single quotes for sh. Percent signs are a
// line break for cron and are written outside of the quotes, after a backslash: some versions of cron
// take it away, others leave it to sh.
func cronWord(text string) string {
	return `'` + strings.NewReplacer(`'`, `'\''`, `%`, `'\%'`).Replace(text) + `'`
}

// xmlText writes a text of an XML document.
func xmlText(text string) string {
	return strings.NewReplacer(`&`, `&amp;`, `<`, `&lt;`, `>`, `&gt;`, `"`, `&quot;`).Replace(text)
}

// windowsWord writes a word of a command line of Windows, as programs take it apart.
func windowsWord(text string) string {
	if text != "" && !strings.ContainsAny(text, " \t\"") {
		return text
	}
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for _, r := range text {
		switch r {
		case '\\':
			slashes++
			continue
		case '"':
			b.WriteString(strings.Repeat(`\`, 2*slashes+1))
		default:
			b.WriteString(strings.Repeat(`\`, slashes))
		}
		slashes = 0
		b.WriteRune(r)
	}
	b.WriteString(strings.Repeat(`\`, 2*slashes) + `"`)
	return b.String()
}

// tag returns the line by which an entry is known. It is of ASCII alone and without two hyphens in
// a row, so that it can be in a comment of XML and survives every code page.
func tag(id, profile string) string { return prefix + id + " " + asciiString(profile) }

var tagLine = pattern.New(`skillopt-sleep-([0-9a-f]{16}) ("(?:[^"\\]|\\.)*")`)

// readTag finds the tag in a text.
func readTag(text string) (id, profile string, found bool) {
	m := tagLine.FindStringSubmatch(text)
	if m == nil || json.Unmarshal([]byte(m[2]), &profile) != nil {
		return "", "", false
	}
	return m[1], profile, true
}

// asciiString returns a text as a string of JSON, in ASCII.
func asciiString(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r >= ' ' && r < 0x7f && r != '-' && r != '<' && r != '>' && r != '&' && r != '%':
			b.WriteRune(r)
		default:
			for _, u := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, u)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}

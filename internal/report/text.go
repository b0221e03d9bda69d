package report

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// absent represents what was not measured or is not known.
const absent = "–"

// clean returns text of a model, a task or a user as it may be shown, and passed on. It replaces
// characters that steer what shows them, or that no one sees, and masks what looks like a secret.
// Then it cuts the text: at most n code points are kept.
func clean(text string, n int) string {
	text = replaceControls(redact.Text(text))
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

func replaceControls(text string) string {
	return strings.Map(func(r rune) rune {
		if wording.Steers(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), string(unicode.ReplacementChar)))
}

// line returns clean text on one line.
func line(text string, n int) string {
	return clean(strings.Join(strings.Fields(clean(text, 1<<20)), " "), n)
}

// lines returns the result of line for each of several texts.
func lines(texts []string, n int) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = line(t, n)
	}
	return out
}

// Lengths of texts in a report: the files hold them in full.
const (
	idLength     = 80
	reasonLength = 600
)

// few lists the first n names and how many more there are.
func few(names []string, n int) string {
	names = lines(names, idLength)
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}

func number(v *float64) string {
	if v == nil {
		return absent
	}
	return fmt.Sprintf("%.3f", *v)
}

func formatDifference(v *float64) string {
	if v == nil {
		return absent
	}
	return strings.ReplaceAll(fmt.Sprintf("%+.3f", *v), "-", "−")
}

func formatRange(low, high float64) string { return fmt.Sprintf("%.3f to %.3f", low, high) }

// count writes a number with thin spaces between thousands.
func count(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

func dollars(v *float64) string {
	if v == nil {
		return "not known"
	}
	return fmt.Sprintf("$%.4f", *v)
}

func duration(seconds float64) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%.1f s", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%d min %d s", int(seconds)/60, int(seconds)%60)
	}
	return fmt.Sprintf("%d h %d min", int(seconds)/3600, int(seconds)%3600/60)
}

package skill

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// Markers of the learned region, the same that SkillOpt-Sleep writes. Each is alone on
// its line. What is between these lines is what was learned; all else is its author's.
const (
	LearnedStart = "<!-- SKILLOPT-SLEEP:LEARNED START -->"
	LearnedEnd   = "<!-- SKILLOPT-SLEEP:LEARNED END -->"
)

// Region names a part of SKILL.md that edits can be confined to: the opposite of a
// protected region.
type Region string

// LearnedRegion is the part between the markers of the learned region.
const LearnedRegion Region = "learned"

// learned is what is between its two lines. It is no protected region: it is in kinds
// of no function that protects.
var learned = kind{start: LearnedStart, end: LearnedEnd}

// ErrNoRegion says that a document has no learned region, and no marker of one.
var ErrNoRegion = errors.New("there is no learned region")

// RegionError says why the learned region of a document cannot be known for certain. Nothing
// is changed then.
type RegionError struct {
	Line   int    // 1-based
	Reason string // what is wrong there
}

func (e *RegionError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// likeMarker matches the markers of the learned region, and what somebody may have meant
// as one.
var likeMarker = pattern.New(`(?i)<!--[ \t]*SKILLOPT-SLEEP:[ \t]*LEARNED[ \t]+(?:START|END)[ \t]*-->`)

// learnedSpan is where the learned region is in a text.
type learnedSpan struct {
	outer span // its two lines and what is between
	inner span // what is between: whole lines
}

// LearnedRange returns the half-open byte range of what the learned region of text holds,
// whole lines without those of the markers. The error is ErrNoRegion, or a *RegionError
// where the markers are not exactly one start and one end, in that order, each alone on its
// line and none in code, and where another region crosses them.
func LearnedRange(text string) (from, to int, err error) {
	l, err := learnedIn(text)
	return l.inner.from, l.inner.to, err
}

// LearnedText returns what the learned region of text holds, byte for byte: "", or whole
// lines. Errors are those of LearnedRange.
func LearnedText(text string) (string, error) {
	from, to, err := LearnedRange(text)
	return text[from:to], err
}

// InjectLearned returns text with an empty learned region as its last paragraph, or as it
// is when it has one. All of text stays, byte for byte, before the region. Errors are
// *RegionError: of a region that cannot be determined, and of code that is open at the end.
func InjectLearned(text string) (string, error) {
	switch _, err := learnedIn(text); {
	case err == nil:
		return text, nil
	case !errors.Is(err, ErrNoRegion):
		return "", err
	}
	end := LineEnd(text)
	gap := ""
	switch body := strings.TrimPrefix(text, byteOrderMark); {
	case body == "":
	case !strings.HasSuffix(text, lf):
		gap = end + end
	case !strings.HasSuffix(text, lf+lf) && !strings.HasSuffix(text, lf+crlf):
		gap = end
	}
	out := text + gap + LearnedStart + end + LearnedEnd + end
	if _, err := learnedIn(out); err != nil {
		return "", &RegionError{Line: lineNumber(text, len(strings.TrimRight(text, crlf))), Reason: "the text ends within code, a comment or an element, in which a learned region would be no region: close it first"}
	}
	return out, nil
}

// ReplaceLearned returns text whose learned region holds content. All bytes outside of the
// region stay. Content goes in as it is, and gets the line end of text at its end if it has
// none; it may hold other regions as a whole. The error is one of LearnedRange, or says
// which line of content may not be there: a marker, or what would make code of one.
func ReplaceLearned(text, content string) (string, error) {
	l, err := learnedIn(text)
	if err != nil {
		return "", err
	}
	if at := likeMarker.FindStringIndex(content); at != nil {
		return "", fmt.Errorf("line %d of the content is a marker of the learned region, which may not be in it", lineNumber(content, at[0]))
	}
	if content != "" && !strings.HasSuffix(content, lf) {
		content += LineEnd(text)
	}
	out := text[:l.inner.from] + content + text[l.inner.to:]
	if now, err := learnedIn(out); err != nil || out[now.inner.from:now.inner.to] != content || now.outer.from != l.outer.from {
		return "", errors.New("the content leaves code, a comment, an element or a region open in which the end of the learned region would be")
	}
	return out, nil
}

// learnedIn finds the learned region of text.
func learnedIn(text string) (learnedSpan, error) {
	marks := likeMarker.Regexp().FindAllStringIndex(text, -1)
	if marks == nil {
		return learnedSpan{}, ErrNoRegion
	}
	from := max(frontMatterEnd(text), len(text)-len(strings.TrimPrefix(text, byteOrderMark)))
	doc := readLines(text, from)
	var lines []mdLine
	for _, m := range marks {
		l, reason := doc.marker(m[0], m[1])
		if reason != "" {
			return learnedSpan{}, &RegionError{Line: lineNumber(text, m[0]), Reason: reason}
		}
		lines = append(lines, l)
	}
	if err := checkMarkers(text, lines); err != nil {
		return learnedSpan{}, err
	}
	l := learnedSpan{outer: span{lines[0].from, lines[1].next}, inner: span{lines[0].next, lines[1].from}}
	if err := l.cutBy(text); err != nil {
		return learnedSpan{}, err
	}
	return l, nil
}

// marker returns the line of the marker between two bytes, and why it is none.
func (m mdText) marker(from, to int) (l mdLine, reason string) {
	i := m.at(from)
	if i < 0 {
		return l, "a marker of the learned region may not be in front matter"
	}
	l = m.lines[i]
	switch line := strings.TrimRight(m.text[l.from:l.to], " \t\r"); {
	case m.text[from:to] != LearnedStart && m.text[from:to] != LearnedEnd:
		return l, fmt.Sprintf("%q is not written as a marker of the learned region: want %s or %s", m.text[from:to], LearnedStart, LearnedEnd)
	case l.kind == codeLine || l.kind == indentedLine:
		return l, "a marker of the learned region is in code, a comment or an element, where it is none"
	case line != m.text[from:to] || l.owner >= 0:
		return l, "a marker of the learned region has to be alone on its line, at the beginning, and in no list"
	}
	return l, ""
}

// checkMarkers reports the first of the lines of markers that has no place.
func checkMarkers(text string, lines []mdLine) error {
	bad := func(l mdLine, format string, args ...any) error {
		return &RegionError{Line: lineNumber(text, l.from), Reason: fmt.Sprintf(format, args...)}
	}
	starts := func(l mdLine) bool { return strings.HasPrefix(text[l.from:], LearnedStart) }
	first := lines[0]
	switch {
	case !starts(first) && len(lines) > 1 && starts(lines[1]):
		return bad(first, "the learned region ends before it begins, in line %d", lineNumber(text, lines[1].from))
	case !starts(first):
		return bad(first, "the learned region ends and does not begin before: %s is missing", LearnedStart)
	case len(lines) == 1:
		return bad(first, "the learned region begins and does not end: %s is missing", LearnedEnd)
	case starts(lines[1]):
		return bad(lines[1], "the learned region begins a second time, after line %d", lineNumber(text, first.from))
	case len(lines) > 2 && starts(lines[2]):
		return bad(lines[2], "there is a second learned region, the first begins in line %d", lineNumber(text, first.from))
	case len(lines) > 2:
		return bad(lines[2], "the learned region ends a second time, after line %d", lineNumber(text, lines[1].from))
	}
	return nil
}

// cutBy reports another region of which only a part is within the learned one, or that
// holds it.
func (l learnedSpan) cutBy(text string) error {
	for _, k := range kinds {
		for _, s := range k.regions(text, frontMatterEnd(text)) {
			within := l.inner.from <= s.from && s.to <= l.inner.to
			if s.overlaps(l.outer) && !within {
				return &RegionError{Line: lineNumber(text, s.from), Reason: fmt.Sprintf("the region of %s holds a marker of the learned region", k.start)}
			}
		}
	}
	return nil
}

// outsideSame reports whether two texts are equal, byte for byte, but for what their
// learned regions hold.
func outsideSame(a, b string) bool {
	x, errA := learnedIn(a)
	y, errB := learnedIn(b)
	return errA == nil && errB == nil && a[:x.inner.from] == b[:y.inner.from] && a[x.inner.to:] == b[y.inner.to:]
}

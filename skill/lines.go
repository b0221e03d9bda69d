package skill

import (
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// This file reads Markdown line by line, as far as edits have to know it to join what
// is there: lists, fences, paragraphs. It is no parser of CommonMark: where it is not
// sure it says code, which nothing tidies.

// lineKind says what a line is.
type lineKind int

const (
	blankLine lineKind = iota
	textLine
	headingLine
	itemLine // the first line of a list item
	quoteLine
	rowLine // of a table
	ruleLine
	htmlLine
	indentedLine // of code without a fence
	codeLine     // fenced with its fences, or of a comment or an element whose text is raw
)

// mdLine is a line of Markdown.
type mdLine struct {
	from, to, next int // offsets: the line without its end, and where the next one begins
	kind           lineKind
	indent         int  // columns before the first character
	owner          int  // index of the item that it lies in, -1 if in none
	marker         byte // of an item: - * + or the . ) behind a number
	body           int  // of an item: column at which its text begins
	inside         bool // of a code line: a line of the same block follows
}

// mdText is a text as lines, from the byte at which Markdown begins.
type mdText struct {
	text  string
	lines []mdLine
	open  bool // a fence, comment or element is not closed at the end
}

var (
	headingStart = pattern.New(`^#{1,6}([ \t]|$)`)
	itemStart    = pattern.New(`^([-*+]|\d{1,9}[.)])([ \t]+|$)`)
	ruleWhole    = pattern.New(`^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	htmlStart    = pattern.New(`^</?[A-Za-z!?]`)
	rawStart     = pattern.New(`(?i)^<(pre|script|style|textarea)\b`)
)

// mdReader goes through the lines of a text.
type mdReader struct {
	mdText
	items  []int  // open ones, the outermost first
	fence  string // of the open code block: what closes it, "" if none is open
	raw    bool   // fence is the end of an element or comment
	holder int    // the item in which the code block lies
}

// readLines reads text from the byte at from on.
func readLines(text string, from int) mdText {
	r := mdReader{mdText: mdText{text: text}}
	for at := from; at < len(text); {
		next := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		r.add(at, next)
		at = next
	}
	r.open = r.fence != ""
	return r.mdText
}

func (r *mdReader) add(from, next int) {
	line := strings.TrimRight(r.text[from:next], crlf)
	l := mdLine{from: from, to: from + len(line), next: next, owner: r.innermost(), indent: columns(line)}
	switch rest := strings.Trim(line, " \t"); {
	case r.fence != "" && r.inCode(l, rest):
		l.kind, l.owner = codeLine, r.holder
		l.inside = r.fence != ""
	case rest == "":
	default:
		r.classify(&l, rest)
	}
	r.lines = append(r.lines, l)
	if l.kind == itemLine {
		r.items = append(r.items, len(r.lines)-1)
	}
	if r.fence != "" && l.kind != codeLine { // an item that begins with a fence
		r.holder = len(r.lines) - 1
	}
}

func (r *mdReader) innermost() int {
	if len(r.items) == 0 {
		return -1
	}
	return r.items[len(r.items)-1]
}

// inCode reports whether a line belongs to the open code block, and closes it if the line ends it.
func (r *mdReader) inCode(l mdLine, rest string) bool {
	switch {
	case r.raw:
		if strings.Contains(strings.ToLower(rest), r.fence) {
			r.fence = ""
		}
	case rest != "" && r.holder >= 0 && l.indent < r.lines[r.holder].body:
		r.fence = "" // the item that it lies in has ended
		return false
	case len(rest) >= len(r.fence) && strings.Trim(rest, r.fence[:1]) == "":
		r.fence = ""
	}
	return true
}

// classify says what a line is that is not blank and lies in no code block.
func (r *mdReader) classify(l *mdLine, rest string) {
	after := r.last() // the kind of the line before
	kind := detectKind(rest)
	if kind == textLine && (after == textLine || after == itemLine) {
		l.kind = textLine // also of the item before it, however it is indented
		return
	}
	for len(r.items) > 0 && l.indent < r.lines[r.innermost()].body {
		r.items = r.items[:len(r.items)-1]
	}
	l.owner = r.innermost()
	base := 0
	if l.owner >= 0 {
		base = r.lines[l.owner].body
	}
	switch {
	case l.indent-base >= 4 && after != textLine && after != itemLine:
		l.kind = indentedLine
		return
	case l.indent-base >= 4:
		kind = textLine
	case kind == itemLine && after == textLine && l.owner < 0 && !r.beginsList(rest), kind == ruleLine && rest[0] == '-' && r.underlines(*l):
		kind = textLine
	}
	l.kind = kind
	switch kind {
	case itemLine:
		r.item(l, rest)
	case codeLine, htmlLine:
		l.inside = r.opens(rest)
		r.holder = l.owner
		if l.inside {
			l.kind = codeLine
		}
	}
}

// beginsList reports whether an item may end a paragraph: a number in a sentence does not.
func (r *mdReader) beginsList(rest string) bool {
	if n := len(r.lines); n > 0 && r.lines[n-1].owner >= 0 {
		return true
	}
	return rest[0] < '0' || rest[0] > '9' || strings.HasPrefix(rest, "1.") || strings.HasPrefix(rest, "1)")
}

// underlines reports whether a line of dashes makes a heading of the paragraph before it: not of one that
// continues an item from the margin, after which it is a rule.
func (r *mdReader) underlines(l mdLine) bool {
	return r.last() == textLine && r.lines[len(r.lines)-1].owner == l.owner
}

func (r *mdReader) last() lineKind {
	if len(r.lines) == 0 {
		return blankLine
	}
	return r.lines[len(r.lines)-1].kind
}

func (r *mdReader) item(l *mdLine, rest string) {
	m := itemStart.FindStringSubmatch(rest)
	l.marker = m[1][len(m[1])-1]
	width := columns(m[2] + "x")
	if text := rest[len(m[0]):]; text == "" || width > 4 {
		width = 1
	} else {
		r.opens(text)
	}
	l.body = l.indent + len(m[1]) + width
}

// opens reports whether a line begins a code block and does not end it.
func (r *mdReader) opens(rest string) bool {
	lower := strings.ToLower(rest)
	switch m := rawStart.FindStringSubmatch(rest); {
	case m != nil:
		r.fence, r.raw = "</"+strings.ToLower(m[1])+">", true
	case strings.HasPrefix(rest, "<!--"):
		r.fence, r.raw, lower = "-->", true, rest[len("<!--"):]
	default:
		r.fence, r.raw = openingFence(rest), false
		return r.fence != ""
	}
	if strings.Contains(lower, r.fence) {
		r.fence = ""
	}
	return r.fence != ""
}

// openingFence returns the run of characters that opens a fenced code block, "" if none does.
func openingFence(rest string) string {
	for _, c := range []string{"`", "~"} {
		n := len(rest) - len(strings.TrimLeft(rest, c))
		if n >= 3 && (c == "~" || !strings.Contains(rest[n:], c)) {
			return rest[:n]
		}
	}
	return ""
}

func detectKind(rest string) lineKind {
	switch {
	case openingFence(rest) != "":
		return codeLine
	case headingStart.MatchString(rest):
		return headingLine
	case ruleWhole.MatchString(rest):
		return ruleLine
	case itemStart.MatchString(rest):
		return itemLine
	case rest[0] == '>':
		return quoteLine
	case rest[0] == '|':
		return rowLine
	case htmlStart.MatchString(rest):
		return htmlLine
	}
	return textLine
}

// columns returns how many columns of white space a line begins with.
func columns(line string) int {
	n := 0
	for _, r := range line {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}

// at returns the index of the line that holds the byte at offset, -1 if none does.
func (m mdText) at(offset int) int {
	for i, l := range m.lines {
		if l.from <= offset && offset < l.next {
			return i
		}
	}
	return -1
}

// item returns the innermost item that a line begins or lies in, -1 if none.
func (m mdText) item(i int) int {
	if m.lines[i].kind == itemLine {
		return i
	}
	return m.lines[i].owner
}

// outermost returns the item of the outermost list that a line lies in, -1 if none.
func (m mdText) outermost(i int) int {
	k := m.item(i)
	for k >= 0 && m.lines[k].owner >= 0 {
		k = m.lines[k].owner
	}
	return k
}

// in reports whether line i lies in the item k.
func (m mdText) in(i, k int) bool {
	for o := m.lines[i].owner; o >= 0; o = m.lines[o].owner {
		if o == k {
			return true
		}
	}
	return false
}

// itemEnd returns the last line of an item that is not blank.
func (m mdText) itemEnd(k int) int {
	end := k
	for i := k + 1; i < len(m.lines) && (m.lines[i].kind == blankLine || m.in(i, k)); i++ {
		if m.lines[i].kind != blankLine {
			end = i
		}
	}
	return end
}

// blockEnd returns the last line of the paragraph, quote, table or code that line i lies in.
func (m mdText) blockEnd(i int) int {
	kind := m.lines[i].kind
	if kind == itemLine {
		kind = textLine
	}
	if kind == headingLine || kind == ruleLine {
		return i
	}
	for i+1 < len(m.lines) && m.goesOn(kind, i) {
		i++
	}
	if k := m.outermost(i); kind == htmlLine && m.lines[i].kind != htmlLine && k >= 0 { // a list follows at once
		return m.itemEnd(k)
	}
	return i
}

// goesOn reports whether the line after line i belongs to the same block of that kind.
func (m mdText) goesOn(kind lineKind, i int) bool {
	next := m.lines[i+1].kind
	switch kind {
	case codeLine:
		return next == codeLine && m.lines[i].inside
	case htmlLine:
		return next != blankLine && !m.comment(i)
	}
	return next == kind
}

// comment reports whether a line is a comment that begins and ends there, and lies in no element: what
// follows is another block, with a blank line between or not.
func (m mdText) comment(i int) bool {
	l := m.lines[i]
	if !strings.HasPrefix(strings.TrimLeft(m.text[l.from:l.to], " \t"), "<!--") {
		return false
	}
	return i == 0 || m.lines[i-1].kind != htmlLine || m.comment(i-1)
}

// previousLine returns the last line before line i that is not blank, -1 if there is none.
func (m mdText) previousLine(i int) int {
	for i--; i >= 0 && m.lines[i].kind == blankLine; i-- {
	}
	return i
}

// after returns the first line after line i that is not blank, len(m.lines) if there is none.
func (m mdText) after(i int) int {
	for i++; i < len(m.lines) && m.lines[i].kind == blankLine; i++ {
	}
	return i
}

// siblings reports whether two items are of one list.
func (m mdText) siblings(a, b int) bool {
	x, y := m.lines[a], m.lines[b]
	return x.kind == itemLine && y.kind == itemLine && x.owner == y.owner && x.marker == y.marker
}

// loose reports whether a blank line is between an item and the one after it in its
// list or, if it is the last, the one before it.
func (m mdText) loose(k int) bool {
	end := m.itemEnd(k)
	if n := m.after(end); n < len(m.lines) && m.siblings(k, n) {
		return n > end+1
	}
	for p := m.previousLine(k); p >= 0; p = m.lines[p].owner {
		if m.siblings(p, k) {
			return m.lines[k-1].kind == blankLine
		}
	}
	return false
}

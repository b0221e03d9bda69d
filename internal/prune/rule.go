package prune

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/skill"
)

// Rule is the smallest part of a document that is left out by itself: an item of
// a list with all that is indented under it, or a paragraph, with a fenced block
// that directly follows either, or a worked example. Headings, comments, lines that only
// separate, front matter and all else of protected regions are no rules.
type Rule struct {
	Number   int    `json:"rule"`           // from 1, in the order of the files and of their lines
	File     string `json:"file,omitempty"` // "": SKILL.md
	Line     int    `json:"line"`           // first line, from 1
	LastLine int    `json:"last_line"`
	Text     string `json:"text"` // its lines as they are, without the last line break

	from, to int // bytes of the file, whole lines
}

// line is one line of a document.
type line struct {
	from, to  int // with its line break
	text      string
	indent    int
	protected bool
}

func (l line) blank() bool { return l.text == "" }

// open reports whether a rule may hold the line.
func (l line) open() bool { return !l.protected && !l.blank() }

// Rules cuts a document.
func Rules(text string) []Rule { return cut(text, skill.Protected(text)) }

// cut returns the rules of a document of which ranges of bytes are protected, as Rules does.
func cut(text string, protected [][2]int) []Rule {
	c := cutter{text: text, lines: lines(text, protected), examples: skill.ExampleRanges(text)}
	for c.at < len(c.lines) {
		c.next()
	}
	return c.rules
}

// lines takes a document apart. A line that a protected range touches is
// protected as a whole.
func lines(text string, protected [][2]int) []line {
	var out []line
	for from := 0; from < len(text); {
		to := len(text)
		if i := strings.IndexByte(text[from:], '\n'); i >= 0 {
			to = from + i + 1
		}
		raw := text[from:to]
		l := line{from: from, to: to, text: strings.TrimSpace(raw), indent: indent(raw)}
		l.protected = slices.ContainsFunc(protected, func(g [2]int) bool { return from < g[1] && g[0] < to })
		out = append(out, l)
		from = to
	}
	return out
}

// indent counts the columns before the first word; a tab goes to the next
// multiple of four.
func indent(raw string) int {
	n := 0
	for _, r := range raw {
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

// cutter walks over the lines of a document.
type cutter struct {
	text     string
	lines    []line
	at       int
	rules    []Rule
	examples [][2]int // bytes of those that are left
	near     bool     // only blank lines are between here and the last rule
}

// next takes in the block that begins at the current line.
func (c *cutter) next() {
	l := c.lines[c.at]
	switch {
	case len(c.examples) > 0 && l.from == c.examples[0][0]:
		c.example()
	case l.blank():
		c.at++
	case l.protected, isHeading(l.text), separator(l.text):
		c.at++
		c.near = false
	case strings.HasPrefix(l.text, "<!--"):
		c.comment()
	case openingFence(l.text) != "":
		first := c.at
		c.skipFence()
		if c.near {
			c.extend()
		} else {
			c.add(first)
		}
	case marker(l.text) > 0:
		c.item()
	default:
		c.paragraph()
	}
}

// example takes in a worked example.
func (c *cutter) example() {
	first, end := c.at, c.examples[0][1]
	c.examples = c.examples[1:]
	for c.at < len(c.lines) && c.lines[c.at].from < end {
		c.at++
	}
	c.add(first)
	c.near = false
}

// add makes a rule of the lines from first to before the current one.
func (c *cutter) add(first int) {
	a, b := c.lines[first], c.lines[c.at-1]
	c.rules = append(c.rules, Rule{
		Number: len(c.rules) + 1, Line: first + 1, LastLine: c.at, from: a.from, to: b.to, Text: strings.TrimRight(c.text[a.from:b.to], "\r\n"),
	})
	c.near = true
}

// extend makes the last rule reach to before the current line.
func (c *cutter) extend() {
	r := &c.rules[len(c.rules)-1]
	r.to, r.LastLine = c.lines[c.at-1].to, c.at
	r.Text = strings.TrimRight(c.text[r.from:r.to], "\r\n")
}

// comment skips an HTML comment.
func (c *cutter) comment() {
	for c.at < len(c.lines) {
		l := c.lines[c.at]
		c.at++
		if l.protected || strings.Contains(l.text, "-->") {
			break
		}
	}
	c.near = false
}

// skipFence skips a fenced block: up to the line that closes it, or to what no rule may hold.
func (c *cutter) skipFence() {
	fence := openingFence(c.lines[c.at].text)
	c.at++
	for c.at < len(c.lines) && !c.lines[c.at].protected {
		l := c.lines[c.at]
		c.at++
		if strings.HasPrefix(l.text, fence) && strings.Trim(l.text, fence[:1]) == "" {
			return
		}
	}
	for c.lines[c.at-1].blank() {
		c.at--
	}
}

// item takes in an item of a list: what is indented under it belongs to it, also
// behind blank lines, and so does text that directly follows.
func (c *cutter) item() {
	first := c.at
	under := c.lines[first].indent + 1
	c.at++
	for c.at < len(c.lines) {
		l := c.lines[c.at]
		switch {
		case l.protected:
			c.add(first)
			return
		case l.blank():
			next := c.skipBlank(c.at)
			if next == len(c.lines) || c.lines[next].protected || c.lines[next].indent < under+1 {
				c.add(first)
				return
			}
			c.at = next
		case l.indent >= under && openingFence(l.text) != "":
			c.skipFence()
		case l.indent < under && begins(l.text):
			c.add(first)
			return
		default:
			c.at++
		}
	}
	c.add(first)
}

// skipBlank returns the first line at or after i that is not blank.
func (c *cutter) skipBlank(i int) int {
	for i < len(c.lines) && c.lines[i].blank() && !c.lines[i].protected {
		i++
	}
	return i
}

// paragraph takes in lines up to a blank one or the beginning of something else.
// Underlined it is a heading.
func (c *cutter) paragraph() {
	first := c.at
	c.at++
	for c.at < len(c.lines) && c.lines[c.at].open() {
		if l := c.lines[c.at]; underline(l.text) {
			c.at++
			c.near = false
			return
		} else if begins(l.text) {
			break
		}
		c.at++
	}
	c.add(first)
}

// begins reports whether a line starts something that ends a paragraph.
func begins(text string) bool {
	return isHeading(text) || separator(text) || marker(text) > 0 || openingFence(text) != "" || strings.HasPrefix(text, "<!--")
}

func isHeading(text string) bool {
	level := len(text) - len(strings.TrimLeft(text, "#"))
	return level >= 1 && level <= 6 && (len(text) == level || text[level] == ' ' || text[level] == '\t')
}

// underline reports whether a line makes a heading of the one above.
func underline(text string) bool {
	return len(text) >= 2 && (strings.Trim(text, "=") == "" || strings.Trim(text, "-") == "")
}

// separator reports whether a line is a thematic break.
func separator(text string) bool {
	bare := strings.ReplaceAll(text, " ", "")
	return len(bare) >= 3 && (strings.Trim(bare, "-") == "" || strings.Trim(bare, "*") == "" || strings.Trim(bare, "_") == "")
}

// openingFence returns the fence that a line opens, "" if none.
func openingFence(text string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(text) - len(strings.TrimLeft(text, mark)); n >= 3 {
			return text[:n]
		}
	}
	return ""
}

// marker returns the length of the marker of a list item, 0 if a line begins none.
func marker(text string) int {
	if separator(text) {
		return 0
	}
	bullet := len(text) >= 1 && strings.ContainsRune("-*+", rune(text[0]))
	if bullet && (len(text) == 1 || text[1] == ' ' || text[1] == '\t') {
		return 1
	}
	n := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if n < 1 || n > 9 || n == len(text) || text[n] != '.' && text[n] != ')' {
		return 0
	}
	if len(text) == n+1 || text[n+1] == ' ' || text[n+1] == '\t' {
		return n + 1
	}
	return 0
}

// Without returns the document without some of its rules. Every other line stays
// as it is; where a rule was between two blank lines one of them goes with it,
// and at the end of the document those before it.
func Without(text string, gone ...Rule) string {
	for _, r := range slices.Backward(slices.SortedFunc(slices.Values(gone), func(a, b Rule) int { return a.from - b.from })) {
		before, after := text[:r.from], text[r.to:]
		switch {
		case strings.TrimSpace(after) == "":
			text = cutEnd(text, before) + after
		case endsBlank(before):
			text = before + strings.TrimPrefix(strings.TrimPrefix(after, "\r"), "\n")
		default:
			text = before + after
		}
	}
	return text
}

// endsBlank reports whether a text ends in a blank line, or is empty.
func endsBlank(text string) bool {
	last, ok := strings.CutSuffix(text, "\n")
	last = strings.TrimRight(last, " \t\r")
	return text == "" || ok && strings.HasSuffix(last, "\n")
}

// cutEnd returns the text before a rule that was the last thing of a document:
// without blank lines at its end, unless they are protected.
func cutEnd(text, before string) string {
	least := 0
	for _, g := range skill.Protected(text) {
		if g[0] < len(before) {
			least = max(least, min(g[1], len(before)))
		}
	}
	kept := max(least, len(strings.TrimRight(before, " \t\r\n")))
	if kept > 0 && before[kept-1] == '\n' {
		return before[:kept]
	}
	if i := strings.IndexByte(before[kept:], '\n'); i >= 0 {
		return before[:kept+i+1]
	}
	return before
}

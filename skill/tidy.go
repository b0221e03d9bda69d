package skill

import (
	"path"
	"slices"
	"strings"
)

// This file makes edits of Markdown leave Markdown as a careful author would: an item
// joins the list that it is put behind, blocks have one blank line between them, and what
// is taken out leaves none doubled. Bytes outside of an edit stay, but for blank lines where
// it begins and ends. What lies in code stays as it is.

// isMarkdown reports whether the file at name is Markdown, in which edits are fitted in.
func isMarkdown(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown"
}

// fitted is a text that is put into a page.
type fitted struct {
	page
	doc   mdText
	lines []string // of the text, without line ends; none is blank at either end
	part  mdText   // the lines read as Markdown
	shift int      // columns that the text was indented by
}

// fit returns content, trimmed, as it may be put into a page that reads as doc: not
// indented, with no more than one blank line between its blocks. shift is how far its first
// line was.
func (p page) fit(doc mdText, content string, shift int) fitted {
	content = WithLineEnd(content, lf)
	part := readLines(content, 0)
	f := fitted{page: p, doc: doc, shift: shift}
	for i, l := range part.lines {
		if l.kind == blankLine && part.lines[i-1].kind == blankLine && !part.isCode(part.after(i)) {
			continue
		}
		f.lines = append(f.lines, content[l.from:l.to])
	}
	f.part = readLines(strings.Join(f.lines, lf), 0)
	return f
}

// dedent returns text without the white space that its first line begins with, in every
// line, and how many columns that are.
func dedent(text string) (string, int) {
	text = strings.TrimLeft(text, "\r\n")
	shift := columns(text)
	if shift == 0 || trim(text) == "" {
		return text, 0
	}
	lines := strings.SplitAfter(text, lf)
	for i, line := range lines {
		for n := shift; n > 0 && line != "" && (line[0] == ' ' || line[0] == '\t'); n-- {
			if line[0] == '\t' {
				n -= 3
			}
			line = line[1:]
		}
		lines[i] = line
	}
	return strings.Join(lines, ""), shift
}

func (f fitted) first() mdLine { return f.part.lines[0] }

// isList reports whether the text is nothing but items of one list.
func (f fitted) isList() bool {
	if f.first().kind != itemLine {
		return false
	}
	for i, l := range f.part.lines {
		if l.kind != blankLine && l.owner < 0 && !f.part.siblings(0, i) {
			return false
		}
	}
	return true
}

// asItems returns the text as items of the list of item k. The items have the indent and the bullet
// of that list, and no blank lines between them where it has none.
func (f fitted) asItems(k int) string {
	item, list, tight := f.doc.lines[k], f.isList(), !f.doc.loose(k)
	var out []string
	for i, line := range f.lines {
		l := f.part.lines[i]
		if l.kind == blankLine && list && tight && f.part.siblings(0, f.part.after(i)) {
			continue
		}
		if list && f.part.siblings(0, i) && strings.IndexByte("-*+", item.marker) >= 0 {
			line = string(item.marker) + line[1:]
		}
		out = append(out, line)
	}
	return f.indentLines(out, f.doc.text[item.from:item.from+f.indentLength(item)])
}

// indentLength returns how many bytes of white space a line of the page begins with.
func (f fitted) indentLength(l mdLine) int {
	line := f.doc.text[l.from:l.to]
	return len(line) - len(strings.TrimLeft(line, " \t"))
}

// indentLines joins lines, each after a prefix; blank ones stay empty.
func (f fitted) indentLines(lines []string, prefix string) string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if out[i] = line; strings.TrimSpace(line) != "" {
			out[i] = prefix + line
		}
	}
	return strings.Join(out, f.end)
}

// joins reports whether the text can continue the list of item k.
func (f fitted) joins(k int) bool {
	if k < 0 || f.first().kind != itemLine {
		return false
	}
	a, b := f.doc.lines[k].marker, f.first().marker
	return a == b || strings.IndexByte("-*+", a) >= 0 && strings.IndexByte("-*+", b) >= 0
}

// place is where a text goes: after a line, as what, and with a blank line before it or not.
type place struct {
	after int    // index of the line
	text  string // as it is put there
	blank bool   // a blank line is before it
	list  bool   // it continues the list, or the table, before it
}

// placeAfter returns where the text goes that is to follow line i.
func (f fitted) placeAfter(i int) place {
	l, first := f.doc.lines[i], f.first().kind
	k := f.doc.item(i)
	switch {
	case l.kind == rowLine && first == rowLine:
		if n := i + 1; n < len(f.doc.lines) && isDelimiter(f.doc.text[f.doc.lines[n].from:f.doc.lines[n].to]) {
			i = n
		}
		return place{after: i, text: f.plain(), list: true}
	case k >= 0 && f.shift > 0:
		return f.placeInItem(i, k)
	case f.joins(k):
		return place{after: f.doc.itemEnd(k), text: f.asItems(k), blank: f.doc.loose(k), list: true}
	case k >= 0:
		return place{after: f.doc.itemEnd(f.doc.outermost(i)), text: f.plain(), blank: true}
	}
	return place{after: f.doc.blockEnd(i), text: f.plain(), blank: true}
}

func (f fitted) plain() string { return f.indentLines(f.lines, "") }

// placeInItem returns what placeAfter does for a text that was indented, so that it shows in which item it lies.
func (f fitted) placeInItem(i, k int) place {
	for f.doc.lines[k].owner >= 0 && f.shift < f.doc.lines[k].body && (f.first().kind != itemLine || f.shift < f.doc.lines[k].indent) {
		k = f.doc.lines[k].owner
	}
	if f.joins(k) && f.shift < f.doc.lines[k].body {
		return place{after: f.doc.itemEnd(k), text: f.asItems(k), blank: f.doc.loose(k), list: true}
	}
	if f.doc.in(i, k) && f.doc.item(i) != k {
		i = f.doc.itemEnd(f.childItem(k, i))
	} else if i = f.doc.blockEnd(i); f.first().kind == itemLine && f.captures(i, k) {
		i = f.doc.itemEnd(k)
	}
	text := f.indentLines(f.lines, strings.Repeat(" ", f.doc.lines[k].body))
	kind := f.first().kind
	return place{after: i, text: text, blank: kind != itemLine && kind != textLine || f.doc.lines[i].kind == codeLine, list: kind == itemLine || kind == textLine}
}

// captures reports whether items that are put below k behind line i would take what follows, a paragraph
// of k that is indented as far as theirs.
func (f fitted) captures(i, k int) bool {
	n := f.doc.after(i)
	return n < len(f.doc.lines) && f.doc.lines[n].owner == k && f.doc.lines[n].kind == textLine && f.doc.lines[n].indent >= f.doc.lines[k].body+f.first().body
}

// childItem returns the item directly below k that line i lies in.
func (f fitted) childItem(k, i int) int {
	c := f.doc.item(i)
	for f.doc.lines[c].owner != k {
		c = f.doc.lines[c].owner
	}
	return c
}

// isDelimiter reports whether a line parts the head of a table from its rows.
func isDelimiter(line string) bool {
	return strings.Contains(line, "-") && strings.Trim(line, "|:- \t") == ""
}

// put returns the change that puts a text where it goes.
func (f fitted) put(at place) Change {
	l := f.doc.lines[at.after]
	n := f.doc.after(at.after)
	c := Change{From: l.next, To: l.next, Text: at.text + f.end}
	if at.blank {
		c.Text = f.end + c.Text
	}
	if l.to == l.next { // the last line, without its end
		c.Text = f.end + c.Text
	}
	if n == len(f.doc.lines) {
		c.To = len(f.doc.text)
		return c
	}
	gap := n - at.after - 1
	if blank := f.blankBefore(at, n, gap); blank && gap != 1 {
		c.To, c.Text = f.doc.lines[n].from, c.Text+f.end
	} else if !blank {
		c.To = f.doc.lines[n].from
	}
	return c
}

// blankBefore reports whether a blank line is between a text that is put in and line n,
// which gap blank lines part from the line before the text.
func (f fitted) blankBefore(at place, n, gap int) bool {
	next := f.doc.lines[n].kind
	if at.list && gap == 0 && (next == itemLine || next == rowLine && f.first().kind == rowLine || f.doc.in(n, f.doc.item(at.after)) && next != textLine) {
		return at.blank && next == itemLine
	}
	return true
}

// fittedBehind returns the change of an insert behind a target. ok is false where nothing is
// fitted in: the target lies in front matter, or there is no content.
func (p page) fittedBehind(content string, shift int, target span) (c Change, ok bool) {
	to := target.from + len(trimEnd(p.text[target.from:target.to]))
	doc := readLines(p.text, p.front())
	if content == "" || target.from < p.front() || len(doc.lines) == 0 {
		return c, false
	}
	f := p.fit(doc, content, shift)
	i := doc.at(max(to-1, target.from))
	if doc.lines[i].kind == blankLine { // the target is nothing but white space
		if i = doc.previousLine(i); i < 0 {
			return f.putFirst(doc.start()), true
		}
	}
	if doc.lines[i].inside {
		if f.closes(i) {
			end := doc.blockEnd(i)
			if k := doc.outermost(i); k >= 0 { // else what follows of the item would leave it
				end = doc.itemEnd(k)
			}
			return f.put(place{after: end, text: f.plain(), blank: true}), true
		}
		if k := doc.lines[i].owner; k >= 0 { // else the item, and the code with it, would end there
			shift = max(shift, doc.lines[k].body)
		}
		text := f.indentLines(strings.Split(WithLineEnd(content, lf), lf), strings.Repeat(" ", shift))
		at := doc.lines[i].next
		return Change{From: at, To: at, Text: text + p.end}, true
	}
	if next := doc.after(doc.blockEnd(i)); doc.item(i) < 0 && next < len(doc.lines) && f.joins(doc.item(next)) && doc.lines[next].kind == itemLine {
		return f.prependItems(i, next), true
	}
	return f.put(f.placeAfter(i)), true
}

// start returns where the first line begins that is not blank, else the end.
func (m mdText) start() int {
	if i := m.after(-1); i < len(m.lines) {
		return m.lines[i].from
	}
	return len(m.text)
}

// closes reports whether the text would close the code block that line i lies in, and that
// something else closes now.
func (f fitted) closes(i int) bool {
	return !f.doc.lines[f.doc.blockEnd(i)].inside && slices.ContainsFunc(f.lines, func(line string) bool {
		return openingFence(strings.Trim(line, " \t")) != "" || strings.Contains(line, "-->") || strings.Contains(line, "</")
	})
}

// prependItems returns the change that makes the text the first items of the list at line n, which
// follows the block of line i.
func (f fitted) prependItems(i, n int) Change {
	end := f.doc.blockEnd(i)
	text := f.asItems(n) + f.end
	if f.doc.loose(n) {
		text += f.end
	}
	at := f.doc.lines[n].from
	if n == end+1 && f.doc.lines[end].kind != textLine {
		text = f.end + text
	}
	return Change{From: at, To: at, Text: text}
}

// fittedAtEnd returns the change that appends a text before the byte at. ok is false where
// the text so far ends in code that is not closed.
func (p page) fittedAtEnd(content string, shift, at int) (c Change, ok bool) {
	front := p.front()
	doc := readLines(p.text[:at], front)
	i := doc.previousLine(len(doc.lines))
	if doc.open || content == "" {
		return c, false
	}
	f := p.fit(doc, content, shift)
	if i < 0 {
		return f.putFirst(at), true
	}
	where := place{after: i, text: f.plain(), blank: true}
	if k := f.level(doc.outermost(i), i); f.joins(k) {
		where = place{after: i, text: f.asItems(k), blank: doc.loose(k)}
	} else if doc.lines[i].kind == rowLine && f.first().kind == rowLine {
		where.blank = false
	}
	kept := front + len(trimEnd(p.text[front:at]))
	c = Change{From: kept, To: at, Text: p.end + where.text + p.end}
	if where.blank {
		c.Text = p.end + c.Text
	}
	if at < len(p.text) {
		c.Text += p.end
	}
	return c, true
}

// putFirst returns the change that makes the text all that is before the byte at, but for
// front matter.
func (f fitted) putFirst(at int) Change {
	kept, gap := paragraphGap(f.text[:at], at, f.end)
	if kept == 0 {
		gap = ""
	}
	c := Change{From: kept, To: at, Text: gap + f.plain() + f.end}
	if at < len(f.text) {
		c.Text += f.end
	}
	return c
}

// level returns the item, from k inward to the one that line i lies in, whose list the text joins
// by its indent.
func (f fitted) level(k, i int) int {
	for k >= 0 && f.shift >= f.doc.lines[k].body && f.doc.item(i) != k {
		k = f.childItem(k, i)
	}
	return k
}

// region is the part of a page that a replacement or a deletion is about.
type region struct {
	page
	doc   mdText
	at    span // the target without white space around it
	first int  // index of its first line
	last  int
	whole bool // it is whole lines, and cuts no code block
}

// region returns what of a page the target is; ok is false if it is white space alone.
func (p page) region(target span) (r region, ok bool) {
	text := p.text[target.from:target.to]
	to := target.from + len(trimEnd(text))
	from := to - len(strings.TrimLeftFunc(p.text[target.from:to], isSpace))
	if from == to {
		return r, false
	}
	r = region{page: p, doc: readLines(p.text, p.front()), at: span{from, to}}
	r.first, r.last = r.doc.at(from), r.doc.at(to-1)
	if r.first < 0 || r.last < 0 {
		return r, false
	}
	a, b := r.doc.lines[r.first], r.doc.lines[r.last]
	r.whole = trim(p.text[a.from:from]) == "" && trim(p.text[to:b.to]) == "" && !r.cutsCode()
	return r, true
}

// cutsCode reports whether the region begins or ends within a code block that it does not
// hold as a whole.
func (r region) cutsCode() bool {
	return r.first > 0 && r.doc.lines[r.first-1].inside || r.doc.lines[r.last].inside
}

// replaceContent returns the change that puts content instead of the region. White space
// around a target is not part of what is replaced.
func (r region) replaceContent(content string) Change {
	c := Change{From: r.at.from, To: r.at.to, Text: WithLineEnd(content, r.end)}
	if r.cutsCode() {
		return c
	}
	f := r.fit(r.doc, content, 0)
	if c.Text = strings.Join(f.lines, r.end); !r.whole {
		return c
	}
	if p := r.first - 1; p >= 0 && r.parts(r.first, f.first()) && r.doc.lines[p].kind != blankLine {
		c.Text = r.end + c.Text
	}
	if n := r.last + 1; n < len(r.doc.lines) && r.parts(r.last, f.part.lines[f.part.topLine(len(f.part.lines)-1)]) && r.doc.lines[n].kind != blankLine {
		c.Text += r.end
	}
	return c
}

// parts reports whether a line begins another block than the line i of the region did, so
// that it has to be parted from what is next to it.
func (r region) parts(i int, l mdLine) bool {
	was := r.doc.lines[i].kind
	if r.doc.item(i) >= 0 {
		was = itemLine
	}
	return l.kind != was && !(was == itemLine && r.doc.lines[i].kind == l.kind)
}

// topLine returns the item that a line lies in, else the line itself.
func (m mdText) topLine(i int) int {
	if k := m.outermost(i); k >= 0 {
		return k
	}
	return i
}

// isCode reports whether a line is code.
func (m mdText) isCode(i int) bool {
	return m.lines[i].kind == codeLine || m.lines[i].kind == indentedLine
}

// removeLines returns the change that takes the region out: whole lines with their ends, and with
// the blank lines after them where there are others before them. ok is false if it is no whole lines.
func (r region) removeLines() (c Change, ok bool) {
	if !r.whole {
		return c, false
	}
	before, after := r.doc.previousLine(r.first), r.doc.after(r.last)
	c = Change{From: r.doc.lines[r.first].from, To: r.doc.lines[r.last].next}
	above, below := r.first-before-1, after-r.last-1
	switch {
	case after == len(r.doc.lines): // nothing is left behind it
		c.To = len(r.text)
		if before >= 0 {
			c.From = r.doc.lines[before].next
		}
	case before < 0:
		c.To = r.doc.lines[after].from
	case above > 0 && below > 0:
		c.To = r.doc.lines[after].from
		if above > 1 {
			c.From, c.Text = r.doc.lines[before].next, r.end
		}
	case above == 0 && below == 0 && r.wouldMerge(before, after):
		c.Text = r.end
	}
	return c, true
}

// wouldMerge reports whether two lines would become one paragraph that were none.
func (r region) wouldMerge(before, after int) bool {
	a, b := r.doc.lines[before].kind, r.doc.lines[after].kind
	flows := func(kind lineKind) bool { return kind == textLine || kind == itemLine || kind == quoteLine }
	was := r.doc.lines[r.first].kind
	return b == textLine && flows(a) && !(was == textLine && r.doc.lines[r.last].kind == textLine)
}

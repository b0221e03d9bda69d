package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxTag bounds one tag or comment, in bytes: none that is longer has text in it.
const maxTag = 1 << 20

// extractText returns the text of a page of HTML as a reader sees it: without scripts and styles,
// without controls, and without what leads around the site. Where such an element is not closed it
// may hold all of the page, and all stay in.
func extractText(page string) string {
	text, closed := visible(page, true)
	if !closed {
		text, _ = visible(page, false)
	}
	return text
}

// visible goes through the tags one after another and builds no tree: however they are
// nested it takes time and memory by the length of the page. With without, controls and what
// leads around are left out; closed reports whether each of those has ended.
func visible(page string, without bool) (text string, closed bool) {
	z := html.NewTokenizer(strings.NewReader(page))
	z.SetMaxBuf(maxTag)
	var b strings.Builder
	var left atom.Atom // the element that is being left out
	depth := 0         // of elements of its name
	raw := false       // what follows is a script or the like
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return b.String(), depth == 0
		case html.TextToken:
			if depth == 0 && !raw {
				b.Write(z.Text())
			}
			raw = false
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			begins := kind == html.StartTagToken
			raw = kind != html.EndTagToken && unread(tag)
			switch {
			case depth > 0 && tag == left && begins:
				depth++
			case depth > 0 && tag == left && kind == html.EndTagToken:
				depth--
			case depth == 0 && begins && without && (hides(tag) || leads(tag)):
				left, depth = tag, 1
			}
			if depth == 0 {
				b.WriteString(gap(tag))
			}
		}
	}
}

// unread reports whether what is in an element is no text, whatever it looks like.
func unread(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Noscript, atom.Iframe, atom.Noembed, atom.Noframes, atom.Textarea:
		return true
	}
	return false
}

// hides reports whether an element has nothing in it that is read.
func hides(tag atom.Atom) bool {
	switch tag {
	case atom.Svg, atom.Template, atom.Select, atom.Button, atom.Object, atom.Canvas, atom.Audio, atom.Video:
		return true
	}
	return false
}

// leads reports whether an element leads around a site.
func leads(tag atom.Atom) bool {
	switch tag {
	case atom.Nav, atom.Footer, atom.Aside, atom.Menu, atom.Dialog:
		return true
	}
	return false
}

// gap returns what parts the words on both sides of a tag.
func gap(tag atom.Atom) string {
	switch tag {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Code, atom.Data, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Kbd, atom.Mark, atom.Q,
		atom.S, atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr, atom.Script, atom.Style, atom.Noscript, atom.Template:
		return ""
	case atom.Td, atom.Th, atom.Img:
		return " "
	}
	return "\n"
}

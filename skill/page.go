package skill

import (
	"slices"
	"strings"
)

// page is a file while an edit looks for its place there.
type page struct {
	text  string
	end   string // line ending that the file had before the first edit
	main  bool   // it is SKILL.md, which has front matter and regions
	loose bool   // as in skillrl: no front matter, no regions
	part  bool   // it is what a region of SKILL.md holds: regions, but no front matter
	tidy  bool   // it is Markdown in which edits are fitted in
	shift int    // columns by which the content of the edit was indented
}

// planEdit returns what e would change, and the state that e ends in when nothing
// else speaks against it.
func (p page) planEdit(e Edit) (Change, ApplyStatus) {
	at, found := p.locate(e.Target)
	if found && p.isProtected(e.Op, at) {
		return Change{}, SkippedProtectedRegion
	}
	switch e.Op {
	case Append:
		return p.planAppend(e.Content, AppliedAppend, AppliedAppendBeforeRegion)
	case InsertAfter:
		if !found {
			return p.planAppend(e.Content, AppliedInsertAfterFallbackAppend, AppliedInsertAfterFallbackBeforeRegion)
		}
		return p.planInsert(e.Content, at), AppliedInsertAfter
	case Replace:
		if !found {
			return Change{}, missingStatus(Replace, e.Target)
		}
		return p.planReplace(e.Content, at), AppliedReplace
	case Delete:
		if !found {
			return Change{}, missingStatus(Delete, e.Target)
		}
		return p.planReplace("", at), AppliedDelete
	}
	return Change{}, SkippedUnknownOp
}

// missingStatus returns the state of an edit whose target is empty or not found.
func missingStatus(op Op, target string) ApplyStatus {
	empty := target == ""
	switch {
	case op == Move && empty:
		return SkippedMoveMissingTarget
	case op == Move:
		return SkippedMoveTargetNotFound
	case op == Replace && empty:
		return SkippedReplaceMissingTarget
	case op == Replace:
		return SkippedReplaceTargetNotFound
	case empty:
		return SkippedDeleteMissingTarget
	}
	return SkippedDeleteTargetNotFound
}

// locate finds the first occurrence of target, as it is or else with the line
// ending of the document: models write \n. The front matter is searched last,
// because a word of it would otherwise hide the rule that is meant.
func (p page) locate(target string) (span, bool) {
	if target == "" {
		return span{}, false
	}
	for _, from := range []int{p.front(), 0} {
		for _, t := range []string{target, WithLineEnd(target, p.end)} {
			if at := indexFrom(p.text, t, from); at >= 0 {
				return span{at, at + len(t)}, true
			}
		}
	}
	return span{}, false
}

func (p page) front() int {
	if p.loose || !p.main || p.part {
		return 0
	}
	return frontMatterEnd(p.text)
}

// isProtected reports whether an edit with its target at the given place would
// reach into a protected region. Ops that do not touch their target are
// refused only, as in SkillOpt, when it starts inside of one.
func (p page) isProtected(op Op, at span) bool {
	if p.loose || !p.main {
		return false
	}
	if op != Replace && op != Delete && op != InsertAfter {
		at.to = at.from + 1
	}
	into := p.afterLine(at.to)
	return slices.ContainsFunc(protectedFrom(p.text, p.front()), func(s span) bool {
		return s.overlaps(at) || op == InsertAfter && s.from < into && into < s.to
	})
}

// afterLine returns the start of the line after the one that holds the byte
// before offset at.
func (p page) afterLine(at int) int {
	_, next := lineAt(p.text, at-1)
	return next
}

func (p page) planInsert(content string, target span) Change {
	if p.tidy {
		if c, ok := p.fittedBehind(content, p.shift, target); ok {
			return c
		}
	}
	at := p.afterLine(target.to)
	return Change{From: at, To: at, Text: p.end + WithLineEnd(content, p.end) + p.end}
}

// planReplace returns the change that puts content instead of a target; without any it takes the target out.
func (p page) planReplace(content string, target span) Change {
	if p.tidy {
		if r, ok := p.region(target); ok && content != "" {
			return r.replaceContent(content)
		} else if !ok && content != "" && strings.Contains(p.text[target.from:target.to], "\n") { // blank lines: the text is put there
			if c, fits := p.fittedBehind(content, p.shift, target); fits {
				return c
			}
		} else if c, whole := r.removeLines(); ok && whole {
			return c
		}
	}
	return Change{From: target.from, To: target.to, Text: WithLineEnd(content, p.end)}
}

// planAppend returns the change that adds content as a paragraph at the end of the document, or
// before its first region.
func (p page) planAppend(content string, atEnd, beforeRegion ApplyStatus) (Change, ApplyStatus) {
	if c, status, ok := p.planTidyAppend(content, atEnd, beforeRegion); ok {
		return c, status
	}
	content = WithLineEnd(content, p.end)
	if p.loose {
		kept := len(trimEnd(p.text))
		return Change{From: kept, To: len(p.text), Text: strings.Repeat(p.end, 2) + content + p.end}, atEnd
	}
	at := -1
	if p.main {
		at = firstMarker(p.text, p.front())
	}
	if at < 0 {
		return p.paragraph(len(p.text), content+p.end), atEnd
	}
	return p.paragraph(at, content+strings.Repeat(p.end, 2)), beforeRegion
}

// planTidyAppend returns what planAppend does where the content is fitted in; ok is false if it is not.
func (p page) planTidyAppend(content string, atEnd, beforeRegion ApplyStatus) (c Change, status ApplyStatus, ok bool) {
	if !p.tidy {
		return c, "", false
	}
	at, status := len(p.text), atEnd
	if m := -1; p.main {
		if m = firstMarker(p.text, p.front()); m >= 0 {
			at, status = m, beforeRegion
		}
	}
	c, ok = p.fittedAtEnd(content, p.shift, at)
	return c, status, ok
}

// paragraph puts text before the byte at, after one blank line.
func (p page) paragraph(at int, text string) Change {
	kept, gap := paragraphGap(p.text, at, p.end)
	if !p.main || p.part { // which has no front matter, and may have been empty
		if kept, gap = len(trimEnd(p.text[:at])), p.end+p.end; kept == 0 {
			gap = ""
		}
	}
	return Change{From: kept, To: at, Text: gap + text}
}

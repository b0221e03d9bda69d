package skill

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/plural"
)

// previewLength is how many code points of target and content a Report shows.
const previewLength = 200

// ApplyOptions says how Apply treats a set of edits. The zero value protects
// the regions, has no budget and allows MaxBytes.
type ApplyOptions struct {
	Budget      int  // edits that may be applied at most; 0 = no limit
	MaxBytes    int  // largest SKILL.md that may come out; 0 = the constant MaxBytes
	Unprotected bool // as in skillrl: no front matter, no regions, markers in content stay
}

// Apply applies edits to s in their order, each to the outcome of those before
// it, and reports what became of every one. An edit that cannot be applied is
// left out and changes nothing.
//
// Content is trimmed, freed of characters that steer or hide (see Plain) and of
// region markers, and given the line ending of the document. Bytes outside an edit
// never change, except white space at the end of the document, or before its first
// region, that an append replaces. Front matter and regions stay byte for byte as
// they are.
//
// The same input gives the same result. The rules are those of SkillOpt, which
// however looks only at where a target starts.
func Apply(s Skill, edits []Edit, opts ApplyOptions) (Skill, []Report) {
	out, reports, _ := Trace(s, edits, opts)
	return out, reports
}

// Change says where an edit changed a document: its bytes From up to To became
// Text. The offsets are those of the document as the edits before left it.
type Change struct {
	From, To int
	Text     string
}

// in returns the document that the change makes of text.
func (c Change) in(text string) string { return text[:c.From] + c.Text + text[c.To:] }

// Trace is Apply that also tells where: it returns one Change for each edit, nil
// for those that were not applied.
func Trace(s Skill, edits []Edit, opts ApplyOptions) (Skill, []Report, []*Change) {
	if opts.MaxBytes == 0 {
		opts.MaxBytes = MaxBytes
	}
	a := &applier{opts: opts, text: s.main, end: LineEnd(s.main), done: map[Edit]bool{}}
	reports, changes := make([]Report, 0, len(edits)), make([]*Change, len(edits))
	for i, e := range edits {
		e = a.clean(e)
		change, status, detail := a.apply(e)
		if status.Applied() {
			changes[i] = &change
		}
		reports = append(reports, Report{
			Index: i + 1, Op: e.Op, Status: status, Detail: detail,
			Target: cut(e.Target, previewLength), Content: cut(e.Content, previewLength),
		})
	}
	return s.WithText(a.text), reports, changes
}

// applier holds a document while edits are applied to it.
type applier struct {
	opts    ApplyOptions
	text    string
	end     string        // line ending of the document
	applied int           // edits so far
	done    map[Edit]bool // the applied edits, without their origin
}

// clean returns e with its content as it may go into the document. Only then are
// markers looked for: what is left out may have stood in the middle of one.
func (a *applier) clean(e Edit) Edit {
	e.Content = trim(Plain(e.Content))
	if !a.opts.Unprotected {
		e.Content = StripMarkers(e.Content)
	}
	return e
}

// apply changes the text by e, or says why not.
func (a *applier) apply(e Edit) (change Change, status ApplyStatus, detail string) {
	if e.File != "" && e.File != Main {
		return change, SkippedUnsupportedFile, fmt.Sprintf("%q: only %s may be edited", e.File, Main)
	}
	if invalidUTF8(string(e.Op)+e.Target+e.Content) >= 0 {
		return change, Failed, "the edit is not UTF-8 text"
	}
	same := Edit{Op: e.Op, Target: e.Target, Content: e.Content}
	if a.done[same] {
		return change, SkippedDuplicate, "the same edit was applied before"
	}
	change, status = a.edited(e)
	if !status.Applied() {
		return change, status, ""
	}
	text := change.in(a.text)
	if text == a.text || e.addsNothing() {
		return change, SkippedNoChange, ""
	}
	if status, detail := a.refuse(text); status != "" {
		return change, status, detail
	}
	a.text = text
	a.applied++
	a.done[same] = true
	return change, status, ""
}

// refuse says why text may not become the document, "" if it may.
func (a *applier) refuse(text string) (status ApplyStatus, detail string) {
	switch {
	case !a.opts.Unprotected && !RegionsEqual(a.text, text):
		return SkippedProtectedRegion, "it would change the front matter or a protected region"
	case a.opts.Budget > 0 && a.applied >= a.opts.Budget:
		return SkippedOverBudget, fmt.Sprintf("the budget of %s is spent", plural.Of(a.opts.Budget, "edit", "edits"))
	case len(text) > a.opts.MaxBytes && len(text) > len(a.text):
		return SkippedTooLarge, fmt.Sprintf("the document would have %d bytes, at most %d are allowed", len(text), a.opts.MaxBytes)
	}
	return "", ""
}

// edited returns what e would change, and the state that e ends in when nothing
// else speaks against it.
func (a *applier) edited(e Edit) (Change, ApplyStatus) {
	at, found := a.locate(e.Target)
	if found && a.isProtected(e.Op, at) {
		return Change{}, SkippedProtectedRegion
	}
	switch e.Op {
	case Append:
		return a.appended(e.Content, AppliedAppend, AppliedAppendBeforeRegion)
	case InsertAfter:
		if !found {
			return a.appended(e.Content, AppliedInsertAfterFallbackAppend, AppliedInsertAfterFallbackBeforeRegion)
		}
		return a.inserted(e.Content, at.to), AppliedInsertAfter
	case Replace:
		if !found {
			return Change{}, missing(e.Target, SkippedReplaceMissingTarget, SkippedReplaceTargetNotFound)
		}
		return Change{at.from, at.to, WithLineEnd(e.Content, a.end)}, AppliedReplace
	case Delete:
		if !found {
			return Change{}, missing(e.Target, SkippedDeleteMissingTarget, SkippedDeleteTargetNotFound)
		}
		return Change{at.from, at.to, ""}, AppliedDelete
	}
	return Change{}, SkippedUnknownOp
}

func missing(target string, none, notFound ApplyStatus) ApplyStatus {
	if target == "" {
		return none
	}
	return notFound
}

// locate finds the first occurrence of target, as it is or else with the line
// ending of the document: models write \n. The front matter is searched last,
// because a word of it would otherwise hide the rule that is meant.
func (a *applier) locate(target string) (span, bool) {
	if target == "" {
		return span{}, false
	}
	for _, from := range []int{a.front(), 0} {
		for _, t := range []string{target, WithLineEnd(target, a.end)} {
			if at := indexFrom(a.text, t, from); at >= 0 {
				return span{at, at + len(t)}, true
			}
		}
	}
	return span{}, false
}

func (a *applier) front() int {
	if a.opts.Unprotected {
		return 0
	}
	return frontMatterEnd(a.text)
}

// isProtected reports whether an edit with its target at the given place would
// reach into a protected region. Ops that do not touch their target are
// refused only, as in SkillOpt, when it starts inside of one.
func (a *applier) isProtected(op Op, at span) bool {
	if a.opts.Unprotected {
		return false
	}
	if op != Replace && op != Delete && op != InsertAfter {
		at.to = at.from + 1
	}
	into := a.afterLine(at.to)
	return slices.ContainsFunc(protected(a.text), func(s span) bool {
		return s.overlaps(at) || op == InsertAfter && s.from < into && into < s.to
	})
}

// afterLine returns the start of the line after the one that holds the byte
// before offset at.
func (a *applier) afterLine(at int) int {
	_, next := lineAt(a.text, at-1)
	return next
}

func (a *applier) inserted(content string, at int) Change {
	at = a.afterLine(at)
	return Change{at, at, a.end + WithLineEnd(content, a.end) + a.end}
}

// appended adds content as a paragraph at the end of the document, or before
// its first region.
func (a *applier) appended(content string, atEnd, beforeRegion ApplyStatus) (Change, ApplyStatus) {
	content = WithLineEnd(content, a.end)
	if a.opts.Unprotected {
		kept := len(trimEnd(a.text))
		return Change{kept, len(a.text), strings.Repeat(a.end, 2) + content + a.end}, atEnd
	}
	at := firstMarker(a.text)
	if at < 0 {
		return a.paragraph(len(a.text), content+a.end), atEnd
	}
	return a.paragraph(at, content+strings.Repeat(a.end, 2)), beforeRegion
}

// paragraph puts text before the byte at, after one blank line.
func (a *applier) paragraph(at int, text string) Change {
	kept, gap := paragraphGap(a.text, at, a.end)
	return Change{kept, at, gap + text}
}

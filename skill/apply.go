package skill

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// previewLength is how many code points of target and content a Report shows.
const previewLength = 200

// ApplyOptions says how Apply treats a set of edits. The zero value protects
// the regions, edits SKILL.md alone, has no budget and allows MaxBytes.
type ApplyOptions struct {
	Budget      int   // edits that may be applied at most, in all files together; 0 = no limit
	MaxBytes    int   // largest file that may result; 0 = the constant MaxBytes
	Unprotected bool  // as in skillrl: no front matter, no regions, markers in content stay
	Scope       Scope // the files that may be changed and added

	// Only is the region that edits are confined to; "" = that of Scope. An edit that would
	// change anything else ends as SkippedOutsideRegion, and so does every edit of a document
	// whose region cannot be determined.
	Only Region
}

// Apply applies edits to s in their order, each to the outcome of those before
// it, and reports what happened to every one. An edit that cannot be applied is
// left out and changes nothing.
//
// Content is trimmed, freed of characters that steer or hide (see Plain) and of
// region markers, and given the line ending of the file. Bytes outside an edit
// never change, except white space at the end of the file, or before its first
// region, that an append replaces; with Scope.WithTidy also blank lines where an edit begins
// or ends. Front matter and regions of SKILL.md stay byte for
// byte as they are, but for the description where the scope allows Describe; other files
// have none. An append to a file that is not there, and
// may be added, makes it. A move takes text out of SKILL.md and appends it to another
// file, both or neither.
//
// Where edits are confined to a region, an append goes to its end, a target is looked for in
// it, lines that it has are not added to it again, and all bytes outside of it stay.
//
// The same input gives the same result. The rules are those of SkillOpt, which
// however knows one file, and looks only at where a target starts.
func Apply(s Skill, edits []Edit, opts ApplyOptions) (Skill, []Report) {
	out, reports, _ := Trace(s, edits, opts)
	return out, reports
}

// Change says where an edit changed a file: its bytes From up to To became Text. The
// offsets are those of the file as the edits before left it; one that was added had none.
type Change struct {
	From, To int
	Text     string
	File     string  // "" is SKILL.md
	Also     *Change // of a move, what it did to the other file
}

// in returns the file that the change makes of text.
func (c Change) in(text string) string { return text[:c.From] + c.Text + text[c.To:] }

// to returns the skill that the change makes of s.
func (c Change) to(s Skill) Skill {
	path := Edit{File: c.File}.path()
	text, _ := s.File(path)
	s = s.WithFile(path, c.in(text))
	if c.Also != nil {
		return c.Also.to(s)
	}
	return s
}

// Trace does what Apply does and also reports where: it returns one Change for each edit, nil for
// those that were not applied.
func Trace(s Skill, edits []Edit, opts ApplyOptions) (Skill, []Report, []*Change) {
	if opts.MaxBytes == 0 {
		opts.MaxBytes = MaxBytes
	}
	if opts.Only != "" {
		opts.Scope = opts.Scope.WithRegion(opts.Only)
	}
	a := &applier{opts: opts, before: s, skill: s, done: map[Edit]bool{}}
	reports, changes := make([]Report, 0, len(edits)), make([]*Change, len(edits))
	for i, e := range edits {
		e = a.clean(e)
		change, status, detail := a.apply(e)
		if status.Applied() {
			changes[i] = &change
		}
		r := Report{
			Index: i + 1, Op: e.Op, Status: status, Detail: detail,
			Target: cut(e.Target, previewLength), Content: cut(e.Content, previewLength),
		}
		if !opts.Scope.Alone() {
			r.File = cut(e.File, previewLength)
		}
		reports = append(reports, r)
	}
	return a.skill, reports, changes
}

// applier holds a skill while edits are applied to it.
type applier struct {
	opts    ApplyOptions
	before  Skill // as it was before the first edit
	skill   Skill
	applied int           // edits so far
	done    map[Edit]bool // the applied edits, without their origin
	shift   int           // columns by which the content of the edit was indented
}

// clean returns e with its content as it may go into a file, and SKILL.md named by no
// name. Only then are markers looked for: what is left out may have been in the middle
// of one.
func (a *applier) clean(e Edit) Edit {
	content := Plain(e.Content)
	a.shift = 0
	if a.fits(e) && (e.Op == Append || e.Op == InsertAfter) {
		content, a.shift = dedent(content)
	}
	e.Content = trim(content)
	if !a.opts.Unprotected {
		e.Content = StripMarkers(e.Content)
	}
	if a.fits(e) { // what is left out may have been all of a line
		e.Content = trim(e.Content)
	}
	if e.File == Main {
		e.File = ""
	}
	return e
}

// apply changes the skill by e, or says why not.
func (a *applier) apply(e Edit) (change Change, status ApplyStatus, detail string) {
	if detail := a.outOfScope(e); detail != "" {
		return change, SkippedUnsupportedFile, detail
	}
	if invalidUTF8(string(e.Op)+e.Target+e.Content) >= 0 {
		return change, Failed, "the edit is not UTF-8 text"
	}
	same := Edit{Op: e.Op, File: e.File, Target: e.Target, Content: e.Content}
	if a.done[same] {
		return change, SkippedDuplicate, "the same edit was applied before"
	}
	change, status, detail = a.planEdit(e)
	if !status.Applied() {
		return change, status, detail
	}
	next := change.to(a.skill)
	if change.none(a.skill) || e.addsNothing() {
		return change, SkippedNoChange, ""
	}
	if status, detail := a.refuse(next, e); status != "" {
		return change, status, detail
	}
	a.skill = next
	a.applied++
	a.done[same] = true
	return change, status, ""
}

// none reports whether the change leaves s as it is.
func (c Change) none(s Skill) bool {
	text, there := s.File(Edit{File: c.File}.path())
	return there && c.in(text) == text && (c.Also == nil || c.Also.none(s))
}

// outOfScope says why the file of e may not be edited, "" if it may.
func (a *applier) outOfScope(e Edit) string {
	scope, file := a.opts.Scope, e.path()
	if scope.region != "" { // which has a state of its own
		return ""
	}
	if scope.description && e.Op == Describe && file == Main {
		return ""
	}
	if detail := scope.outsideReason(file); detail != "" {
		return detail
	}
	if e.Op == Move && !scope.Alone() && (file == Main || !scope.Allows(Main)) {
		return fmt.Sprintf("%q: text moves out of %s into another file", file, Main)
	}
	return ""
}

// refuse says why next may not become the skill, "" if it may.
func (a *applier) refuse(next Skill, e Edit) (status ApplyStatus, detail string) {
	switch {
	case a.opts.Scope.region != "" && !outsideSame(a.skill.main, next.main):
		return SkippedOutsideRegion, "it would change the end of the learned region, or make it code"
	case !a.opts.Unprotected && e.Op != Describe && !RegionsEqual(a.skill.main, next.main):
		return SkippedProtectedRegion, "it would change the front matter or a protected region"
	case a.opts.Budget > 0 && a.applied >= a.opts.Budget:
		return SkippedOverBudget, fmt.Sprintf("the budget of %s is spent", wording.Plural(a.opts.Budget, "edit", "edits"))
	}
	for _, path := range []string{Main, e.path()} {
		if detail := tooLong(a.skill, next, path, a.opts.MaxBytes); detail != "" {
			return SkippedTooLarge, detail
		}
	}
	return a.opts.Scope.tooMuch(a.skill, next)
}

// planEdit returns what e would change, and the state that e ends in when nothing
// else speaks against it.
func (a *applier) planEdit(e Edit) (Change, ApplyStatus, string) {
	if a.opts.Scope.region != "" {
		return a.planRegionEdit(e)
	}
	if e.Op == Move && !a.opts.Scope.Alone() {
		return a.planMove(e)
	}
	if e.Op == Describe && a.opts.Scope.description {
		return a.planDescription(e)
	}
	if _, there := a.skill.File(e.path()); !there {
		return a.planNewFile(e)
	}
	change, status := a.page(e.path()).planEdit(e)
	change.File = e.File
	return change, status, ""
}

// planDescription returns the change that makes the content of e the description of SKILL.md.
func (a *applier) planDescription(e Edit) (Change, ApplyStatus, string) {
	if e.path() != Main {
		return Change{}, SkippedDescription, fmt.Sprintf("the description is in %s", Main)
	}
	change, err := changeDescription(a.skill.main, e.Content)
	if err != nil {
		return Change{}, SkippedDescription, err.Error()
	}
	return change, AppliedDescription, ""
}

// planNewFile returns the file that e adds.
func (a *applier) planNewFile(e Edit) (Change, ApplyStatus, string) {
	switch e.Op {
	case Append, InsertAfter:
	case Replace, Delete:
		return Change{}, missingStatus(e.Op, e.Target), "there is no such file"
	default:
		return Change{}, SkippedUnknownOp, ""
	}
	return a.newFileChange(e.File, e.Content)
}

func (a *applier) newFileChange(file, content string) (Change, ApplyStatus, string) {
	if detail := collisionReason(a.skill, file); detail != "" {
		return Change{}, SkippedUnsupportedFile, detail
	}
	end := LineEnd(a.before.main)
	if a.tidies(file) && content != "" {
		content = page{end: end}.fit(mdText{}, content, 0).plain()
	}
	return Change{File: file, Text: WithLineEnd(content, end) + end}, AppliedNewFile, ""
}

// planMove returns what a move takes out of SKILL.md, and where it puts it.
func (a *applier) planMove(e Edit) (Change, ApplyStatus, string) {
	main := a.page(Main)
	at, found := main.locate(e.Target)
	text := trim(a.skill.main[at.from:at.to])
	switch {
	case !found || text == "":
		return Change{}, missingStatus(Move, e.Target), ""
	case main.isProtected(Replace, at):
		return Change{}, SkippedProtectedRegion, ""
	}
	out := main.planReplace(e.Content, at)
	in, detail := Change{}, ""
	if _, there := a.skill.File(e.File); there {
		in, _ = a.page(e.File).planAppend(text, AppliedMove, AppliedMove)
	} else {
		var status ApplyStatus
		if in, status, detail = a.newFileChange(e.File, text); !status.Applied() {
			return Change{}, status, detail
		}
	}
	in.File = e.File
	out.Also = &in
	return out, AppliedMove, ""
}

// page returns a file as edits see it.
func (a *applier) page(path string) page {
	was, there := a.before.File(path)
	text, _ := a.skill.File(path)
	if !there {
		was = text
	}
	return page{text: text, end: LineEnd(was), main: path == Main, loose: a.opts.Unprotected, tidy: a.tidies(path), shift: a.shift}
}

// tidies reports whether edits of a file are fitted in.
func (a *applier) tidies(path string) bool {
	return a.opts.Scope.tidy && !a.opts.Unprotected && isMarkdown(path)
}

// fits reports whether e is fitted into its file.
func (a *applier) fits(e Edit) bool { return a.tidies(e.path()) }

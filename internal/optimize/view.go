package optimize

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// View says what the optimizer is shown of rollouts.
type View struct {
	// Whole shows all that the agent was sent, did and got, each text between fences,
	// cut only where it does not fit into Window. Without it a task and what was said
	// are shown, cut to lengths that are always the same.
	Whole bool

	// Window is how many tokens of four bytes one prompt holds of rollouts; less than
	// 1000 acts as 1000.
	Window int

	// Told returns what the agent was given with a task, by its id. Nil: that is not
	// known, and what the outcomes say counts. It must not block.
	Told func(id string) Told

	// Rules say what else edits may change than the text of SKILL.md, and how, behind each
	// system message; Forms is the same for schemas. "": nothing.
	Rules string
	Forms Forms

	// Folder is the skill whose files whole skills may have in addition to SKILL.md. Nil: they are
	// documents, and the one that is shown is all there is.
	Folder *Folder
}

// Forms says which edits there are in addition to those of the text of SKILL.md.
type Forms struct {
	Files       bool // edits name their file, and move text; suggestions name one, whole skills have others
	Description bool // op describe
	Alone       bool // with Description: no other op
}

// system returns a system message with the rules for what else edits may change.
func (v View) system(text string) string {
	if v.Rules != "" {
		return text + "\n\n" + v.Rules
	}
	return text
}

// folder returns what whole skills are held to where a document is shown.
func (v View) folder(document string) Folder {
	if v.Folder != nil {
		return *v.Folder
	}
	return Folder{Skill: skill.New(document)}
}

// Told is what an agent is given apart from the skill and the task, with SkillMark where the
// skill is in its system message.
type Told = trajectory.Told

// SkillMark represents the skill in a system message.
const SkillMark = "[the skill stands here]"

const (
	bytesPerToken = 4
	leastWindow   = 1000
	leastShown    = 700 // bytes that a rollout takes however short its texts are cut
)

// room returns the window in bytes.
func (v View) room() int { return bytesPerToken * max(leastWindow, v.Window) }

func (v View) findTold(id string) Told {
	if v.Told == nil {
		return Told{}
	}
	return v.Told(id)
}

// pen writes texts of others into a prompt: each on a line of its own behind a label,
// or as a block between fences that none of them holds.
type pen struct {
	b     strings.Builder
	fence string
	cut   func(text string) string
}

func (p *pen) line(label, text string) {
	if text != "" {
		fmt.Fprintf(&p.b, "- %s: %s\n", label, p.cut(escapeNewlines(text)))
	}
}

func (p *pen) block(label, text string) {
	if text != "" {
		p.writeFenced(label, p.cut(text))
	}
}

// writeFenced writes a block whose text is cut already.
func (p *pen) writeFenced(label, text string) {
	p.b.Grow(len("\n:\n\n\n\n") + len(label) + 2*len(p.fence) + len(text))
	for _, s := range [...]string{"\n", label, ":\n", p.fence, "\n", text, "\n", p.fence, "\n"} {
		p.b.WriteString(s)
	}
}

// escapeNewlines writes a text on one line.
func escapeNewlines(text string) string {
	if !strings.ContainsAny(text, "\r\n") {
		return text
	}
	return strings.NewReplacer("\r\n", `\n`, "\n", `\n`, "\r", `\n`).Replace(text)
}

// A sheet is a part of a prompt that can be written with its texts cut.
type sheet struct {
	write func(p *pen)
	// brief writes the same with fewer and longer texts, where the texts are too many for
	// much to be left of each. Nil: there is no other way.
	brief func(p *pen)
}

// measure sums up the texts that a sheet writes.
type measure struct {
	fixed   int   // bytes apart from them
	lengths []int // of the texts
	ticks   int   // longest run of backticks in one
	sum     [sha256.Size]byte
}

func (m *measure) size() int {
	n := m.fixed
	for _, l := range m.lengths {
		n += l
	}
	return n
}

func measureTexts(write func(p *pen)) measure {
	var m measure
	h, buf := sha256.New(), []byte(nil)
	p := &pen{fence: chooseFence(0, m.sum)}
	p.cut = func(text string) string {
		if text == "" {
			return ""
		}
		m.lengths = append(m.lengths, len(strings.ToValidUTF8(text, string(utf8.RuneError))))
		m.ticks = max(m.ticks, ticksIn(text))
		buf = append(strconv.AppendInt(buf[:0], int64(len(text)), 10), ' ')
		buf = append(buf, text...)
		h.Write(buf)
		return "x"
	}
	write(p)
	m.fixed = p.b.Len() - len(m.lengths)
	h.Sum(m.sum[:0])
	return m
}

// ticksIn returns the length of the longest run of backticks in a text.
func ticksIn(text string) int {
	longest := 0
	for {
		at := strings.IndexByte(text, '`')
		if at < 0 {
			return longest
		}
		text = text[at:]
		n := len(text) - len(strings.TrimLeft(text, "`"))
		longest, text = max(longest, n), text[n:]
	}
}

// mostTicks is the longest fence of backticks.
const mostTicks = 16

// chooseFence returns a line that occurs in none of the texts: longer than any run of backticks in
// them or, if one is very long, a sum of all of them, which none can hold.
func chooseFence(ticks int, sum [sha256.Size]byte) string {
	if ticks >= mostTicks {
		return "=====" + hex.EncodeToString(sum[:8])
	}
	return strings.Repeat("`", max(3, ticks+1))
}

// write writes sheets into room bytes. Those that are no longer than a common limit are
// whole, the others lose the middles of their longest texts. All have the same fence,
// which no text of theirs holds.
func write(sheets []sheet, room int) []string {
	sizes, ticks := make([]int, len(sheets)), 0
	h := sha256.New()
	for i, s := range sheets {
		m := measureTexts(s.write)
		sizes[i], ticks = m.size(), max(ticks, m.ticks)
		h.Write(m.sum[:])
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	fence := chooseFence(ticks, sum)
	for i := range sizes {
		sizes[i] += mostFences * (len(fence) - 3) // they were measured with the shortest fence
	}
	limit := wording.FitLimit(sizes, room)
	texts := make([]string, len(sheets))
	for i, s := range sheets {
		texts[i] = s.fit(limit, fence)
	}
	return texts
}

// mostFences is how many fences a sheet has at most.
const mostFences = 16

// fit writes a sheet of at most room bytes, if its texts can be cut as far.
func (s sheet) fit(room int, fence string) string {
	form := s.write
	limit := cutTo(form, room, fence)
	if limit < wording.Least && s.brief != nil {
		if brief := cutTo(s.brief, room, fence); brief >= limit {
			form, limit = s.brief, brief
		}
	}
	p := &pen{fence: fence, cut: func(text string) string { return wording.Middle(text, limit) }}
	form(p)
	return p.b.String()
}

// cutTo returns the length to which the texts of a form are cut.
func cutTo(form func(p *pen), room int, fence string) int {
	m := measureTexts(form)
	return wording.FitLimit(m.lengths, room-m.fixed-mostFences*(len(fence)-3))
}

package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Bounds of what a transcript keeps, in bytes and numbers. A text is made free of secrets
// before it is cut.
const (
	MaxUser  = 16 << 10 // of a user's words in one turn
	MaxAgent = 8 << 10  // of an agent's last words in one turn
	MaxName  = 200      // of a tool, a skill, a version, an id, a branch
	MaxPath  = 1 << 10
	MaxTools = 500  // a turn
	MaxFiles = 200  // a turn
	MaxTurns = 5000 // a session: the newest are kept

	maxSkills = 100     // a turn, by one kind of evidence: with two none is taken already
	maxIDs    = 200_000 // of turns of a session that are remembered; beyond, a repeated one may count again

	// window is what is looked at of a text that is longer: far more than is kept, so that
	// nothing near its end, where a secret may be torn, is kept.
	window = 1 << 20
)

// Cleaner takes secrets out of a text. It is safe for concurrent use.
type Cleaner interface{ Text(s string) string }

// Builder makes one transcript out of what a source reads, in order. The zero Builder is not
// usable: Reading.Builder makes one. It is for one goroutine.
type Builder struct {
	clean Cleaner
	t     Transcript
	turn  *draft
	ids   map[string]int // how often an id was seen

	version string // as it was said last, raw
	lost    int    // turns beyond MaxTurns

	lines bool // what tools show of files is read
	files ledger
	names map[string]string // of a file: as a tool names it -> as it is kept
}

// draft is a turn that is still in progress, raw.
type draft struct {
	Turn

	agent  string         // last words so far
	calls  map[string]int // call id -> index in Tools
	skills map[Evidence][]string
	wrote  map[string]bool
	read   map[string]bool
	ran    map[string]int      // call id -> index in Commands
	looks  map[string]*look    // by call id, until their output is there
	writes map[string][]string // call id -> files that it writes, if it succeeds
	after  []effect
}

// Session names the session. What is empty does not replace what was said before.
func (b *Builder) Session(id, version string) {
	b.t.ID = first(b.name(id), b.t.ID)
	if version != b.version { // most records say it again
		b.version = version
		b.t.Version = first(b.name(version), b.t.Version)
	}
}

// Project says in which folder the session began; the first word counts.
func (b *Builder) Project(dir string) {
	if b.t.Project == "" && dir != "" {
		b.t.Project = b.path(dir)
	}
}

// At says what was checked out when the session began; the first word on each counts.
func (b *Builder) At(branch, commit string) {
	if b.t.Branch == "" {
		b.t.Branch = b.name(branch)
	}
	if b.t.Commit == "" {
		b.t.Commit = b.name(commit)
	}
}

// Origin says who drives the session; what is said last counts.
func (b *Builder) Origin(o Origin) { b.t.Origin = o }

// User begins a turn with the user's words. Without an id, one is made of the time and the
// words. An id that was there before is the same message again, and is left out: the
// result is false, and what follows still belongs to the turn before.
func (b *Builder) User(id, text string, at time.Time) bool {
	text, masked, cut := b.text(strings.TrimSpace(text), MaxUser)
	if text == "" {
		return false
	}
	if id = b.name(id); id == "" {
		id = digest(b.t.ID, at.UTC().Format(time.RFC3339Nano), text)
	}
	if b.ids[id]++; b.ids[id] > 1 {
		return false
	}
	if len(b.ids) > maxIDs {
		b.ids = map[string]int{id: 1}
	}
	b.complete()
	b.turn = &draft{
		Turn:  Turn{ID: id, Started: at.UTC(), Ended: at.UTC(), User: text, Tools: []Tool{}, Files: []string{}, Redacted: masked, Cut: cut},
		calls: map[string]int{}, skills: map[Evidence][]string{}, wrote: map[string]bool{},
		read: map[string]bool{}, ran: map[string]int{}, looks: map[string]*look{}, writes: map[string][]string{},
	}
	return true
}

// Agent notes what the agent said. Its last words of a turn are kept. Words after a failure say
// that the turn continued.
func (b *Builder) Agent(text string, at time.Time) {
	if b.turn == nil || strings.TrimSpace(text) == "" {
		return
	}
	b.turn.agent, b.turn.Failed = text, ""
	b.Seen(at)
}

// Seen says that something of the turn happened at a time.
func (b *Builder) Seen(at time.Time) {
	if b.turn != nil && at.After(b.turn.Ended) {
		b.turn.Ended = at.UTC()
	}
}

// Call notes a call of a tool. An id that was there before in the turn is the same call.
func (b *Builder) Call(id, tool string) {
	if b.turn == nil || tool == "" || len(b.turn.Tools) >= MaxTools {
		return
	}
	if _, again := b.turn.calls[id]; again && id != "" {
		return
	}
	if id != "" {
		b.turn.calls[id] = len(b.turn.Tools)
	}
	b.turn.Tools = append(b.turn.Tools, Tool{Name: b.name(tool)})
}

// Result says whether the call of an id succeeded. A call that no one has heard of is left out.
func (b *Builder) Result(id string, ok bool) {
	if b.turn == nil {
		return
	}
	if i, known := b.turn.calls[id]; known {
		b.turn.Tools[i].OK = &ok
	}
	if ok {
		for _, file := range b.turn.writes[id] {
			b.files.noteWrite(b.file(file))
		}
	}
	delete(b.turn.writes, id)
	delete(b.turn.looks, id)
}

// effect is what a call has done, if it did not fail.
type effect struct {
	call string
	tell func()
}

// After has tell called at the end of the turn, unless the call of the id has failed by then: a
// file that could not be written was not, and a skill that could not be loaded was not at work.
func (b *Builder) After(id string, tell func()) {
	if b.turn == nil {
		return
	}
	if len(b.turn.after) >= MaxTools {
		b.files.blind = true
		return
	}
	b.turn.after = append(b.turn.after, effect{call: id, tell: tell})
}

// settle reports the effects of the turn.
func (d *draft) settle() {
	for _, e := range d.after {
		i, called := d.calls[e.call]
		if !called || d.Tools[i].OK == nil || *d.Tools[i].OK {
			e.tell()
		}
	}
}

// Wrote says that a tool wrote a file.
func (b *Builder) Wrote(file string) {
	if b.turn == nil || file == "" {
		return
	}
	file = b.file(file)
	b.files.noteWrite(file)
	if !b.turn.wrote[file] && len(b.turn.Files) < MaxFiles {
		b.turn.wrote[file] = true
		b.turn.Files = append(b.turn.Files, file)
	}
}

// Skill says that a skill was at work, and how that is known.
func (b *Builder) Skill(skill string, by Evidence) {
	skill = b.name(strings.TrimSpace(skill))
	if b.turn == nil || skill == "" || len(b.turn.skills[by]) >= maxSkills || slices.Contains(b.turn.skills[by], skill) {
		return
	}
	b.turn.skills[by] = append(b.turn.skills[by], skill)
}

// Read says that a tool read a file, or ran a command that names files: reading a SKILL.md is
// evidence of a skill.
func (b *Builder) Read(text string) {
	if b.turn == nil || !strings.Contains(text, "SKILL.md") {
		return
	}
	if len(text) > window {
		text = text[:window]
	}
	// Secrets go out of each part alone: what looks like none with the name of the file behind
	// it may be one without.
	parts := strings.Split(text, "SKILL.md")
	for _, part := range parts[:min(len(parts)-1, MaxTools)] {
		part, _, _ = b.text(part, window)
		for _, skill := range skillsRead(part + "SKILL.md") {
			if !strings.Contains(skill, redact.Mask) {
				b.Skill(skill, ByRead)
			}
		}
	}
}

// Fail says that the model or the program failed in this turn.
func (b *Builder) Fail(what string) {
	if b.turn != nil {
		b.turn.Failed = first(b.name(what), "failed")
	}
}

// Interrupt says that the user stopped the agent or refused a tool.
func (b *Builder) Interrupt() {
	if b.turn != nil {
		b.turn.Interrupted = true
	}
}

// Back takes the last turns back: the user went back to before them.
func (b *Builder) Back(n int) {
	for ; n > 0 && (b.turn != nil || len(b.t.Turns) > 0); n-- {
		if b.turn != nil {
			b.turn.settle() // what was written stays written
			b.turn = nil
			continue
		}
		b.t.Turns = b.t.Turns[:len(b.t.Turns)-1]
	}
}

// Rewind takes the turn of an id back, and all after it. An id that is not known does nothing.
func (b *Builder) Rewind(id string) {
	after := 1 // turns from the last to that of the id
	if b.turn != nil {
		if b.turn.ID == id {
			b.Back(1)
			return
		}
		after++
	}
	for i := len(b.t.Turns) - 1; i >= 0; i-- {
		if b.t.Turns[i].ID == id {
			b.Back(after)
			return
		}
		after++
	}
}

// newMessageID makes the id of a message of a store that gives messages none: equal words of a
// session are distinguished by how often they were said before, so that the id stays when older
// messages are taken out of the store or a time is written in another way.
func (b *Builder) newMessageID(text string, said map[string]int) string {
	text, _, _ = b.text(strings.TrimSpace(text), MaxUser)
	id := digest(b.t.ID, text)
	if said[id]++; said[id] > 1 {
		return fmt.Sprintf("%s-%d", id, said[id])
	}
	return id
}

// complete ends the turn that is in progress.
func (b *Builder) complete() {
	d := b.turn
	if d == nil {
		return
	}
	d.settle()
	d.drop()
	b.turn = nil
	if d.Failed == "" {
		var masked int
		var cut bool
		d.Agent, masked, cut = b.text(strings.TrimSpace(d.agent), MaxAgent)
		d.Redacted += masked
		d.Cut = d.Cut || cut
	}
	for _, by := range []Evidence{ByRecord, ByTool, ByRead} {
		if names := d.skills[by]; len(names) > 0 {
			if len(names) == 1 {
				d.Skill, d.SkillBy = names[0], by
			}
			break
		}
	}
	b.t.Turns = append(b.t.Turns, d.Turn)
	if n := len(b.t.Turns); n > 2*MaxTurns {
		b.trim()
	}
}

func (b *Builder) trim() {
	if over := len(b.t.Turns) - MaxTurns; over > 0 {
		b.lost += over
		b.t.Turns = append([]Turn{}, b.t.Turns[over:]...)
	}
}

// transcript ends the session.
func (b *Builder) transcript() Transcript {
	b.complete()
	b.trim()
	b.files.settle(b.t.Turns)
	fillTimes(b.t.Turns)
	for i := range b.t.Turns {
		turn := &b.t.Turns[i]
		if b.t.Started.IsZero() || turn.Started.Before(b.t.Started) {
			b.t.Started = turn.Started
		}
		if turn.Ended.After(b.t.Ended) {
			b.t.Ended = turn.Ended
		}
	}
	return b.t
}

// fillTimes gives turns whose time is not known the time at which the turn before ended, and gives
// the first ones the time at which the first known one began.
func fillTimes(turns []Turn) {
	var last time.Time
	for i := range turns {
		for _, at := range []*time.Time{&turns[i].Started, &turns[i].Ended} {
			if at.IsZero() {
				*at = last
			}
			last = *at
		}
	}
	for i := len(turns) - 1; i >= 0; i-- {
		for _, at := range []*time.Time{&turns[i].Ended, &turns[i].Started} {
			if at.IsZero() {
				*at = last
			}
			last = *at
		}
	}
}

// text returns a text as it is kept, with the number of secrets that were taken out of it and
// whether it was cut.
func (b *Builder) text(raw string, limit int) (text string, masked int, cut bool) {
	if len(raw) > window {
		raw, cut = raw[:window], true
	}
	text = wording.Plain(raw)
	before := strings.Count(text, redact.Mask)
	text = b.clean.Text(text)
	masked = max(0, strings.Count(text, redact.Mask)-before)
	if cut && len(text) > window-MaxPath { // the end of the window may be half a secret
		text = text[:window-MaxPath]
	}
	if len(text) > limit {
		return shorten(text, limit), masked, true
	}
	return text, masked, cut
}

// shorten cuts a text at a character, and says so with an ellipsis.
func shorten(text string, limit int) string {
	n := limit - len("…")
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// name returns a short text in one line.
func (b *Builder) name(raw string) string { return b.line(raw, MaxName) }

func (b *Builder) path(raw string) string { return b.line(raw, MaxPath) }

func (b *Builder) line(raw string, limit int) string {
	if raw == "" {
		return ""
	}
	text, _, _ := b.text(raw, limit)
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' }), " ")
}

// relativePath returns a file relative to the project, where it lies in it.
func (b *Builder) relativePath(file string) string {
	if b.t.Project == "" || !filepath.IsAbs(file) {
		return path.Clean(filepath.ToSlash(file))
	}
	rel, err := filepath.Rel(b.t.Project, file)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.Clean(file)
	}
	return filepath.ToSlash(rel)
}

// skillsRead returns the skills whose SKILL.md a path or a command names.
func skillsRead(text string) []string {
	const file = "SKILL.md"
	var out []string
	for rest := text; ; {
		i := strings.Index(rest, file)
		if i < 0 {
			return out
		}
		dir := strings.TrimRight(rest[:i], `/\`)
		from := strings.LastIndexAny(dir, "/\\ '\"\t\n=(:") + 1
		if skill := dir[from:]; len(dir) < i && strings.Trim(skill, ".") != "" && !strings.ContainsAny(skill, "*?[]{}$<>") {
			out = append(out, skill)
		}
		rest = rest[i+len(file):]
	}
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

package transcript

import (
	"bytes"
	"path"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// Bounds of what is kept of what files held.
const (
	MaxLines = 2000 // digests of a file, in a session
	MaxLined = 50   // files of a session of which there are any

	maxHeld    = 10_000    // files of a session that are distinguished
	maxShown   = 256 << 10 // bytes of a file that are shown at a time
	maxOutput  = 1 << 20   // bytes of the record in which they are
	maxOneLine = 1900      // bytes of a line: agents cut those of 2,000 characters
)

// held is what a session says about a file before its first write to it.
type held struct {
	wrote   bool             // a tool has written it: what it holds from then on shows nothing
	unknown bool             // some of what was shown is not kept
	lines   map[uint32]int32 // digest -> the turn that has it last
}

// ledger is what a session says about its files.
type ledger struct {
	held  map[string]*held // by file, named as it is kept
	lined int              // of them with lines
	blind bool             // something that tools did with files is not kept
}

// look is a call that shows what a file holds.
type look struct {
	file string
	raw  string // of the id of the call, as it is in the record of its result
	form form
	cut  bool // the record is too long to be read whole
}

// Look says that a call reads a file, and in which form it shows it. Output reports the result,
// unless the call failed. raw is the id of the call as the store has it.
func (b *Builder) Look(id, raw, file string, form form) {
	if b.turn == nil || file == "" || id == "" {
		return
	}
	if len(b.turn.looks) >= MaxTools {
		b.files.blind = true
		return
	}
	b.turn.looks[id] = &look{file: file, raw: raw, form: form}
}

// Patch says that a call changes a file; its result shows what was changed, in a form.
func (b *Builder) Patch(id, raw, file string, form form) {
	if b.lines {
		b.Look(id, raw, file, form)
	}
	if b.turn != nil && file != "" {
		b.turn.writes[id] = append(b.turn.writes[id], file)
	}
}

// awaits reports whether a record has to be read whole, since it may be the result of a call that
// shows what a file holds.
func (b *Builder) awaits(record []byte) bool {
	if b.turn == nil || !b.lines {
		return false
	}
	found := false
	for _, l := range b.turn.looks {
		if l.raw != "" && bytes.Contains(record, []byte(l.raw)) && !b.files.isKnown(b.file(l.file)) {
			found, l.cut = true, len(record) > maxOutput
		}
	}
	return found && len(record) <= maxOutput
}

// Output notes what a call that did not fail has shown. The text may be left out where [needsOutput]
// says that it is not looked at.
func (b *Builder) Output(id, text string) {
	if b.turn == nil {
		return
	}
	l := b.turn.looks[id]
	if l == nil {
		return
	}
	delete(b.turn.looks, id)
	if len(b.turn.writes[id]) == 0 {
		b.AddRead(l.file)
	}
	if l.cut {
		b.sums(l.file, sums{})
		return
	}
	b.addText(l.file, text, l.form)
}

// addText adds what the agent was shown of a file, in a form.
func (b *Builder) addText(file, text string, form form) {
	if b.turn != nil && b.lines && file != "" && !b.files.isKnown(b.file(file)) {
		b.sums(file, shownSums(text, form))
	}
}

// shownSums returns the digests of the lines that a text shows of a file.
func shownSums(text string, form form) sums {
	if len(text) > maxShown {
		return sums{}
	}
	lines, all := form(text)
	if !all {
		return sums{}
	}
	return digestLines(lines)
}

// looksAt reports whether a call waits for its output.
func looksAt(b *Builder, id string) bool { return b.turn != nil && b.turn.looks[id] != nil }

// needsOutput reports whether lines of a file are to be read out of the output of a call.
func needsOutput(b *Builder, id string) bool { return b.lines && looksAt(b, id) }

// AddRead adds a file that a tool read. After the session's first write to it, it is none that the
// session was given.
func (b *Builder) AddRead(file string) {
	if b.turn == nil || file == "" {
		return
	}
	file = b.file(file)
	if h := b.files.held[file]; h != nil && h.wrote || b.turn.read[file] {
		return
	}
	if len(b.turn.Read) >= MaxFiles {
		b.files.blind = true
		return
	}
	b.turn.read[file] = true
	b.turn.Turn.Read = append(b.turn.Turn.Read, file)
}

// AddLines adds the lines of a file that the agent was shown, or replaced: whole lines.
func (b *Builder) AddLines(file string, lines []string) {
	if b.turn == nil || !b.lines || file == "" || len(lines) == 0 || b.files.isKnown(b.file(file)) {
		return
	}
	b.sums(file, digestLines(lines))
}

// sums are digests of lines of a file, without those that are blank. all: there are no others.
type sums struct {
	list []uint32
	all  bool
}

func digestLines(lines []string) sums {
	out := sums{list: make([]uint32, 0, min(len(lines), MaxLines)), all: true}
	for _, line := range lines {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "":
		case len(line) > maxOneLine || len(out.list) > 2*MaxLines:
			return sums{}
		default:
			out.list = append(out.list, LineDigest(line))
		}
	}
	return out
}

// sums says what lines of a file the agent was shown.
func (b *Builder) sums(file string, s sums) {
	if b.turn == nil || !b.lines || file == "" {
		return
	}
	name := b.file(file)
	fresh := b.files.add(name, s, int32(len(b.t.Turns)+b.lost)+1)
	if len(fresh) == 0 {
		return
	}
	if b.turn.Lines == nil {
		b.turn.Lines = map[string][]uint32{}
	}
	b.turn.Lines[name] = append(b.turn.Lines[name], fresh...)
}

// of returns what is known of a file, nil beyond the bounds.
func (l *ledger) of(name string) *held {
	h := l.held[name]
	if h == nil {
		if len(l.held) >= maxHeld {
			l.blind = true
			return nil
		}
		h = &held{}
		l.held[name] = h
	}
	return h
}

// isKnown reports whether no more can be learned of a file.
func (l *ledger) isKnown(name string) bool {
	h := l.held[name]
	return h != nil && (h.wrote || h.unknown)
}

// noteWrite notes that a file has been written.
func (l *ledger) noteWrite(name string) {
	if h := l.of(name); h != nil {
		h.wrote, h.lines = true, nil
	}
}

// lose says that something that was shown of a file is not kept: then nothing is.
func (l *ledger) lose(name string) {
	if h := l.of(name); h != nil && !h.wrote {
		h.unknown, h.lines = true, nil
	}
}

// add adds what was shown of a file in a turn, and returns what of it the turn has not had.
func (l *ledger) add(name string, s sums, turn int32) (fresh []uint32) {
	if l.isKnown(name) {
		return nil
	}
	h := l.of(name)
	switch {
	case h == nil || len(s.list) == 0 && s.all:
		return nil
	case !s.all:
		l.lose(name)
		return nil
	case h.lines == nil:
		if l.lined++; l.lined > MaxLined {
			h.unknown = true
			return nil
		}
		h.lines = make(map[uint32]int32, len(s.list))
	}
	for _, sum := range s.list {
		if h.lines[sum] != turn {
			h.lines[sum] = turn
			fresh = append(fresh, sum)
		}
	}
	if len(h.lines) > MaxLines {
		l.lose(name)
		return nil
	}
	return fresh
}

// settle takes out of turns the lines of files of which some are not kept.
func (l *ledger) settle(turns []Turn) {
	for i := range turns {
		lines := turns[i].Lines
		for name := range lines {
			if h := l.held[name]; l.blind || h == nil || h.unknown {
				delete(lines, name)
			}
		}
		if len(lines) == 0 {
			turns[i].Lines = nil
		}
	}
}

// file returns the name of a file as it is kept. Secrets go first: a path that is made short may no
// longer look like what has one. Where one is seen only in a part of the path, none of it is kept
// but what shows that there was one.
func (b *Builder) file(raw string) string {
	if name, known := b.names[raw]; known {
		return name
	}
	name := b.relativePath(b.path(raw))
	if hidesSecrets(b, raw, "/", "\\") {
		name = redact.Mask
	}
	if len(b.names) < maxHeld && b.t.Project != "" {
		b.names[strings.Clone(raw)] = name
	}
	return name
}

// hidesSecrets reports whether a text holds secrets that are only seen when it is taken apart at marks.
func hidesSecrets(b *Builder, raw string, marks ...string) bool {
	raw = raw[:min(len(raw), window)]
	_, masked, _ := b.text(raw, window)
	for _, mark := range marks {
		if !strings.Contains(raw, mark) {
			continue
		}
		if _, more, _ := b.text(strings.ReplaceAll(raw, mark, " "), window); more > masked {
			return true
		}
	}
	return false
}

// form finds the lines of a file in what a tool printed of it. all: nothing was cut out of it that
// was not said.
type form func(text string) (lines []string, all bool)

// asPrinted finds all lines of a text.
func asPrinted(text string) ([]string, bool) { return strings.Split(text, "\n"), true }

// withNumbers finds lines that begin with their number and a mark, as "  12→", "12: " or
// "12. "; others are the program's words, as is what follows a tag behind them.
func withNumbers(text string) (out []string, all bool) {
	for line := range strings.SplitSeq(text, "\n") {
		if len(out) > 0 && strings.HasPrefix(line, "<") {
			break
		}
		rest := strings.TrimLeft(line, " ")
		behind := strings.TrimLeft(rest, "0123456789")
		if behind == rest {
			continue
		}
		for _, mark := range []string{"→", "\t", ": ", ":", ". ", ".", "| "} {
			if text, is := strings.CutPrefix(behind, mark); is {
				out = append(out, text)
				break
			}
		}
	}
	return out, true
}

// skipHead returns the form that finds the lines after the last mark within the head of a text, or all where there is none.
func skipHead(marks ...string) form {
	const most = 600
	return func(text string) ([]string, bool) {
		for _, mark := range marks {
			if i := strings.Index(text[:min(len(text), most)], mark); i >= 0 {
				text = text[i+len(mark):]
			}
		}
		return asPrinted(text)
	}
}

// dropNote finds the lines without a last paragraph in brackets, by which the program says that there
// are more.
func dropNote(text string) ([]string, bool) {
	if i := strings.LastIndex(text, "\n\n["); i >= 0 && strings.HasSuffix(strings.TrimSpace(text), "]") {
		text = text[:i]
	}
	return asPrinted(text)
}

// wholeLines returns the whole lines of a text that was replaced: its first and its last may be
// parts of a line.
func wholeLines(text string) []string {
	lines := strings.Split(text, "\n")
	if len(lines) < 3 {
		return nil
	}
	return lines[1 : len(lines)-1]
}

// diffLines finds the lines that a unified diff says were there.
func diffLines(diff string) (out []string, all bool) {
	within := false
	for line := range strings.SplitSeq(diff, "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			within = true
		case strings.HasPrefix(line, "diff --git ") || strings.HasPrefix(line, "Index: "):
			within = false
		case within && line != "" && (line[0] == ' ' || line[0] == '-'):
			out = append(out, line[1:])
		}
	}
	return out, true
}

// patchLines returns the lines by file that a patch in the form of apply_patch says were there:
// those around a change and those that it removes.
func patchLines(patch string) map[string][]string {
	out := map[string][]string{}
	file := ""
	for line := range strings.SplitSeq(patch, "\n") {
		switch name, is := strings.CutPrefix(line, "*** Update File: "); {
		case is:
			file = strings.TrimSpace(name)
		case strings.HasPrefix(line, "*** "):
			if !strings.HasPrefix(line, "*** Move to: ") && !strings.HasPrefix(line, "*** End of File") {
				file = ""
			}
		case file != "" && line != "" && (line[0] == ' ' || line[0] == '-'):
			out[file] = append(out[file], line[1:])
		}
	}
	return out
}

// fileIn returns the one file that a command does nothing but print lines of: cat, head, tail, nl
// and sed -n of one file, without anything that a shell replaces. how is the form of the lines.
func fileIn(command string) (file string, how form) {
	words, plain := shellWords(command)
	if !plain || len(words) < 2 {
		return "", nil
	}
	how = asPrinted
	args := words[1:]
	switch words[0] {
	case "cat":
		if args[0] == "-n" {
			how, args = withNumbers, args[1:]
		}
	case "nl":
		if args[0] == "-ba" {
			args = args[1:]
		}
		how = withNumbers
	case "head", "tail":
		switch {
		case len(args) > 2 && args[0] == "-n" && allDigits(strings.TrimPrefix(args[1], "+")):
			args = args[2:]
		case strings.HasPrefix(args[0], "-n") && allDigits(args[0][2:]) || strings.HasPrefix(args[0], "-") && allDigits(args[0][1:]):
			args = args[1:]
		}
	case "sed":
		if len(args) != 3 || args[0] != "-n" || !printsLines(args[1]) {
			return "", nil
		}
		args = args[2:]
	default:
		return "", nil
	}
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		return "", nil
	}
	return args[0], how
}

func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// printsLines reports whether a script of sed prints lines by their numbers: 12p, 1,200p, 5,$p.
func printsLines(script string) bool {
	script, is := strings.CutSuffix(script, "p")
	from, to, two := strings.Cut(script, ",")
	return is && allDigits(from) && (!two || to == "$" || allDigits(to))
}

// shellWords returns the words of a command. plain says that it is one command, without anything
// that a shell replaces.
func shellWords(command string) (words []string, plain bool) {
	if len(command) > MaxPath {
		return nil, false
	}
	var word strings.Builder
	quote, open := byte(0), false
	for i := range len(command) {
		c := command[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == '"' && strings.IndexByte("$`\\", c) >= 0:
			return nil, false
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ' || c == '\t':
			if open {
				words, open = append(words, word.String()), false
				word.Reset()
			}
		case strings.IndexByte("|&;<>()$`*?[]{}~!#\\\n\r=", c) >= 0:
			return nil, false
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words, quote == 0
}

// inFolder returns a file that a command names, which runs in a folder. The folder is "" for the project's.
func inFolder(dir, file string) string {
	if file == "" || dir == "" || path.IsAbs(strings.ReplaceAll(file, `\`, "/")) {
		return file
	}
	return path.Join(strings.ReplaceAll(dir, `\`, "/"), file)
}

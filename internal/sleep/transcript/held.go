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

// held is what a session reports a file before its first write to it.
type held struct {
	wrote   bool             // a tool has written it: what it holds from then on tells nothing
	unknown bool             // some of what was shown is not kept
	lines   map[uint32]int32 // digest -> the turn that has it last
}

// ledger is what a session reports its files.
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

	early *sums // what it shows, where that was read before the record was abridged
}

// Look says that a call reads a file, and in which form it shows it. The result of it is reported by
// Output, unless the call failed. raw is the id of the call as the store has it.
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
// shows what a file holds. printed, which may be nil, finds the one text that was printed in a record:
// where there is one it is read here, and the record need not be.
func (b *Builder) awaits(record []byte, printed func(record []byte) (text []byte, is bool)) bool {
	if b.turn == nil || !b.lines {
		return false
	}
	var found []*look
	for id, l := range b.turn.looks {
		if l.raw == "" || !bytes.Contains(record, []byte(l.raw)) || b.files.known(b.file(l.file)) {
			continue
		}
		if len(b.turn.writes[id]) > 0 {
			printed = nil // what was changed is elsewhere
		}
		found = append(found, l)
	}
	if len(found) == 1 && printed != nil && found[0].form.line != nil {
		if raw, one := printed(record); one {
			if s, is := b.digests.of(raw, found[0].form); is {
				found[0].early = &s
				return false
			}
		}
	}
	for _, l := range found {
		l.cut = len(record) > maxOutput
	}
	return len(found) > 0 && len(record) <= maxOutput
}

// firstText is the first text that a record of JSON has behind a mark, with its escapes, and what
// comes after it.
func firstText(record []byte, mark string) (text, after []byte, is bool) {
	_, rest, found := bytes.Cut(record, []byte(mark))
	n := -1
	if found {
		n = closing(rest)
	}
	if n < 0 {
		return nil, nil, false
	}
	return rest[:n], rest[n:], true
}

// Output is what a call that did not fail has shown. The text may be left out where [showing] says
// that it is not looked at.
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
		b.Looked(l.file)
	}
	switch {
	case l.cut:
		b.sums(l.file, sums{})
	case l.early != nil:
		b.sums(l.file, *l.early)
	default:
		b.shown(l.file, text, l.form)
	}
}

// shown says what the agent was shown of a file, in a form.
func (b *Builder) shown(file, text string, form form) {
	if b.turn != nil && b.lines && file != "" && !b.files.known(b.file(file)) {
		b.sums(file, shownSums(text, form))
	}
}

// shownSums are the digests of the lines that a text shows of a file.
func shownSums(text string, form form) sums {
	if len(text) > maxShown {
		return sums{}
	}
	lines, all := form.lines(text)
	if !all {
		return sums{}
	}
	return sumsOf(lines)
}

// looksAt reports whether a call waits for its output.
func looksAt(b *Builder, id string) bool { return b.turn != nil && b.turn.looks[id] != nil }

// showing reports whether lines of a file are still to be read out of the output of a call: they are
// wanted, and were not read before its record was abridged.
func showing(b *Builder, id string) bool {
	return b.lines && looksAt(b, id) && b.turn.looks[id].early == nil
}

// Looked says that a tool read a file. After the session's first write to it, it is none that the
// session was given.
func (b *Builder) Looked(file string) {
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

// Shown says what lines of a file the agent was shown, or replaced: whole lines.
func (b *Builder) Shown(file string, lines []string) {
	if b.turn == nil || !b.lines || file == "" || len(lines) == 0 || b.files.known(b.file(file)) {
		return
	}
	b.sums(file, sumsOf(lines))
}

// sums are digests of lines of a file, without those that are blank. all: there are no others.
type sums struct {
	list []uint32
	all  bool
}

func sumsOf(lines []string) sums {
	out := sums{list: make([]uint32, 0, min(len(lines), MaxLines)), all: true}
	text := make([]byte, 0, maxOneLine)
	for _, line := range lines {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "":
		case len(line) > maxOneLine || len(out.list) > 2*MaxLines:
			return sums{}
		default:
			text = append(text[:0], line...)
			out.list = append(out.list, lineDigest(text))
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

// of is what is known of a file; nil beyond the bounds.
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

// known reports whether no more can be learned of a file.
func (l *ledger) known(name string) bool {
	h := l.held[name]
	return h != nil && (h.wrote || h.unknown)
}

// touched says that a file has been written.
func (l *ledger) touched(name string) {
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
	if l.known(name) {
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

// file is the name of a file as it is kept. Secrets go first: a path that is made short may no
// longer look like what has one. Where one is seen only in a part of the path, none of it is kept
// but what shows that there was one.
func (b *Builder) file(raw string) string {
	if name, known := b.names[raw]; known {
		return name
	}
	name := b.within(b.path(raw))
	if glued(b, raw, "/", "\\") {
		name = redact.Mask
	}
	if len(b.names) < maxHeld && b.t.Project != "" {
		b.names[strings.Clone(raw)] = name
	}
	return name
}

// glued reports whether a text holds secrets that are only seen when it is taken apart at marks.
func glued(b *Builder, raw string, marks ...string) bool {
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

// form finds the lines of a file in what a tool printed of it.
type form struct {
	// lines finds them in a text. all: nothing was cut out of it that was not said.
	lines func(text string) (lines []string, all bool)
	// line finds one in a line; begun: there was one before. Nil where that cannot be told line by
	// line.
	line func(line []byte, begun bool) (rest []byte, kind lineKind)
}

type lineKind int

const (
	noLine   lineKind = iota // the program's words
	aLine                    // of the file
	lastLine                 // the program's words, as is all behind it
)

// plainLines are all lines of a text.
func plainLines(text string) ([]string, bool) { return strings.Split(text, "\n"), true }

var asPrinted = form{lines: plainLines, line: func(line []byte, _ bool) ([]byte, lineKind) { return line, aLine }}

// withNumbers is the form of lines that begin with their number and a mark, as "  12→", "12: " or
// "12. "; others are the program's words, as is what follows a tag behind them.
var withNumbers = form{lines: numberedLines, line: numberedLine}

func numberedLine(line []byte, begun bool) (rest []byte, kind lineKind) {
	rest = bytes.TrimLeft(line, " ")
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if n == 0 {
		if begun && len(line) > 0 && line[0] == '<' {
			return nil, lastLine
		}
		return nil, noLine
	}
	rest = rest[n:]
	for _, mark := range []string{"→", "\t", ": ", ":", ". ", ".", "| "} {
		if len(rest) >= len(mark) && string(rest[:len(mark)]) == mark {
			return rest[len(mark):], aLine
		}
	}
	return nil, noLine
}

func numberedLines(text string) (out []string, all bool) {
	for line := range strings.SplitSeq(text, "\n") {
		rest, kind := numberedLine([]byte(line), len(out) > 0)
		if kind == lastLine {
			break
		}
		if kind == aLine {
			out = append(out, string(rest))
		}
	}
	return out, true
}

// behind are the lines behind the last mark within the head of a text, or all where there is none.
func behind(marks ...string) form {
	const most = 600
	return form{lines: func(text string) ([]string, bool) {
		for _, mark := range marks {
			if i := strings.Index(text[:min(len(text), most)], mark); i >= 0 {
				text = text[i+len(mark):]
			}
		}
		return plainLines(text)
	}}
}

// notedLines are the lines without a last paragraph in brackets, by which the program says that there
// are more.
func notedLines(text string) ([]string, bool) {
	if i := strings.LastIndex(text, "\n\n["); i >= 0 && strings.HasSuffix(strings.TrimSpace(text), "]") {
		text = text[:i]
	}
	return plainLines(text)
}

var (
	noted  = form{lines: notedLines}
	diffed = form{lines: diffedLines}
)

// replaced are the whole lines of a text that was replaced: its first and its last may be parts
// of a line.
func replaced(text string) []string {
	lines := strings.Split(text, "\n")
	if len(lines) < 3 {
		return nil
	}
	return lines[1 : len(lines)-1]
}

// diffedLines are the lines that a unified diff says were there.
func diffedLines(diff string) (out []string, all bool) {
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

// patchLines are the lines by file that a patch in the form of apply_patch says were there: those
// around a change and those that it removes.
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

// fileIn is the one file that a command does nothing but print lines of: cat, head, tail, nl and
// sed -n of one file, without anything that a shell replaces. form is how they are printed.
func fileIn(command string) (file string, form form) {
	words, plain := shellWords(command)
	if !plain || len(words) < 2 {
		return "", form
	}
	how := asPrinted
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
			return "", form
		}
		args = args[2:]
	default:
		return "", form
	}
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		return "", form
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

// shellWords are the words of a command. plain: it is one command, without anything that a shell
// replaces.
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

// inFolder is a file that a command names, which runs in a folder; "" for the project's.
func inFolder(dir, file string) string {
	if file == "" || dir == "" || path.IsAbs(strings.ReplaceAll(file, `\`, "/")) {
		return file
	}
	return path.Join(strings.ReplaceAll(dir, `\`, "/"), file)
}

package transcript

import (
	"path"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// Bounds of the commands that are kept.
const (
	MaxCommand  = 4 << 10 // bytes of one
	MaxCommands = 200     // a turn: the first are kept
)

// Command says that a call runs a command. Exit reports the code that it ended with; what is never
// reported did end, with a code that is not known.
func (b *Builder) Command(id, text string) {
	if b.turn == nil || strings.TrimSpace(text) == "" || len(b.turn.Commands) >= MaxCommands {
		return
	}
	if _, again := b.turn.ran[id]; again && id != "" {
		return
	}
	clean, masked, _ := b.text(text, MaxCommand)
	if hidesSecrets(b, text, "/", `'\''`, "'", `"`) { // what is in the way of the words of a secret
		clean, masked = redact.Mask, masked+1
	}
	b.turn.Redacted += masked
	if id != "" {
		b.turn.ran[id] = len(b.turn.Commands)
	}
	b.turn.Commands = append(b.turn.Commands, Command{Text: clean, Altered: clean != text})
}

// runs reports whether a call runs a command.
func runs(b *Builder, id string) (index int, is bool) {
	if b.turn != nil {
		index, is = b.turn.ran[id]
	}
	return index, is
}

// Exit says with what code the command of a call ended.
func (b *Builder) Exit(id string, code int) {
	if i, ran := runs(b, id); ran {
		b.turn.Commands[i].Exit = &code
	}
}

// Refused says that the command of a call was never run.
func (b *Builder) Refused(id string) {
	if i, ran := runs(b, id); ran {
		b.turn.Commands[i].Text = ""
	}
}

// drop takes out the commands that were never run.
func (d *draft) drop() {
	var out []Command
	for _, c := range d.Commands {
		if c.Text != "" {
			out = append(out, c)
		}
	}
	d.Commands = out
}

// script returns the text of a command that is given word by word: what a shell is given, or the
// words, quoted where a shell would read them otherwise.
func script(argv gjson.Result) string {
	words := argv.Array()
	if len(words) == 3 && strings.HasPrefix(words[1].Str, "-") && strings.HasSuffix(words[1].Str, "c") {
		switch path.Base(strings.ReplaceAll(words[0].Str, `\`, "/")) {
		case "sh", "bash", "zsh", "dash":
			return words[2].Str
		}
	}
	out := make([]string, 0, len(words))
	for _, w := range words {
		word := w.Str
		if word == "" || strings.ContainsAny(word, " \t\n\"'`$&|;<>()*?[]{}~!#\\") {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// codeAfter returns the number after the last mark in the end of a text, which an abridged text has too.
func codeAfter(text, mark string) (code int, told bool) {
	const most = 400 // of [ends], with escapes
	text = text[max(0, len(text)-most):]
	i := strings.LastIndex(text, mark)
	if i < 0 {
		return 0, false
	}
	return number(text[i+len(mark):])
}

// codeBefore returns the number that follows a mark with which a text begins.
func codeBefore(text, mark string) (code int, told bool) {
	rest, is := strings.CutPrefix(text, mark)
	if !is {
		return 0, false
	}
	if line, _, _ := strings.Cut(rest, "\n"); len(line) <= len(strconv.Itoa(-1<<31)) {
		return number(line)
	}
	return 0, false
}

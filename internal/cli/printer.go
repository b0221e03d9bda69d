package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// lineWidth is the largest width of running text, in columns.
const lineWidth = 79

// printer writes text for people: lines are folded to the width of a terminal, and
// paths are relative to the working directory.
type printer struct {
	io.Writer
	columns int    // of the terminal; 0 or less if there is none, and then nothing has to fit
	dir     string // the working directory
}

// printer returns a printer that writes to w.
func (a *app) printer(w io.Writer) printer {
	p := printer{Writer: w, dir: a.Dir}
	if a.Terminal {
		p.columns = a.Width
	}
	return p
}

// results is where a command that sends events prints its result as text: not
// among the events.
func (a *app) results() printer {
	if a.events == "-" {
		return a.printer(onScreen(a.Err))
	}
	return a.printer(a.Out)
}

// room is how many columns of a line may be used: at most most, and fewer on a
// narrower terminal.
func (p printer) room(most int) int {
	if p.columns > 0 {
		return min(most, p.columns-1)
	}
	return most
}

// line prints a line as it is, or folded to the terminal.
func (p printer) line(text string) { fmt.Fprintln(p, p.folded(text)) }

func (p printer) folded(text string) string {
	if p.columns > 0 {
		return fold(text, p.columns-1)
	}
	return text
}

// paragraph prints running text in lines of at most lineWidth.
func (p printer) paragraph(text string) {
	fmt.Fprintln(p, fold(oneLine(text), p.room(lineWidth)))
}

// hang prints text behind a head. On a terminal the lines after the first
// are indented to where the text begins.
func (p printer) hang(head, text string) {
	width := len(text)
	if p.columns > 0 {
		width = max(p.columns-1-len(head), 20)
	}
	for i, line := range strings.Split(fold(text, width), "\n") {
		if i > 0 {
			head = strings.Repeat(" ", len(head))
		}
		fmt.Fprintf(p, "%s%s\n", head, line)
	}
}

// leastColumn is the smallest width of a column that texts are folded into.
const leastColumn = 24

// column lays out a text of one or more lines as a column behind an indent.
func (p printer) column(text, indent string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if width := p.columns - 1 - len(indent); width >= leastColumn {
			line = fold(line, width)
		}
		lines = append(lines, strings.Split(line, "\n")...)
	}
	return strings.Join(lines, "\n"+indent)
}

// path is path relative to the working directory, if it is inside of it.
func (p printer) path(path string) string { return relativeTo(p.dir, path) }

func relativeTo(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// fold breaks a line at spaces so that a narrow terminal does not break its
// words, with what follows indented.
func fold(text string, width int) string {
	const indent = "  "
	var out strings.Builder
	for width > 2*len(indent) && utf8.RuneCountInString(text) > width {
		r := []rune(text)
		at := width
		for at > len(indent) && r[at] != ' ' {
			at--
		}
		if at <= len(indent) {
			break
		}
		fmt.Fprintln(&out, strings.TrimRight(string(r[:at]), " "))
		text = indent + strings.TrimLeft(string(r[at:]), " ")
	}
	return out.String() + text
}

// shortened cuts a text to some columns.
func shortened(text string, columns int) string {
	r := []rune(text)
	if len(r) <= columns {
		return text
	}
	return string(r[:columns-3]) + "..."
}

// firstLine is the first line of the first text that has one, shortened.
func firstLine(texts ...string) string {
	for _, t := range texts {
		line, _, _ := strings.Cut(strings.TrimSpace(t), "\n")
		if line = shortened(oneLine(line), 100); line != "" {
			return line
		}
	}
	return ""
}

const plainInShell = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:=,@%+"

// shellWord writes a word for a POSIX shell.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, plainInShell) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// count is a large number in few digits.
func count(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%.0fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// scoreText renders a score, "-" when it was not measured.
func scoreText(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", *v)
}

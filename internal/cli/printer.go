package cli

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
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

// stdoutPrinter returns a printer to standard output, which folds where that is a terminal.
func (a *app) stdoutPrinter() printer {
	p := printer{Writer: a.Out, dir: a.Dir}
	if a.Shown {
		p.columns = a.Width
	}
	return p
}

// results returns the printer to which a command that sends events prints its result as text. The
// result is not among the events.
func (a *app) results() printer {
	if a.events == "-" {
		return a.printer(onScreen(a.Err))
	}
	return a.printer(a.Out)
}

// room returns how many columns of a line may be used: at most most, and fewer on a narrower
// terminal.
func (p printer) room(most int) int {
	if p.columns > 0 {
		return min(most, p.columns-1)
	}
	return most
}

// line prints a line as it is, or folded to the terminal.
func (p printer) line(text string) { fmt.Fprintln(p, p.foldText(text)) }

func (p printer) foldText(text string) string {
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

// path returns path relative to the working directory, if it is inside of it.
func (p printer) path(path string) string { return relativeTo(p.dir, path) }

func relativeTo(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// fold breaks a line at spaces so that a narrow terminal does not break its
// words, with what follows indented.
func fold(text string, width int) string { return foldUnder(text, width, 2) }

// foldUnder folds text as fold does, with what follows indented to a column. A word that is wider
// than what is left stays whole.
func foldUnder(text string, width, column int) string {
	var out strings.Builder
	for width > 2*column && utf8.RuneCountInString(text) > width {
		r := []rune(text)
		at := width
		for at > column && r[at] != ' ' {
			at--
		}
		if at <= column || strings.TrimSpace(string(r[:at])) == "" {
			break
		}
		fmt.Fprintln(&out, strings.TrimRight(string(r[:at]), " "))
		text = strings.Repeat(" ", column) + strings.TrimLeft(string(r[at:]), " ")
	}
	return out.String() + text
}

// page prints text of several lines whose columns are laid out for a wide terminal. On one
// that is narrower a line continues under its last column, or where that is too far
// right, under its own beginning. Lines of running text that do not fit are filled again.
func (p printer) page(text string) {
	if p.columns <= 0 {
		fmt.Fprint(p, text)
		return
	}
	width := p.columns - 1
	var running []string
	flush := func() {
		if slices.ContainsFunc(running, func(l string) bool { return utf8.RuneCountInString(l) > width }) {
			running = strings.Split(foldUnder(strings.Join(running, " "), width, 0), "\n")
		}
		for _, l := range running {
			fmt.Fprintln(p, l)
		}
		running = nil
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if isRunning(line) {
			running = append(running, line)
			continue
		}
		flush()
		fmt.Fprintln(p, laidOut(line, width))
	}
	flush()
}

// tablePrinter returns a printer for a command whose result is tables and lines: on a terminal
// that is narrower than these no word is broken.
func (a *app) tablePrinter() printer {
	p := a.printer(a.Out)
	if a.Shown && a.Width > 0 {
		p.Writer = &pageWriter{to: a.stdoutPrinter()}
	}
	return p
}

// pageWriter lays out lines as page does, each by itself. What follows the last line
// break is not printed.
type pageWriter struct {
	to   printer
	rest []byte
}

func (w *pageWriter) Write(text []byte) (int, error) {
	w.rest = append(w.rest, text...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 {
			return len(text), nil
		}
		line, width := string(w.rest[:i]), w.to.columns-1
		if _, err := fmt.Fprintln(w.to, laidOut(line, width)); err != nil {
			return 0, err
		}
		w.rest = w.rest[i+1:]
	}
}

// isRunning reports whether a line is one of running text: it begins at the left and has
// no columns.
func isRunning(line string) bool {
	return line != "" && line[0] != ' ' && line[0] != '\t' && !strings.Contains(line, "  ")
}

// laidOut folds a line. One that does not fit and begins so far right that little room is
// left begins further left.
func laidOut(line string, width int) string {
	text := strings.TrimLeft(line, " ")
	if start := len(line) - len(text); start > width/2 && utf8.RuneCountInString(line) > width {
		line = strings.Repeat(" ", width/4) + text
	}
	return foldUnder(line, width, hangColumn(line, width))
}

// hangColumn returns the column where a line that is broken continues.
func hangColumn(line string, width int) int {
	start := len(line) - len(strings.TrimLeft(line, " "))
	if i := strings.LastIndex(line[start:], "  "); i >= 0 {
		if at := utf8.RuneCountInString(line[:start+i+2]); 2*at < width && width-at >= leastColumn {
			return at
		}
	}
	return min(start+2, width/4+2)
}

// shortenText cuts a text to some columns.
func shortenText(text string, columns int) string {
	r := []rune(text)
	if len(r) <= columns {
		return text
	}
	return string(r[:columns-3]) + "..."
}

// firstLine returns the first line of the first text that has one, shortened.
func firstLine(texts ...string) string {
	for _, t := range texts {
		line, _, _ := strings.Cut(strings.TrimSpace(t), "\n")
		if line = shortenText(oneLine(line), 100); line != "" {
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

// count returns a large number in few digits.
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

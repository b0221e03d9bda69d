package check

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// shellWord is a word of a shell script, without its quotes. What would be
// expanded is kept as it was written.
type shellWord struct {
	text  string
	first bool // a command begins with it
}

// shellWords reads a script as far as it takes to see which programs it names. It
// is no shell: what it cannot follow (here-documents, eval) it takes for words.
func shellWords(script string) []shellWord {
	l := &shellLexer{first: true}
	for i := 0; i < len(script); i++ {
		i = l.next(script, i)
	}
	l.end()
	return l.words
}

type shellLexer struct {
	words  []shellWord
	word   strings.Builder
	begun  bool   // a word is being read, an empty one perhaps
	first  bool   // the next word begins a command
	double bool   // between double quotes
	outer  []bool // what double was before each substitution
}

// next reads what begins at i, and returns the position of its last byte.
func (l *shellLexer) next(s string, i int) int {
	switch c := s[i]; {
	case c == '\\' && i+1 < len(s):
		if i++; s[i] != '\n' {
			l.add(s[i : i+1])
		}
	case c == '\'' && !l.double:
		end := strings.IndexByte(s[i+1:], '\'')
		if end < 0 {
			end = len(s) - i - 1
		}
		l.add(s[i+1 : i+1+end])
		return i + 1 + end
	case c == '"':
		l.double, l.begun = !l.double, true
	case strings.HasPrefix(s[i:], "$(") && !strings.HasPrefix(s[i:], "$(("):
		l.add("$(...)")
		l.open()
		return i + 1
	case c == ')' && len(l.outer) > 0 && !l.double:
		l.end()
		l.double, l.outer, l.first = l.outer[len(l.outer)-1], l.outer[:len(l.outer)-1], false
	case l.double:
		l.add(s[i : i+1])
	case c == '#' && !l.begun:
		return i + max(0, strings.IndexByte(s[i:]+"\n", '\n')-1)
	case strings.IndexByte(" \t\r", c) >= 0:
		l.end()
	case strings.IndexByte("\n;|&(){}`", c) >= 0 && (c != '{' && c != '}' || !l.begun):
		l.end()
		l.first = true
	default:
		l.add(s[i : i+1])
	}
	return i
}

func (l *shellLexer) add(text string) {
	l.word.WriteString(text)
	l.begun = true
}

// open begins a substitution: a command of its own.
func (l *shellLexer) open() {
	l.end()
	l.outer, l.double, l.first = append(l.outer, l.double), false, true
}

// end ends the word that is being read.
func (l *shellLexer) end() {
	if l.begun {
		l.words = append(l.words, shellWord{l.word.String(), l.first})
		l.first = false
	}
	l.word.Reset()
	l.begun = false
}

var (
	assignment = pattern.New(`^\w+=`)
	number     = pattern.New(`^\d[\d.]*[smhd]?$`)
)

// simpleCommands returns the programs that a script names, each with its
// arguments. What only starts another program (env, timeout 5, if) is left out.
func simpleCommands(script string) [][]string {
	var all [][]string
	for _, w := range shellWords(script) {
		if w.first || len(all) == 0 {
			all = append(all, nil)
		}
		last := &all[len(all)-1]
		if *last = append(*last, w.text); len(*last) == 1 && passesOn(w.text) {
			*last = nil
		}
	}
	return slices.DeleteFunc(all, func(c []string) bool { return len(c) == 0 })
}

// passesOn reports whether a word at the position of a program only leads to the program.
func passesOn(word string) bool {
	starters := []string{"env", "exec", "command", "nohup", "nice", "time", "stdbuf", "xargs", "timeout", "eval", "if", "then", "elif", "else", "while", "until", "do", "!"}
	return slices.Contains(starters, word) || assignment.MatchString(word) || number.MatchString(word) || strings.HasPrefix(word, "-") || strings.HasPrefix(word, ">")
}

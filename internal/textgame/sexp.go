package textgame

import (
	"strings"
	"unicode"
)

// Bounds of a list in parentheses.
const (
	maxDepth = 100
	maxNodes = 1 << 19
)

// node is a word of PDDL, in lower case, or a list of nodes.
type node struct {
	word string
	list []node // nil: it is a word
	line int
}

// head returns the first word of a list.
func (n node) head() string {
	if len(n.list) == 0 {
		return n.word
	}
	return n.list[0].word
}

// rest returns what follows the first word of a list.
func (n node) rest() []node {
	if len(n.list) == 0 {
		return nil
	}
	return n.list[1:]
}

// String returns the node as it is written.
func (n node) String() string {
	if n.list == nil {
		return n.word
	}
	parts := make([]string, len(n.list))
	for i, child := range n.list {
		parts[i] = child.String()
	}
	return "(" + strings.Join(parts, " ") + ")"
}

// parseNode parses a text that is one list.
func parseNode(text string) (node, error) {
	var open []node
	var whole node
	count := 0
	for line, row := range numberLines(text) {
		row, _, _ = strings.Cut(row, ";")
		for word := range words(row) {
			count++
			switch {
			case whole.list != nil:
				return whole, newError(line, "%q follows the last parenthesis; allowed: one list", word)
			case count > maxNodes:
				return whole, newError(line, "there are more than %d words", maxNodes)
			case word == "(" && len(open) == maxDepth:
				return whole, newError(line, "lists are nested more than %d deep", maxDepth)
			case word == "(":
				open = append(open, node{list: []node{}, line: line})
				continue
			case len(open) == 0:
				return whole, newError(line, "found %q, expected a list that begins with (", word)
			}
			last := len(open) - 1
			child := node{word: word, line: line}
			if word == ")" {
				child, open = open[last], open[:last]
				last--
			}
			if last < 0 {
				whole = child
				continue
			}
			open[last].list = append(open[last].list, child)
		}
		if strings.IndexFunc(row, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
			return whole, newError(line, "a character outside of comments is not ASCII")
		}
	}
	switch {
	case len(open) > 0:
		return whole, newError(open[len(open)-1].line, "a parenthesis of this line is not closed")
	case whole.list == nil:
		return whole, newError(1, "it is empty")
	}
	return whole, nil
}

// numberLines yields the lines of a text with their numbers, from 1.
func numberLines(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		n := 0
		for row := range strings.Lines(text) {
			if n++; !yield(n, row) {
				return
			}
		}
	}
}

// words yields the parentheses and words of a line, in lower case. A question mark begins a word.
func words(row string) func(yield func(string) bool) {
	row = strings.NewReplacer("(", " ( ", ")", " ) ", "?", " ?").Replace(strings.ToLower(row))
	return strings.FieldsSeq(row)
}

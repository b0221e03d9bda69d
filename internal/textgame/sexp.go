package textgame

import (
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
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

// wordPattern is a comment, the end of a line, a parenthesis or a word. A question mark begins a word.
var wordPattern = pattern.New(`;.*|[\n()]|\??[^\s()?;]+|\?`)

// parseNode parses a text that is one list.
func parseNode(text string) (node, error) {
	open, line := []node{{list: []node{}}}, 1 // the lists that are not closed, in one around the text
	for count, m := range wordPattern.FindAllStringSubmatch(strings.ToLower(text), -1) {
		word, last := m[0], len(open)-1
		switch {
		case word == "\n":
			line++
		case word[0] == ';':
		case count > maxNodes || last > maxDepth:
			return node{}, newError(line, "there are more than %d words, or lists are nested more than %d deep", maxNodes, maxDepth)
		case word == "(":
			open = append(open, node{list: []node{}, line: line})
		case word == ")" && last == 0:
			return node{}, newError(line, "a parenthesis closes no list")
		case word == ")":
			open[last-1].list = append(open[last-1].list, open[last])
			open = open[:last]
		case strings.IndexFunc(word, func(r rune) bool { return r > unicode.MaxASCII }) >= 0:
			return node{}, newError(line, "%q is not ASCII, and in no comment", word)
		default:
			open[last].list = append(open[last].list, node{word: word, line: line})
		}
	}
	if len(open) > 1 {
		return node{}, newError(open[len(open)-1].line, "a parenthesis of this line is not closed")
	}
	if all := open[0].list; len(all) == 1 && all[0].list != nil {
		return all[0], nil
	}
	return node{}, newError(line, "it is not one list in parentheses")
}

// Package latex reads the small part of LaTeX in which answers are written: boxes, wrapping,
// and expressions of numbers.
//
// It knows nothing about checks and tasks. It is pure, and bounded in what a text can cost.
package latex

import "strings"

// box is the command that marks a final answer.
const box = `\boxed{`

// Boxes returns what is in the \boxed{...} of a text, in their order. Braces are balanced;
// a box within another is part of it, and one that is never closed is none.
func Boxes(text string) []string {
	if !strings.Contains(text, box) {
		return nil
	}
	type span struct{ from, to int }
	var found []span
	var open []int // where each open brace's content begins; negated: of a box
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], box):
			i += len(box) - 1
			open = append(open, -(i + 1))
		case text[i] == '\\':
			i++ // an escaped brace is text
		case text[i] == '{':
			open = append(open, i+1)
		case text[i] == '}' && len(open) > 0:
			from := open[len(open)-1]
			open = open[:len(open)-1]
			if from > 0 {
				continue
			}
			for len(found) > 0 && found[len(found)-1].from > -from {
				found = found[:len(found)-1]
			}
			found = append(found, span{-from, i})
		}
	}
	contents := make([]string, len(found))
	for i, s := range found {
		contents[i] = text[s.from:s.to]
	}
	return contents
}

// wrappers returns the commands that only say how their argument looks.
func wrappers() []string {
	return []string{"boxed", "fbox", "text", "textbf", "textit", "textrm", "texttt", "mathrm", "mathbf", "mathit", "mathsf", "mathbb", "operatorname", "mbox", "bm", "boldsymbol"}
}

// Unwrap takes off what surrounds a whole text and says nothing of its own: white space,
// delimiters of formulas, \boxed{}, \text{} and the like, up to 16 of them.
func Unwrap(text string) string {
	const deepest = 16
	for range deepest {
		inner := unwrapOnce(strings.TrimSpace(text))
		if inner == text {
			return text
		}
		text = inner
	}
	return text
}

func unwrapOnce(s string) string {
	for _, pair := range [][2]string{{"$$", "$$"}, {"$", "$"}, {`\(`, `\)`}, {`\[`, `\]`}} {
		inner, ok := strings.CutPrefix(s, pair[0])
		if !ok {
			continue
		}
		if inner, ok = strings.CutSuffix(inner, pair[1]); ok && !strings.Contains(inner, pair[0]) && inner != "" {
			return inner
		}
	}
	for _, name := range wrappers() {
		inner, ok := strings.CutPrefix(s, `\`+name+"{")
		if ok && inner != "" && closes(inner) == len(inner)-1 {
			return inner[:len(inner)-1]
		}
	}
	return s
}

// closes returns where the brace closes that was opened before s, -1 if nowhere.
func closes(s string) int {
	depth := 1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

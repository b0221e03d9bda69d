package check

import (
	"slices"
	"strings"

	"github.com/dlclark/regexp2"

	"github.com/seed-f4525e22/skillopt/internal/latex"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/pytext"
)

// compileBox compiles the extraction of a box. mathverse takes a box to end at the first brace, and
// babyvision knows braces within it up to the depth of that evaluation's pattern.
func (s *spec) compileBox() func(string) (string, bool, error) {
	first := s.choice("which", "last", "first") == "first"
	switch s.choice("form", "robust", "mathverse", "babyvision") {
	case "mathverse":
		return always(func(reply string) (string, bool) { return oneOfAll(shallowBoxes(reply), first) })
	case "babyvision":
		deep := regexp2.MustCompile(`\\boxed\{((?:[^{}]|{(?:[^{}]|{.*})*})*)\}`, regexp2.None)
		deep.MatchTimeout = MatchTimeout
		return func(reply string) (string, bool, error) {
			if !strings.Contains(reply, `\boxed{`) {
				answer, found := trimAnswer(oneOfAll(markedBoxes(reply, false), first))
				return answer, found, nil
			}
			answer, found, err := extractMatch(deep, reply, first)
			if !found && err == nil {
				answer, found = trimAnswer(oneOfAll(markedBoxes(reply, false), first))
			}
			return answer, found, err
		}
	}
	return always(func(reply string) (string, bool) {
		if answer, found := oneOfAll(latex.Boxes(reply), first); found {
			return answer, true
		}
		return oneOfAll(markedBoxes(reply, true), first)
	})
}

func oneOfAll(found []string, first bool) (string, bool) {
	switch {
	case len(found) == 0:
		return "", false
	case first:
		return found[0], true
	}
	return found[len(found)-1], true
}

var shallow = pattern.New(`(?is)\\boxed\{(.*?)\}`)

// shallowBoxes returns boxes up to the first brace that closes.
func shallowBoxes(reply string) (found []string) {
	for _, m := range shallow.FindAllStringSubmatch(reply, -1) {
		found = append(found, m[1])
	}
	return found
}

// markedBoxes returns the texts between the marks that some models are trained to write; lines says
// that one may have several lines.
func markedBoxes(reply string, lines bool) (found []string) {
	const begin, end = "<|begin_of_box|>", "<|end_of_box|>"
	for {
		_, rest, ok := strings.Cut(reply, begin)
		if !ok {
			return found
		}
		content, after, ok := strings.Cut(rest, end)
		if !ok {
			return found
		}
		if !lines && strings.Contains(content, "\n") {
			reply = rest
			continue
		}
		found, reply = append(found, content), after
	}
}

// outerTags takes what is between the last tag and the last closing tag of a reply,
// nothing where they are the other way round.
func outerTags(reply, name string) (string, bool) {
	text, low := []rune(reply), []rune(lower(reply))
	begin, end := []rune("<"+lower(name)+">"), []rune("</"+lower(name)+">")
	from, to := lastIndex(low, begin), lastIndex(low, end)
	if from < 0 || to <= from || to > len(text) {
		return "", false
	}
	return strings.TrimFunc(string(text[min(from+len(begin), to):to]), pytext.IsSpace), true
}

// trimAnswer trims what Python counts as white space.
func trimAnswer(answer string, found bool) (string, bool) {
	return strings.TrimFunc(answer, pytext.IsSpace), found
}

// lastPythonLine returns the last line that is not blank. Lines end as Python has it: at form
// feeds, vertical tabs and separators too.
func lastPythonLine(reply string) (string, bool) {
	lines := strings.FieldsFunc(reply, func(r rune) bool {
		return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
	})
	for _, line := range slices.Backward(lines) {
		if line, _ = trimAnswer(line, true); line != "" {
			return line, true
		}
	}
	return "", true // and the reply is no other answer
}

func lastIndex(text, part []rune) int {
	for i := len(text) - len(part); i >= 0; i-- {
		if slices.Equal(text[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// gap is white space as Python sees it.
const gap = `[\s\v\x1c-\x1f\x85\p{Z}]`

// mmrbWays are the patterns in which MMRB looks for an answer, in their order.
var (
	mmrbBracket = pattern.New(`(?is)Answer` + gap + `*\[` + gap + `*(.*?)` + gap + `*\]`)
	mmrbPhrases = []pattern.Pattern{
		pattern.New(`(?i)final answer` + gap + `*(?:is)?` + gap + `*[:：]?` + gap + `*(.+)`),
		pattern.New(`(?i)the answer is` + gap + `*[:：]?` + gap + `*(.+)`),
		pattern.New(`(?i)answer` + gap + `*[:：]?` + gap + `*(.+)$`),
	}
	oneLetter = pattern.New(`(?i)^[A-Z]$`)
)

// mmrbAnswer finds an answer as MMRB does, after its tag: the last Answer[ B ], the last box,
// a letter that is all, the first phrase.
func mmrbAnswer(reply string) (string, bool) {
	reply = strings.TrimFunc(reply, pytext.IsSpace)
	if all := mmrbBracket.FindAllStringSubmatch(reply, -1); len(all) > 0 {
		return all[len(all)-1][1], true
	}
	if answer, found := oneOfAll(shallowBoxes(reply), false); found {
		return answer, true
	}
	if letter := strings.TrimRight(reply, ".):"); oneLetter.MatchString(letter) {
		return letter, true
	}
	for _, phrase := range mmrbPhrases {
		if m := phrase.FindStringSubmatch(reply); m != nil {
			return strings.Trim(strings.TrimFunc(m[1], pytext.IsSpace), "*"), true
		}
	}
	return "", false
}

var (
	bracketed = pattern.New(`(?is)\banswer\s*\[\s*([^\[\]]*?)\s*\]`)
	stated    = []pattern.Pattern{
		pattern.New(`(?i)\bfinal\s+answer\b[\s*_]*(?:is\b|[:=])?[\s*_:]*`),
		pattern.New(`(?i)\b(?:the|my|correct|right|best)\s+(?:answer|choice|option)\s+(?:is|would be|must be|should be)\b[\s*_:]*`),
		pattern.New(`(?i)(?:\banswer|答案)[\s*_]*[:：][\s*_]*`),
	}
	closingStars = pattern.New(`[\s*_]+$`)
)

// statedAnswer finds what a reply states as its answer: the last of the first way that finds
// any, since what comes last has been thought over.
func statedAnswer(reply string) (string, bool) {
	if all := bracketed.FindAllStringSubmatch(reply, -1); len(all) > 0 {
		return all[len(all)-1][1], true
	}
	if answer, found := oneOfAll(latex.Boxes(reply), false); found {
		return answer, true
	}
	for _, way := range stated {
		if all := way.Regexp().FindAllStringIndex(reply, -1); len(all) > 0 {
			answer, _, _ := strings.Cut(reply[all[len(all)-1][1]:], "\n")
			if answer = closingStars.ReplaceAllString(answer, ""); answer != "" {
				return answer, true
			}
		}
	}
	if line, found := lastLine(reply); found && oneLetter.MatchString(strings.Trim(line, " \t*_`\"'()[]{}.:$")) {
		return line, true
	}
	return "", false
}

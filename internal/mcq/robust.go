package mcq

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/seed-f4525e22/skillopt/internal/latex"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// maxRead is how much of an answer is read, from its beginning and from its end: what names a
// choice is there.
const maxRead = 8 << 10

// parser finds the choice that an answer names.
type parser struct {
	choices []Choice
	labels  map[string]int // by clean
	texts   []string       // the forms of the texts
}

func newParser(choices []Choice) *parser {
	p := &parser{choices: choices, labels: make(map[string]int, len(choices))}
	for i, c := range choices {
		p.labels[clean(c.Label)] = i
		p.texts = append(p.texts, form(c.Text))
	}
	return p
}

// robust reads an answer as a person would. What it is not sure of names no choice: two
// labels, an A that may be the article, a text that may be denied.
func robust(answer string, choices []Choice) (label, why string) {
	p := newParser(choices)
	if len(answer) > 2*maxRead {
		answer = strings.ToValidUTF8(answer[:maxRead], "") + "\n" + strings.ToValidUTF8(answer[len(answer)-maxRead:], "")
	}
	answer = marks.ReplaceAllString(fold(answer), " ")
	if strings.TrimSpace(answer) == "" {
		return "", "the answer is empty"
	}
	for _, way := range []func(string) []int{p.whole, p.text, p.findStatements, p.findMentions, p.findLastLabel, p.findChoiceText} {
		found := way(answer)
		slices.Sort(found)
		switch found = slices.Compact(found); len(found) {
		case 0:
			continue
		case 1:
			return choices[found[0]].Label, ""
		}
		return "", "two choices are named, " + p.joinLabels(found)
	}
	return "", fmt.Sprintf("no choice is named; the labels are %s", Labels(choices))
}

func (p *parser) joinLabels(found []int) string {
	labels := make([]string, len(found))
	for i, f := range found {
		labels[i] = p.choices[f].Label
	}
	last := len(labels) - 1
	return strings.Join(labels[:last], ", ") + " and " + labels[last]
}

// fold replaces the wide letters and the many signs that mean the same by ASCII.
func fold(s string) string {
	s = signs.Replace(width.Fold.String(s))
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'Ⓐ' && r <= 'Ⓩ':
			return 'A' + r - 'Ⓐ'
		case r >= 'ⓐ' && r <= 'ⓩ':
			return 'a' + r - 'ⓐ'
		case r >= '①' && r <= '⑨':
			return '1' + r - '①'
		}
		return r
	}, s)
}

// wrapping finds a command of LaTeX that only says how its argument looks.
var wrapping = pattern.New(`^\\?(?:boxed|fbox|text|textbf|textit|textrm|mathrm|mathbf|mathit|mathsf|operatorname|mbox|bm)\s*\{`)

// maxLabel is how long a label may be with all that surrounds it, in bytes.
const maxLabel = 256

// clean returns a label without all that may surround one, in capitals.
func clean(s string) string {
	if s = strings.TrimSpace(s); len(s) > maxLabel {
		return strings.ToUpper(s)
	}
	for {
		inner := strings.Trim(s, " \t\r\n*_`\"'()[]{}<>$.,:;!?\\")
		inner = wrapping.ReplaceAllString(inner, "")
		if inner == s {
			return strings.ToUpper(s)
		}
		s = inner
	}
}

// marks are tags around an answer that say nothing of it.
var marks = pattern.New(`(?i)</?(?:answer|b|i|u|em|strong|code)>`)

// looks takes away what formulas are dressed in, signs takes one sign for many.
var (
	looks = strings.NewReplacer("$", "", `\(`, "", `\)`, "", `\[`, "", `\]`, "", `\left`, "", `\right`, "", `\,`, " ", `\;`, " ", `\!`, "",
		`\displaystyle`, "", `\dfrac`, `\frac`, `\tfrac`, `\frac`, `\ `, " ", "~", " ", "**", "")
	signs = strings.NewReplacer("\u2212", "-", "\u2010", "-", "\u2011", "-", "\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`,
		"\u3010", "(", "\u3011", ")", "\u3002", ". ", "\u3001", ", ", "\u00a0", " ", "\u202f", " ", "\u2009", " ")
)

// form returns a text of a choice, or an answer, as they are compared.
func form(s string) string {
	s = looks.Replace(latex.Unwrap(fold(s)))
	return strings.Trim(strings.Join(strings.Fields(strings.ToLower(s)), " "), " .,;:!\"'`")
}

// separators matches what separates the labels of a list.
var separators = pattern.New(`(?i)\s*(?:[,/&;+]|\band\b|\bor\b|\s)\s*`)

// whole finds an answer that is a label and nothing else, or a list of labels.
func (p *parser) whole(answer string) []int {
	if i, ok := p.labels[clean(answer)]; ok {
		return []int{i}
	}
	var found []int
	for _, part := range separators.Regexp().Split(strings.TrimSpace(answer), MaxChoices+1) {
		i, ok := p.labels[clean(part)]
		switch {
		case ok:
			found = append(found, i)
		case clean(part) != "":
			return nil
		}
	}
	return found
}

// text finds an answer that is the text of a choice.
func (p *parser) text(answer string) []int {
	if _, all := p.exact(answer); len(all) > 0 {
		return all
	}
	return nil
}

// exact returns the only choice with this text, -1 if there is none or several, and all of them.
func (p *parser) exact(answer string) (only int, all []int) {
	want := form(answer)
	if want == "" {
		return -1, nil
	}
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return strings.ReplaceAll(a, " ", "") == strings.ReplaceAll(b, " ", "") },
	} {
		for i, t := range p.texts {
			if t != "" && same(t, want) {
				all = append(all, i)
			}
		}
		if len(all) == 1 {
			return all[0], all
		}
		if len(all) > 1 {
			break
		}
	}
	return -1, all
}

// findStatements finds the labels that an answer gives as its result: in a box, after "answer", "I
// choose" and the like, before "is correct", or at the beginning of a line.
func (p *parser) findStatements(answer string) []int {
	var found []int
	for _, content := range latex.Boxes(answer) {
		inner := p.whole(content)
		if len(inner) == 0 {
			inner = p.text(content)
		}
		if len(inner) == 0 {
			inner = p.findLineLabels(content)
		}
		found = append(found, inner...)
	}
	for _, claim := range []pattern.Pattern{answerIs, optionIs, chosen} {
		for _, m := range some(claim, answer) {
			if !denied.MatchString(answer[max(0, m[0]-24):m[0]]) {
				found = append(found, p.readClaim(answer, m)...)
			}
		}
	}
	for _, m := range some(isCorrect, answer) {
		token, wrapped := answer[m[4]:m[5]], m[3] > m[2] || m[7] > m[6]
		if i, ok := p.labels[strings.ToUpper(token)]; ok && (wrapped || !isLower(token)) && !denied.MatchString(answer[max(0, m[0]-24):m[0]]) {
			found = append(found, i)
		}
	}
	lines := p.findLineLabels(answer)
	if len(found) == 0 || len(lines) == 1 {
		found = append(found, lines...) // several lines with labels of their own go through the choices
	}
	return found
}

// some returns the matches of a pattern, of very many the first and the last.
func some(re pattern.Pattern, text string) [][]int {
	const most = 64
	all := re.Regexp().FindAllStringSubmatchIndex(text, -1)
	if len(all) > most {
		all = slices.Concat(all[:most/2], all[len(all)-most/2:])
	}
	return all
}

const (
	opening = "((?:\\\\(?:boxed|text|textbf|mathrm|mathbf)\\{|\\\\?[\\s*_`\"'(\\[{<$])*)"
	token   = `([\p{L}\p{N}]{1,8})`
	noun    = `(?:answer|choice|option|letter|label|statement|alternative)`
)

var (
	// answerIs, optionIs and chosen find a claim. Groups: what opens a label, the label.
	answerIs = pattern.New(`(?i)(?:\banswers?\b|\bsolution\b|答案)[\s*_]*(?:(?:to|for|of)\b[^.\n:]{0,60}?\b(?:is|:))?(?:` + noun + `\b)?[\s*_]*` +
		`(?:is|are|was|would be|should be|must be|=|:|->|=>|是|为)?[\s*_:]*(?:(?:clearly|therefore|thus|either|both|the)\s+)*(?:` + noun + `\b\s*:?)?` + opening + token)
	optionIs = pattern.New(`(?i)\b(?:correct|right|best)\s+(?:` + noun + `|one)\s*(?:is|are|:|would be|should be|must be)[\s*_:]*(?:(?:either|both|the)\s+)*(?:` + noun + `\b\s*:?)?` + opening + token)
	chosen   = pattern.New(`(?i)\b(?:choose|choosing|chose|pick|picked|select|selected|go with|going with|go for)\s+(?:(?:the|either|both)\s+)*(?:` + noun + `\b\s*:?)?` + opening + token)

	// isCorrect finds what is called correct. Groups: what opens the label, the label, what closes it.
	isCorrect = pattern.New("([*_`(\\[{$]*)\\b" + token + "([)\\]}*_`$.]*)\\s+(?:is|must be|would be|seems|appears)\\s+(?:the\\s+)?(?:only\\s+|most\\s+)?(?:correct|right|true|best|answer)\\b")

	denied = pattern.New(`(?i)(?:\b(?:not|never|no|cannot|neither|without|nor)|n't)\b[^.;\n]*$`)
)

// readClaim reads the label of a claim, and those with which a list continues.
func (p *parser) readClaim(answer string, m []int) []int {
	before, token, after := answer[m[2]:m[3]], answer[m[4]:m[5]], answer[m[5]:]
	i, ok := p.labels[strings.ToUpper(token)]
	if !ok || !p.isLabel(i, token, strings.ContainsAny(before, "*`\"'([{$"), after, true) {
		return nil
	}
	found := append([]int{i}, p.goesOn(after)...)
	if other := p.other(i, after); other >= 0 {
		found = append(found, other)
	}
	return found
}

var (
	closers = pattern.New("^[*_`\"')\\]}>$]+")
	// reasons are words that follow a label and no article.
	reasons = pattern.New(`^\s+(?:is|because|since|as|and|or|must|seems|would|for the|given|due)\b`)
	ended   = pattern.New(`^\s*(?:$|[\r\n]|[.,;:!?](?:\s|$|[*_"')\]}$]))`)
	dashed  = pattern.New(`^\s+(?:-|–|—)\s+\p{L}\p{L}`)
	mathy   = pattern.New(`^\s*[=+<>^_(|\\∪∩×·*/&-]`)
	spelled = pattern.New(`^(?:'\p{L}|-\p{L}|\.[\p{L}\p{N}])`)
)

// isLabel distinguishes a label from a word, a number or a variable according to what is around it. claim
// says that it is where a label is expected.
func (p *parser) isLabel(i int, token string, wrapped bool, after string, claim bool) bool {
	if after != "" {
		if r := []rune(after[:min(len(after), 4)])[0]; unicode.IsLetter(r) || unicode.IsDigit(r) {
			return false
		}
	}
	closed := closers.MatchString(after)
	switch {
	case wrapped || closed:
		return true
	case p.saysOwn(i, after):
		return true
	case spelled.MatchString(after):
		return false
	case ended.MatchString(after) || dashed.MatchString(after):
		return true
	case mathy.MatchString(after):
		return listed.MatchString(after) && claim && !isLower(token)
	case isLower(token):
		return false
	case reasons.MatchString(after):
		return claim
	}
	return claim && !isArticle(token)
}

// isArticle reports whether a token may be a word of a sentence, or a number in one.
func isArticle(token string) bool {
	return token == "A" || token == "I" || strings.ContainsFunc(token, unicode.IsDigit)
}

func isLower(token string) bool { return strings.ToUpper(token) != token }

// rest returns what follows a label on its line.
func rest(after string) string {
	const most = 4 << 10
	line, _, _ := strings.Cut(strings.TrimLeft(after[:min(len(after), most)], " .):,-–—*_`}]"), "\n")
	return line
}

// saysOwn reports whether the text of the choice follows its label.
func (p *parser) saysOwn(i int, after string) bool {
	line := rest(after)
	return p.texts[i] != "" && strings.HasPrefix(form(line), p.texts[i])
}

// other returns the choice whose text follows the label of another one, -1 if there is none.
func (p *parser) other(i int, after string) int {
	line := rest(after)
	if only, _ := p.exact(line); only >= 0 && p.texts[only] != p.texts[i] {
		return only
	}
	return -1
}

// listed finds a further label behind a first one.
var listed = pattern.New("^[*_`\"')\\]}>$]*\\s*(?:,\\s*and\\b|,\\s*or\\b|[,/&;+]|\\band\\b|\\bor\\b)\\s*(?:" + noun + "\\b)?" + opening + token + "([*_`\"')\\]}>$]*)")

// goesOn returns the labels of a list that follow its first one.
func (p *parser) goesOn(after string) (found []int) {
	for range MaxChoices {
		m := listed.FindStringSubmatchIndex(after)
		if m == nil {
			return found
		}
		token, rest := after[m[4]:m[5]], after[m[7]:]
		i, ok := p.labels[strings.ToUpper(token)]
		wrapped := strings.ContainsAny(after[m[2]:m[3]], "*`\"'([{$") || m[7] > m[6]
		if !ok || isLower(token) && !wrapped || !wrapped && !ended.MatchString(rest) && !goes.MatchString(rest) {
			return found
		}
		found, after = append(found, i), rest
	}
	return found
}

var goes = pattern.New(`^\s*(?:[,/&;+]|(?:and|or|are|both|because|since)\b)`)

// line finds a label at the beginning of a line. Groups: what opens it, the label.
var line = pattern.New("(?m)^[ \\t>#]*(?:[-•]\\s+|\\*\\s+)?(?:(?i:option|choice)\\s+)?([*_`\"'(\\[{$ ]*)" + token)

// findLineLabels finds labels with which lines begin: "B. text", "(B)", "B" alone.
func (p *parser) findLineLabels(answer string) (found []int) {
	for _, m := range some(line, answer) {
		before, token, after := answer[m[2]:m[3]], answer[m[4]:m[5]], answer[m[5]:]
		i, ok := p.labels[strings.ToUpper(token)]
		wrapped := strings.ContainsAny(before, "(*[{`\"$") && closers.MatchString(after) || strings.HasPrefix(after, ")")
		if !ok || refused.MatchString(after) || !p.isLabel(i, token, wrapped, after, false) && !(m[0] == 0 && !isLower(token) && reasons.MatchString(after) && !strings.HasPrefix(strings.TrimSpace(after), "is")) {
			continue
		}
		found = append(found, i)
		found = append(found, p.goesOn(after)...)
		if other := p.other(i, after); other >= 0 {
			found = append(found, other)
		}
	}
	return found
}

var (
	// named finds a choice by "option B", inBrackets by "(B)" and "**B**".
	named      = pattern.New(`(?i)\b(?:option|choice|alternative|letter)\s*:?` + opening + token)
	inBrackets = pattern.New(`(?:^|\s)(?:\(([A-Z]|\d)\)|\*\*\(?([A-Z])\)?[.:]?\*\*)`)
	refused    = pattern.New(`^[*_)\]}"']*\s+(?:(?:is|are|was|would be|seems)\s+(?:not|wrong|incorrect|false|out|impossible)|isn't|fails|cannot|can't)`)
)

// findMentions finds labels that are named as such anywhere.
func (p *parser) findMentions(answer string) (found []int) {
	add := func(i int, start, end int) {
		if !denied.MatchString(answer[max(0, start-24):start]) && !refused.MatchString(answer[end:]) {
			found = append(found, i)
		}
	}
	for _, m := range some(named, answer) {
		for _, i := range p.readClaim(answer, m) {
			add(i, m[0], m[5])
		}
	}
	for _, m := range some(inBrackets, answer) {
		from, to := m[2], m[3]
		if from < 0 {
			from, to = m[4], m[5]
		}
		if i, ok := p.labels[answer[from:to]]; ok {
			add(i, m[0], m[1])
		}
	}
	return found
}

// last finds a label with which an answer ends: "so it must be B."
var last = pattern.New(`(?i:\b(?:it|this|that|which)(?:'s|\s+(?:is|must be|has to be|should be))|\b(?:therefore|hence|thus|so)\s*[,:]?|[=:]|->|=>|→)\s*([A-Z]|\d)\s*[.!]?\s*$`)

func (p *parser) findLastLabel(answer string) []int {
	if m := last.FindStringSubmatchIndex(answer); m != nil && !denied.MatchString(answer[max(0, m[0]-24):m[0]]) {
		if i, ok := p.labels[answer[m[2]:m[3]]]; ok && !strings.ContainsFunc(answer[m[2]:m[3]], unicode.IsDigit) {
			return []int{i}
		}
	}
	return nil
}

// denying finds the words that may turn a text into its opposite.
var denying = pattern.New(`\b(?:not|never|no|neither|nor|cannot|except|wrong|incorrect|false|unlike|without|rather|instead)\b|n't\b`)

// findChoiceText finds the only choice whose text is in the answer. An answer with a word that may
// deny it names none.
func (p *parser) findChoiceText(answer string) (found []int) {
	body := form(answer)
	rest := body
	for i, t := range p.texts {
		if len([]rune(t)) < 2 && !strings.ContainsFunc(t, unicode.IsDigit) || !Holds(body, t) {
			continue
		}
		if !slices.ContainsFunc(p.texts, func(longer string) bool {
			return len(longer) > len(t) && Holds(body, longer) && strings.Contains(longer, t) && strings.Count(body, t) == strings.Count(body, longer)*strings.Count(longer, t)
		}) {
			found = append(found, i)
			rest = strings.ReplaceAll(rest, t, " ")
		}
	}
	if denying.MatchString(rest) {
		return nil
	}
	return found
}

// Holds reports whether a text is in another one as whole words and whole numbers: 7 not in
// 17, 7.5, -7 or 7 %.
func Holds(body, text string) bool {
	for from := 0; text != ""; {
		i := strings.Index(body[from:], text)
		if i < 0 {
			return false
		}
		start := from + i
		end := start + len(text)
		if isBounded(body[:start], body[end:], text) {
			return true
		}
		from = start + 1
	}
	return false
}

func isBounded(before, after, text string) bool {
	first := firstRune(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	wordBefore := lastRune(before)
	wordAfter := firstRune(after)
	switch {
	case isWord(first) && isWord(wordBefore), isWord(last) && isWord(wordAfter):
		return false
	case strings.ContainsRune("-^_/", wordBefore), strings.ContainsRune("^_/", wordAfter):
		return false
	case unicode.IsDigit(wordBefore):
		return false // 2\frac12
	}
	goesBack := unicode.IsDigit(first) && (wordBefore == '.' || wordBefore == ',') && endsInDigit(before[:len(before)-1])
	goesOn := unicode.IsDigit(last) && (wordAfter == '%' || (wordAfter == '.' || wordAfter == ',') && unicode.IsDigit(firstRune(after[1:])))
	return !goesBack && !goesOn
}

func endsInDigit(s string) bool { return unicode.IsDigit(lastRune(s)) }

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return ' '
}

func lastRune(s string) rune {
	if s == "" {
		return ' '
	}
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

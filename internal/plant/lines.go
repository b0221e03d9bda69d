package plant

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// span is a function, or what gives functions a name, such as a class: its head from first, its
// body from from to to.
type span struct {
	name            string
	first, from, to int
	function        bool
}

// lineText is a text of which the code is known, and which brackets belong together.
type lineText struct {
	language, text, code string
	pair, outer          []int // of a bracket its partner; of a byte the bracket that it is in, or -1
	spans                []span
	out                  []edit
}

// readLines returns the functions and edits of a text. There are none where brackets do not
// fit: what is code has not been understood then.
func readLines(path, text string) (functions []span, edits []edit) {
	t := &lineText{language: language(path), text: text, code: Code(path, text)}
	if !t.brackets() {
		return nil, nil
	}
	t.find()
	for _, r := range rules(t.language) {
		t.apply(r)
	}
	return t.spans, t.out
}

func (t *lineText) brackets() bool {
	t.pair, t.outer = make([]int, len(t.code)), make([]int, len(t.code))
	at := -1
	for i := range len(t.code) {
		t.outer[i] = at
		switch c := t.code[i]; c {
		case '(', '[', '{':
			at = i
		case ')', ']', '}':
			if at < 0 || c-t.code[at] > 2 {
				return false
			}
			t.pair[at], t.pair[i], t.outer[i] = i, at, t.outer[at]
			at = t.outer[at]
		}
	}
	return at < 0
}

// The heads of functions, and of what holds them. The name is the last group.
var (
	pyHead = pattern.New(`(?m)^[ \t]*(?:async +)?(?:def|class) +(\w+)`)
	rsHead = pattern.New(`\b(?:fn|mod|trait|macro_rules!) +(\w+)|\bimpl\b[^{;]*?(\w+)(?:<[^{;]*>)?\s*(?:where\b[^{;]*)?\{`)
	jsHead = pattern.New(`(?m)\b(?:function\b *\*?|class) *([\w$]+)|([\w$]+) *[=:] *(?:async\b *)?(?:function\b *\*? *\(|(?:\([^()]*\)|[\w$]+)(?: *:[^=;{}()]*)? *=>)|^[ \t]+(?:(?:async|static|get|set|public|private|protected|readonly|override) +)*\*?#?([\w$]+)(?:<[^()]*>)? *\(`)
	cHead  = pattern.New(`\b(?:class|struct|interface|object|enum|namespace|extension) +(\w+)|(\w+) *\(`)
	holder = pattern.New(`^\W*(?:class|mod|trait|macro_rules!|impl|struct|interface|object|enum|namespace|extension)\b`)
	noHead = pattern.New(`^(?:if|for|while|switch|catch|with|function|return|synchronized|using|lock|when|await|new|super)$`)
	// block is what is between parameters and body.
	block = pattern.New(`^\s*(?:(?::|->|const|override|noexcept|final|throws|async|where)[^;{}=]*)?\{`)
	// noSpan is what no fault is planted in: tests next to code, and macros.
	noSpan   = pattern.New(`(?:^|\.)tests?(?:\.|$)|!`)
	testHead = pattern.New(`#\[(?:\w+::)*(?:test|cfg\(test\))(?:\([^\]]*\))?\]\s*(?:#\[[^\]]*\]\s*)*(?:pub +|async +)*$`)
)

// find finds the functions and what they are in.
func (t *lineText) find() {
	head := map[string]pattern.Pattern{"py": pyHead, "rs": rsHead, "js": jsHead, "c": cHead}[t.language]
	for _, m := range head.Regexp().FindAllStringSubmatchIndex(t.code, -1) {
		s := span{first: m[0]}
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 {
				s.name = t.code[m[g]:m[g+1]]
			}
		}
		text := t.code[m[0]:m[1]]
		s.first += len(text) - len(strings.TrimLeft(text, " \t"))
		s.function = !holder.MatchString(text)
		if s.from, s.to = t.body(text, m[1], s); s.to <= s.from || noHead.MatchString(s.name) {
			continue
		}
		if strings.HasPrefix(text, "macro_rules!") || t.language == "rs" && testHead.MatchString(t.code[max(0, m[0]-200):m[0]]) {
			s.name += "!"
		}
		if in := t.innermost(s.first); in >= 0 {
			s.name = t.spans[in].name + "." + s.name
		}
		t.spans = append(t.spans, s)
	}
}

// innermost returns the innermost span that holds a place, or -1.
func (t *lineText) innermost(at int) int {
	for i, s := range slices.Backward(t.spans) {
		if s.from <= at && at < s.to {
			return i
		}
	}
	return -1
}

// body returns where the body is of a head that ends at a place; without one both are 0.
func (t *lineText) body(head string, end int, s span) (from, to int) {
	if t.language == "py" {
		return end, t.dedent(end, s.first)
	}
	rest := t.code[end:]
	switch {
	case strings.HasSuffix(head, "{"):
		return end, t.pair[end-1]
	case strings.HasSuffix(head, "=>"):
		rest = strings.TrimLeft(rest, " \t\n")
		if from = len(t.code) - len(rest); strings.HasPrefix(rest, "{") {
			return from, t.pair[from]
		}
		return from, t.expression(from)
	case s.function && t.language != "rs":
		open := end + indexFrom(rest, "(", 0)
		if strings.HasSuffix(head, "(") {
			open = end - 1
		}
		if open >= len(t.code) || len(strings.Trim(t.code[end:max(end, open)], " ")) > 0 && t.code[end] != '<' {
			return 0, 0
		}
		end = t.pair[open] + 1
		if !block.MatchString(t.code[end:]) {
			return 0, 0
		}
	}
	for ; end < len(t.code) && t.code[end] != ';' && t.code[end] != '}'; end++ {
		switch t.code[end] {
		case '{':
			return end, t.pair[end]
		case '(', '[':
			end = t.pair[end]
		case ')', ']':
			return 0, 0
		}
	}
	return 0, 0
}

// dedent returns the end of the block of Python whose head begins at first.
func (t *lineText) dedent(at, first int) int {
	column := first - strings.LastIndexByte(t.code[:first], '\n')
	if at < len(t.code) && t.code[at] == '(' {
		at = t.pair[at]
	}
	for at += indexFrom(t.code[at:], "\n", 0); at < len(t.code); at += 1 + indexFrom(t.code[at+1:], "\n", 0) {
		rest := strings.TrimLeft(t.code[at+1:], " \t\f\r")
		indent := len(t.code) - len(rest) - at
		if rest != "" && rest[0] != '\n' && rest[0] != '"' && indent <= column && t.outer[at] < 0 {
			return at
		}
	}
	return len(t.code)
}

// expression returns the end of an expression without a block.
func (t *lineText) expression(at int) int {
	for outer := t.outer[min(at, len(t.outer)-1)]; at < len(t.code) && (t.outer[at] != outer || !strings.ContainsRune(";,\n)]}", rune(t.code[at]))); at++ {
	}
	return at
}

// rule is a kind of mistake: what its first group finds in code can be what turn returns; a turn that is
// nil takes other, and one that returns what it was given has nothing to change.
type rule struct {
	kind string
	find pattern.Pattern
	turn func(t *lineText, start, end int) string
}

var (
	compared   = pattern.New(`[\w)\]"] (===|!==|==|!=|&&|\|\||and|or) [^\s{]`)
	bounded    = pattern.New(`[\w)\]"] (<=?|>=?) [\w(\-"]`)
	ranged     = pattern.New(`[\w)\]] ?(\.\.=?) ?[\w(]`)
	computed   = pattern.New(`[\w)\]] (\+|-|\*|/|%|//) [\w(]`)
	counted    = pattern.New(`(?m)^[ \t]*[\w.$\[\]]+ (\+=|-=) [\w(]`)
	one        = pattern.New(`[\w)\]]( [+-] 1)(?:[^.\w]|$)`)
	number     = pattern.New(`(?:[\w)\]"] [<>]=? |\w\[)(\d{1,6})(?:[^.\w]|$)`)
	pyIf       = pattern.New(`(?m)^[ \t]*(?:el)?if ([^\n]+):[ \t]*$`)
	braceIf    = pattern.New(`(?m)\bif ?\(([^\n]+)\) *\{?[ \t]*$`)
	rsIf       = pattern.New(`\bif ([^{}\n]+) \{`)
	two        = pattern.New(`\w\((?:[^()\n]*, )?([\w.$]+, [\w.$]+)[,)]`)
	boolean    = pattern.New(`[(,=] ?(true|false|True|False)[ ,)]`)
	pyRaise    = pattern.New(`(?m)^[ \t]+(raise\b[^\n]*[^\s:])[ \t]*$`)
	throw      = pattern.New(`(?m)^[ \t]+(throw\b[^\n]*[^\s({,])[ \t]*$`)
	rsErr      = pattern.New(`(?m)^[ \t]+(return Err\([^\n]*\);)[ \t]*$`)
	pyLine     = pattern.New(`(?m)^[ \t]+(\w[\w.\[\]"]*(?:\([^\n]*\)| [-+*/]?= [^\n]*[^\s\\]))[ \t]*$`)
	braceLine  = pattern.New(`(?m)^[ \t]+([\w$][\w.$\[\]]*(?:!?\([^\n]*\)|(?: [-+*/]?= [^\n]*[^\s;])|\+\+|--);)[ \t]*$`)
	openLine   = pattern.New(`(?m)^[ \t]+([\w$][\w.$\[\]]*(?:\([^\n]*\)| [-+*/]?= [^\n]*[\w)\]}"]))[ \t]*$`)
	counter    = pattern.New(`[-+]=|\+\+|--| [-+] `)
	noLine     = pattern.New(`^(?:if|for|while|switch|catch|elif|with|return|super|(?:debug_)?assert\w*|panic|unreachable|yield|match)\b`)
	defines    = pattern.New(`\b(?:def|fn|function|lambda|class)\b|=>|\{\s*$`)
	unfinished = pattern.New(`(?:[^;{}\w)\]"\s]|\b(?:if|while|for)\b[^\n;{}]*\)|\b(?:else|do|return))\s*$`)
)

// rules returns the mistakes that are made in a language.
func rules(language string) []rule {
	all := []rule{
		{Condition, compared, nil},
		{Bound, bounded, nil},
		{Operator, computed, nil},
		{Operator, counted, (*lineText).count},
		{Bound, one, func(*lineText, int, int) string { return "" }},
		{Bound, number, (*lineText).more},
		{Argument, two, (*lineText).swap},
		{Argument, boolean, func(t *lineText, start, end int) string { return round(t.code[start:end]) }},
	}
	switch language {
	case "py":
		return append(all, rule{Condition, pyIf, (*lineText).not}, rule{Error, pyRaise, (*lineText).drop}, rule{Dropped, pyLine, (*lineText).drop})
	case "rs":
		return append(all, rule{Condition, rsIf, (*lineText).not}, rule{Error, rsErr, (*lineText).drop}, rule{Bound, ranged, nil}, rule{Dropped, braceLine, (*lineText).drop})
	case "js":
		all = append(all, rule{Dropped, openLine, (*lineText).drop})
	}
	return append(all, rule{Condition, braceIf, (*lineText).not}, rule{Error, throw, (*lineText).drop}, rule{Dropped, braceLine, (*lineText).drop})
}

// apply notes what a rule can change in functions.
func (t *lineText) apply(r rule) {
	for _, m := range r.find.Regexp().FindAllStringSubmatchIndex(t.code, -1) {
		start, end := m[2], m[3]
		in, was := t.innermost(start), t.text[start:end]
		if in < 0 || !t.spans[in].function || noSpan.MatchString(t.spans[in].name) || end > t.spans[in].to {
			continue
		}
		with := was
		if r.turn != nil {
			with = r.turn(t, start, end)
		} else if _, to := other(was); to != "" {
			with = to
		}
		if with != was {
			t.out = append(t.out, edit{kind: r.kind, function: t.spans[in].name, start: start, end: end, with: with})
		}
	}
}

// not turns a condition round.
func (t *lineText) not(start, end int) string {
	was := t.text[start:end]
	if code := t.code[start:end]; !bracketsFit(code) || strings.Contains(code, "let ") || strings.Contains(code, "lambda") {
		return was
	}
	if t.language == "py" {
		return "not (" + was + ")"
	}
	return "!(" + was + ")"
}

// count lets a sum count the other way, where no loop waits for it.
func (t *lineText) count(start, end int) string {
	_, with := other(t.text[start:end])
	if t.waits(start) {
		return t.text[start:end]
	}
	return with
}

// waits reports whether a place is in a function with a loop that its own body has to end.
func (t *lineText) waits(at int) bool {
	s := t.spans[t.innermost(at)]
	return strings.Contains(t.code[s.from:s.to], "while ") || strings.Contains(t.code[s.from:s.to], "loop {")
}

func (t *lineText) more(start, end int) string {
	n, err := strconv.Atoi(t.text[start:end])
	if err != nil || len(t.text[start:end]) != len(strconv.Itoa(n)) {
		return t.text[start:end]
	}
	return strconv.Itoa(n + 1)
}

// swap exchanges two arguments of a call.
func (t *lineText) swap(start, end int) string {
	a, b, _ := strings.Cut(t.text[start:end], ", ")
	from := strings.LastIndexByte(t.code[:start], '\n') + 1
	if defines.MatchString(t.code[from:end+indexFrom(t.code[end:], "\n", 0)]) || digit(a) != digit(b) || round(a)+round(b) != "" {
		return t.text[start:end]
	}
	return b + ", " + a
}

func digit(s string) bool { return s[0] >= '0' && s[0] <= '9' }

// drop leaves out a statement that has its line for itself.
func (t *lineText) drop(start, end int) string {
	code := t.code[start:end]
	o := t.outer[start]
	before, after := t.code[max(0, start-200):start], strings.TrimLeft(t.code[end:], " \t\n")
	switch {
	case !bracketsFit(code) || noLine.MatchString(strings.TrimPrefix(code, "return Err")) || idle(code),
		o >= 0 && (t.language == "py" || t.code[o] != '{'),
		strings.HasSuffix(strings.TrimRight(before, " \t\n"), `\`),
		t.language != "py" && (unfinished.MatchString(before) || after != "" && strings.IndexByte(".?:+-*/&|=,[(", after[0]) >= 0),
		t.waits(start) && counter.MatchString(code):
		return t.text[start:end]
	case t.language == "py":
		return "pass"
	}
	return ""
}

package check

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// unitRange is a range of UTF-16 code units, both ends in it.
type unitRange struct{ lo, hi rune }

// maxUnit is the largest UTF-16 code unit.
const maxUnit = 0xffff

func jsDigits() []unitRange { return []unitRange{{'0', '9'}} }

func jsWords() []unitRange {
	return []unitRange{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
}

// jsSpaces is what JavaScript takes for white space, line ends among it.
func jsSpaces() []unitRange {
	return []unitRange{
		{'\t', '\r'}, {' ', ' '}, {0xa0, 0xa0}, {0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff},
	}
}

func jsLineEnds() []unitRange {
	return []unitRange{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}
}

func isJSSpace(r rune) bool {
	return slices.ContainsFunc(jsSpaces(), func(u unitRange) bool { return r >= u.lo && r <= u.hi })
}

// jsUnits is a text as JavaScript has it: a code unit each.
func jsUnits(text string) []rune {
	units := utf16.Encode([]rune(text))
	out := make([]rune, len(units))
	for i, u := range units {
		out[i] = rune(u)
	}
	return out
}

// jsPattern writes a pattern of JavaScript without flags as one of .NET that matches the
// same code units. The rules are those of ECMA-262 with its annex B, which browsers and
// Node.js follow; an error says why such a program refuses the pattern.
func jsPattern(pattern string) (string, error) {
	p := &jsParser{in: jsUnits(pattern)}
	if err := p.count(); err != nil {
		return "", err
	}
	for p.pos < len(p.in) {
		if err := p.term(); err != nil {
			return "", err
		}
	}
	if p.depth > 0 {
		return "", errors.New("a group is not closed")
	}
	return p.out.String(), nil
}

// jsParser rewrites a pattern term by term.
type jsParser struct {
	in     []rune
	pos    int
	out    strings.Builder
	groups int      // that capture
	names  []string // of groups, "" for one without; the first is that of group 1
	open   []bool   // of the groups that are open: a quantifier may be behind them
	depth  int
	atom   bool // what was written last can be repeated
}

// count finds the groups that capture, to which references may come before them.
func (p *jsParser) count() error {
	class := false
	for i := 0; i < len(p.in); i++ {
		switch c := p.in[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(' && !p.at(i+1, "?"):
			p.groups, p.names = p.groups+1, append(p.names, "")
		case c == '(' && p.at(i+1, "?<") && !p.at(i+1, "?<=") && !p.at(i+1, "?<!"):
			end := slices.Index(p.in[i:], '>')
			if end < 0 {
				return errors.New("the name of a group does not end")
			}
			name := string(p.in[i+3 : i+end])
			if !isJSName(name) || slices.Contains(p.names, name) {
				return fmt.Errorf("%q is no name of a group, or stands twice", name)
			}
			p.groups, p.names = p.groups+1, append(p.names, name)
		}
	}
	return nil
}

func isJSName(name string) bool {
	for i, r := range name {
		if r != '$' && !isWord(r) || i == 0 && r >= '0' && r <= '9' {
			return false
		}
	}
	return name != ""
}

// at reports whether text is at a place.
func (p *jsParser) at(i int, text string) bool {
	for _, r := range text {
		if i >= len(p.in) || p.in[i] != r {
			return false
		}
		i++
	}
	return true
}

// term rewrites one term, with its quantifier if it is next.
func (p *jsParser) term() error {
	c := p.in[p.pos]
	p.pos++
	switch c {
	case '^', '$', '|':
		p.out.WriteString(map[rune]string{'^': `\A`, '$': `\z`, '|': "|"}[c])
		p.atom = false
	case '.':
		p.class(inverted(jsLineEnds()))
	case '(':
		return p.group()
	case ')':
		if p.depth == 0 {
			return errors.New("a parenthesis is closed that is not open")
		}
		p.depth--
		p.out.WriteByte(')')
		p.atom, p.open = p.open[len(p.open)-1], p.open[:len(p.open)-1]
	case '[':
		return p.set()
	case '\\':
		return p.escape()
	case '*', '+', '?':
		return p.repeat(string(c))
	case '{':
		if text, ok, err := p.counted(); ok || err != nil {
			return errors.Join(err, p.repeat(text))
		}
		p.literal(c)
	default:
		p.literal(c)
	}
	return nil
}

func (p *jsParser) literal(c rune) {
	fmt.Fprintf(&p.out, `\u%04x`, c)
	p.atom = true
}

// repeat writes a quantifier behind what it repeats.
func (p *jsParser) repeat(text string) error {
	if !p.atom {
		return errors.New("there is nothing to repeat before " + text)
	}
	p.out.WriteString(text)
	if p.at(p.pos, "?") {
		p.out.WriteByte('?')
		p.pos++
	}
	p.atom = false
	return nil
}

// counted reads what follows {: a quantifier, or nothing of the kind, and then the brace
// is a character.
func (p *jsParser) counted() (text string, ok bool, err error) {
	end := slices.Index(p.in[p.pos:], '}')
	if end < 0 {
		return "", false, nil
	}
	least, most, two := strings.Cut(string(p.in[p.pos:p.pos+end]), ",")
	lo, errLo := strconv.ParseUint(least, 10, 31)
	hi, errHi := strconv.ParseUint(most, 10, 31)
	if errLo != nil || two && most != "" && errHi != nil {
		return "", false, nil
	}
	if two && most != "" && lo > hi {
		return "", false, fmt.Errorf("{%s,%s} counts downwards", least, most)
	}
	p.pos += end + 1
	return "{" + string(p.in[p.pos-end-1:p.pos]), true, nil
}

// group rewrites the beginning of a group. All that capture are numbered from the left,
// those with a name too.
func (p *jsParser) group() error {
	kind, repeats := "(", true
	switch {
	case p.at(p.pos, "?:"), p.at(p.pos, "?="), p.at(p.pos, "?!"):
		kind = "(" + string(p.in[p.pos:p.pos+2])
		p.pos += 2
	case p.at(p.pos, "?<="), p.at(p.pos, "?<!"):
		kind, repeats = "("+string(p.in[p.pos:p.pos+3]), false
		p.pos += 3
	case p.at(p.pos, "?<"):
		p.pos += slices.Index(p.in[p.pos:], '>') + 1
	case p.at(p.pos, "?"):
		return errors.New("a group begins with what is none: (?")
	}
	if p.depth++; p.depth > 200 {
		return errors.New("groups are nested deeper than 200")
	}
	p.open = append(p.open, repeats)
	p.out.WriteString(kind)
	p.atom = false
	return nil
}

// class writes a set of code units.
func (p *jsParser) class(set []unitRange) {
	p.out.WriteString(netClass(set))
	p.atom = true
}

func netClass(set []unitRange) string {
	if len(set) == 0 {
		return `(?!)`
	}
	var b strings.Builder
	b.WriteByte('[')
	for _, u := range set {
		fmt.Fprintf(&b, `\u%04x-\u%04x`, u.lo, u.hi)
	}
	return b.String() + "]"
}

// inverted is the set of all other code units.
func inverted(set []unitRange) []unitRange {
	slices.SortFunc(set, func(a, b unitRange) int { return int(a.lo - b.lo) })
	var out []unitRange
	next := rune(0)
	for _, u := range set {
		if u.lo > next {
			out = append(out, unitRange{next, u.lo - 1})
		}
		next = max(next, u.hi+1)
	}
	if next <= maxUnit {
		out = append(out, unitRange{next, maxUnit})
	}
	return out
}

// shorthand is the set of \d, \D, \w, \W, \s or \S.
func shorthand(c rune) ([]unitRange, bool) {
	switch c {
	case 'd':
		return jsDigits(), true
	case 'D':
		return inverted(jsDigits()), true
	case 'w':
		return jsWords(), true
	case 'W':
		return inverted(jsWords()), true
	case 's':
		return jsSpaces(), true
	case 'S':
		return inverted(jsSpaces()), true
	}
	return nil, false
}

// set rewrites what is between brackets.
func (p *jsParser) set() error {
	negated := p.at(p.pos, "^")
	if negated {
		p.pos++
	}
	var set []unitRange
	for {
		if p.pos >= len(p.in) {
			return errors.New("a set of characters is not closed")
		}
		if p.at(p.pos, "]") {
			p.pos++
			break
		}
		first, lo, err := p.member()
		if err != nil {
			return err
		}
		if !p.at(p.pos, "-") || p.at(p.pos+1, "]") || p.pos+1 >= len(p.in) {
			set = append(set, first...)
			continue
		}
		p.pos++
		last, hi, err := p.member()
		if err != nil {
			return err
		}
		switch {
		case lo < 0 || hi < 0: // [\w-a] holds a hyphen
			set = append(append(append(set, first...), last...), unitRange{'-', '-'})
		case lo > hi:
			return errors.New("a range of characters goes downwards")
		default:
			set = append(set, unitRange{lo, hi})
		}
	}
	if negated {
		set = inverted(set)
	}
	p.class(set)
	return nil
}

// member reads one member of a set: a character, or -1 and a set of them.
func (p *jsParser) member() (set []unitRange, c rune, err error) {
	c = p.in[p.pos]
	p.pos++
	if c == '\\' {
		if p.pos >= len(p.in) {
			return nil, 0, errors.New(`\ at the end`)
		}
		if set, ok := shorthand(p.in[p.pos]); ok {
			p.pos++
			return set, -1, nil
		}
		if p.at(p.pos, "b") {
			p.pos++
			return []unitRange{{'\b', '\b'}}, '\b', nil
		}
		c = p.character(true)
	}
	return []unitRange{{c, c}}, c, nil
}

// escape rewrites what follows a backslash outside of sets.
func (p *jsParser) escape() error {
	if p.pos >= len(p.in) {
		return errors.New(`\ at the end`)
	}
	c := p.in[p.pos]
	if set, ok := shorthand(c); ok {
		p.pos++
		p.class(set)
		return nil
	}
	word := netClass(jsWords())
	switch {
	case c == 'b' || c == 'B':
		p.pos++
		edge := fmt.Sprintf("(?:(?<=%[1]s)(?!%[1]s)|(?<!%[1]s)(?=%[1]s))", word)
		if c == 'B' {
			edge = "(?!" + edge + ")"
		}
		p.out.WriteString(edge)
		p.atom = false
		return nil
	case c == 'k' && slices.ContainsFunc(p.names, func(name string) bool { return name != "" }):
		end := slices.Index(p.in[p.pos:], '>')
		if !p.at(p.pos, "k<") || end < 0 {
			return errors.New(`\k without the name of a group`)
		}
		at := slices.Index(p.names, string(p.in[p.pos+2:p.pos+end]))
		if at < 0 {
			return errors.New(`\k names a group that is not there`)
		}
		p.pos += end + 1
		p.reference(at + 1)
		return nil
	case c >= '1' && c <= '9':
		digits := p.digits()
		if n, err := strconv.Atoi(digits); err == nil && n <= p.groups {
			p.pos += len(digits)
			p.reference(n)
			return nil
		}
	}
	p.literal(p.character(false))
	return nil
}

func (p *jsParser) digits() string {
	end := p.pos
	for end < len(p.in) && p.in[end] >= '0' && p.in[end] <= '9' {
		end++
	}
	return string(p.in[p.pos:end])
}

// reference writes what a group has captured, and nothing if it has not.
func (p *jsParser) reference(n int) {
	fmt.Fprintf(&p.out, `(?:(?(%d)\%d|))`, n, n)
	p.atom = true
}

// character reads the character that an escape means. inSet says that it is
// between brackets, where control characters have more names.
func (p *jsParser) character(inSet bool) rune {
	c := p.in[p.pos]
	p.pos++
	switch c {
	case 't', 'n', 'v', 'f', 'r':
		return map[rune]rune{'t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r'}[c]
	case 'x', 'u':
		length := map[rune]int{'x': 2, 'u': 4}[c]
		if p.pos+length <= len(p.in) {
			if n, err := strconv.ParseUint(string(p.in[p.pos:p.pos+length]), 16, 16); err == nil {
				p.pos += length
				return rune(n)
			}
		}
	case 'c':
		if p.pos < len(p.in) {
			letter := p.in[p.pos]
			if letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z' || inSet && (letter >= '0' && letter <= '9' || letter == '_') {
				p.pos++
				return letter % 32
			}
		}
		p.pos-- // the backslash is a character, and c the next one
		return '\\'
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n := c - '0'
		for range 2 {
			if p.pos >= len(p.in) || p.in[p.pos] < '0' || p.in[p.pos] > '7' || n*8+p.in[p.pos]-'0' > 0o377 {
				break
			}
			n = n*8 + p.in[p.pos] - '0'
			p.pos++
		}
		return n
	}
	return c
}

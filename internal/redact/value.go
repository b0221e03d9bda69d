package redact

import (
	"math"
	"strings"
)

// name is what is before a value.
type name struct {
	kind  kind
	text  string
	begin int
	quote string // closes it; "" for a name without quotes
}

// quoteAt returns the quote that is at i, as it is written there: in JSON within
// JSON it has backslashes before it, in HTML it is an entity.
func quoteAt(s string, i int) string {
	n := i
	for n < len(s) && s[n] == '\\' {
		n++
	}
	if n >= len(s) {
		return ""
	}
	switch s[n] {
	case '\'':
		if n == i { // '\'' is one in what a shell has in quotes
			slashes := runOf(s, i+1, '\\')
			if slashes > i+1 && strings.HasPrefix(s[slashes:], "''") {
				return s[i : slashes+2]
			}
		}
		return s[i : n+1]
	case '"', '`':
		return s[i : n+1]
	case 'u':
		if n > i && strings.HasPrefix(s[n:], "u0022") {
			return s[i : n+5]
		}
	case '&':
		for _, q := range []string{"&quot;", "&#34;", "&#39;", "&#x27;", "&apos;"} {
			if n == i && strings.HasPrefix(s[i:], q) {
				return q
			}
		}
	}
	return ""
}

// runOf returns where the bytes c end that s has from i on.
func runOf(s string, i int, c byte) int {
	for i < len(s) && s[i] == c {
		i++
	}
	return i
}

// value masks what is at v under a name, and returns where to continue.
func (sc *scanner) value(n name, v int) int {
	s := sc.s
	if n.kind == scheme {
		return v
	}
	if n.kind == working && !sc.password(n, v) {
		return v
	}
	if isBlock(s, v) {
		return v
	}
	if n.kind == weak && n.text == "pass" && n.begin > 0 && s[n.begin-1] == '/' { // cmdkey /pass:x
		n.kind = strong
	}
	if n.kind == weak && s[v] == '(' {
		return max(v, place{sc}.login(v))
	}
	if q := quoteAt(s, v); q != "" {
		return sc.quoted(n, v, q)
	}
	switch {
	case n.quote != "" && s[v] == '{':
		return v // what it holds has names of its own
	case n.quote != "" && s[v] == '[' && maskAt(s[v:]) == 0:
		return sc.list(n, v+1)
	}
	if s[v] == '{' {
		return sc.braced(n, v)
	}
	switch n.kind {
	case number:
		if end := run(s, v, digits); fourDigits(s[v:end]) && alphabets[at(s, end)]&token == 0 {
			return sc.mask(v, end, "")
		}
		return v
	case header:
		v = behindScheme(s, v)
		if strings.HasPrefix(s[v:], "AWS4-") {
			return sc.mask(v, textEnd(s, v), "")
		}
	case jar:
		if n.quote != "" {
			break
		}
		end := sc.lineEnd(v)
		if eq := sc.nextAny(v, "="); v < eq && eq < end {
			return sc.mask(v, end, "")
		}
		return v
	}
	if colon := strings.HasSuffix(strings.TrimRight(s[:v], " \t"), ":"); colon && strings.HasSuffix(strings.ToLower(n.text), "passphrase") {
		return sc.words(n, v)
	}
	return sc.scalar(n, v)
}

// words masks the words of a phrase, up to what ends an entry.
func (sc *scanner) words(n name, v int) int {
	end := min(sc.lineEnd(v), sc.nextAny(v, `,;&"'{}()[]`))
	phrase := strings.TrimRight(sc.s[v:end], " \t")
	if !strings.Contains(phrase, " ") {
		return sc.scalar(n, v)
	}
	return sc.mask(v, v+len(phrase), "")
}

// password tells PWD as a password, as connection strings have it, from the working
// directory.
func (sc *scanner) password(n name, v int) bool {
	if n.text == "PWD" {
		before := strings.TrimRight(sc.s[:n.begin], " \t")
		return strings.HasSuffix(before, ";")
	}
	return sc.s[v] != '/' && sc.s[v] != '~' && !strings.HasPrefix(sc.s[v:], `"/`)
}

// quoted masks a value in quotes. Those of a value whose name has some stay: it is
// a pair of JSON or the like.
func (sc *scanner) quoted(n name, v int, q string) int {
	s, from := sc.s, v+len(q)
	if n.quote == "" && sc.closes(v, q) {
		return from
	}
	end, closed := sc.closing(from, q)
	if from == end {
		return from
	}
	if !sc.secret(n, from, end) {
		return from
	}
	if maskAt(s[from:end]) == end-from {
		return end
	}
	switch {
	case n.quote != "":
		sc.mask(from, end, "")
	case closed:
		end += len(q)
		sc.mask(v, end, "")
	default:
		sc.mask(v, end, "")
	}
	return end
}

// list masks the texts of a list in JSON that begins before v.
func (sc *scanner) list(n name, v int) int {
	for {
		v = behindSpace(sc.s, v)
		q := quoteAt(sc.s, v)
		if q == "" {
			return v
		}
		v = behindSpace(sc.s, min(len(sc.s), sc.quoted(n, v, q)+len(q)))
		if v >= len(sc.s) || sc.s[v] != ',' {
			return v
		}
		v++
	}
}

// closes reports whether the quote at v ends a text that was begun before it, and is
// no beginning of a value: what follows is the syntax of JSON.
func (sc *scanner) closes(v int, q string) bool {
	if !syntax(sc.s[v+len(q):]) {
		return false
	}
	if q == `"` {
		return sc.inText(v)
	}
	return sc.open(v, q)
}

// closing returns where a quoted text ends that begins at from, and whether the
// quote q is there: otherwise it ends with its line, or with the text that it is
// part of.
func (sc *scanner) closing(from int, q string) (end int, closed bool) {
	s, mark := sc.s, q[len(q)-1]
	if len(q) == 1 && from < len(s) && s[from] == mark && !doubled(s, from, q) {
		return from, true
	}
	k := lookFor{what: lookClosing, text: q}
	if len(sc.seen) > 0 {
		k.flag = mark != '"' && sc.inText(from)
		if f, ok := sc.recall(k, from); ok {
			return f.end, f.ok
		}
	}
	f := seen{from: from}
	f.end, f.ok = sc.closed(from, q)
	if f.end-from >= far {
		k.flag = mark != '"' && sc.inText(from)
	}
	sc.note(k, f)
	return f.end, f.ok
}

// closed is closing, without what it remembers.
func (sc *scanner) closed(from int, q string) (end int, closed bool) {
	s, mark, depth := sc.s, q[len(q)-1], len(q)-1
	if q[0] == '&' || mark == '2' || len(q) >= 4 && q[0] == '\'' {
		end = sc.lineEnd(from)
		if at := strings.Index(s[from:end], q); at >= 0 {
			return from + at, true
		}
		return end, false
	}
	slashes := 0
	for i := from; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			slashes++
			continue
		}
		// In a text with one backslash before its quotes, three are before a quote in
		// it, and two or none before the quote of what is around it.
		level := slashes % (2*depth + 2)
		switch {
		case c == '\n' || c == '\r':
			return i, false
		case c == mark && level == depth:
			if !doubled(s, i, q) {
				return i - depth, true
			}
			i++
		case (c == '"' || c == mark) && level < 2*depth+1 && depth > 0:
			return i - slashes, false
		case c == '"' && mark != '"' && slashes%2 == 0 && syntax(s[i+1:]) && sc.inText(from):
			return i - slashes, false
		}
		slashes = 0
	}
	return len(s), false
}

// syntax reports whether text continues as JSON does behind a text in quotes.
func syntax(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	return rest == "" || strings.IndexByte(",}]:\\", rest[0]) >= 0
}

// doubled reports whether the quote that ends at i is written twice, which is
// for one.
func doubled(s string, i int, q string) bool {
	return len(q) == 1 && strings.HasPrefix(s[i+1:], q) && i+2 < len(s) && inWord[s[i+2]]
}

// braced masks {value}, in which }} represents one brace.
func (sc *scanner) braced(n name, v int) int {
	s := sc.s
	for i := v + 1; i < len(s); i++ {
		switch {
		case s[i] == '"' && endsText(s, i), s[i] == '\\' && quoteAt(s, i) != "":
			return sc.unclosed(v, i)
		case s[i] == '\\':
			i = runOf(s, i, '\\') - 1 // all of them are before the same
		case s[i] != '}':
		case strings.HasPrefix(s[i+1:], "}"):
			i++
		case i == v+1 || !sc.secret(n, v+1, i):
			return i
		default:
			return sc.mask(v, i+1, "")
		}
	}
	return sc.unclosed(v, sc.lineEnd(v))
}

// unclosed masks a value whose brace is not closed. A brace alone begins a block.
func (sc *scanner) unclosed(v, end int) int {
	if strings.TrimSpace(sc.s[v+1:end]) == "" {
		return v + 1
	}
	return sc.mask(v, end, "")
}

// endsText reports whether the quote at i looks like the end of a text in JSON.
func endsText(s string, i int) bool {
	return i+1 >= len(s) || !inWord[s[i+1]]
}

// lineEnd returns where the line ends that i is in, or the text in quotes that the
// line is part of.
func lineEnd(s string, i int) int {
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n' || c == '\r', c == '"' && endsText(s, i):
			return i
		case c == '\\':
			if behind := behindEscape(s, i); behind < len(s) && (s[behind-1] == 'n' || s[behind-1] == 'r' || s[behind] == '"') {
				return i
			}
			i = runOf(s, i, '\\') - 1 // all of them are before the same
		}
	}
	return i
}

// scalar masks a value without quotes.
func (sc *scanner) scalar(n name, v int) int {
	s := sc.s
	json := n.quote != ""
	end := sc.trimmed(v, sc.bare(v, json))
	if !json && s[v-1] == ' ' && (place{sc}).typed(v) { // apiKey: string = "x"
		return sc.spans[len(sc.spans)-1].end
	}
	if !json && n.kind != weak && sc.inConnection(n.begin) {
		end = max(end, sc.nextAny(v, ";\"'\r\n\\<"))
	}
	if end == v || !sc.secret(n, v, end) || !json && plain(n, s, v, end) || json && (s[v:end] == "true" || s[v:end] == "false") {
		return v
	}
	if m := maskAt(s[v:]); m >= end-v {
		return v + m
	}
	if json {
		return sc.mask(v, end, n.quote+Mask+n.quote)
	}
	return sc.mask(v, end, "")
}

// bare returns where a value without quotes ends that begins at v.
func bare(s string, v int, json bool) int {
	i := v + maskAt(s[v:])
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c <= ' ' || c == ';' || c == '&' || c == ',':
			return i
		case c == '"' && endsText(s, i), json && (c == '}' || c == ']'), c == '<' && i > v, c == '`' && i > v:
			return i
		case c == '\'' && i > v && endsText(s, i):
			return i
		case c == '\\':
			behind := behindEscape(s, i)
			if quoteAt(s, i) != "" || strings.IndexByte("nrt", s[min(behind, len(s))-1]) >= 0 {
				return i
			}
			i = behind - 1
		}
	}
	return i
}

// behindScheme returns where the secret of a header begins: "Bearer" is none.
func behindScheme(s string, v int) int {
	end := run(s, v, token)
	next := behindSpace(s, end)
	for _, known := range []string{"bearer", "basic", "token", "digest", "negotiate", "apikey", "bot", "key"} {
		if next > end && next < len(s) && strings.EqualFold(s[v:end], known) {
			return next
		}
	}
	return v
}

// secret reports whether a value may be what its name promises.
func (sc *scanner) secret(n name, begin, end int) bool {
	value := sc.s[begin:end]
	switch n.kind {
	case signed:
		return len(value) >= 10 && (sc.digit(begin, end) || sc.nextAny(begin, ".") >= end) // no path of names in code
	case weak:
		return sc.random(begin, end) || keyVariable(n.text) && drawn(value)
	}
	return true
}

// keyVariable reports whether a name is that of a variable such as STRIPE_KEY.
func keyVariable(name string) bool {
	return variable(name) && strings.HasSuffix(name, "_KEY") && !strings.HasSuffix(name, "PUBLIC_KEY")
}

// drawn reports whether a value looks drawn by chance, in one case too: a run of letters
// and digits that takes turns.
func drawn(value string) bool {
	end := run(value, 0, alnum)
	if end < 16 || runOf(value, end, '/') < len(value) {
		return false
	}
	value = value[:end]
	turns := 0
	for i := 1; i < len(value); i++ {
		if alphabets[value[i-1]]&digits != alphabets[value[i]]&digits {
			turns++
		}
	}
	return turns >= 4
}

// connections are names that connection strings of databases begin with, in small letters.
var connections = []string{"server=", "data source=", "uid=", "user id=", "user=", "host=", "driver=", "jdbc:", "endpoint="}

// connected is where the last of connections begins in the part of a line before done.
type connected struct{ done, last int }

// inConnection reports whether a name that begins at i is in the string of a connection,
// whose values go up to the next semicolon.
func (sc *scanner) inConnection(i int) bool {
	s := sc.s
	end := i
	for end > 0 && s[end-1] == ' ' {
		end--
	}
	if end == 0 || s[end-1] != ';' {
		return false
	}
	c := &sc.connected
	sc.looked += max(0, i-c.done)
	for ; c.done < i; c.done++ {
		if b := s[c.done]; b != '=' && b != ':' {
			continue
		}
		for _, name := range connections {
			if begin := c.done + 1 - len(name); begin >= 0 && strings.EqualFold(s[begin:c.done+1], name) {
				c.last = max(c.last, begin+1)
			}
		}
	}
	return c.last > max(0, i-near)
}

// textEnd returns where the line ends that i is in, or the quoted text.
func textEnd(s string, i int) int {
	for i < len(s) && s[i] >= ' ' && strings.IndexByte("\"'`\\", s[i]) < 0 {
		i++
	}
	return i
}

// at returns the byte at i; 0 behind the end.
func at(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// plain reports whether a value without quotes is a number of a few digits, a word
// of a programming language, or a call: nothing that anyone keeps secret.
func plain(n name, s string, v, end int) bool {
	value := s[v:end]
	switch strings.ToLower(value[:min(len(value), len("undefined."))]) {
	case "string", "str", "bytes", "int", "bool", "none", "null", "nil", "true", "false", "undefined", "optional", "required", "boolean", "any":
		return true
	}
	if run(value, 0, digits) == len(value) && len(value) <= 3 {
		return true
	}
	i := run(value, 0, letters|dashes|dots)
	spaced := v > 0 && s[v-1] == ' '
	if !spaced || n.kind == header || i == 0 {
		return false
	}
	if i == len(value) { // compared with another name, as in code
		before := strings.TrimRight(s[:v], " ")
		return strings.HasSuffix(before, " ==") || strings.HasSuffix(before, " ===")
	}
	return strings.IndexByte("([{", value[i]) >= 0
}

// minRandom is the length and minEntropy the bits per byte from which a value under
// a name that only may be a secret's is taken for one.
const (
	minRandom  = 20
	minEntropy = 3.5
)

// random reports whether a value looks drawn by chance: capitals, small letters and
// digits, no path and no sentence. Hashes and UUIDs have one case only.
func (sc *scanner) random(begin, end int) bool {
	if end-begin < minRandom || sc.s[begin] == '/' || sc.run(begin, token|signs) < end {
		return false
	}
	c := sc.counted(begin, end)
	bits, seen := 0.0, alphabet(0)
	for b, n := range c {
		if n > 0 {
			seen |= alphabets[b]
			p := float64(n) / float64(end-begin)
			bits -= p * math.Log2(p)
		}
	}
	return seen&uppers != 0 && seen&lowers != 0 && seen&digits != 0 && bits >= minEntropy
}

// counts holds how often each byte is in a part of a line.
type counts struct {
	begin, end int
	of         [256]int32
}

// counted counts the bytes from begin to end. Of the same end it continues from what it had.
func (a *ahead) counted(begin, end int) *[256]int32 {
	c := a.counts
	if c == nil || c.end != end || begin < c.begin {
		c = &counts{begin: begin, end: end}
		a.looked += end - begin
		for _, b := range []byte(a.s[begin:end]) {
			c.of[b]++
		}
		if a.counts = c; end-begin < far {
			a.counts = nil
		}
		return &c.of
	}
	a.looked += begin - c.begin + 1
	for _, b := range []byte(a.s[c.begin:begin]) {
		c.of[b]--
	}
	c.begin = begin
	return &c.of
}

package redact

import "strings"

// place finds values that belong to a name by where they are.
type place struct{ *scanner }

// placed masks a value that belongs to a name by its place, without a separator between them:
// in a call, a row of a table, a typed declaration, an element of XML. It reports whether there
// is one.
func (p place) placed(k kind, begin, end int) bool {
	s := p.s
	quote := quoteAt(s, end)
	next := behindSpace(s, end+len(quote))
	if k != strong && k != spoken || next >= len(s) {
		return false
	}
	switch s[next] {
	case ',':
		return p.second(begin, end, behindSpace(s, next+1))
	case '(':
		return quote == "" && next == end && p.called(begin, end, next+1)
	case '|':
		return p.cell(behindSpace(s, next+1))
	case '>':
		return quote != "" && p.between(next+1)
	case 'S', 's', 'b':
		return p.typed(next)
	}
	return false
}

// quotedAt returns where the text between quotes lies that begin at v.
func (sc *scanner) quotedAt(v int) (from, end int, ok bool) {
	q := quoteAt(sc.s, v)
	if q == "" || sc.closes(v, q) {
		return v, v, false
	}
	from = v + len(q)
	end, ok = sc.closing(from, q)
	return from, end, ok && end > from && !sc.placeholder(from, end)
}

// second masks the second argument of a call whose first one names a secret, as
// setenv("API_KEY", "x"). A list of names has more of them.
func (p place) second(begin, end, v int) bool {
	s := p.s
	quote := quoteAt(s, end)
	open := strings.TrimRight(s[:max(0, begin-len(quote))], " ")
	from, stop, ok := p.quotedAt(v)
	if !ok || !strings.HasSuffix(open, "(") {
		return false
	}
	value, upper := s[from:stop], variable(s[begin:end])
	if variable(value) || kindOf(value) != none || !(quote != "" && upper) && !p.looksSecret(from, stop) {
		return false
	}
	p.mask(from, stop, "")
	return true
}

// variable reports whether a word is one of capitals, as names of variables are.
func variable(word string) bool {
	return len(word) > 2 && run(word, 0, uppers|digits|dashes) == len(word) && word[0] > '9'
}

// called masks the argument of a call that sets a secret: setPassword("x"), .apiKey("x").
func (p place) called(begin, end, v int) bool {
	s := p.s
	from, stop, ok := p.quotedAt(v)
	if !ok {
		return false
	}
	name, value := strings.ToLower(s[begin:end]), s[from:stop]
	sets := strings.HasPrefix(name, "set") || strings.HasPrefix(name, "with")
	member := begin > 0 && s[begin-1] == '.'
	if strings.ContainsAny(value, " \t") || kindOf(value) != none || !p.looksSecret(from, stop) && (!sets || len(value) < 6) || !sets && !member {
		return false
	}
	p.mask(from, stop, "")
	return true
}

// cell masks the cell of a table in Markdown behind the one that names a secret.
func (p place) cell(v int) bool {
	s := p.s
	end := v
	for end < len(s) && s[end] > ' ' && s[end] != '|' {
		end++
	}
	from, stop := v, end
	for from < stop && strings.IndexByte("`\"'*", s[from]) >= 0 && s[stop-1] == s[from] && stop-from > 2 {
		from, stop = from+1, stop-1
	}
	if from == stop || maskAt(s[from:stop]) > 0 || !strings.HasPrefix(s[behindSpace(s, end):], "|") || !p.looksSecret(from, stop) {
		return false
	}
	p.mask(from, stop, "")
	return true
}

// between masks the text of <string name="api_key">x</string>.
func (p place) between(v int) bool {
	s := p.s
	stop := p.nextAny(v, "<")
	if stop == v || !strings.HasPrefix(s[stop:], "</") {
		return false
	}
	begin := stop - len(strings.TrimLeft(s[v:stop], blanks))
	if p.placeholder(begin, p.back(begin, stop, blanks)) {
		return false
	}
	p.mask(v, stop, "")
	return true
}

// blanks are around texts.
const blanks = " \t\r\n"

// typed masks the value of a declaration whose type is at v: password string = "x".
func (p place) typed(v int) bool {
	s := p.s
	end := run(s, v, letters)
	switch strings.ToLower(s[v:end]) {
	case "string", "str", "bytes":
	default:
		return false
	}
	eq := behindSpace(s, end)
	if eq >= len(s) || s[eq] != '=' {
		return false
	}
	from, stop, ok := p.quotedAt(behindSpace(s, eq+1))
	if !ok {
		return false
	}
	p.mask(from, stop, "")
	return true
}

// listed masks what is under "value" next to a "name" that is one of a secret:
// {"name": "API_KEY", "value": "x"}, <add key="ApiKey" value="x"/>. The word value ends at i.
func (p place) listed(begin, i int) int {
	s := p.s
	v, quote, ok := separated(s, i)
	if !ok || v >= len(s) || quoteAt(s, v) == "" {
		return i
	}
	before := s[max(0, begin-near):begin]
	at := -1
	for _, word := range []string{"name", "key", "Name", "Key"} {
		for rest := before; at < 0; {
			if at = strings.LastIndex(rest, word); at < 0 {
				break
			}
			rest, at = rest[:at], at+len(word)
			if after := quoteAt(before, at); strings.IndexByte(":= ", before[min(at+len(after), len(before)-1)]) < 0 || len(rest) > 0 && inWord[rest[len(rest)-1]] {
				at = -1
			}
		}
	}
	if at < 0 || strings.ContainsAny(before[at:], "{}<>") {
		return i
	}
	from, _, ok := separated(before, at)
	if !ok || from >= len(before) {
		return i
	}
	from += len(quoteAt(before, from))
	of := before[from:run(before, from, token|dots)]
	if k := kindOf(of); k != strong && k != spoken {
		return i
	}
	return p.value(name{kind: strong, text: of, begin: begin, quote: quote}, v)
}

// identified masks the password of SQL's IDENTIFIED ... BY 'x', where the first word ends at i.
func (p place) identified(i int) int {
	rest := p.s[i:min(len(p.s), i+80)]
	by := strings.Index(strings.ToUpper(rest), " BY ")
	if by < 0 {
		return i
	}
	from, end, ok := p.quotedAt(behindSpace(p.s, i+by+len(" BY ")))
	if !ok {
		return i
	}
	return p.mask(from, end, "")
}

// webKeys reports whether the line may have keys in JSON.
func (p place) webKeys() bool {
	if p.kty == 0 {
		p.looked += len(p.s)
		p.kty = 1
		if strings.Contains(p.s, "kty") {
			p.kty = 2
		}
	}
	return p.kty == 2
}

// webKey masks a part of a private key in JSON: "d" and others of a key that has "kty".
func (p place) webKey(begin, end int) int {
	s := p.s
	if q := quoteAt(s, end); q == "" || !p.webKeys() {
		return end
	}
	v, _, ok := separated(s, end)
	if !ok {
		return end
	}
	from, stop, ok := p.quotedAt(v)
	if !ok || stop-from < 20 || p.run(from, token|signs) < stop {
		return end
	}
	return p.mask(from, stop, "")
}

// passLine masks the password of a line of .pgpass, host:port:database:user:password, whose
// first colon is at i.
func (sc *scanner) passLine(i int) int {
	s := sc.s
	begin := i
	for begin > 0 && (alphabets[s[begin-1]]&(alnum|dashes|dots) != 0 || s[begin-1] == '*' || s[begin-1] == '/') {
		begin--
	}
	if begin == i || begin > 0 && s[begin-1] > ' ' && strings.IndexByte("\"'`\\>|(→", s[begin-1]) < 0 {
		return i
	}
	port, ok := field(s, i+1, digits)
	if !ok || port-i-1 < 4 && s[i+1] != '*' {
		return i
	}
	database, ok := field(s, port+1, token|dots)
	if !ok || run(s, port+1, digits) == database {
		return i
	}
	user, ok := field(s, database+1, token|dots)
	if !ok {
		return i
	}
	from := user + 1
	_, end := sc.commandWord(from)
	if end <= from || quoteAt(s, from) != "" || sc.placeholder(from, end) || s[from:end] == "password" {
		return i
	}
	return sc.mask(from, end, "")
}

// field returns where a field of a set of bytes ends that begins at i, and whether a colon
// follows. An asterisk is a field.
func field(s string, i int, set alphabet) (end int, ok bool) {
	if end = run(s, i, set); end == i && i < len(s) && s[i] == '*' {
		end++
	}
	return end, end > i && end < len(s) && s[end] == ':'
}

// pairSaid masks the password of a pair that a sentence tells, "the credentials are me:x",
// where the word before it ends at i.
func (p place) pairSaid(i int) int {
	s := p.s
	v := behindSpace(s, i)
	word := run(s, v, letters)
	switch {
	case v < len(s) && s[v] == ':':
		word = v + 1
	case v == i || !isVerb(s[v:word]) && s[v:word] != "with" && s[v:word] != "as":
		return i
	}
	from, end := p.commandWord(behindSpace(s, word))
	user := p.run(from, token|dots)
	if user == from || user >= end || s[user] != ':' && s[user] != '/' {
		return i
	}
	end = p.back(user+1, end, ".,!?)")
	if maskAt(s[user+1:end]) > 0 || !p.looksSecret(user+1, end) {
		return i
	}
	return p.mask(user+1, end, "")
}

// phrase masks the words of a seed phrase, of which the last word of its name is between begin
// and end.
func (p place) phrase(begin, end int) int {
	const least = 12
	s := p.s
	before := strings.ToLower(strings.TrimRight(s[max(0, begin-12):begin], " _-"))
	if !strings.HasSuffix(before, "seed") && !strings.HasSuffix(before, "recovery") && !strings.HasSuffix(before, "backup") && !strings.HasSuffix(before, "secret") {
		return end
	}
	v := behindSpace(s, end)
	if word := run(s, v, letters); isVerb(s[v:word]) {
		v = word
	}
	for v < len(s) && strings.IndexByte(" :=\"'`", s[v]) >= 0 {
		v++
	}
	words, stop := 0, v
	for i := v; ; words++ {
		word := run(s, i, lowers)
		if word == i {
			break
		}
		if stop = word; word >= len(s) || s[word] != ' ' {
			words++
			break
		}
		i = word + 1
	}
	if words < least {
		return end
	}
	return p.mask(v, stop, "")
}

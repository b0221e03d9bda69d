package redact

import (
	"strconv"
	"strings"
)

// name is what is before a value. quote closes it; "" for a name without quotes.
type name struct {
	kind  kind
	text  string
	begin int
	quote string
}

// quoteAt returns the quote that is at i; "" if there is none.
func quoteAt(s string, i int) string {
	switch c, next := at(s, i), at(s, i+1); {
	case c == '"', c == '`', c == '\'' && next != '\\':
		return s[i : i+1]
	case c == '\'', c == '\\', c == '&':
		return quoteForm.FindString(s[i:min(len(s), run(s, i+1, slashes)+6)])
	}
	return ""
}

// value masks what is at v under a name, and returns where to continue.
func (sc *scanner) value(n name, v int) int {
	s := sc.s
	switch {
	case n.kind == scheme, n.kind == working && dirForm.MatchString(sc.textBefore(n)+"»"+s[v:min(len(s), v+2)]):
		return v
	case strings.IndexByte("\n\r|>", s[v]) >= 0:
		end := v
		if n.kind.sure() && strings.HasSuffix(strings.TrimRight(s[max(0, v-far):v], " \t"), ":") {
			end = sc.tryPlaces(below, n, v)
		}
		if end > v || s[v] < ' ' || blockForm.MatchString(s[v:min(len(s), v+far)]) {
			return end
		}
	case n.kind == weak && s[v] == '(':
		return max(v, sc.maskByPlace(n, v))
	}
	if prefix := run(s, v, letters); prefix > v && prefix-v <= 2 && quoteAt(s, prefix) != "" { // f"{token}" of Python
		v = prefix
	}
	switch q := quoteAt(s, v); {
	case q != "":
		return sc.maskInQuotes(n, v, q)
	case s[v] == '{' && n.quote != "":
		return v // what it holds has names of its own
	case s[v] == '{':
		return sc.maskInBraces(n, v)
	case s[v] == '[' && n.quote != "" && maskAt(s[v:]) == 0:
		return sc.list(n, v)
	case n.kind == number:
		return sc.tryPlaces(pins, n, v)
	case n.kind == jar && n.quote == "":
		end := sc.find("line", v, lineEnd)
		if eq := sc.nextAny(v, "="); v < eq && eq < end && !sc.placeholder(eq+1, sc.bare(eq+1, false)) {
			return sc.mask(v, end)
		}
		return v
	case n.kind == header:
		if v += len(schemeForm.FindString(s[v:min(len(s), v+far)])); strings.HasPrefix(s[v:], "AWS4-") {
			return sc.mask(v, min(sc.find("line", v, lineEnd), sc.nextAny(v, "\"'`\\")))
		}
	case strings.HasSuffix(s[:v], ": ") && strings.HasSuffix(strings.ToLower(n.text), "passphrase"):
		phrase := strings.TrimRight(s[v:min(sc.find("line", v, lineEnd), sc.nextAny(v, `,;&"'{}()[]`))], " \t")
		if strings.Count(phrase, " ") > 2 {
			return sc.mask(v, v+len(phrase))
		}
	}
	return sc.scalar(n, v)
}

// maskInQuotes masks a value in quotes. It keeps the quotes of a value whose name has some: that is a pair of JSON.
func (sc *scanner) maskInQuotes(n name, v int, q string) int {
	from := v + len(q)
	if n.quote == "" && sc.closes(v, q) {
		return from
	}
	end, closed := sc.findQuoteEnd(from, q)
	switch {
	case from == end || !sc.secret(n, from, end):
		return from
	case maskAt(sc.s[from:end]) == end-from:
		return end
	case n.quote != "":
		return sc.mask(from, end)
	case closed:
		end += len(q)
	}
	return sc.mask(v, end)
}

// list masks the texts of a list in JSON that begins at v.
func (sc *scanner) list(n name, v int) int {
	for v < len(sc.s) && strings.IndexByte("[,", sc.s[v]) >= 0 {
		v = behindSpace(sc.s, v+1)
		q := quoteAt(sc.s, v)
		if q == "" {
			break
		}
		v = behindSpace(sc.s, min(len(sc.s), sc.maskInQuotes(n, v, q)+len(q)))
	}
	return v
}

// closes reports whether the quote at v ends a text that was begun before it, and is
// no beginning of a value: what follows is the syntax of JSON.
func (sc *scanner) closes(v int, q string) bool {
	rest := sc.s[v+len(q):]
	return (syntax(rest) || strings.HasPrefix(rest, ")")) && (q != `"` || sc.inText(v))
}

// syntax reports whether text continues after a text in quotes as JSON does.
func syntax(rest string) bool {
	rest = strings.TrimLeft(rest[:min(len(rest), far)], " \t\r\n")
	return rest == "" || strings.IndexByte(",}]:\\", rest[0]) >= 0
}

// findQuoteEnd returns where a quoted text ends that begins at from, and whether the quote q is there:
// otherwise it ends with its line, or with the text that it is part of.
func (sc *scanner) findQuoteEnd(from int, q string) (end int, closed bool) {
	inside := q[len(q)-1] != '"' && sc.inText(from)
	kind := "closing " + q + strconv.FormatBool(inside)
	end = sc.find(kind, from, func(s string, from int) int { return textEnd(s, from, q, inside) })
	return end, strings.HasPrefix(sc.s[end:], q)
}

// textEnd returns where a text ends that q is to close; inside one in double quotes, or not.
func textEnd(s string, from int, q string, inside bool) int {
	mark, depth := q[len(q)-1], len(q)-1
	if q[0] == '&' || mark == '2' || len(q) >= 4 && q[0] == '\'' {
		line, _, _ := strings.Cut(s[from:lineEnd(s, from)], q)
		return from + len(line)
	}
	slashes := 0
	for i := from; i < len(s); i++ {
		if s[i] == '\\' {
			slashes++
			continue
		}
		// In a text with one backslash before its quotes, three are before a quote in
		// it, and two or none before the quote of what is around it.
		level := slashes % (2*depth + 2)
		switch c := s[i]; {
		case c == '\n' || c == '\r':
			return i
		case c == mark && level == depth:
			if depth > 0 || at(s, i+1) != mark || alphabets[at(s, i+2)]&words == 0 {
				return i - depth
			}
			i++ // it is written twice, which is for one
		case (c == '"' || c == mark) && level < 2*depth+1 && depth > 0, c == '"' && inside && slashes%2 == 0 && syntax(s[i+1:]):
			return i - slashes
		}
		slashes = 0
	}
	return len(s)
}

// maskInBraces masks {value}. A brace alone begins a block.
func (sc *scanner) maskInBraces(n name, v int) int {
	end := v + len(bracedForm.FindString(sc.s[v:min(len(sc.s), v+near)]))
	inner := strings.TrimSpace(sc.s[v+1 : end])
	if at(sc.s, end) == '}' {
		end++
	}
	if inner == "" || !sc.secret(n, v+1, v+1+len(inner)) || !sc.inConnection(n) && sc.placeholder(v, end) {
		return v + 1
	}
	return sc.mask(v, end)
}

// scalar masks a value without quotes.
func (sc *scanner) scalar(n name, v int) int {
	s, json := sc.s, n.quote != ""
	end := sc.trimBrackets(v, sc.bare(v, json))
	connection := !json && n.kind != weak && sc.inConnection(n)
	if connection {
		end = max(end, sc.nextAny(v, ";\"'\r\n\\<"))
	}
	if !json && at(s, v-1) == ' ' && n.kind != weak {
		if stop := sc.tryPlaces(typed, n, v-1); stop > v { // apiKey: string = "x"
			return stop
		}
	}
	m := maskAt(s[v:])
	switch {
	case end == v || !sc.secret(n, v, end) || !connection && !(json && (run(s, v, digits) > v || s[v:end] == "null")) && sc.isCode(n, v, end):
		return v
	case m >= end-v:
		return v + m
	case json:
		return sc.add(span{begin: v, end: end, with: n.quote + Mask + n.quote})
	}
	return sc.mask(v, end)
}

// bare returns where a value without quotes ends that begins at v.
func (sc *scanner) bare(v int, json bool) int {
	kind := "bare"
	if json {
		kind = "in JSON"
	}
	return sc.find(kind, v, func(s string, v int) int { return bare(s, v, json) })
}

func bare(s string, v int, json bool) int {
	i := v + maskAt(s[v:])
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c <= ' ', c == ';' || c == '&' || c == ',', json && (c == '}' || c == ']'), i > v && (c == '<' || c == '`' || c == '\'' && endsText(s, i)), c == '"' && endsText(s, i):
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

// inConnection reports whether a name is in the string of a connection: its value ends at a semicolon.
func (sc *scanner) inConnection(n name) bool {
	at := sc.hits[connection]
	return strings.Contains(sc.textBefore(n), ";»") && len(at) > 0 && at[len(at)-1] > n.begin-near
}

// secret reports whether a value may be what its name promises.
func (sc *scanner) secret(n name, begin, end int) bool {
	value, ok := sc.s[begin:end], true
	switch n.kind {
	case signed:
		ok = len(value) >= 10 && (hasDigit(sc.s[begin:min(end, begin+far)]) || sc.nextAny(begin, ".") >= end) // no path of names in code
	case weak:
		ok = random(value) || keyVariable.MatchString(n.text) && !strings.HasSuffix(n.text, "PUBLIC_KEY") && mixesDigits(value) || hexKey(n.text, value)
	}
	return ok && !sc.placeholder(begin, end)
}

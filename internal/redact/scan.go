package redact

import "strings"

// scanner finds what looks like a secret in a piece of a text, in one pass over its words.
type scanner struct {
	ahead
	keys  bool // looks for shapes of keys alone
	spans []span
	hits  map[int][]int // by context: where its words are
}

// scan returns what to mask in a piece of text, in order: secrets, or only what has the shape of a key.
func scan(text string, keys bool, looked *int) []span {
	sc := scanner{ahead: ahead{s: text, seen: map[string]span{}}, keys: keys, hits: map[int][]int{}}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case alphabets[c]&words != 0:
			i = sc.word(i)
		case c == '\\':
			i = behindEscape(text, i)
		case c == '%' && alphabets[at(text, i+1)]&alphabets[at(text, i+2)]&hexes != 0, c == wideByte:
			i += 3
		case c == ':':
			i = sc.colon(i)
		case c == '$' && !keys:
			i = max(i+1, sc.mask(i, i+len(hashForm.FindString(text[i:]))))
		case c == '[':
			i += max(1, maskAt(text[i:]))
		default:
			i++
		}
	}
	sc.inContexts()
	*looked += len(text) + sc.looked
	return mergeSpans(sc.spans)
}

// maskAt returns the length of a mask that s begins with: ours, or another such as [REDACTED_JWT].
func maskAt(s string) int {
	if len(s) < len(Mask) || s[0] != '[' || !strings.EqualFold(s[:len(Mask)-1], Mask[:len(Mask)-1]) {
		return 0
	}
	end := run(s, len(Mask)-1, uppers|digits|dashes)
	if at(s, end) != ']' {
		return 0
	}
	return end + 1
}

// mask adds a span, unless it is masked already or empty. It returns its end.
func (sc *scanner) mask(begin, end int) int { return sc.add(span{begin: begin, end: end, with: Mask}) }

func (sc *scanner) add(s span) int {
	if s.begin < s.end && maskAt(sc.s[s.begin:s.end]) != s.end-s.begin {
		sc.spans = append(sc.spans, s)
	}
	return s.end
}

// word looks at the word that begins at i, and returns where to continue.
func (sc *scanner) word(i int) int {
	s, begin := sc.s, i
	for {
		if firstPairs[at(s, i)][at(s, i+1)] {
			if key := sc.keyAt(i); key.end > i {
				return sc.add(key)
			}
		}
		i = run(s, i, words&^dashes)
		if alphabets[at(s, i)]&dashes == 0 {
			break
		}
		i++
	}
	if end := sc.partedAt(begin, i); end > i {
		return sc.mask(begin, end)
	}
	if sc.keys || i-begin < 2 || i-begin > 2 && !lastLetters[endingKey(s[begin:i])] {
		return i
	}
	for _, context := range contextWords[strings.ToLower(s[begin:i])] {
		sc.hits[context] = append(sc.hits[context], begin)
	}
	if k := classifyName(s[begin:i]); k != none {
		return sc.scanName(k, begin, i)
	}
	return i
}

// scanName looks at what follows a name, and returns where to continue.
func (sc *scanner) scanName(k kind, begin, end int) int {
	s := sc.s
	v, quote, ok := findValue(s, end)
	n := name{kind: k, text: s[begin:end], begin: begin, quote: strings.TrimPrefix(quote, "`")} // one of Markdown is none
	if k == weak && n.text == "pass" && begin > 0 && s[begin-1] == '/' {                        // cmdkey /pass:x
		n.kind = strong
	}
	switch {
	case ok && v < len(s):
		return sc.value(n, v)
	case ok:
		return v
	case k == scheme && run(s, behindSpace(s, end), token|dots|signs)-end <= 8: // a word
		return end
	case k == scheme:
		return sc.tryPlaces(bearers, n, end)
	}
	return sc.maskByPlace(n, end)
}

// findValue returns where the value of the name begins that ends at i, and the quote that closes it.
func findValue(s string, i int) (v int, quote string, ok bool) {
	quote = quoteAt(s, i)
	i += len(quote)
	if quote != "" && at(s, i) == ']' { // of config["api_key"]
		i++
	}
	i = behindSpace(s, i)
	switch c, next := at(s, i), at(s, i+1); {
	case c == 0 || strings.IndexByte("=:<%\xEF", c) < 0:
		return i, quote, false
	case c == ':' && (next == ' ' || next == '"'):
		return behindSpace(s, i+1), quote, true
	}
	m := separator.FindStringSubmatchIndex(s[i:min(len(s), i+8)])
	if m == nil {
		return i, quote, false
	}
	_, n := lastGroup(m)
	return behindSpace(s, run(s, i+n, equals)), quote, true
}

// colon looks at what is around a colon, and returns where to continue.
func (sc *scanner) colon(i int) int {
	s := sc.s
	for _, slashes := range []string{"://", `:\/\/`} {
		if strings.HasPrefix(s[i:], slashes) {
			return sc.address(i + len(slashes))
		}
	}
	if port := run(s, i+1, digits); !sc.keys && (at(s, i+1) == '*' || port-i > 4 && at(s, port) == ':') {
		sc.hits[passLine] = append(sc.hits[passLine], i)
	}
	return i + 1
}

// hooks are addresses whose path is a secret.
var hooks = []string{
	"hooks.slack.com/services/", "hooks.slack.com/workflows/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "webhook.office.com/webhookb2/",
	"chat.googleapis.com/v1/spaces/", "outlook.office.com/webhook/", "hooks.zapier.com/hooks/catch/", "maker.ifttt.com/trigger/",
}

// address masks a password in a URL whose host begins at from, and the path of a hook.
func (sc *scanner) address(from int) int {
	s := sc.s
	end := from + len(hostForm.FindString(s[from:]))
	host, window := s[from:end], s[from:min(len(s), from+near)]
	if at := strings.LastIndexByte(host, '@'); at > 0 && !sc.keys {
		user := strings.IndexByte(host[:at], ':') + 1
		if (user > 0 || at >= 16 && hasDigit(host[:at])) && !sc.placeholder(from+user, from+at) {
			return sc.mask(from+user, from+at)
		}
		return from + at
	}
	if m := unescapedForm.FindStringSubmatchIndex(window); m != nil && !sc.keys && !strings.Contains(window[m[2]:m[3]], "://") {
		return sc.mask(from+m[2], from+m[3])
	}
	for _, hook := range hooks {
		domain, path, _ := strings.Cut(hook, "/")
		if strings.HasSuffix(host, domain) && strings.HasPrefix(s[end:], "/"+path) {
			begin := end + 1 + len(path)
			return sc.mask(begin, run(s, begin, token|dots|signs|ats))
		}
	}
	return from
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

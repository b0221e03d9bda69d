package redact

import "strings"

// scanner finds what looks like a secret in a line, in one pass.
type scanner struct {
	s     string
	spans []span
}

// inWord says which bytes words are made of; what is no ASCII is one.
var inWord = func() (t [256]bool) {
	for i := range t {
		t[i] = i >= 0x80 || alphabets[i]&token != 0
	}
	return t
}()

// scan returns what to mask in a line or a piece of one. The spans are in order and
// do not overlap.
func scan(line string) []span {
	sc := scanner{s: line}
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case inWord[c]:
			i = sc.word(i)
		case c == '\\':
			i = behindEscape(line, i)
		case c == '%' && i+2 < len(line) && hexDigit[line[i+1]] > 0 && hexDigit[line[i+2]] > 0:
			i += 3
		case c == ':':
			i = sc.address(i)
		case c == '[':
			i += max(1, maskAt(line[i:]))
		default:
			i++
		}
	}
	return sc.spans
}

// behindEscape returns where text goes on behind backslashes and what they escape:
// the n of \n belongs to no word.
func behindEscape(s string, i int) int {
	for i < len(s) && s[i] == '\\' {
		i++
	}
	switch {
	case i >= len(s):
		return i
	case strings.IndexByte("nrtbf", s[i]) >= 0:
		return i + 1
	case s[i] == 'u' && i+4 < len(s):
		if _, ok := unit(s[i-1:]); ok {
			return i + 5
		}
	}
	return i
}

// maskAt returns the length of a mask that s begins with: ours, or one of another
// program such as [REDACTED_JWT]. 0 if there is none.
func maskAt(s string) int {
	if len(s) < len(Mask) || s[0] != '[' || !strings.EqualFold(s[:len(Mask)-1], Mask[:len(Mask)-1]) {
		return 0
	}
	if end := run(s, len(Mask)-1, uppers|digits|dashes); end < len(s) && s[end] == ']' {
		return end + 1
	}
	return 0
}

// mask adds a span, unless it is masked already or empty.
func (sc *scanner) mask(begin, end int, with string) int {
	if begin < end && maskAt(sc.s[begin:end]) != end-begin {
		sc.spans = append(sc.spans, span{begin, end, with})
	}
	return end
}

// word looks at the word that begins at i, and returns where to go on.
func (sc *scanner) word(i int) int {
	s, begin := sc.s, i
	for {
		if end := keyAt(s, i); end > i {
			return sc.mask(i, end, "")
		}
		for i < len(s) && inWord[s[i]] && s[i] != '-' && s[i] != '_' {
			i++
		}
		if i == len(s) || s[i] != '-' && s[i] != '_' {
			break
		}
		i++
	}
	if end := irregular(s, begin, i); end > i {
		return sc.mask(begin, end, "")
	}
	if s[begin] == '-' && (s[begin:i] == "-u" || s[begin:i] == "--user" || s[begin:i] == "--proxy-user") {
		return sc.login(begin, i)
	}
	if s[begin] == '-' && i-begin >= 2 && (s[begin+1] == 'p' || s[begin+1] == 'a') {
		if end := sc.option(begin, i); end > i {
			return end
		}
	}
	if i-begin < 3 || !lastLetters[lettersOf(s[begin:i])] {
		return i
	}
	if k := kindOf(s[begin:i]); k != none {
		return sc.named(k, begin, i)
	}
	return i
}

// named looks at what stands behind a name, and returns where to go on.
func (sc *scanner) named(k kind, begin, end int) int {
	s := sc.s
	v, quote, ok := separated(s, end)
	switch {
	case ok && v < len(s):
		return sc.value(name{kind: k, text: s[begin:end], begin: begin, quote: quote}, v)
	case ok:
		return v
	case k == scheme:
		return sc.credentials(end)
	case sc.element(k, begin, end):
		return sc.spans[len(sc.spans)-1].end
	case k == strong && strings.Contains(s[begin:end], "_") && strings.ToUpper(s[begin:end]) == s[begin:end]: // ENV API_TOKEN 123abc
		return sc.spoken(begin, end)
	case sc.said(k, begin, end):
		return sc.spans[len(sc.spans)-1].end
	case k == spoken || k == strong && strings.HasPrefix(s[begin:], "--"):
		return sc.spoken(begin, end)
	}
	return end
}

// separated returns where the value begins that a name has which ends at i, and the
// quote that closes the name. A value is on the line of its name.
func separated(s string, i int) (v int, quote string, ok bool) {
	quote = quoteAt(s, i)
	i += len(quote)
	if quote != "" && i < len(s) && s[i] == ']' { // of config["api_key"]
		i++
	}
	i = behindSpace(s, i)
	n := 0
	switch {
	case i >= len(s):
		return i, quote, false
	case s[i] == '=':
		n = run(s, i, signs) - i
		if strings.Trim(s[i:i+n], "=") != "" { // =/path, =+secret
			n = len(s[i:]) - len(strings.TrimLeft(s[i:], "="))
		}
		if i+n < len(s) && s[i+n] == '>' {
			n++
		}
	case s[i] == ':':
		n = 1
		if i+1 < len(s) && s[i+1] == '=' {
			n = 2
		} else if strings.HasPrefix(s[i+1:], ":") || strings.HasPrefix(s[i+1:], "//") {
			return i, quote, false
		}
	case len(s) > i+2 && s[i] == '%' && s[i+1] == '3' && strings.IndexByte("dDaA", s[i+2]) >= 0:
		n = 3
	default:
		return i, quote, false
	}
	return behindSpace(s, i+n), quote, true
}

func behindSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// spoken masks a value behind a name without a separator, "password hunter2", if it
// looks like one and not like the next word of a sentence.
func (sc *scanner) spoken(begin, end int) int {
	v := behindSpace(sc.s, end)
	if v == end {
		return end
	}
	stop := trimmed(sc.s, v, bare(sc.s, v, false))
	for stop > v && strings.IndexByte(".:!?", sc.s[stop-1]) >= 0 {
		stop--
	}
	value := sc.s[v:stop]
	flag := strings.HasPrefix(sc.s[begin:], "--")
	switch {
	case len(value) < 6 || maskAt(value) > 0 || strings.HasPrefix(value, "-"):
		return end
	case hasDigit(value), len(value) >= 20 && run(value, 0, letters) == len(value), flag && len(value) >= 8:
		return sc.mask(v, stop, "")
	}
	return end
}

// login masks the password of "curl -u name:password". Elsewhere -u is another thing,
// such as the number of a user and a group.
func (sc *scanner) login(begin, end int) int {
	s := sc.s
	v := behindSpace(s, end)
	if v < len(s) && s[v] == '=' {
		v++
	}
	if v == end || v >= len(s) || !strings.Contains(s[:begin], "curl") {
		return end
	}
	v += len(quoteAt(s, v))
	stop := v + strings.IndexAny(s[v:]+" ", " \t\r\n\"'`\\")
	name, password, ok := strings.Cut(s[v:stop], ":")
	if !ok || password == "" || reference(password) || password[0] == '$' {
		return end
	}
	return sc.mask(v+len(name)+1, stop, "")
}

// option masks a password that a program is given by a short option, as in "sshpass -p x",
// "docker login -p x", "redis-cli -a x" and "mysql -px". To others -p and -a are other things.
func (sc *scanner) option(begin, end int) int {
	const near = 300 // bytes between the name of the program and its option
	s, before := sc.s, sc.s[max(0, begin-near):begin]
	v := end
	switch flag := s[begin:end]; {
	case flag == "-p" && (strings.Contains(before, "sshpass ") || strings.Contains(before, " login ")),
		flag == "-a" && strings.Contains(before, "redis-cli "):
		v = behindSpace(s, end)
	case flag != "-p" && strings.HasPrefix(flag, "-p") && (strings.Contains(before, "mysql") || strings.Contains(before, "mariadb ")):
		v = begin + len("-p")
	default:
		return end
	}
	v += len(quoteAt(s, v))
	stop := v + strings.IndexAny(s[v:]+" ", " \t\r\n\"'`\\;|&")
	if value := s[v:stop]; len(value) < 4 || value[0] == '$' || value[0] == '-' || reference(value) {
		return end
	}
	return sc.mask(v, stop, "")
}

// element masks the text of <password>...</password>, and reports whether there is one.
func (sc *scanner) element(k kind, begin, end int) bool {
	s := sc.s
	if k != spoken && k != strong || begin == 0 || s[begin-1] != '<' || end >= len(s) || s[end] != '>' {
		return false
	}
	stop := end + 1 + strings.IndexByte(s[end+1:]+"<", '<')
	text := s[end+1 : min(stop, len(s))]
	if text == "" || maskAt(text) == len(text) || reference(text) || !strings.HasPrefix(s[min(stop, len(s)):], "</"+s[begin:end]) {
		return false
	}
	sc.mask(end+1, stop, "")
	return true
}

// said masks a value that a sentence tells, "my password is hunter2xyz", and reports
// whether there is one. It has to have a secret's look, since what follows "is" is a
// word most of the time: eight bytes or more, letters and digits, no call and no path.
func (sc *scanner) said(k kind, begin, end int) bool {
	s := sc.s
	v := behindSpace(s, end)
	verb := run(s, v, letters)
	if v == end || k != spoken && !keyOf(s[:begin], s[begin:end]) || !isVerb(s[v:verb]) {
		return false
	}
	v = behindSpace(s, verb)
	if v < len(s) && s[v] == ':' {
		v = behindSpace(s, v+1)
	}
	if v == verb || v >= len(s) {
		return false
	}
	v += len(quoteAt(s, v))
	stop := trimmed(s, v, bare(s, v, false))
	for stop > v && strings.IndexByte(".:!?\"'`", s[stop-1]) >= 0 {
		stop--
	}
	if value := s[v:stop]; maskAt(value) > 0 || !looksSecret(value) {
		return false
	}
	sc.mask(v, stop, "")
	return true
}

// keyOf reports whether a word is the second one of "API key" or the like.
func keyOf(before, word string) bool {
	if !strings.EqualFold(word, "key") {
		return false
	}
	before = strings.TrimRight(before, " ")
	for _, kind := range []string{"api", "access", "secret", "private", "account", "license", "encryption"} {
		if n := len(before) - len(kind); n >= 0 && strings.EqualFold(before[n:], kind) {
			return true
		}
	}
	return false
}

func isVerb(word string) bool {
	return strings.EqualFold(word, "is") || strings.EqualFold(word, "was") || strings.EqualFold(word, "equals")
}

// looksSecret reports whether a value in a sentence can be no ordinary word.
func looksSecret(value string) bool {
	const least = 8
	if len(value) < least || !hasDigit(value) || strings.ContainsAny(value, "(){}[]<>/$") || kindOf(value) != none {
		return false
	}
	number := run(value, 0, digits|dots|dashes) // a version, a date, a number and its unit
	if strings.HasPrefix(value, "v") {
		number = max(number, run(value, 1, digits|dots|dashes))
	}
	seen := alphabet(0)
	for i := range len(value) {
		seen |= alphabets[value[i]]
	}
	return seen&letters != 0 && number*2 < len(value)
}

// credentials masks what stands behind "Bearer" or "Basic" if it looks like that.
func (sc *scanner) credentials(end int) int {
	v := behindSpace(sc.s, end)
	stop := run(sc.s, v, token|dots|signs)
	for stop > v && sc.s[stop-1] == '.' {
		stop--
	}
	if v == end || stop-v < 8 {
		return end
	}
	value := sc.s[v:stop]
	if !hasDigit(value) && !changesCase(value) && stop-v < 24 {
		return end
	}
	return sc.mask(v, stop, "")
}

// changesCase reports whether a capital follows a small letter.
func changesCase(s string) bool {
	for i := 1; i < len(s); i++ {
		if alphabets[s[i-1]]&lowers != 0 && alphabets[s[i]]&uppers != 0 {
			return true
		}
	}
	return false
}

// hooks are addresses whose path is a secret.
var hooks = []string{
	"hooks.slack.com/services/", "hooks.slack.com/workflows/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "webhook.office.com/webhookb2/",
	"chat.googleapis.com/v1/spaces/", "outlook.office.com/webhook/", "hooks.zapier.com/hooks/catch/", "maker.ifttt.com/trigger/",
}

// address masks a password in a URL whose "://" begins at i, and the path of a hook.
func (sc *scanner) address(i int) int {
	s := sc.s
	from := i + len("://")
	switch {
	case strings.HasPrefix(s[i:], "://"):
	case strings.HasPrefix(s[i:], `:\/\/`):
		from = i + len(`:\/\/`)
	default:
		return i + 1
	}
	end := from
	for end < len(s) && s[end] > ' ' && strings.IndexByte("/?#\"'<>\\`", s[end]) < 0 {
		end++
	}
	if at := strings.LastIndexByte(s[from:end], '@'); at > 0 {
		user, _, both := strings.Cut(s[from:from+at], ":")
		switch {
		case both && maskAt(s[from+len(user)+1:]) != at-len(user)-1:
			return sc.mask(from+len(user)+1, from+at, "")
		case !both && len(user) >= 16 && hasDigit(user):
			return sc.mask(from, from+at, "")
		}
		return from + at
	}
	for _, hook := range hooks {
		host, path, _ := strings.Cut(hook, "/")
		if rest := s[end:]; strings.HasSuffix(s[from:end], host) && strings.HasPrefix(strings.TrimPrefix(rest, "/"), path) {
			begin := end + 1 + len(path)
			end := run(s, begin, token|dots|signs)
			for end < len(s) && s[end] == '@' { // of a hook of Office
				end = run(s, end+1, token|dots|signs)
			}
			return sc.mask(begin, end, "")
		}
	}
	return from
}

package redact

import "strings"

// scanner finds what looks like a secret in a line, in one pass.
type scanner struct {
	ahead
	spans     []span
	programs  *programs
	connected connected
	kty       uint8 // whether it is in the line: 0 unknown, 1 no, 2 yes
}

// inWord says which bytes words are made of; what is no ASCII is one.
var inWord = func() (t [256]bool) {
	for i := range t {
		t[i] = i >= 0x80 || alphabets[i]&token != 0
	}
	return t
}()

// scan returns what to mask in a line or a piece of one, of which the line before has said
// something. The spans are in order and
// do not overlap.
func scan(line string, said promise, looked *int) []span {
	sc := scanner{ahead: ahead{s: line}}
	for i := sc.promised(said); i < len(line); {
		switch c := line[i]; {
		case inWord[c]:
			i = sc.word(i)
		case c == '\\':
			i = behindEscape(line, i)
		case c == '%' && i+2 < len(line) && hexDigit[line[i+1]] > 0 && hexDigit[line[i+2]] > 0:
			i += 3
		case c == ':':
			i = sc.colon(i)
		case c == '$':
			i = sc.hashed(i)
		case c == '[':
			i += max(1, maskAt(line[i:]))
		default:
			i++
		}
	}
	*looked += len(line) + sc.looked
	return sc.spans
}

// behindEscape returns where text continues behind backslashes and what they escape:
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

// word looks at the word that begins at i, and returns where to continue.
func (sc *scanner) word(i int) int {
	s, begin := sc.s, i
	for {
		if end := sc.keyAt(i); end > i {
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
	if s[begin] == '-' && i-begin >= 2 && (optionAt[s[begin+1]] || s[i-1] == 'u') {
		if end := (commandLine{sc}).option(begin, i); end > i {
			return end
		}
	}
	if end := (commandLine{sc}).program(begin, i); end > i {
		return end
	}
	if i-begin < 3 || !lastLetters[lettersOf(s[begin:i])] {
		return i
	}
	if k := kindOf(s[begin:i]); k != none {
		return sc.named(k, begin, i)
	}
	return i
}

// named looks at what is behind a name, and returns where to continue.
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
	case sc.element(k, begin, end), place{sc}.placed(k, begin, end), sc.said(k, begin, end):
		return sc.spans[len(sc.spans)-1].end
	case k == spoken, k == strong && s[begin] == '-', k == strong && variable(s[begin:end]) && strings.Contains(s[begin:end], "_"): // ENV API_TOKEN 123abc
		return sc.spoken(k, begin, end)
	case k == strong && sets(s[:begin]): // config set secret_key x
		return sc.positional(sc.arguments(end, 1), 0, end)
	case k == weak && (strings.HasSuffix(s[begin:end], "Auth") || strings.HasSuffix(s[begin:end], "auth")):
		return place{sc}.login(end)
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
	case s[i] == '<' && len(s) > i+3 && s[i+1] == '-' && quoteAt(s, behindSpace(s, i+2)) != "": // of R
		n = 2
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
func (sc *scanner) spoken(k kind, begin, end int) int {
	s := sc.s
	v := behindSpace(s, end)
	if v == end || v >= len(s) {
		return end
	}
	flag, upper := s[begin] == '-', variable(s[begin:end])
	if quoteAt(s, v) != "" {
		from, stop, ok := sc.quotedAt(v)
		word := lettersOf(s[begin:end]) != lettersOf("token") && stop-from >= 4 && !strings.ContainsAny(s[from:stop], " \t(){}[]")
		if !ok || !flag && !(upper && strings.Contains(s[begin:end], "_")) && !(k == spoken && word) {
			return end
		}
		return sc.mask(from, stop, "")
	}
	stop := sc.trimmed(v, sc.bare(v, false))
	stop = sc.back(v, stop, ".:!?")
	value := s[v:stop]
	switch {
	case maskAt(value) > 0 || sc.placeholder(v, stop):
		return end
	case len(value) >= 4 && (flag && inCommand(s, value, stop) || sc.credential(begin)),
		len(value) >= 6 && (hasDigit(value) || len(value) >= 20 && run(value, 0, letters) == len(value) || flag && len(value) >= 8),
		len(value) >= 6 && upper && strings.HasSuffix(s[:begin], "ENV "):
		return sc.mask(v, stop, "")
	}
	return end
}

// inCommand reports whether the word that ends at i is the value of an option and no word of a
// sentence about it: what follows is nothing, another option, or no word.
func inCommand(s, value string, i int) bool {
	if ordinary(value) {
		return false
	}
	next := behindSpace(s, i)
	if next >= len(s) || strings.IndexByte("\r\n\\-|;&'\"`", s[next]) >= 0 {
		return true
	}
	word := next
	for word < len(s) && s[word] > ' ' {
		word++
	}
	return strings.ContainsAny(s[next:word], "/:=@")
}

// ordinary reports whether a word is one that sentences about options have behind them.
func ordinary(word string) bool {
	switch word {
	case "flag", "flags", "option", "options", "switch", "value", "values", "argument", "parameter", "setting", "instead", "again", "twice", "first", "here", "there",
		"with", "from", "when", "then", "that", "this", "into", "must", "should", "will", "does", "only", "also", "file", "field", "your", "which", "because":
		return true
	}
	return false
}

// credential reports whether what is before a name is the beginning of an entry of .netrc,
// or a command that is given a password by its place.
func (sc *scanner) credential(begin int) bool {
	before := sc.s[max(0, begin-near):begin]
	if !strings.Contains(before, "login ") && !strings.Contains(before, "account ") {
		return strings.Contains(before, "nmcli") && commandLine{sc}.ran(nmcli, begin)
	}
	words := strings.Fields(strings.ReplaceAll(before, `\n`, " "))
	if n := len(words); n >= 2 && (words[n-2] == "login" || words[n-2] == "account") && (n == 2 || words[n-3] == "default" || n >= 4 && strings.HasSuffix(words[n-4], "machine")) {
		return true
	}
	return strings.Contains(before, "nmcli") && commandLine{sc}.ran(nmcli, begin)
}

// sets reports whether what is before a name is the beginning of a command that sets it.
func sets(before string) bool {
	before = before[max(0, len(before)-near):]
	at := strings.LastIndex(before, " set ")
	return at >= 0 && strings.IndexByte(before[at+len(" set "):], ' ') < 0
}

// login masks the second text of auth=("name", "password") and BasicAuth("name", "password"),
// whose name ends at i.
func (p place) login(i int) int {
	v := i
	if v >= len(p.s) || p.s[v] != '(' {
		return i
	}
	_, end, ok := p.quotedAt(behindSpace(p.s, v+1))
	if !ok {
		return i
	}
	comma := behindSpace(p.s, end+len(quoteAt(p.s, end)))
	if comma >= len(p.s) || p.s[comma] != ',' {
		return i
	}
	from, stop, ok := p.quotedAt(behindSpace(p.s, comma+1))
	if !ok {
		return i
	}
	return p.mask(from, stop, "")
}

// colon looks at what is around a colon, and returns where to continue.
func (sc *scanner) colon(i int) int {
	if i > 0 && i+1 < len(sc.s) && (sc.s[i+1] == '*' || alphabets[sc.s[i+1]]&digits != 0) {
		if end := sc.passLine(i); end > i {
			return end
		}
	}
	return sc.address(i)
}

// hashes are what hashes of passwords begin with.
var hashes = []string{"$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$argon2", "$scrypt$", "$pbkdf2"}

// hashed masks the hash of a password that begins at i.
func (sc *scanner) hashed(i int) int {
	const least = 30
	for _, prefix := range hashes {
		if !strings.HasPrefix(sc.s[i:], prefix) {
			continue
		}
		end := i
		for end < len(sc.s) && (alphabets[sc.s[end]]&(token|dots|signs) != 0 || sc.s[end] == '$' || sc.s[end] == ',') {
			end++
		}
		if end-i >= least {
			return sc.mask(i, end, "")
		}
	}
	return i + 1
}

// element masks the text of <password>...</password>, and reports whether there is one.
func (sc *scanner) element(k kind, begin, end int) bool {
	s := sc.s
	if k != spoken && k != strong || begin == 0 || s[begin-1] != '<' || end >= len(s) || s[end] != '>' {
		return false
	}
	stop := sc.nextAny(end+1, "<")
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
	switch {
	case v == end || k != spoken && k != number && !(k == strong && s[begin] != '-') && !keyOf(s[:begin], s[begin:end]):
		return false
	case isVerb(s[v:verb]):
	case strings.EqualFold(s[v:verb], "for"):
		if verb = sc.whose(verb); verb < 0 {
			return false
		}
	default:
		return false
	}
	v = behindSpace(s, verb)
	if from, stop, ok := sc.quotedAt(v); ok && s[verb-1] == '=' { // of SQL
		sc.mask(from, stop, "")
		return true
	}
	if v < len(s) && s[v] == ':' {
		v = behindSpace(s, v+1)
	}
	if v == verb || v >= len(s) {
		return false
	}
	v += len(quoteAt(s, v))
	stop := sc.trimmed(v, sc.bare(v, false))
	stop = sc.back(v, stop, ".:!?\"'`/")
	if value := s[v:stop]; maskAt(value) > 0 || !sc.looksSecret(v, stop) && !(k == number && fourDigits(value)) {
		return false
	}
	sc.mask(v, stop, "")
	return true
}

func fourDigits(value string) bool {
	return len(value) >= 4 && len(value) <= 12 && run(value, 0, digits) == len(value)
}

// whose returns where "password for the database: x" continues behind its colon, and SET PASSWORD
// FOR 'a' = 'x' behind its sign, of which "for" ends at i; -1 for another sentence.
func (sc *scanner) whose(i int) int {
	const most = 40
	rest := sc.s[i:min(len(sc.s), i+most)]
	at := strings.IndexAny(rest, ":=.,;!?\n")
	if at < 0 || rest[at] != ':' && rest[at] != '=' || i+at+1 >= len(sc.s) || sc.s[i+at+1] != ' ' {
		return -1
	}
	return i + at + 1
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
	switch len(word) {
	case 2:
		return strings.EqualFold(word, "is") || strings.EqualFold(word, "es")
	case 3:
		return strings.EqualFold(word, "was") || strings.EqualFold(word, "are") || strings.EqualFold(word, "ist") || strings.EqualFold(word, "est")
	case 6:
		return strings.EqualFold(word, "equals") || strings.EqualFold(word, "lautet")
	}
	return false
}

// looksSecret reports whether a value in a sentence can be no ordinary word.
func (sc *scanner) looksSecret(begin, end int) bool {
	const least = 8
	if end-begin < least || !sc.digit(begin, end) || sc.nextAny(begin, "(){}[]<>/$") < end || kindOf(sc.s[begin:end]) != none {
		return false
	}
	number := sc.run(begin, digits|dots|dashes) // a version, a date, a number and its unit
	if sc.s[begin] == 'v' {
		number = sc.run(begin+1, digits|dots|dashes) - 1
	}
	return sc.next(begin, letters) < end && (min(number, end)-begin)*2 < end-begin
}

// credentials masks what is behind "Bearer" or "Basic" if it looks like that.
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
	if at := unescaped(s, from, end); at > 0 {
		colon := from + strings.IndexByte(s[from:end], ':') + 1
		if maskAt(s[colon:at]) == at-colon {
			return at
		}
		return sc.mask(colon, at, "")
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

// unescaped returns where the @ is of an address name:password@host whose password has signs
// that end a host, of which the first is at end; 0 if it is another address.
func unescaped(s string, from, end int) int {
	colon := strings.IndexByte(s[from:end], ':')
	if colon <= 0 || end >= len(s) || strings.IndexByte("/?#", s[end]) < 0 || run(s, from+colon+1, digits) == end || s[from] == '[' {
		return 0
	}
	stop := end
	for most := min(len(s), end+near); stop < most && s[stop] > ' ' && strings.IndexByte("\"'<>\\`", s[stop]) < 0 && !strings.HasPrefix(s[stop:], "://"); {
		stop++
	}
	if at := strings.LastIndexByte(s[end:stop], '@'); at > 0 {
		return end + at
	}
	return 0
}

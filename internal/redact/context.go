package redact

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// A context is a form of commands, files and sentences in which a secret has no name and
// separator before it. One of words is in it, and the groups of its pattern are the secrets;
// the group "name" has to be the name of one.
type context struct {
	words string // in small letters, with a blank between them
	form  pattern.Pattern
	need  need
	back  int  // how many bytes before the word the form may begin
	lines bool // it may go over the end of a line
}

// A need is what a value has to look like to be a secret in a context.
type need uint8

const (
	noWord      need = iota // four bytes or more, no word of a sentence about it
	anyValue                // anything
	cookiePairs             // name=value
	looks                   // see looksSecret
	drawnOrLong             // with a digit or a capital within, or long

	whole need = 8 // also with the brackets and signs that it ends with
)

// near is how many bytes a value may be behind the word of its context.
const near = 300

// macros of forms: Q is a text in quotes, V a value with or without, P: and the like what is
// behind the sign in a pair, W an argument.
var macros = func() *strings.Replacer {
	const quoted = `'\\''([^'\n]+)'\\''|\\+"([^",}\]:\s\\][^"\n]*?)\\+"|'([^'"\n]+)'|"([^",}\]:\s\\](?:[^"\\\n]|\\.)*)"`
	const bare = "([^\\s\"'`\\\\;|&<\\[][^\\s\"'`\\\\;|&]*)"
	all := []string{"«Q»", "(?:" + quoted + ")", "«V»", "(?:" + quoted + "|" + bare + ")", "«W»", `(?:'[^'"\n]*'|"[^"\n]*"|[^\s"']+)`}
	for _, sign := range []string{":", ",", "%", "="} {
		all = append(all, "«P"+sign+"»", strings.ReplaceAll(`(?:'\\+''[^'"\n`+sign+`]*`+sign+`([^'"\n]+)'\\+''|'[^'"\n`+sign+`]*`+sign+`([^'"\n]+)'|\\*"[^"\n`+sign+`]+`+sign+`([^"\n\\]+)\\*"|[^\s"'\\`+sign+`]*`+sign+bare+`)`, "\n", `\n`))
	}
	return strings.NewReplacer(all...)
}()

// Contexts that others refer to.
const (
	connection = iota // what strings of connections begin with
	passLine          // of .pgpass: host:port:database:user:password
)

var contexts = []context{
	connection: {words: "server source uid id user host driver jdbc endpoint"},
	passLine:   {form: form("(?:^|[\\s\"'`>|(→])[\\w.*/-]+:(?:\\d{4,5}|\\*):[\\w.*-]*[A-Za-z*][\\w.*-]*:[\\w.*-]+:([^\\s\"'`\\\\-][^\\s\"'`\\\\]*)"), need: anyValue, back: far},

	{words: "sshpass login mongosh mongo mongodump mongorestore snowsql", form: form(`[ \t]-p(?:[ \t]+|=)«V»`)},
	{words: "sshpass login mysql mysqldump mysqladmin mysqlimport mariadb mariadb-dump 7z 7za 7zz", form: form(`[ \t]-p«V»`)},
	{words: "redis-cli", form: form(`[ \t]-a[ \t]+«V»`)},
	{words: "http xh", form: form(`[ \t]-a[ \t]+«P:»`), need: anyValue},
	{words: "curl", form: form(`[ \t](?:-[sSLkfiIvgGjNqaO0#]*u[ \t]*|--(?:proxy-)?user[ \t=]+)«P:»`), need: anyValue},
	{words: "curl", form: form(`[ \t](?:-b|--cookie)[ \t=]+«V»`), need: cookiePairs},
	{words: "lftp", form: form(`[ \t]-u[ \t]+«P,»`), need: anyValue},
	{words: "smbclient rpcclient", form: form(`[ \t]-U[ \t]+«P%»`), need: anyValue},
	{words: "ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami", form: form(`[ \t]-w[ \t]+«V»`)},
	{words: "zip unzip", form: form(`[ \t]-P[ \t]*«V»`)},
	{words: "openssl", form: form(`[ \t]-[kK][ \t]+«V»`)},
	{words: "openssl", form: form(`[ \t]-pass(?:in|out)?[ \t]+['"]?pass:«V»`), need: anyValue},
	{words: "kubectl oc", form: form(`--from-literal[ =]«P=»`), need: anyValue},
	{words: "secret", form: form(`[ \t](?:--body[ =]|-b[ \t]*)«V»`)},
	{words: "secretsmanager", form: form(`--secret-string[ =]«V»`)},
	{words: "securestring", form: form(`--value[ =]«V»`)},
	{words: "echo printf", form: form(`(?:echo|printf)(?:[ \t]+-\w+)*[ \t]+(?:\\*['"]?%s\S*[ \t]+)?(?:«Q»|([^\s"'\x60\\|;&-][^"'\x60\\|\n]*?))[ \t]*\|[^|\n][^\n]*?(?:` + // into what reads a secret from it
		`--password-stdin|--pass-stdin|--with-token|--passphrase-fd|sudo (?:-S|--stdin)|chpasswd|passwd --stdin|secrets? (?:put|set|create|import)|versions add|pass(?:in)?[ :]stdin|cryptsetup|vault |--auth-token -)`), need: anyValue},
	{words: "net", form: form(`(?i)net[ \t]+use(?:[ \t]+[a-z]:)?[ \t]+\\{2,}\S+(?:[ \t]+/\S+)*[ \t]+([^\s/"'*\\\[][^\s"'\\]*)`)},
	{words: "net", form: form(`(?i)net[ \t]+user[ \t]+«W»[ \t]+([^\s/"'*\\\[][^\s"'\\]*)[ \t]+/(?:add|active)`)},
	{words: "identified", form: form(`(?i)identified(?:[ \t]+\w+){0,3}[ \t]+by[ \t]+«Q»`), need: anyValue},
	{words: "htpasswd", form: form(`htpasswd[ \t]+-(?:\w*n\w*b|\w*b\w*n)\w*[ \t]+«W»[ \t]+«V»`)},
	{words: "htpasswd", form: form(`htpasswd[ \t]+-\w*b\w*[ \t]+«W»[ \t]+«W»[ \t]+«V»`)},
	{words: "add_user change_password wpa_passphrase", form: form(`(?:add_user|change_password|wpa_passphrase)[ \t]+«W»[ \t]+«V»`)},
	{words: "convertto-securestring", form: form(`String[ \t]+«V»`)},
	{words: "sqlplus", form: form(`sqlplus(?:[ \t]+-\S+)*[ \t]+\\*['"]?\w+/([^\s@"'/\\]+)@`), need: anyValue},
	{words: "thin", form: form(`thin:\w+/([^\s@"'/\\]+)@`), need: anyValue},
	{words: "secrets kv set", form: form(`(?:secrets[ \t]+set|kv[ \t]+put|config:set)(?:[ \t]+[^\s=]+(?:=\[redacted\])?)*?[ \t]+[\w./-]+=«V»`)},
	{words: "config", form: form(`config[ \t]+set[ \t]+\S*(?i:token|password|secret|_auth|[_-]key)[ \t]+«V»`)},
	{words: "nmcli", form: form(`password[ \t]+«V»`)},
	{words: "machine default", form: form(`(?:machine(?:\s|\\n)+[^\s\\]+|default)(?:\s|\\n)+(?:login|account)(?:\s|\\n)+[^\s\\]+(?:\s|\\n)+password(?:\s|\\n)+«V»`), lines: true},
	{words: "value", form: form(`(?i)\b(?:name|key)\\*["']?\s*[:=]\s*\\*["']?(?P<name>[\w.-]+)(?:[\s,"'}{(]|\\n|\\+["'])*\bvalue\\*["']?\s*[:=]\s*«V»`), need: anyValue, back: 2 * far, lines: true},
	{words: "phrase seed_phrase recovery_phrase", form: form(`(?i)(?:seed|recovery|backup|secret)[ _-]*phrase(?:[ \t]+(?:is|was|are))?["'\x60:= \t]+((?:[a-z]+ ){11,}[a-z]+)`), need: anyValue, back: 16},
	{words: "creds credentials login pass", form: form(`(?i)(?:creds|credentials|login|pass)[ \t]*(?::|[ \t](?:is|are|was|with|as)[ \t])[ \t]*\\*["']?[\w.@-]+[:/]«V»`), need: looks},
	{words: "kty", form: form(`"(?:d|p|q|dp|dq|qi|k)\\*"\s*:\s*\\*"([\w+/=-]{20,})`), need: anyValue, back: 8 * near, lines: true},
}

// form returns the pattern of a text with macros.
func form(text string) pattern.Pattern { return pattern.New(macros.Replace(text)) }

// inContexts masks what the contexts hold whose words are there.
func (sc *scanner) inContexts() {
	for n, c := range contexts {
		for hits := sc.hits[n]; len(hits) > 0 && n != connection; {
			from := max(0, hits[0]-c.back)
			end := from
			for len(hits) > 0 && hits[0] <= end+c.back+1 {
				end = max(end, min(len(sc.s), hits[0]+near+c.back))
				if !c.lines {
					end = min(end, sc.find("command", hits[0], commandEnd))
				}
				hits = hits[1:]
			}
			sc.looked += end - from
			sc.inContext(c, from, end)
		}
	}
}

// commandEnd returns where the command ends that i is in: with its line, unless that is continued.
func commandEnd(s string, i int) int {
	for ; i < len(s); i++ {
		if s[i] == '\n' && (i == 0 || s[i-1] != '\\') {
			break
		}
	}
	return i
}

// inContext masks what the form of a context finds in a part of the text.
func (sc *scanner) inContext(c context, from, end int) {
	re, part := c.form.Regexp(), sc.s[from:end]
	if strings.HasPrefix(re.String(), `[ \t]`) && !strings.Contains(part, " -") && !strings.Contains(part, "\t-") {
		return // no option is there
	}
	named := 2 * re.SubexpIndex("name")
	for _, m := range re.FindAllStringSubmatchIndex(part, -1) {
		if named > 0 && !classifyName(sc.s[from+m[named]:from+m[named+1]]).sure() {
			continue
		}
		begin, stop := sc.matchBounds(m, from, end)
		sc.maskIf(c.need, begin, stop)
	}
}

// matchBounds returns where the value is that a pattern has found between from and end.
func (sc *scanner) matchBounds(m []int, from, end int) (begin, stop int) {
	begin, stop = lastGroup(m)
	if stop += from; stop == end { // the value is longer than what was looked at
		stop = sc.nextAny(stop, " \t\r\n\"'`\\")
	}
	return from + begin, stop
}

// lastGroup returns where the last group is that a pattern has found.
func lastGroup(m []int) (begin, end int) {
	for len(m) > 2 && m[len(m)-1] < 0 {
		m = m[:len(m)-2]
	}
	return m[len(m)-2], m[len(m)-1]
}

// maskIf masks a value if it is what is needed. It returns its end, or 0.
func (sc *scanner) maskIf(need need, begin, end int) int {
	if need&whole == 0 {
		end = max(begin, sc.trimBrackets(begin, end))
	}
	value, ok := sc.s[begin:end], true
	switch need &^ whole {
	case noWord:
		ok = len(value) >= 4 && !strings.Contains(value, "://") && !slices.Contains(ordinary, value)
	case cookiePairs:
		ok = strings.Contains(value, "=")
	case drawnOrLong:
		ok = len(value) >= 8 && (hasDigit(value) || caseChange.MatchString(value) || len(value) >= 24)
	case looks:
		if need == looks {
			end = max(begin, sc.back(begin, end, ".:,!?)\"'`/"))
		}
		ok = sc.looksSecret(begin, end)
	}
	if !ok || sc.placeholder(begin, end) {
		return 0
	}
	return sc.mask(begin, end)
}

// ordinary are words that sentences about options have behind them.
var ordinary = strings.Fields("flag flags option options switch value values argument parameter setting instead again twice first here there with from when then that this into must should will does only also file field your which because")

// place is a form in which a value follows its name without a separator.
type place struct {
	form   pattern.Pattern
	need   need
	before pattern.Pattern // of the text before the name, the sign » and the name
}

func newPlace(text string, need need, before string) place {
	return place{form(`\A` + text), need, pattern.New(before)}
}

// places are the forms of values of names that surely are of secrets, by the text that follows.
var places = map[byte][]place{
	',': {
		newPlace(`(?:'\\+''|\\*["'\x60])\s*,\s*«Q»`, anyValue, `\((?:'\\+''|\\*["'\x60])»[A-Z_][A-Z0-9_-]{2,}\z`),
		newPlace(`(?:'\\+''|\\*["'\x60])?\s*,\s*«Q»`, looks, `\(["'\x60\\]*»`), // in a call, the first argument
	},
	'(': {newPlace(`\(\s*«Q»`, noWord, `»(?i:set|with)`), newPlace(`\(\s*«Q»`, looks, `\.»`)},
	'|': {newPlace(`[ \t]*\|[ \t]*[\x60*"']{0,3}([^\s|\x60*"'\\]+)[\x60*"']{0,3}[ \t]*\|`, looks, "")},
	'>': {newPlace(`\\*["']>\s*([^\s<"\\]+)\s*</`, looks, ""), newPlace(`>([^\n<"\\]+)</`, anyValue, "<»")},
	'S': typed, 's': typed, 'b': typed,
}

var (
	typed  = []place{newPlace(`[ \t]+[A-Za-z_][\w.]*[ \t]*=[ \t]*«Q»`, anyValue, "")}
	logins = []place{newPlace(`[ \t]*\([ \t]*(?:'[^'"\n]*'|\\*"[^"\n]*")[ \t]*,[ \t]*«Q»`, anyValue, "")}
	// what is behind "Bearer" or "Basic", and behind pin:
	bearers = []place{newPlace(`[ \t]+([\w.+/=~-]*[\w+/=~-])`, drawnOrLong, "")}
	pins    = []place{newPlace(`(\d{4,12})(?:[^\w-]|\z)`, anyValue, "")}
	// what is in a block, or on the line below a name
	below = []place{
		newPlace(`[|>][-+]?[ \t]*\r?\n[ \t]+["']?([^\s"']{4,})["']?,?[ \t]*(?:\r?\n|\z)`, anyValue|whole, ""),
		newPlace(`\r?\n[ \t]+["']?([^\s"']+)["']?,?[ \t]*(?:\r?\n|\z)`, looks|whole, ""),
	}
	// what a sentence says of a secret, and what SQL sets
	statement    = newPlace(`[ \t]+(?i:is|was|are|equals|ist|est|es|lautet)\b(?:[ \t]*:)?[ \t]+\\*["'\x60]?([^\s"'\\\x60]+)`, looks, "")
	pinned       = newPlace(`[ \t]+(?i:is|was|are|ist)(?:[ \t]*:)?[ \t]+(\d{4,12})\b`, anyValue, "")
	statementFor = newPlace(`[ \t]+for[ \t][^.,;!?\n:=]{0,40}:[ \t]+([^\s"'\\\x60]+)`, looks, "")
	settingFor   = newPlace(`(?i:[ \t]+for[ \t][^.,;!?\n:=]{0,40})=[ \t]+«Q»`, anyValue, "")
)

// maskByPlace masks a value that belongs to a name by its place: in a call, a row of a table, an element
// of XML, a sentence. It returns where to continue; the end of the name if there is none.
func (sc *scanner) maskByPlace(n name, end int) int {
	s := sc.s
	sure := n.kind.sure()
	var tries []place
	switch next := at(s, behindSpace(s, end+len(quoteAt(s, end)))); {
	case sure && places[next] != nil:
		tries = places[next]
	case n.kind == weak && next == '(' && strings.HasSuffix(strings.ToLower(n.text), "auth"):
		tries = logins
	}
	if next := at(s, end+1) | 0x20; at(s, end) == ' ' && strings.IndexByte("iwaelf ", next) >= 0 && (sure && n.text[0] != '-' || keyForm.MatchString(sc.textBefore(n))) {
		tries = append(slices.Clip(tries), statement, statementFor, settingFor)
	} else if n.kind == number {
		tries = []place{pinned}
	}
	if stop := sc.tryPlaces(tries, n, end); stop > end {
		return stop
	}
	if n.kind == spoken || sure && (n.text[0] == '-' || variable(n.text) && strings.Contains(n.text, "_")) { // ENV API_TOKEN 123abc
		return sc.spoken(n, end)
	}
	return end
}

// textBefore returns the text before a name, the sign » and the name.
func (sc *scanner) textBefore(n name) string {
	return strings.TrimRight(sc.s[max(0, n.begin-far):n.begin], " \t") + "»" + n.text
}

// tryPlaces masks the value of a name that ends at end in the first of places that is there, and
// returns where to continue; end if there is none.
func (sc *scanner) tryPlaces(tries []place, n name, end int) int {
	s := sc.s
	for _, p := range tries {
		m := p.form.FindStringSubmatchIndex(s[end:min(len(s), end+near)])
		if m == nil || !p.before.MatchString(sc.textBefore(n)) {
			continue
		}
		begin, stop := sc.matchBounds(m, end, min(len(s), end+near))
		if stop := sc.maskIf(p.need, begin, stop); stop > 0 {
			return stop
		}
	}
	return end
}

// spoken masks a value behind a name without a separator, "password hunter2", if it
// looks like one and not like the next word of a sentence.
func (sc *scanner) spoken(n name, end int) int {
	s := sc.s
	v := behindSpace(s, end)
	if v == end || v >= len(s) {
		return end
	}
	flag, upper := n.text[0] == '-', variable(n.text)
	if q := quoteAt(s, v); q != "" {
		from := v + len(q)
		stop, ok := sc.findQuoteEnd(from, q)
		word := endingKey(n.text) != endingKey("token") && stop-from >= 4 && !strings.ContainsAny(s[from:min(stop, from+near)], " \t(){}[]")
		if !ok || sc.closes(v, q) || sc.placeholder(from, stop) || !flag && !(upper && strings.Contains(n.text, "_")) && !(n.kind == spoken && word) {
			return end
		}
		return sc.mask(from, stop)
	}
	stop := sc.back(v, sc.trimBrackets(v, sc.bare(v, false)), ".:!?")
	value := s[v:stop]
	if maskAt(value) == 0 && (flag && len(value) >= 4 && !slices.Contains(ordinary, value) && commandForm.MatchString(s[stop:min(len(s), stop+far)]) ||
		len(value) >= 6 && (hasDigit(sc.s[v:min(stop, v+far)]) || len(value) >= 20 && run(value, 0, letters) == len(value) || flag && len(value) >= 8) ||
		len(value) >= 6 && upper && strings.HasSuffix(s[:n.begin], "ENV ")) && !sc.placeholder(v, stop) {
		return sc.mask(v, stop)
	}
	return end
}

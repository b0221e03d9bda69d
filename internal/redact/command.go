package redact

import (
	"math/bits"
	"strings"
)

// commandLine finds what programs are given as secrets.
type commandLine struct{ *scanner }

// A form is how a program is given a secret on its command line.
type form uint8

const (
	whole    form = iota // the value itself
	behind               // behind the first of a sign: name:password, name%password
	sourced              // pass:value, as openssl has it; env:NAME and file:NAME hold none
	cookies              // pairs; without = it is the name of a file
	attached             // -pVALUE
)

// option is a short option by which a program is given a secret. To other programs it is
// another thing.
type option struct {
	programs string // with a blank between them
	flag     string
	form     form
	sign     string // of behind
}

var options = []option{
	{programs: "sshpass login mongosh mongo mongodump mongorestore snowsql", flag: "-p"},
	{programs: "sshpass mysql mysqldump mysqladmin mysqlimport mariadb mariadb-dump 7z 7za 7zz podman docker", flag: "-p", form: attached},
	{programs: "redis-cli", flag: "-a"},
	{programs: "http https xh", flag: "-a", form: behind, sign: ":"},
	{programs: "curl", flag: "-u", form: behind, sign: ":"},
	{programs: "curl", flag: "--user", form: behind, sign: ":"},
	{programs: "curl", flag: "--proxy-user", form: behind, sign: ":"},
	{programs: "curl", flag: "-b", form: cookies},
	{programs: "curl", flag: "--cookie", form: cookies},
	{programs: "lftp", flag: "-u", form: behind, sign: ","},
	{programs: "smbclient rpcclient", flag: "-U", form: behind, sign: "%"},
	{programs: "ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami", flag: "-w"},
	{programs: "zip unzip", flag: "-P"},
	{programs: "zip unzip", flag: "-P", form: attached},
	{programs: "openssl", flag: "-k"},
	{programs: "openssl", flag: "-K"},
	{programs: "openssl", flag: "-pass", form: sourced},
	{programs: "openssl", flag: "-passin", form: sourced},
	{programs: "openssl", flag: "-passout", form: sourced},
	{programs: "kubectl oc", flag: "--from-literal", form: behind, sign: "="},
	{programs: "secret", flag: "--body"},
	{programs: "secret", flag: "-b"},
	{programs: "secret", flag: "-b", form: attached},
	{programs: "secretsmanager", flag: "--secret-string"},
	{programs: "SecureString", flag: "--value"},
}

// optionAt holds which bytes the flags of options have behind their dash.
var optionAt = func() (t [256]bool) {
	for _, o := range options {
		t[o.flag[1]] = true
	}
	return t
}()

// near is how many bytes the name of a program may be before its option.
const near = 300

// option masks what a program is given as a secret by the option between begin and end. It
// returns where to continue; end where there is nothing of the kind.
func (c commandLine) option(begin, end int) int {
	s := c.s
	flag := s[begin:end]
	for n, o := range options {
		v := end
		switch {
		case flag == o.flag && o.form != attached:
			v = behindSpace(s, end)
			if v < len(s) && s[v] == '=' {
				v++
			}
			if v == end {
				continue
			}
		case o.form == attached && strings.HasPrefix(flag, o.flag) && !strings.HasPrefix(flag, "--"),
			o.flag == "-u" && strings.HasPrefix(flag, o.flag): // curl -uname:password
			v = begin + len(o.flag)
		case o.flag == "-u" && clustered(flag): // curl -su name:password
			if v = behindSpace(s, end); v == end {
				continue
			}
		default:
			continue
		}
		if v < len(s) && c.ran(n, begin) {
			if stop := c.argument(o, v); stop > v {
				return stop
			}
		}
	}
	return end
}

// clustered reports whether -u is the last of several short options in one.
func clustered(flag string) bool {
	return len(flag) > 2 && flag[1] != '-' && flag[len(flag)-1] == 'u' && strings.Trim(flag[1:len(flag)-1], "sSLkfiIvgGjNqaO0#") == ""
}

// nmcli is the number of the program that is given a password by its place, behind options.
var nmcli = len(options)

// programOptions has the bits of the options of a program, by its name.
var programOptions = func() map[string]uint32 {
	m := map[string]uint32{"nmcli": 1 << nmcli}
	for n, o := range options {
		for program := range strings.FieldsSeq(o.programs) {
			m[program] |= 1 << n
		}
	}
	return m
}()

// maxProgram is the length of the longest name in programOptions.
const maxProgram = 14

// programs holds where programs have their names in the part of a line before done.
type programs struct {
	done int
	last [32]int // by option: behind the first byte of the last one; 0 for none
}

// ran reports whether a program of the option n is a word not far before begin.
func (c commandLine) ran(n, begin int) bool {
	if c.programs == nil {
		c.programs = new(programs)
	}
	p, s := c.programs, c.s
	p.done = max(p.done, begin-near)
	c.looked += max(0, begin-p.done) + 1
	for p.done < begin {
		end := run(s, p.done, token)
		if end >= begin {
			break
		}
		if n := end - p.done; n >= 2 && n <= maxProgram && (s[end] == ' ' || s[end] == '\t') {
			for of := programOptions[s[p.done:end]]; of != 0; of &= of - 1 {
				p.last[bits.TrailingZeros32(of)] = p.done + 1
			}
		}
		p.done = end + 1
	}
	return p.last[n] > max(0, begin-near)
}

// argument masks the secret in the value of an option that begins at v, and returns where
// the value ends; v if it holds none.
func (c commandLine) argument(o option, v int) int {
	from, end := c.commandWord(v)
	value := c.s[from:end]
	c.looked += len(value)
	switch o.form {
	case behind:
		name, secret, ok := strings.Cut(value, o.sign)
		if !ok || secret == "" {
			return v
		}
		from += len(name) + len(o.sign)
	case sourced:
		secret, ok := strings.CutPrefix(value, "pass:")
		if !ok || secret == "" {
			return v
		}
		from = end - len(secret)
	case cookies:
		if !strings.Contains(value, "=") {
			return v
		}
	default:
		if len(value) < 4 || strings.Contains(value, "://") || ordinary(value) {
			return v
		}
	}
	if c.placeholder(from, end) {
		return v
	}
	return c.mask(from, end, "")
}

// commandWord returns where the argument of a command lies that begins at v: between its quotes, or
// up to what ends it.
func (sc *scanner) commandWord(v int) (from, end int) {
	s := sc.s
	if q := quoteAt(s, v); q != "" {
		if sc.closes(v, q) {
			return v, v
		}
		from = v + len(q)
		end, _ = sc.closing(from, q)
		return from, end
	}
	return v, sc.trimmed(v, sc.wordEnd(v))
}

// wordEnd returns where an argument without quotes ends that begins at v.
func (sc *scanner) wordEnd(v int) int {
	k := lookFor{what: lookWord}
	if f, ok := sc.recall(k, v); ok && !inEscape(sc.s, v) {
		return f.end
	}
	f := seen{from: v, end: wordEnd(sc.s, v)}
	sc.note(k, f)
	return f.end
}

func wordEnd(s string, v int) int {
	end := v
	for ; end < len(s) && s[end] > ' ' && strings.IndexByte("\"'`;|&", s[end]) < 0; end++ {
		if s[end] != '\\' {
			continue
		}
		next := behindEscape(s, end)
		if quoteAt(s, end) != "" || strings.IndexByte("nrt", s[min(next, len(s))-1]) >= 0 {
			break
		}
		end = next - 1
	}
	return end
}

// placeholder reports whether a value represents a secret and is none: a variable, what a
// person is to fill in, another option, or a mask.
func (sc *scanner) placeholder(begin, end int) bool {
	value := sc.s[begin:end]
	if value == "" || maskAt(value) == len(value) || strings.TrimLeft(value, "*.x") == "" {
		return true
	}
	switch value[0] {
	case '<', '-', ' ', '+', '%':
		return true
	case '$':
		return strings.HasPrefix(value, "$(") || strings.HasPrefix(value, "$env:") || strings.HasPrefix(value, "${{") || sc.run(begin+1, token) >= end || strings.HasPrefix(value, "${") && sc.nextAny(begin, "}") == end-1
	case '{':
		return strings.HasPrefix(value, "{{")
	}
	return strings.HasPrefix(value, "@{") || strings.HasPrefix(value, "@/")
}

// sinks are what reads a secret from the command before it.
var sinks = []string{
	"--password-stdin", "--pass-stdin", "--with-token", "--passphrase-fd", "sudo -S", "sudo --stdin", "chpasswd", "passwd --stdin", "secret put", "secret set",
	"secrets set", "secrets import", "secret create", "secrets create", "versions add", "pass stdin", "passin stdin", "pass:stdin", "cryptsetup", "vault ", "--auth-token -",
}

// piped masks what echo or printf, which ends at i, passes to a program that reads a secret.
func (c commandLine) piped(i int) int {
	s := c.s
	v := behindSpace(s, i)
	line := s[i:min(len(s), i+near)]
	bar := strings.IndexByte(line, '|')
	if v == i || bar < 0 || i+bar <= v || strings.HasPrefix(line[bar:], "||") {
		return i
	}
	reads := false
	for _, sink := range sinks {
		reads = reads || strings.Contains(line[bar:], sink)
	}
	if !reads {
		return i
	}
	for s[v] == '-' { // -n
		next := behindSpace(s, run(s, v, token))
		if next == v || next >= i+bar {
			return i
		}
		v = next
	}
	from, end := c.commandWord(v)
	if next := behindSpace(s, end+len(quoteAt(s, end))); strings.Contains(s[from:end], "%s") && next < i+bar { // of printf
		from, end = c.commandWord(next)
	} else if from == v { // echo takes several
		end = v + len(strings.TrimRight(s[v:i+bar], " \t"))
		if quote := strings.IndexAny(s[v:end], "\"'`"); quote >= 0 { // it may be that of the text around the command
			end = v + len(strings.TrimRight(s[v:v+quote], " \t"))
		}
	}
	if end > i+bar || c.placeholder(from, end) {
		return i
	}
	return c.mask(from, end, "")
}

// placedLetters are the last three of the words that program knows, as lastLetters are.
var placedLetters = func() (t [1 << 15]bool) {
	for _, word := range []string{
		"echo", "printf", "use", "user", "value", "creds", "credentials", "login", "pass", "phrase", "identified", "htpasswd", "add_user", "change_password", "wpa_passphrase",
		"ConvertTo-SecureString", "sqlplus", "thin", "set", "put",
	} {
		t[lettersOf(word)] = true
	}
	return t
}()

// program masks what a program is given as a secret by its place, when the word between begin
// and end is its name.
func (c commandLine) program(begin, end int) int {
	s := c.s
	switch n := end - begin; {
	case n >= 3 && placedLetters[lettersOf(s[begin:end])]:
	case n < 3 && end < len(s) && s[end] == '"':
	default:
		return end
	}
	switch s[begin:end] {
	case "echo", "printf":
		return c.piped(end)
	case "use", "USE", "user", "USER":
		if before := strings.TrimRight(s[max(0, begin-8):begin], " "); len(before) >= 3 && strings.EqualFold(before[len(before)-3:], "net") {
			return c.netUse(end)
		}
	case "value", "Value":
		return place(c).listed(begin, end)
	case "creds", "credentials", "Credentials", "login", "Login", "pass":
		return place(c).pairSaid(end)
	case "phrase", "Phrase", "PHRASE":
		return place(c).phrase(begin, end)
	case "IDENTIFIED", "identified":
		return place(c).identified(end)
	case "d", "p", "q", "dp", "dq", "qi", "k":
		return place(c).webKey(begin, end)
	case "htpasswd":
		if args := c.arguments(end, 4); len(args) >= 3 && strings.HasPrefix(args[0].text, "-") && strings.Contains(args[0].text, "b") {
			return c.positional(args, 3-min(1, strings.Count(args[0].text, "n")), end)
		}
	case "add_user", "change_password", "wpa_passphrase":
		return c.positional(c.arguments(end, 2), 1, end)
	case "ConvertTo-SecureString":
		return c.positional(c.arguments(end, 1), 0, end)
	case "sqlplus":
		for _, a := range c.arguments(end, 3) {
			if stop := c.oracle(a, end); stop > end {
				return stop
			}
		}
	case "thin":
		if strings.HasSuffix(s[:begin], "jdbc:oracle:") && strings.HasPrefix(s[end:], ":") {
			from, stop := c.commandWord(end + 1)
			return c.oracle(arg{from, stop, s[from:stop]}, end)
		}
	case "set", "put", "config:set":
		if before := strings.TrimRight(s[max(0, begin-near):begin], " "); strings.HasSuffix(before, "secrets") || strings.HasSuffix(before, " kv") {
			return c.assigned(end)
		}
	}
	return end
}

// arg is an argument of a command.
type arg struct {
	from, end int
	text      string
}

// arguments are the next ones behind i, n at most.
func (sc *scanner) arguments(i, n int) []arg {
	var out []arg
	for len(out) < n {
		v := behindSpace(sc.s, i)
		if v == i || v >= len(sc.s) {
			return out
		}
		from, end := sc.commandWord(v)
		if end == from {
			return out
		}
		out = append(out, arg{from, end, sc.s[from:end]})
		if i = end; from > v {
			i += len(quoteAt(sc.s, end))
		}
	}
	return out
}

// positional masks the argument n, if there is one.
func (sc *scanner) positional(args []arg, n, end int) int {
	if n < 0 || n >= len(args) || len(args[n].text) < 4 || sc.placeholder(args[n].from, args[n].end) {
		return end
	}
	return sc.mask(args[n].from, args[n].end, "")
}

// oracle masks the password of user/password@host.
func (c commandLine) oracle(a arg, end int) int {
	slash := c.nextAny(a.from, "/")
	if slash == a.from || slash >= a.end {
		return end
	}
	from := slash + 1
	if at := c.last(from, a.end, "@"); at > from && !c.placeholder(from, at) {
		return c.mask(from, at, "")
	}
	return end
}

// netUse masks the password of "net use" and "net user" of Windows.
func (c commandLine) netUse(end int) int {
	args := c.arguments(end, 8)
	shares, adds := false, false
	var free []arg
	for _, a := range args {
		switch {
		case strings.HasPrefix(a.text, `\\`):
			shares = true
		case strings.HasPrefix(a.text, "/"):
			adds = adds || strings.HasPrefix(strings.ToLower(a.text), "/add") || strings.HasPrefix(strings.ToLower(a.text), "/active")
			shares = shares || strings.HasPrefix(strings.ToLower(a.text), "/user:")
		case len(a.text) != 2 || a.text[1] != ':':
			free = append(free, a)
		}
	}
	switch {
	case adds:
		return c.positional(free, 1, end)
	case shares:
		return c.positional(free, 0, end)
	}
	return end
}

// assigned masks the values of the pairs name=value that are arguments.
func (c commandLine) assigned(end int) int {
	for _, a := range c.arguments(end, 9) {
		if name, value, ok := strings.Cut(a.text, "="); ok && name != "" && len(value) >= 4 && !c.placeholder(a.from+len(name)+1, a.end) {
			c.mask(a.from+len(name)+1, a.end, "")
			end = a.end
		}
	}
	return end
}

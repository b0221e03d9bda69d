package mine

import (
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-f4525e22/skillopt/internal/draft"
)

// Suspicious says why no one may use a text before a person has looked at it: it asks to run,
// fetch, disable or send something, gives a lasting order, or names a URL, a command or a path,
// and the user's own words do not; or it repeats an instruction that is in what was pasted
// or answered. "" if there is no such thing.
func Suspicious(text string, own UserWords) string {
	for _, f := range findings(text) {
		if !own.have(f) {
			return fmt.Sprintf("it %s that no words of the user's own have: %s", f.kind, excerpt(f.what, 100))
		}
	}
	if said, found := own.repeats(text); found {
		return "it repeats an instruction from what was pasted or answered: " + excerpt(said, 100)
	}
	return ""
}

// FindMark returns what a person who reviews a text should look at although it is in the user's own
// words: what Suspicious names otherwise. It returns "" if there is no such thing.
func FindMark(text string, own UserWords) string {
	mark, _ := own.mark(text)
	return mark
}

// mark does what FindMark does; dangerous: a person has to look before the text is used. That a user names a
// file, or wants something from now on, is usual; to run or to reach something from now on is not.
func (u UserWords) mark(text string) (mark string, dangerous bool) {
	order, reach := lasting().MatchString(text), false
	for _, f := range findings(text) {
		if !u.have(f) {
			continue
		}
		danger := f.kind == kindDanger || f.kind == kindDisable || f.kind == kindSend || f.kind == kindSecret || f.kind == kindAccess || secrets().MatchString(f.what)
		order, reach = order || f.kind == kindOrder, reach || f.kind != kindOrder && f.kind != kindPath
		if mark == "" || danger && !dangerous {
			mark, dangerous = fmt.Sprintf("it %s, in the user's own words: %s", f.kind, excerpt(f.what, 100)), danger
		}
	}
	return mark, dangerous || order && reach
}

var (
	// secrets are files that hold some.
	secrets = newPattern(`(?i)(^|/)(\.env|\.ssh|\.aws|\.netrc|\.npmrc|id_rsa|authorized_keys)\b|\.(pem|key)$`)
	// lasting are words by which something is wanted again and again.
	lasting = newPattern(`(?i)\b(always|never|every time|each time|every (answer|reply|session)|immer|niemals|toujours|jamais|siempre|nunca)\b`)
)

// kind is what a finding is, as what "it" does.
type kind string

const (
	kindURL     kind = "names a URL or an address"
	kindPath    kind = "names a path"
	kindCommand kind = "names a command"
	kindDanger  kind = "names a command that reaches out or removes"
	kindRun     kind = "asks to run something"
	kindFetch   kind = "asks to fetch something"
	kindDisable kind = "asks to disable or ignore something"
	kindSend    kind = "asks to send something"
	kindOrder   kind = "gives a lasting order"
	kindSecret  kind = "gives away credentials"
	kindAccess  kind = "grants access"
	kindDefer   kind = "leaves what to do to something written elsewhere"
)

// finding is something in a text that a person has to see.
type finding struct {
	kind kind
	what string
}

// scan is one thing that is looked for.
type scan struct {
	kind    kind
	pattern pattern
}

// programs are names of programs that are no words of plain language.
const programs = `bash|zsh|ksh|csh|fish|pwsh|powershell|python3?|perl|ruby|php|npm|npx|pnpm|pip3?|pipx|uvx?|docker|podman|kubectl|git|gh|ssh|pytest|cmake|gcc|clang|javac?|mvn|gradle|dotnet|osascript|systemctl|launchctl|crontab|chmod|chown|mkdir|xargs|sed|awk|grep|tar|unzip|openssl|gpg|env|printenv|whoami|node|deno|bun|yarn|make|cargo|go|rustc|tsc|eslint`

// scans are ordered: what is found first is reported.
var scans = []scan{
	{kindURL, newPattern(`(?i)\b[a-z][a-z0-9+.-]{1,20}:\\?/\\?/[^\s<>"'` + "`" + `)\]}]+|\bwww\.[^\s<>"'` + "`" + `)\]}]+|\b(data|javascript|mailto):[^\s<>"']+`)},
	{kindURL, newPattern(`(?i)\b([a-z0-9-]{1,63}\.)+(com|net|org|io|dev|app|xyz|ru|cn|info|biz|top|site|online|example|test|onion|gg|cloud|tk|host|link|click|zip|mov)\b(:\d+)?(/[^\s<>"'` + "`" + `]*)?`)},
	// A host with a path, whatever it ends with: no label of it is a number alone, and nothing is before it.
	{kindURL, newPattern(`(?:^|[^\p{L}\p{N}_./@\\~-])(?:[\p{Latin}\p{Greek}\p{Cyrillic}\d][\p{Latin}\p{Greek}\p{Cyrillic}\d_-]*(?:\.|\[\.\]|\(\.\)))+\p{L}[\p{Latin}\p{Greek}\p{Cyrillic}\d_-]+(?::\d{1,5})?/[^\s<>"'` + "`" + `]*`)},
	{kindURL, newPattern(`\b[a-zA-Z][\w-]*:\d{2,5}/[^\s<>"'` + "`" + `]*|\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.\p{L}[\w-]+|\[[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}\][:/][^\s<>"'` + "`" + `]*`)},
	{kindURL, newPattern(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b(:\d+)?|\blocalhost\b(:\d+)?`)},
	{kindDanger, newPattern(`(?i)\b(curl|wget|sudo|doas|netcat|ncat|telnet|sftp|scp|rsync|mkfs|powershell|pwsh|osascript|iex|invoke-(webrequest|expression|restmethod)|certutil|bitsadmin)\b[^\n` + "`" + `]{0,80}|\brm\s+-\w+[^\n` + "`" + `]{0,80}|\|\s*(ba|z|da|k)?sh\b|\|\s*python3?\b|\bbase64\s+(-d|--decode)\b|\bchmod\s+[+0-7ugo]\S*[^\n` + "`" + `]{0,40}|\b(ssh|nc)\s+[-\w]\S*[^\n` + "`" + `]{0,60}|\bgit\s+(push|remote|config|clone)\b[^\n` + "`" + `]{0,60}|\beval\s*\(|\bexec\s*\(|\bos\.system\b|\bsubprocess\.`)},
	{kindCommand, newPattern("(?i)`\\s*\\$?\\s*(" + programs + ")\\s+[^`\n]+`")},
	{kindCommand, newPattern(`(?m)^\s*\$ \S+[^\n]*`)},
	{kindCommand, newPattern(`(?i)\b(npm|npx|pnpm|yarn|pip3?|pipx|uvx?|docker|podman|kubectl|gem|cargo|brew|apt|apt-get|helm) (i|install|run|exec|add|publish|ci|start|build|apply|test)\b[^\n` + "`" + `.,;]{0,60}|\bgo (run|install|get|test|build|generate)\b[^\n` + "`" + `,;]{0,60}|\b(bash|sh|zsh|python3?|node|perl|ruby|php|deno) (-\w+ ?|[\w./~-]+\.(sh|py|js|ts|rb|pl|php)\b)[^\n` + "`" + `,;]{0,60}|\bmake [a-z][\w-]*(:| -)[^\n]{0,40}`)},
	{kindPath, newPattern(`(^|[\s"'` + "`" + `(=:,\[])(~[\w-]*/[^\s"'` + "`" + `)\],;]*|\.\.?/[^\s"'` + "`" + `)\],;]+|/(etc|usr|bin|sbin|opt|var|tmp|home|root|dev|proc|sys|mnt|private|Users|Library|System|Applications|srv|run|boot|lib|workspace|repo|app|data|[\w.@-]+/[\w.@-]+)(/[^\s"'` + "`" + `)\],;]*)?|[A-Za-z]:\\[^\s"'` + "`" + `]*|\\\\[\w.-]+\\[^\s"'` + "`" + `]*|\$(HOME|env:|\{?[A-Z_]{3,}\}?)[^\s"'` + "`" + `)\],;]*)`)},
	{kindPath, newPattern(`(?i)(^|[\s"'` + "`" + `(=:,\[])(/?([\w.@-]+/)*[\w@-][\w.@-]*\.(` + extensions + `))\b|(^|[\s"'` + "`" + `(])(\.env|\.ssh|\.aws|\.netrc|\.npmrc|\.git|\.github|id_rsa|authorized_keys|\.bashrc|\.zshrc|\.profile|\.mcp\.json)\b[^\s"'` + "`" + `)]*`)},
	{kindRun, newPattern(`(?i)\b(run|runs|running|execute|executes|executing|launch|invoke|start|install|installs|source|führe|ausführen|starte|installiere|exécute[rz]?|lance[rz]?|ejecuta[r]?|instala[r]?)\b(\s+\S+){0,4}?\s+(script|scripts|skript|command|commands|befehl|commande|comando|binary|program|installer|payload|shell|terminal|code below|following|attached|package|paket)\b`)},
	{kindFetch, newPattern(`(?i)\b(fetch|fetches|download|downloads|retrieve|load|pull|get|visit|open|browse|lade|hole|télécharge[rz]?|descarga[r]?)\b(\s+\S+){0,5}?\s+(url|link|page|site|website|server|remote|internet|web|endpoint|host|cdn|gist|pastebin|herunter)\b`)},
	{kindDisable, newPattern(`(?i)\b(disable|disables|disabling|turn(ing)? off|switch(ing)? off|bypass|bypasses|skip|skips|skipping|circumvent|deactivate|suppress|ignore|ignores|disregard|override|overrule|forget|deaktiviere|umgehe|ignoriere|überspringe|désactive[rz]?|contourne[rz]?|desactiva[r]?|omite|omitir)\b(\s+\S+){0,4}?\s+(checks?|tests?|reviews?|gates?|security|safety|sandbox|log-?ins?|sign-?ins?|2fa|confinement|permissions?|auth\w*|verification|validation|lint\w*|hooks?|guard\w*|logging|firewall|antivirus|approvals?|consent|warnings?|instructions?|anweisungen|rules?|regeln|polic(y|ies)|prompts?|prüfung(en)?|sicherheit|vérifications?|consignes|instrucciones|pruebas)\b|--(no-verify|insecure|force|no-check\w*|skip-\w+|disable-\w+)\b`)},
	{kindSend, newPattern(`(?i)\b(send|sends|post|posts|upload|uploads|email|e-mail|mail|forward|leak|transmit|publish|submit|push|sende|schicke|envoie[rz]?|env[ií]a[r]?)\b(\s+\S+){0,6}?\s+(secrets?|tokens?|keys?|passwords?|credentials?|env|environment|cookies?|sessions?|history|contents?|data|files?|it|them|results?|daten|données|datos)\b(\s+\S+){0,2}?\s+(to|at|via|into|an|nach|à|vers|a)\b|\bexfiltrat\w*`)},
	{kindOrder, newPattern(`(?i)\bfrom now on\b|\bin (all|every) (future )?(session|answer|repl(y|ie)|task|conversation)s?\b|\b(previous|prior|above|earlier) (instructions|rules|prompts?)\b|\bsystem prompt\b|\byou are now\b|\b(do not|don't|never) (tell|inform|mention (this|it) to)\b|\b(secretly|silently)\b|\bab jetzt\b|\bdésormais\b|\ba partir de ahora\b`)},
}

const extensions = `sh|bash|zsh|ps1|bat|cmd|exe|msi|dll|so|dylib|jar|app|dmg|deb|rpm|py|js|mjs|cjs|ts|tsx|jsx|rb|pl|php|go|rs|c|h|cc|cpp|hpp|cs|java|kt|swift|scala|lua|sql|json|jsonl|yaml|yml|toml|ini|cfg|conf|xml|html|css|scss|csv|tsv|md|txt|log|lock|pem|key|crt|zip|tar|gz|tgz|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|ipynb|env|tf|proto|gradle|mk|vue`

// maxScanned bounds how much of a text is looked at. What is longer is suspicious by itself.
const maxScanned = 128 << 10

// findings returns what a person has to see in a text, in the order of scans.
func findings(text string) []finding {
	var out []finding
	if len(text) > maxScanned {
		out = append(out, finding{kindOrder, "more text than is looked at"})
		text = truncateText(text, maxScanned)
	}
	text = visible(norm.NFKC.String(text)) // letters of full width are letters
	for _, s := range scans {
		for _, what := range s.pattern().FindAllString(text, 50) {
			out = append(out, finding{s.kind, strings.Trim(what, " \t\n\"'`(=:,[")})
		}
	}
	return append(out, claimsIn(text)...)
}

// have reports whether the user's own words have what was found: what is named letter by letter,
// what is asked for by its words.
func (u UserWords) have(f finding) bool {
	switch f.kind {
	case kindURL, kindPath, kindCommand, kindDanger:
		what := strings.Trim(flat(f.what), " .,;:!?`'\"$")
		return what != "" && standsIn(u.text, what, f.kind == kindURL)
	}
	for _, w := range draft.Words(f.what) {
		if !u.words[w] {
			return false
		}
	}
	return true
}

// standsIn reports whether a text has a name as a whole, and not as a part of a longer one. A
// host is whole behind the slashes of a URL.
func standsIn(text, name string, host bool) bool {
	inner := func(b byte) bool {
		return b >= 0x80 || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b == '_' || b == '-' || b == '/'
	}
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		at, end := from+i, from+i+len(name)
		if (at == 0 || !inner(text[at-1]) || host && text[at-1] == '/') && (end == len(text) || !inner(text[end])) {
			return true
		}
		from = at + 1
	}
}

// How much of an instruction of others is a repetition: this many words in a row, or that share.
const (
	repeatedWords = 5
	repeatedShare = 0.6
)

// repeats returns the instruction of somebody else that a text repeats.
func (u UserWords) repeats(text string) (string, bool) {
	words := draft.Words(text)
	said := map[string]bool{}
	for _, w := range words {
		said[w] = true
	}
	for _, o := range u.orders {
		if common(o, said) < 3 {
			continue
		}
		run := draft.LongestRun(words, o)
		if run < 3 || run < repeatedWords && float64(run) < repeatedShare*float64(len(o)) {
			continue
		}
		if said := strings.Join(o, " "); !draft.Holds(u.text, said) {
			return said, true
		}
	}
	return "", false
}

func common(list []string, in map[string]bool) int {
	n := 0
	for _, w := range list {
		if in[w] {
			n++
		}
	}
	return n
}

// takes returns a word of a text that says what it is about, and that is in an instruction of
// somebody else and nowhere in the user's own words: who puts an instruction in other words still
// says what it wants.
func (u UserWords) takes(text string) (string, bool) {
	for _, w := range stems(text) {
		if len([]rune(w)) > 3 && u.theirs[w] && !u.stems[w] && !common5[w] {
			return w, true
		}
	}
	return "", false
}

// common5 are the stems of words that any rule may have.
var common5 = set(stems(`answer answers reply text word words write writes written use uses used should must shall always never each every first last line lines name names begin begins end ends
	contain contains include includes format file files value values form style short long same other before after without into makes make result output does done keep keeps give gives right correct wrong
	message response`)...)

// echoes returns the instruction of somebody else in which a short text, such as the value of a
// check, occurs as a whole.
func (u UserWords) echoes(literal string) (string, bool) {
	words := draft.Words(literal)
	if len(words) == 0 || len(words) == 1 && len([]rune(words[0])) < 4 || draft.Holds(u.text, literal) {
		return "", false
	}
	for _, o := range u.orders {
		if draft.LongestRun(words, o) == len(words) {
			return strings.Join(o, " "), true
		}
	}
	return "", false
}

package redact

import "strings"

// An alphabet is a set of bytes.
type alphabet uint16

const (
	digits  alphabet = 1 << iota // 0-9
	uppers                       // A-Z
	lowers                       // a-z
	dashes                       // - and _
	dots                         // .
	signs                        // + / = ~
	hexes                        // 0-9 a-f A-F
	blanks                       // space and tab
	ats                          // @
	equals                       // =
	slashes                      // \
	others                       // what is no ASCII
	// what else shapes ask for
	withDigit // there is a digit among them: the prefix is a word as well
	exactly   // no more than least, and a border behind them
	parts     // see webToken
	letters   = uppers | lowers
	alnum     = digits | letters
	token     = alnum | dashes
	words     = token | others
)

// wideByte begins the signs ＝ and ：, of three bytes, which are in no word.
const wideByte = 0xEF

// alphabets holds the sets that each byte is in.
var alphabets = func() (t [256]alphabet) {
	for set, chars := range map[alphabet]string{
		digits: "0123456789", uppers: "ABCDEFGHIJKLMNOPQRSTUVWXYZ", lowers: "abcdefghijklmnopqrstuvwxyz", dashes: "-_", dots: ".", signs: "+/=~",
		hexes: "0123456789abcdefABCDEF", blanks: " \t", ats: "@", equals: "=", slashes: `\`,
	} {
		for i := range len(chars) {
			t[chars[i]] |= set
		}
	}
	for i := 0x80; i < len(t); i++ {
		t[i] = others
	}
	t[wideByte] = 0
	return t
}()

// run returns where the bytes of a set end that text has from i on.
func run(text string, i int, set alphabet) int {
	for i < len(text) && alphabets[text[i]]&set != 0 {
		i++
	}
	return i
}

// shape is how kinds of keys look: a prefix, and at least that many bytes of a set.
type shape struct {
	prefixes string // with a blank between them
	set      alphabet
	least    int
}

// keyShapes are known prefixes of keys. LS0t and what follows are beginnings of blocks of
// private keys in base64, MC4C and what follows those of keys in DER, 1//0 is Google's.
var keyShapes = []shape{
	{"eyJ", token | parts, 0},
	{"shpat_ shpca_ shppa_ shpss_ lin_api_ lin_oauth_ NRAK-", alnum, 16},
	{"ghp_ gho_ ghu_ ghs_ ghr_ npm_ hf_ api_org_ dop_v1_ doo_v1_ dor_v1_ ntn_ gsk_ r8_ vcp_ vck_ pplx- phx_ rubygems_ dp.pt. shippo_live_ sbp_ apify_api_", alnum, 20},
	{"secret_ EZAK EZTK", alnum, 40},
	{"xprv", alnum, 90},
	{"dt0c01.", alnum | dots, 24},
	{"LS0tLS1CRUdJTiBQUklW LS0tLS1CRUdJTiBSU0Eg LS0tLS1CRUdJTiBFQyBQ LS0tLS1CRUdJTiBEU0Eg LS0tLS1CRUdJTiBPUEVO LS0tLS1CRUdJTiBFTkNS", alnum | signs, 8},
	{"whsec_", alnum | signs, 12},
	{"MC4CAQAwBQYDK2VwBCIEI MIIEvQIBADANBgkqhkiG9w0BAQEFAASC MIIEvgIBADANBgkqhkiG9w0BAQEFAASC MIIEpAIBAAKCAQEA MIIEowIBAAKCAQEA MIGHAgEAMBMGByqGSM49 b3BlbnNzaC1rZXktdjE fm1_ fm2_", alnum | signs, 16},
	{"glc_", alnum | signs, 20},
	{"MHcCAQEEI", alnum | signs, 24},
	{"ABSK", alnum | signs, 60},
	{"sk_ key- dapi fc-", hexes, 32},
	{"pul-", hexes, 40},
	{"pypi-AgE sk_live_ sk_test_ rk_live_ rk_test_ pk_live_", token, 8},
	{"sk- xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", token, 10},
	{"tskey- sb_secret_", token, 12},
	{"gldt- glrt- glcbt- glptt- glsoat- glagent- GOCSPX- dckr_pat_ dckr_oat_ figd_ sq0atp- sq0csp- FLWSECK", token, 16},
	{"github_pat_ AIza nvapi- sntryu_ hvs. hvb. glsa_ PMAK- sgp_ CFPAT- xkeysib- fo1_ lsv2_ pcsk_ tgp_v1_ ctx7sk- vercel_blob_rw_", token, 20},
	{"jina_ 1//0 AQ.Ab", token, 30},
	{"xoxe.", token | dots, 10},
	{"glpat-", token | dots, 12},
	{"ya29. pscale_tkn_ pscale_pw_", token | dots, 16},
	{"dp.st.", token | dots, 20},
	{"xoxd-", token | signs, 10},
	{"sntrys_ ATATT3 ATCTT3 ops_eyJ", token | signs, 20},
	{"AGE-SECRET-KEY-", uppers | digits, 20},
	{"LTAI", alnum | withDigit, 12},
	{"fw_ rnd_", alnum | withDigit, 20},
	{"ATBB csk-", alnum | withDigit, 24},
	{"AKID", alnum | withDigit, 28},
	{"EAA", alnum | withDigit, 30},
	{"AKCp", alnum | withDigit, 56},
	{"rk- pk-", token | withDigit, 12},
	{"tvly-", token | withDigit, 16},
	{"pypi- pat- xai-", token | withDigit, 20},
	{"IGQV", token | withDigit, 30},
	{"SG.", token | dots | withDigit, 30},
	{"SK AC", hexes | exactly, 32},
	{"AKIA ASIA ABIA ACCA", uppers | digits | exactly, 16},
}

// shapes are those of keys by their first two bytes, and firstPairs distinguishes most words from these.
var shapes, firstPairs = func() (m map[[2]byte][]shape, t [256][256]bool) {
	m = map[[2]byte][]shape{}
	for _, s := range keyShapes {
		for s.prefixes = range strings.FieldsSeq(s.prefixes) {
			pair := [2]byte{s.prefixes[0], s.prefixes[1]}
			m[pair] = append(m[pair], s)
			t[pair[0]][pair[1]] = true
		}
	}
	return m, t
}()

// keyAt returns the key that begins at i, which is empty if none does.
func (sc *scanner) keyAt(i int) span {
	text, key := sc.s, span{begin: i, end: i, with: Mask}
	for _, s := range shapes[[2]byte{at(text, i), at(text, i+1)}] {
		if strings.HasPrefix(text[i:], s.prefixes) {
			if end := sc.keyEnd(s, i); end > key.end {
				key.end, key.body = end, len(s.prefixes)
			}
		}
	}
	return key
}

// keyEnd returns where a key of a shape ends at i, with its rest on the next line masked; i if none.
func (sc *scanner) keyEnd(s shape, i int) int {
	if s.set&parts != 0 {
		return sc.webToken(i)
	}
	text, from := sc.s, i+len(s.prefixes)
	end := sc.back(from, sc.run(from, s.set), ".-") // of the sentence
	rest, n := sc.findRest(end, s.set)
	size := end - from + n
	switch {
	case size < s.least, s.set&withDigit != 0 && !hasDigit(sc.s[from:min(end, from+far)]) && n == 0:
		return i
	case s.set&exactly != 0 && (size != s.least || run(text, max(end, rest+n), alnum) > max(end, rest+n)):
		return i
	case strings.HasPrefix(text[i:], "sk-learn"), sc.example(from, end):
		return i
	}
	if n > 0 {
		sc.mask(rest, rest+n)
	}
	return end
}

// findRest returns where the rest of a key begins that is broken at i, and its length: it is
// the whole of the next line, and no word. The length is 0 for others.
func (sc *scanner) findRest(i int, set alphabet) (from, n int) {
	const least = 4
	s := sc.s
	broken := wrap.FindStringIndex(s[min(len(s), i):min(len(s), i+maxName)])
	if broken == nil {
		return 0, 0
	}
	from = i + broken[1]
	end := sc.run(from, set)
	part, next := s[from:min(end, from+far)], at(s, end)
	switch {
	case len(part) < least, alphabets[next]&(token|dots) != 0, next == ' ' && alphabets[at(s, end+1)]&letters != 0, next != 0 && strings.IndexByte("=:({[/@", next) >= 0,
		sc.keyAt(from).end > from, !hasDigit(part) && !caseChange.MatchString(part), run(part, 0, digits|dashes) == len(part):
		return 0, 0
	}
	return from, end - from
}

// webToken returns where a JSON web token ends: two or more parts of base64. The second is
// empty of one that is encrypted with a key that both sides have.
func (sc *scanner) webToken(i int) int {
	text := sc.s
	first := sc.run(i, token)
	if first-i < 11 || at(text, first) != '.' {
		return i
	}
	if at(text, first+1) == '.' {
		first++
	}
	end := sc.run(first+1, token)
	if end-first < 9 {
		return i
	}
	for at(text, end) == '.' && run(text, end+1, token) > end+1 {
		end = run(text, end+1, token)
	}
	return end
}

// partedAt returns where a key ends whose first part is from begin to end; end if there is none.
func (sc *scanner) partedAt(begin, end int) int {
	n := end - begin
	if c := at(sc.s, end); n < 8 || n > 28 || c != '.' && c != ':' || c == '.' && n != 14 && n != 17 && n < 23 {
		return end
	}
	return max(end, begin+len(partedKeys.FindString(sc.s[begin:min(len(sc.s), end+near)])))
}

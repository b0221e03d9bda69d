package redact

import "strings"

// An alphabet is a set of bytes.
type alphabet uint8

const (
	digits  alphabet = 1 << iota // 0-9
	uppers                       // A-Z
	lowers                       // a-z
	dashes                       // - and _
	dots                         // .
	signs                        // + / = ~
	hexes                        // 0-9 a-f A-F
	letters = uppers | lowers
	alnum   = digits | letters
	token   = alnum | dashes
)

// alphabets holds the sets that each byte is in.
var alphabets = func() (t [256]alphabet) {
	for set, chars := range map[alphabet]string{
		digits: "0123456789", uppers: "ABCDEFGHIJKLMNOPQRSTUVWXYZ", lowers: "abcdefghijklmnopqrstuvwxyz", dashes: "-_", dots: ".", signs: "+/=~",
		hexes: "0123456789abcdefABCDEF",
	} {
		for i := range len(chars) {
			t[chars[i]] |= set
		}
	}
	return t
}()

// run returns where the bytes of a set end that text has from i on.
func run(text string, i int, set alphabet) int {
	for i < len(text) && alphabets[text[i]]&set != 0 {
		i++
	}
	return i
}

// shape is how a kind of key looks: a prefix, and at least that many bytes of a set.
type shape struct {
	prefix string
	set    alphabet
	least  int
	strict bool // no more than least, and a border behind them
	digit  bool // there is a digit among them
}

// known prefixes of keys; those that are words as well ask for a digit.
var keyShapes = []shape{
	{prefix: "sk-", set: token, least: 10},
	{prefix: "rk-", set: token, least: 12, digit: true},
	{prefix: "pk-", set: token, least: 12, digit: true},
	{prefix: "sk_live_", set: alnum | dashes, least: 8},
	{prefix: "sk_test_", set: alnum | dashes, least: 8},
	{prefix: "rk_live_", set: alnum | dashes, least: 8},
	{prefix: "rk_test_", set: alnum | dashes, least: 8},
	{prefix: "pk_live_", set: alnum | dashes, least: 8},
	{prefix: "sk_", set: hexes, least: 32},
	{prefix: "whsec_", set: alnum | signs, least: 12},
	{prefix: "ghp_", set: alnum, least: 20},
	{prefix: "gho_", set: alnum, least: 20},
	{prefix: "ghu_", set: alnum, least: 20},
	{prefix: "ghs_", set: alnum, least: 20},
	{prefix: "ghr_", set: alnum, least: 20},
	{prefix: "github_pat_", set: alnum | dashes, least: 20},
	{prefix: "glpat-", set: token | dots, least: 12},
	{prefix: "gldt-", set: token, least: 16},
	{prefix: "glrt-", set: token, least: 16},
	{prefix: "glcbt-", set: token, least: 16},
	{prefix: "glptt-", set: token, least: 16},
	{prefix: "glsoat-", set: token, least: 16},
	{prefix: "glagent-", set: token, least: 16},
	{prefix: "npm_", set: alnum, least: 20},
	{prefix: "hf_", set: alnum, least: 20},
	{prefix: "api_org_", set: alnum, least: 20},
	{prefix: "AKIA", set: uppers | digits, least: 16, strict: true},
	{prefix: "ASIA", set: uppers | digits, least: 16, strict: true},
	{prefix: "ABIA", set: uppers | digits, least: 16, strict: true},
	{prefix: "ACCA", set: uppers | digits, least: 16, strict: true},
	{prefix: "ABSK", set: alnum | signs, least: 60},
	{prefix: "LTAI", set: alnum, least: 12, digit: true},
	{prefix: "AKID", set: alnum, least: 28, digit: true},
	{prefix: "AIza", set: token, least: 20},
	{prefix: "GOCSPX-", set: token, least: 16},
	{prefix: "ya29.", set: token | dots, least: 16},
	{prefix: "xoxa-", set: token, least: 10},
	{prefix: "xoxb-", set: token, least: 10},
	{prefix: "xoxc-", set: token, least: 10},
	{prefix: "xoxd-", set: token | signs, least: 10},
	{prefix: "xoxe-", set: token, least: 10},
	{prefix: "xoxe.", set: token | dots, least: 10},
	{prefix: "xoxo-", set: token, least: 10},
	{prefix: "xoxp-", set: token, least: 10},
	{prefix: "xoxr-", set: token, least: 10},
	{prefix: "xoxs-", set: token, least: 10},
	{prefix: "xapp-", set: token, least: 10},
	{prefix: "SG.", set: token | dots, least: 30, digit: true},
	{prefix: "pypi-", set: token, least: 20, digit: true},
	{prefix: "pul-", set: hexes, least: 40},
	// The beginnings of blocks of private keys in base64, as Kubernetes has them.
	{prefix: "LS0tLS1CRUdJTiBQUklW", set: alnum | signs, least: 8},
	{prefix: "LS0tLS1CRUdJTiBSU0Eg", set: alnum | signs, least: 8},
	{prefix: "LS0tLS1CRUdJTiBFQyBQ", set: alnum | signs, least: 8},
	{prefix: "LS0tLS1CRUdJTiBEU0Eg", set: alnum | signs, least: 8},
	{prefix: "LS0tLS1CRUdJTiBPUEVO", set: alnum | signs, least: 8},
	{prefix: "LS0tLS1CRUdJTiBFTkNS", set: alnum | signs, least: 8},
	// The beginnings of private keys in DER, in base64 without their block.
	{prefix: "MC4CAQAwBQYDK2VwBCIEI", set: alnum | signs, least: 16},
	{prefix: "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", set: alnum | signs, least: 16},
	{prefix: "MIIEvgIBADANBgkqhkiG9w0BAQEFAASC", set: alnum | signs, least: 16},
	{prefix: "MIIEpAIBAAKCAQEA", set: alnum | signs, least: 16},
	{prefix: "MIIEowIBAAKCAQEA", set: alnum | signs, least: 16},
	{prefix: "MHcCAQEEI", set: alnum | signs, least: 24},
	{prefix: "MIGHAgEAMBMGByqGSM49", set: alnum | signs, least: 16},
	{prefix: "b3BlbnNzaC1rZXktdjE", set: alnum | signs, least: 16},
	{prefix: "pypi-AgE", set: token, least: 8},
	{prefix: "dckr_pat_", set: token, least: 16},
	{prefix: "dckr_oat_", set: token, least: 16},
	{prefix: "shpat_", set: alnum, least: 16},
	{prefix: "shpca_", set: alnum, least: 16},
	{prefix: "shppa_", set: alnum, least: 16},
	{prefix: "shpss_", set: alnum, least: 16},
	{prefix: "dop_v1_", set: alnum, least: 20},
	{prefix: "doo_v1_", set: alnum, least: 20},
	{prefix: "dor_v1_", set: alnum, least: 20},
	{prefix: "lin_api_", set: alnum, least: 16},
	{prefix: "lin_oauth_", set: alnum, least: 16},
	{prefix: "figd_", set: token, least: 16},
	{prefix: "ntn_", set: alnum, least: 20},
	{prefix: "secret_", set: alnum, least: 40},
	{prefix: "pat-", set: token, least: 20, digit: true},
	{prefix: "EAA", set: alnum, least: 30, digit: true},
	{prefix: "sq0atp-", set: token, least: 16},
	{prefix: "sq0csp-", set: token, least: 16},
	{prefix: "AGE-SECRET-KEY-", set: uppers | digits, least: 20},
	{prefix: "key-", set: hexes, least: 32},
	{prefix: "gsk_", set: alnum, least: 20},
	{prefix: "xai-", set: token, least: 20, digit: true},
	{prefix: "r8_", set: alnum, least: 20},
	{prefix: "dapi", set: hexes, least: 32},
	{prefix: "vcp_", set: alnum, least: 20},
	{prefix: "vck_", set: alnum, least: 20},
	{prefix: "pplx-", set: alnum, least: 20},
	{prefix: "fw_", set: alnum, least: 20, digit: true},
	{prefix: "nvapi-", set: token, least: 20},
	{prefix: "tvly-", set: token, least: 16, digit: true},
	{prefix: "sntrys_", set: token | signs, least: 20},
	{prefix: "sntryu_", set: token, least: 20},
	{prefix: "hvs.", set: token, least: 20},
	{prefix: "hvb.", set: token, least: 20},
	{prefix: "glc_", set: alnum | signs, least: 20},
	{prefix: "glsa_", set: token, least: 20},
	{prefix: "PMAK-", set: token, least: 20},
	{prefix: "phx_", set: alnum, least: 20},
	{prefix: "rubygems_", set: alnum, least: 20},
	{prefix: "sgp_", set: token, least: 20},
	{prefix: "ATATT3", set: token | signs, least: 20},
	{prefix: "ATCTT3", set: token | signs, least: 20},
	{prefix: "ATBB", set: alnum, least: 24, digit: true},
	{prefix: "dp.st.", set: token | dots, least: 20},
	{prefix: "dp.pt.", set: alnum, least: 20},
	{prefix: "ops_eyJ", set: token | signs, least: 20},
	{prefix: "CFPAT-", set: token, least: 20},
	{prefix: "EZAK", set: alnum, least: 40},
	{prefix: "EZTK", set: alnum, least: 40},
	{prefix: "FLWSECK", set: token, least: 16},
	{prefix: "shippo_live_", set: alnum, least: 20},
	{prefix: "xkeysib-", set: token, least: 20},
	{prefix: "NRAK-", set: alnum, least: 16},
	{prefix: "tskey-", set: token, least: 12},
	{prefix: "fo1_", set: token, least: 20},
	{prefix: "rnd_", set: alnum, least: 20, digit: true},
	{prefix: "sbp_", set: alnum, least: 20},
	{prefix: "sb_secret_", set: token, least: 12},
	{prefix: "pscale_tkn_", set: token | dots, least: 16},
	{prefix: "pscale_pw_", set: token | dots, least: 16},
	{prefix: "dt0c01.", set: alnum | dots, least: 24},
	{prefix: "lsv2_", set: token, least: 20},
	{prefix: "pcsk_", set: token, least: 20},
	{prefix: "apify_api_", set: alnum, least: 20},
	{prefix: "jina_", set: token, least: 30},
	{prefix: "1//0", set: token, least: 30}, // a refresh token of Google
	{prefix: "AQ.Ab", set: token, least: 30},
	{prefix: "fm1_", set: alnum | signs, least: 16},
	{prefix: "fm2_", set: alnum | signs, least: 16},
	{prefix: "AKCp", set: alnum, least: 56, digit: true},
	{prefix: "csk-", set: alnum, least: 24, digit: true},
	{prefix: "tgp_v1_", set: token, least: 20},
	{prefix: "IGQV", set: token, least: 30, digit: true},
	{prefix: "xprv", set: alnum, least: 90},
	{prefix: "fc-", set: hexes, least: 32},
	{prefix: "ctx7sk-", set: token, least: 20},
	{prefix: "vercel_blob_rw_", set: token, least: 20},
	{prefix: "SK", set: hexes, least: 32, strict: true},
	{prefix: "AC", set: hexes, least: 32, strict: true},
}

// byPair holds which shapes begin with two bytes, and first whether any does.
type shapeIndex struct {
	any [256][4]uint64
	of  map[[2]byte][]shape
}

var shapesByPair = func() (x shapeIndex) {
	x.of = map[[2]byte][]shape{}
	for _, s := range append([]shape{{prefix: "eyJ"}}, keyShapes...) {
		a, b := s.prefix[0], s.prefix[1]
		x.any[a][b>>6] |= 1 << (b & 63)
		x.of[[2]byte{a, b}] = append(x.of[[2]byte{a, b}], s)
	}
	return x
}()

// keyAt returns where a key ends that begins at i; i if none does.
func (sc *scanner) keyAt(i int) int {
	text := sc.s
	if i+2 > len(text) || shapesByPair.any[text[i]][text[i+1]>>6]&(1<<(text[i+1]&63)) == 0 {
		return i
	}
	end := i
	for _, s := range shapesByPair.of[[2]byte{text[i], text[i+1]}] {
		if strings.HasPrefix(text[i:], s.prefix) {
			end = max(end, s.end(sc, i))
		}
	}
	return end
}

func (s shape) end(sc *scanner, i int) int {
	if s.prefix == "eyJ" {
		return sc.webToken(i)
	}
	text, from := sc.s, i+len(s.prefix)
	end := sc.back(from, sc.run(from, s.set), ".-") // of the sentence
	switch {
	case end-from < s.least, s.digit && !sc.digit(from, end):
		return i
	case s.strict && (end-from != s.least || run(text, end, alnum) > end):
		return i
	case s.prefix == "sk-" && strings.HasPrefix(text[from:], "learn"):
		return i
	}
	return end
}

// webToken returns where a JSON web token ends: two or more parts of base64. The second is
// empty of one that is encrypted with a key that both sides have.
func (sc *scanner) webToken(i int) int {
	text := sc.s
	first := sc.run(i, token)
	if first-i < 11 || first >= len(text) || text[first] != '.' {
		return i
	}
	end := sc.run(first+1, token)
	if end == first+1 && end < len(text) && text[end] == '.' {
		first, end = end, run(text, end+1, token)
	}
	if end-first < 9 {
		return i
	}
	for end < len(text) && text[end] == '.' && run(text, end+1, token) > end+1 {
		end = run(text, end+1, token)
	}
	return end
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// irregular returns where a key ends that is known by its parts, of which the word
// from begin to end is the first; end if it is none.
func irregular(text string, begin, end int) int {
	if end >= len(text) {
		return end
	}
	n := end - begin
	switch {
	case text[end] == ':' && n >= 8: // of a bot of Telegram: number:AA...
		number := end
		for number > begin && alphabets[text[number-1]]&digits != 0 {
			number--
		}
		if after := run(text, end+1, token); end-number >= 8 && end-number <= 11 && after-end > 33 {
			return after
		}
	case text[end] == '.' && n == 14 && strings.HasPrefix(text[end:], ".atlasv1."):
		return run(text, end+len(".atlasv1."), token)
	case text[end] == '.' && n == 17 && strings.HasPrefix(text[begin:], "pat"):
		if after := run(text, end+1, hexes); after-end > 32 {
			return after
		}
	case text[end] == '.' && n >= 23 && n <= 28: // of a bot of Discord
		middle := run(text, end+1, token)
		if middle-end == 7 && middle < len(text) && text[middle] == '.' {
			if after := run(text, middle+1, token); after-middle > 26 {
				return after
			}
		}
	}
	return end
}

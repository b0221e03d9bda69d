package redact

import "strings"

// A kind says what a name promises of the value that is under it.
type kind uint8

const (
	none    kind = iota
	strong       // a secret
	spoken       // a secret, also without a separator: "password hunter2"
	weak         // perhaps a secret, if it looks like one
	working      // PWD: a password or the working directory
	signed       // sig: a signature, if it is long
	header       // authorization: a scheme and a secret
	jar          // cookie: pairs up to the end of the line
	number       // pin: four digits or more
	scheme       // bearer or basic, before a secret
)

// sure reports whether it is a secret, whatever it looks like.
func (k kind) sure() bool { return k == strong || k == spoken }

// maxName bounds what is looked at of a name, from its end.
const maxName = 40

// ending is what names end with, in small letters and without separators.
type ending struct {
	kind  kind
	whole bool   // it is all of the name
	text  string // in the table, several with a blank between them, and their signs before them
	sign  byte   // what the name begins with; *: it has a separator before the text
}

// names say what is under them. The first that fits counts.
var names = []ending{
	{header, true, "authorization proxyauthorization", 0},
	{jar, true, "cookie setcookie", 0},
	{scheme, true, "bearer basic", 0},
	{signed, true, "sig", 0},
	{working, true, "pwd", 0},
	{number, true, "pin", 0},
	{spoken, true, "token password secret apikey passwd", 0},
	{strong, true, "passe _auth", 0}, // mot de passe, .npmrc
	// tokens of a text, and folders
	{none, false, "maxtoken eostoken bostoken padtoken unktoken septoken clstoken masktoken stoptoken pertoken nexttoken", 0},
	{none, false, "firsttoken lasttoken newtoken specialtoken endtoken starttoken subtoken oldpwd", 0},
	{strong, false, "token password passwd pwd passphrase passcode secret apikey accesskey secretkey privatekey", 0},
	{strong, false, "accountkey sharedkey signingkey encryptionkey masterkey authkey subscriptionkey storagekey", 0},
	{strong, false, "servicekey serviceskey decryptionkey appkey consumerkey secretkeybase amzsignature psk mnemonic", 0},
	{strong, false, "passwort kennwort passwortes motdepasse contraseña senha wachtwoord lösenord hasło пароль ароль 密码 密碼 パスワード 비밀번호 şifre", 0},
	{strong, false, "*pass *pat -storepass -keypass -userpass -dbpass -rootpass -adminpass", 0}, // DB_PASS, and not bypass
	{weak, false, "key auth pass signature session credential credentials hash salt code", 0},
}

// endings are the names by their last letters, contextWords the contexts of words, and lastLetters
// says which letters these have: these rule out most words of a text.
var endings, contextWords, lastLetters = func() (m map[int][]ending, in map[string][]int, t [1 << 15]bool) {
	m, in = map[int][]ending{}, map[string][]int{}
	for _, n := range names {
		for all := range strings.FieldsSeq(n.text) {
			n.text = strings.TrimLeft(all, "*-_")
			n.sign = at(all[:len(all)-len(n.text)], 0)
			letters := endingKey(n.text)
			m[letters], t[letters] = append(m[letters], n), true
		}
	}
	for n, c := range contexts {
		for word := range strings.FieldsSeq(c.words) {
			in[word] = append(in[word], n)
			t[endingKey("  "+word)] = true
		}
	}
	return m, in, t
}()

// endingKey returns the last three letters of a name, whatever their case, as a number.
func endingKey(name string) int {
	n := len(name)
	return int(name[n-3]&31)<<10 | int(name[n-2]&31)<<5 | int(name[n-1]&31)
}

// classifyName returns what a word promises as a name.
func classifyName(word string) kind {
	flat := compact(word)
	if len(word) < 3 || len(flat) < 3 || !lastLetters[endingKey(word)] {
		return none
	}
	for _, e := range endings[endingKey(flat)] {
		if !strings.HasSuffix(flat, e.text) || e.whole && flat != e.text {
			continue
		}
		cut := len(word) - len(e.text) - 1
		if e.sign == 0 || e.sign == word[0] || e.sign == '*' && cut > 0 && strings.IndexByte("-_", word[cut]) >= 0 {
			return e.kind
		}
	}
	return none
}

// separators are what names of several words may have between them.
var separators = strings.NewReplacer("-", "", "_", "", ".", "", " ", "")

// compact returns the end of a name in small letters and without separators.
func compact(name string) string {
	flat := separators.Replace(strings.ToLower(name[max(0, len(name)-4*maxName):]))
	return flat[max(0, len(flat)-maxName):]
}

// secretName reports whether a key or header holds a secret. A name such as
// api_key_env holds the name of one, and PWD a folder; both are no secrets.
func secretName(name string) bool {
	k := classifyName(strings.TrimRight(name, "-_. "))
	return k.sure() || k == header || k == jar || k == signed || k == working && name != "PWD" || compact(name) == "credentials"
}

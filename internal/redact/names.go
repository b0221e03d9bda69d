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

// maxName bounds what is looked at of a name, from its end.
const maxName = 40

// ending is what names end with, in small letters and without separators.
type ending struct {
	kind  kind
	whole bool   // it is all of the name
	text  string // in the table, several with a blank between them; behind a sign that the name begins with
}

// names say what is under them. The first that fits counts.
var names = []ending{
	{header, true, "authorization proxyauthorization"},
	{jar, true, "cookie setcookie"},
	{scheme, true, "bearer basic"},
	{signed, true, "sig"},
	{working, true, "pwd"},
	{number, true, "pin"},
	{spoken, true, "token password secret apikey passwd"},
	{strong, true, "passe _auth"}, // mot de passe, .npmrc
	// tokens of a text, and folders
	{none, false, "maxtoken eostoken bostoken padtoken unktoken septoken clstoken masktoken stoptoken pertoken nexttoken"},
	{none, false, "firsttoken lasttoken newtoken specialtoken endtoken starttoken subtoken oldpwd"},

	{strong, false, "token password passwd pwd passphrase passcode secret apikey accesskey secretkey privatekey"},
	{strong, false, "accountkey sharedkey signingkey encryptionkey masterkey authkey subscriptionkey storagekey"},
	{strong, false, "servicekey serviceskey decryptionkey appkey consumerkey secretkeybase amzsignature psk mnemonic"},
	{strong, false, "passwort kennwort passwortes motdepasse contraseña senha wachtwoord lösenord hasło пароль ароль 密码 密碼 パスワード 비밀번호 şifre"},
	{strong, false, "-storepass -keypass -userpass -dbpass -rootpass -adminpass"},
	{weak, false, "key auth pass signature session credential credentials hash salt code"},
}

// endings are the names by their last letters.
var endings = func() map[int][]ending {
	m := map[int][]ending{}
	for _, n := range names {
		for text := range strings.FieldsSeq(n.text) {
			m[lettersOf(text)] = append(m[lettersOf(text)], ending{n.kind, n.whole, text})
		}
	}
	return m
}()

// lastLetters are those of names and of words of contexts: most words of a text are told from them
// at once.
var lastLetters = func() (t [1 << 15]bool) {
	t[lettersOf("pat")] = true // see kindOf
	for letters := range endings {
		t[letters] = true
	}
	for word := range contextWords {
		if len(word) > 2 {
			t[lettersOf(word)] = true
		}
	}
	return t
}()

// lettersOf maps the last three letters of a name, whatever their case, to a number.
func lettersOf(name string) int {
	n := len(name)
	return int(name[n-3]&31)<<10 | int(name[n-2]&31)<<5 | int(name[n-1]&31)
}

// kindOf returns what a word promises as a name.
func kindOf(word string) kind {
	flat := compact(word)
	if len(flat) < 3 {
		return none
	}
	// DB_PASS and GH_PAT are names; a word that ends so, as bypass, is none
	cut := strings.LastIndexAny(word, "-_")
	if last := strings.ToLower(word[cut+1:]); cut > 0 && (last == "pass" || last == "pat") {
		return strong
	}
	for _, e := range endings[lettersOf(flat)] {
		text := strings.TrimLeft(e.text, "-_")
		if strings.HasSuffix(flat, text) && (!e.whole || flat == text) && (text == e.text || word[0] == e.text[0]) {
			return e.kind
		}
	}
	return none
}

// compact returns the end of a name in small letters and without separators.
func compact(name string) string {
	name = name[max(0, len(name)-4*maxName):]
	var b [maxName]byte
	n := len(b)
	for i := len(name) - 1; i >= 0 && n > 0; i-- {
		c := name[i]
		switch {
		case c == '-' || c == '_' || c == '.' || c == ' ':
			continue
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		}
		n--
		b[n] = c
	}
	return string(b[n:])
}

// secretName reports whether a key or header holds a secret. A name such as
// api_key_env holds the name of one, and PWD a folder; both are no secrets.
func secretName(name string) bool {
	switch kindOf(name) {
	case strong, spoken, header, jar, signed:
		return true
	case working:
		return name != "PWD"
	}
	return compact(name) == "credentials"
}

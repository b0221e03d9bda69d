package redact

import (
	"maps"
	"slices"
	"strings"
)

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

// secretEndings are what names of secrets end with, in small letters and without
// separators.
var secretEndings = []string{
	"token", "password", "passwd", "passphrase", "passcode", "secret", "apikey", "accesskey", "secretkey", "privatekey",
	"accountkey", "sharedkey", "signingkey", "encryptionkey", "masterkey", "authkey", "subscriptionkey", "storagekey",
	"servicekey", "serviceskey", "decryptionkey", "appkey", "consumerkey",
	"secretkeybase", "amzsignature", "psk", "mnemonic",
	"passwort", "kennwort", "passwortes", "motdepasse", "contraseña", "senha", "wachtwoord", "lösenord", "hasło", "пароль", "ароль", "密码", "密碼", "パスワード", "비밀번호", "şifre",
}

// optionEndings are what options end with that are given a password.
var optionEndings = []string{"storepass", "keypass", "userpass", "dbpass", "rootpass", "adminpass"}

// weakEndings are what names end with under which a secret may be.
var weakEndings = []string{"key", "auth", "pass", "signature", "session", "credential", "credentials", "hash", "salt", "code"}

// harmless are names that end as those of secrets do: of tokens of a text, and of
// folders.
var harmless = []string{
	"maxtoken", "eostoken", "bostoken", "padtoken", "unktoken", "septoken", "clstoken", "masktoken", "stoptoken", "pertoken", "nexttoken",
	"firsttoken", "lasttoken", "newtoken", "specialtoken", "endtoken", "starttoken", "subtoken", "oldpwd",
}

// lastLetters are the last three of the names that kindOf knows: most words of a
// text are told from them at once.
var lastLetters = func() (t [1 << 15]bool) {
	all := append([]string{"pwd", "sig", "authorization", "cookie", "bearer", "basic", "pass", "pat", "pin", "passe"}, secretEndings...)
	all = append(slices.AppendSeq(all, maps.Keys(contextWords)), weakEndings...)
	for _, name := range all {
		if len(name) > 2 {
			t[lettersOf(name)] = true
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
	if len(word) < 3 || !lastLetters[lettersOf(word)] {
		return none
	}
	switch flat := compact(word); {
	case flat == "authorization" || flat == "proxyauthorization":
		return header
	case flat == "cookie" || flat == "setcookie":
		return jar
	case flat == "bearer" || flat == "basic":
		return scheme
	case flat == "sig":
		return signed
	case flat == "pwd":
		return working
	case flat == "pin":
		return number
	case flat == "token" || flat == "password" || flat == "secret" || flat == "apikey" || flat == "passwd":
		return spoken
	case endsIn(flat, harmless):
		return none
	case endsIn(flat, secretEndings), strings.HasSuffix(flat, "pwd"), passVariable(word):
		return strong
	case word[0] == '-' && endsIn(flat, optionEndings):
		return strong
	case flat == "auth" && word[0] == '_', flat == "passe": // of .npmrc, mot de passe
		return strong
	case endsIn(flat, weakEndings):
		return weak
	}
	return none
}

// passVariable knows names such as DB_PASS and GH_PAT; a word that ends so, as bypass, is none.
func passVariable(word string) bool {
	return slices.ContainsFunc([]string{"_pass", "-pass", "_pat", "-pat"}, func(end string) bool {
		n := len(word) - len(end)
		return n > 0 && strings.EqualFold(word[n:], end)
	})
}

func endsIn(flat string, endings []string) bool {
	return slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(flat, end) })
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
	flat := compact(name)
	switch flat {
	case "authorization", "proxyauthorization", "cookie", "setcookie", "credentials", "sig":
		return true
	}
	return len(name) >= 3 && name != "PWD" && !endsIn(flat, harmless) && (endsIn(flat, secretEndings) || strings.HasSuffix(flat, "pwd") || passVariable(name))
}

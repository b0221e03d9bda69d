package redact

import (
	"slices"
	"strings"
	"testing"
)

// hostile are what texts are repeated of that make a scanner look at the same bytes again and
// again: each begins something that does not end.
var hostile = []string{
	`password: "`, `password: '`, "password: `", `password="`, `password "`, `"password": "`, `\"password\": \"`, `password: \"`, `password: \u0022`, `password: &quot;`, `password '\''`,
	`-p '`, `-p "`, `-p `, `-u a:`, `-u ]e:`, `curl -u a:`, `curl -u '`, `curl -b '`, `sshpass -p=`, `-p=`, `sshpass -p '\''`, `echo x | docker login `, `echo `, `echo '`, `echo "`, `printf `,
	`\`, `\\"`, `\'`, `'\''`, `'\'''`, `{`, `=`, `://a:b@`, `://a:b?`, `://`, `:\/\/`, `-----BEGIN `, `-----BEGIN PRIVATE KEY-----`, `-----END `, `-----BEGIN PRIVATE KEY-----"`, `-----BEGIN PRIVATE KEY----------END PRIVATE KEY-----`, `Private-Lines: 3`, `Private-Lines: `, "Private-Lines: 3\n",
	`QUJD`, `AAAA+/=`, ` `, "\n", `key=`, `key: `, `key:`, `sig=`, `sig.=`, `KEY=`, `A_KEY=`, `key={`, `key={\`, `cookie: `, `cookie:`, `cookie: a=b`, `auth=(`, `auth("`, `authorization: `, `authorization=`, `passphrase: `, `passphrase: (`, `PWD=`, `;PWD=`, `pin=`, `pin: `,
	`pk-`, `sk-`, `sk-learn-`, `SG.`, `eyJ-`, `eyJ.`, `eyJ-eyJ-.`, `pat-`, `$6$`, `$`, `[redacted`, `[REDACTED_`, `[redacted]`, `[`, `)`, `password: )`, `key:)`, `password=[`, `]`, `}`,
	`h:5432:d:u:-`, `h:5432:d:u:${`, `h:5432:d:u:`, `login:a:`, `login: `, `pass `, `credentials are `, `"d":"`, `d"`, `"value":"`, `"name":"`, `value=`, `IDENTIFIED BY '`, `IDENTIFIED `, `seed phrase `, `net use `, `net use '`, `htpasswd -b `, `sqlplus `, `jdbc:oracle:thin:`, `jdbc:oracle:thin:/`, `secrets set `, `secrets set a=b`,
	`<password>`, `<password`, `"password">`, `password|`, `password | `, `password, "`, `("password", "`, `setPassword("`, `password string = "`, `password <- "`, `my password is `, `password for `, `password is "`, `server=;password=`, `;password=x `, `bearer `, `token `, `--token `, `login password `, `--password '`, `API_KEY `, `["password"]`, `12345678:`, `a.b.c.`, `%20`, `\n`, `\u0041`, `\nkey=`, `\akey=`, `"`, `'`, "`", `, `, `password: x `, `password,`, `A`, `-`, `_`, `.`, `:`, `/`, `nmcli password `, `7z -p`, `zip -P`, `secret --body `, `"key": [`, `"key": ["a", `, `key=a `, `login me`, `machine a login b password `, `openssl -k `, `kubectl --from-literal=`,
}

// tails stand behind them, where looks ahead end.
var tails = []string{"", ")", "-", ".", "x", "  ", "@b", `\\`, "key", "}", "1", "(", "'", `"`, "%", "=", `"x`, "</", "\n"}

// The bytes that are looked at grow with the length of a text and not with its square, whatever
// it is made of. Lines are cut at maxPiece, so that shorter ones tell.
func TestWorkIsLinear(t *testing.T) {
	t.Parallel()
	const short, long = 2 << 10, 32 << 10
	r := New()
	for i, fragment := range hostile {
		for j, tail := range tails {
			if (i+j)%5 != 0 && tail != "" && !slices.Contains(each, fragment) {
				continue
			}
			text := func(n int) string {
				return strings.Repeat(fragment, n/len(fragment)) + strings.Repeat(tail, n/max(1, len(tail)))
			}
			few, many := r.Looked(text(short)), r.Looked(text(long))
			if most := perByte * len(text(long)); many > most || many > 2*(long/short)*few {
				t.Errorf("%q and %q: %d bytes looked at in a text of %d, and %d in one of %d", fragment, tail, few, len(text(short)), many, len(text(long)))
			}
		}
	}
}

// each are the fragments that are tried with all tails.
var each = []string{`key=`, `key={`, "h:5432:d:u:-", `login:a:`, "jdbc:oracle:thin:", "pk-", "-----BEGIN PRIVATE KEY-----"}

// perByte bounds how often a byte is looked at, in all rounds.
const perByte = 60

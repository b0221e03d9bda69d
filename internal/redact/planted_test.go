package redact

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/testing/redacttest"
)

// harmless are texts that stay as they are.
var harmless40 = []string{
	"token budget exceeded", "password reset failed", "The token count is 42", "max_tokens: 512", "max_tokens=100", "tokenizer=fast",
	"the secret of good writing", "password reset flow", "PWD=/srv/me", "OLDPWD=/srv/me/src", `{"pwd": "/srv/me"}`, "cd $PWD && ls",
	"commit 3f786850e387550fdab836ed7e6dc881de23001b", "6f1c2a34-8e0b-4a57-9d53-0f6b7f7f0c11", "/srv/me/.ssh/id_rsa.pub", "C:\\new\\token\\folder",
	"sk-learn and sk-short", "import sklearn", "a basic understanding of bearer instruments", "Basic manners", "key: value", "primary_key=id",
	"public key cryptography", "https://example.com/a/b?x=1#frag", "mailto:me@example.com", "git@github.com:me/x.git", "ssh://git@host/x.git",
	"https://user@host/path", "input_tokens: 1812, output_tokens: 77", `{"input_tokens": 1812, "max_tokens": 4096}`, "token: 7", "tokens: 12000",
	"api_key_env: OPENAI_API_KEY", `"tokens": ["a", "b"]`, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	"key = 3f786850e387550fdab836ed7e6dc881de23001b", "the tokens per second went up", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
	"func token() string {", "token := lexer.next()", "std::token::Kind", "secret santa, secret sauce", "eos_token: </s>", "password: string", "a cookie for the author",
	"the session key is derived", "passwords are hashed", "bypass=1", "compass: north", "signature: (x, y)", "[redacted] and [REDACTED_JWT]",
	"api_key=[redacted]", "Authorization: Bearer [redacted]", "time 12:30:45", "ratio 3:4", "x := map[string]int{}", "AKIA is a prefix", "mkdir -p build/out && cp -a src build/out", "ls -la", "docker run -p 8080:80 -a stdout nginx", "mysql -u root -p app",
	"ssh -p 2222 host", "the login page -p is what it says", "redis-cli -a $REDIS_PASSWORD", "docker login -u me -p $TOKEN", "git log -p main.go", "psql -p 5432 -a", "fc-list : family",
	"see RFC 1//0 and 1//2", "csk-short", "AQ.About that", "fm2_radio", "eyJ.. is how they begin", "eyJ is another", "monkey=banana",
}

// What looks like the forms of commands, code and files in which secrets stand, and holds none.
var harmlessForms = []string{
	"docker login", "see `docker login` in the docs", "docker login -u me", "docker login -u me --password-stdin < pw", "run docker login -p with your password", "echo $TOKEN | docker login -u me --password-stdin",
	"echo done | tee login.txt", "echo 'the login page' | grep login", "echo hello | docker run -i x", "echo ok || sudo -S x", "cat pw.txt | docker login -u me --password-stdin",
	"net use of memory went down", "the net user count is 5", `net use Z: \\server\share /user:corp\me *`, "net user", "net use",
	"mysql -u root -p app", "mysql -p", "mysql --port 3306 -h db app", "curl -u $USER:$PASSWORD https://x", "curl -sb cookies.txt https://x", "curl -b cookies.txt https://x", "sort -u a:b", "tar -xzf a:b",
	"sshpass -e ssh h", "sshpass -p $PW ssh h", "psql postgres://h/db", "psql postgres://h:5432/db", "http://localhost:3000/@vite/client", "https://x.test:8080/a?b=c@d", "https://medium.com/@me/a:b",
	"the machine has a login flow password field", "machine learning", "password field", "password reset", "password hashing", "login form with email and password fields", "git clone https://github.com/o/r", "git clone git@github.com:o/r",
	"kubectl create secret generic s --from-file=a", "kubectl get secret s -o yaml", "--from-literal", "openssl rsa -in k -passin env:PW", "openssl rsa -passin file:/x", "openssl x509 -in c -noout -text", "-passin pass:",
	"gpg --passphrase-file pw.txt -c f", "gpg --passphrase $PW -c f", "pass the --password flag", "the --token option is gone", "give --password twice and it fails", "use --api-key <key>", "--password-stdin reads it",
	"zip -r a.zip build", "7z a a.7z f", "unzip a.zip -d p", "redis-cli -a $PW", "ldapsearch -w", "mongosh --port 5",
	"main.go:123:45: undefined: x", "src/a.c:5432:12:warning:unused", "file.go:12:5:error:something", "10.0.0.1:6443:x", "2026-11-22:12:30:45:x", "host:5432:db:user:password", "a:1:b:c:d", "docker run -v a:b:ro -p 8080:80",
	"Private-Lines: are the lines", "Private-Lines: 3", "Public-Lines: 2\nAAAAB3NzaC1yc2E\nQUtT1vT1bnz", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHKfz me@h",
	"pass: 12 fail: 3", "12 passed, pass: 12", "test pass:12", "bypass:x compass:y", "bypass -p app", "the storepass is set elsewhere",
	"the pin is 4", "pin: 13", "const pin = 13", "pin 7 is high", "https://x/?code=200&state=open", "exit code=1", "statusCode: 404", "error code: ERR_MODULE_NOT_FOUND",
	"actions/checkout@v4", "sqlplus /nolog", "scott/readme@main", "IDENTIFIED BY the user", "identified by name and date", "me/my-image@sha256:abc", "vault kv get secret/x", "helm upgrade --set image.tag=v2", "git config set user.name Me",
	"set token aside", "secrets set in the vault", "ENV PATH /usr/bin", "ARG NPM_TOKEN", "#define MAX_TOKENS 512", "#define TOKEN_LEN 16",
	`["token", "password", "email"]`, `("token", "string")`, `("password", "text")`, `fields("password", "email")`, `unexpected token "else"`, "Unexpected token 'export'", `getToken("access")`, `expect(token("a"))`, `t.Setenv("API_KEY", "")`,
	`["API_KEY", "GITHUB_TOKEN"]`, `env("API_KEY", "GITHUB_TOKEN")`, `{"name": "color", "value": "kestrelnine"}`, `{"name": "token", "in": "query"}`, "- name: token\n  in: query", "- name: COLOR\n  value: kestrelnine",
	"password:\n  type: string", "password:\n  required", "token:\n  - a", "Enter your password:\nthen press return", "password: |\n", "secret:\n  name: foo", "token: >-\n\nnext",
	"| password | text |", "| token | string | yes |", "| field | password |", "password string `json:\"password\"`", "var token string", "token string", "apiKey: string", "apiKey?: string;", "password <- readline()",
	"PASSWORD FOR the user: unknown", "password for me: unknown", "the credentials are in the vault", "the login is at /login", "login as admin", "credentials: see below", "login: function() {", "log in as user/admin",
	"the recovery phrase is shown once", "seed phrase: twelve words", "a key phrase: one two three", `{"kty": "RSA", "kid": "abc"}`, `{"d": "kestrel"}`,
	"SORT_KEY=created_at", "PRIMARY_KEY=id", "CACHE_KEY=build-2024-01-01-linux", "KEY=value", "PUBLIC_KEY=a1b2c3d4e5f6g7h8", "hot_key=F12", "das Passwort ist falsch", "le mot de passe est obligatoire", "contraseña incorrecta", "пароль неверен",
	"$1 and $2", "price is $5$ or so", "awk '{print $1$2}'", "cost: $6$", "PAT=pattern", "compat=1", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
	"![x](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==)", "commit f44d937e8c6b5a4f3e2d1c0b9a8f7e6d5c4b3a29", "id: 0f6b7f7f-0c11-4a57-9d53-6f1c2a348e0b", "etag \"33a64df551425fcc55e4d42a148795d9f25f89d4\"",
	"sha512-abcDEF123+/abcDEF123+/abcDEF123+/==", "integrity: sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==",
}

func TestHarmlessFormsStay(t *testing.T) {
	t.Parallel()
	for _, text := range harmlessForms {
		if got := New().Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		if got := New().Text("- " + text + "\n"); got != "- "+text+"\n" {
			t.Errorf("in a list %q became %q", text, got)
		}
	}
}

func TestPlantedSecretsAreMasked(t *testing.T) {
	t.Parallel()
	planted := redacttest.Planted()
	if len(planted) < 40 {
		t.Fatalf("only %d shapes", len(planted))
	}
	for name, marked := range planted {
		in, want := unmark(marked)
		if got := New().Text(in); got != want {
			t.Errorf("%s: %q became\n%q, want\n%q", name, in, got, want)
		}
	}
}

func TestHarmlessTextStays(t *testing.T) {
	t.Parallel()
	if len(harmless40) < 40 {
		t.Fatalf("only %d sentences", len(harmless40))
	}
	for _, text := range harmless40 {
		if got := New().Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for kind, text := range harmlessTexts {
		if got := New().Text(text); got != text {
			t.Errorf("%s became %q", kind, got)
		}
	}
}

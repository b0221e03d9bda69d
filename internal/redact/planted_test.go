package redact

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/redact/redacttest"
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

package redact

import (
	"strings"
	"testing"
)

// Values that a sentence tells, or that stand in files and commands of others.
func TestSecretsInTheWild(t *testing.T) {
	t.Parallel()
	for text, secret := range map[string]string{
		"my secret is hunter2xyz":                                  "hunter2xyz",
		"the API key is abc123def456, use it":                      "abc123def456",
		"My password was: \"hunter2xyz\"!":                         "hunter2xyz",
		"your token is 8f3kd92kd02kd9.":                            "8f3kd92kd02kd9",
		"curl -u admin:S3cretPass https://x":                       "S3cretPass",
		"curl -s --user 'bob:hunter22' http:x":                     "hunter22",
		"<password>hunter22</password>":                            "hunter22",
		"ENV API_TOKEN abcdefgh12345678":                           "abcdefgh12345678",
		"SECRET_KEY_BASE=3f0a9d8e7c6b5a4f3e2d":                     "3f0a9d8e7c6b5a4f3e2d",
		"X-Amz-Signature=fe5f80f77d5fa3beca03":                     "fe5f80f77d5fa3beca03",
		"machine a login b password s3cr3tpw":                      "s3cr3tpw",
		"//npm.corp/:_password=cGFzc3dvcmQ=":                       "cGFzc3dvcmQ=",
		`{"auths":{"x":{"auth":"dXNlcjpwYXNzd29yZDEyMw=="}}}`:      "dXNlcjpwYXNzd29yZDEyMw",
		"https://x-access-token:ghs_16C7e42F292c@github.com/o/r":   "ghs_16C7e42F292c",
		"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEX": "wJalrXUtnFEMI",
	} {
		got := New().Text(text)
		if strings.Contains(got, secret) || !strings.Contains(got, Mask) {
			t.Errorf("%q became %q", text, got)
		}
		if again := New().Text(got); again != got {
			t.Errorf("%q became %q", got, again)
		}
	}
}

// Sentences and code in which nothing is secret.
func TestNamesWithoutSecrets(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"the password is wrong, the secret is simple, and the token is called max_tokens_v2", "the password is required", "the token is v2.1.0-beta", "the token is 12345678",
		"the key is under the stone", "the api key is missing", "if ScanToken == next {", "sig := compute(x)", "const sig = path.of.names", "token = tokens[i]",
		"var token = lexer.Token{Kind: x}", "return token == other", "secret := os.Getenv(name)", "docker run -u 1000:1000 image", "curl -u $USER:$PASSWORD x", "<password></password>",
		"<password>${PASSWORD}</password>", "usermod -u 5 bob",
	} {
		if got := New().Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// Lines stay as many as they are, also those of a private key.
func TestLines(t *testing.T) {
	t.Parallel()
	lines := []string{"a", "key: -----BEGIN RSA PRIVATE KEY-----", "MIIabc", "def=", "-----END RSA PRIVATE KEY----- b", "password: hunter22", "c"}
	want := []string{"a", "key: " + Mask, Mask, Mask, Mask + " b", "password: " + Mask, "c"}
	for i, got := range Lines(lines) {
		if got != want[i] {
			t.Errorf("line %d: %q, want %q", i, got, want[i])
		}
	}
}

// Texts are masked at any depth, what is kept and v itself stay.
func TestStrings(t *testing.T) {
	t.Parallel()
	type inner struct {
		Dir  string
		Text *string
		Any  any
		own  string
	}
	const key = "ghp_a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8"
	text := key
	v := map[string][]inner{"x": {{Dir: key, Text: &text, Any: []any{key, 1}, own: key}}}
	got := Strings(Text, v, "Dir")["x"][0]
	if got.Dir != key || *got.Text != Mask || got.Any.([]any)[0] != Mask || got.Any.([]any)[1] != 1 || got.own != key || text != key {
		t.Errorf("%+v", got)
	}
}

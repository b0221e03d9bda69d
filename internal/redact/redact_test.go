package redact

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	t.Parallel()
	r := New("hunter2hunter2", "hunter2", "hunter2hunter2", "", "abc")
	tests := []struct{ name, in, want string }{
		{"nothing", "max_tokens=4096 abc sk-learn token: 7", "max_tokens=4096 abc sk-learn token: 7"},
		{"known", "x hunter2hunter2y hunter2", "x [redacted]y [redacted]"},
		{"key", "key sk-abcDEF1234567890 used", "key [redacted] used"},
		{"project key", "sk-proj-ab_cd-EF1234567890.", "[redacted]."},
		{"bearer", "Authorization: Bearer abc.def-123456==", "Authorization: Bearer [redacted]"},
		{"assignment", "api_key=abcdef123&x=1 password: 'correct horse'", "api_key=[redacted]&x=1 password: [redacted]"},
		{"json", `{"api_key": "abcdef123", "n": 1}`, `{"api_key": "[redacted]", "n": 1}`},
		{"reference in a text", "api_key: ${OPENAI_API_KEY}", "api_key: ${OPENAI_API_KEY}"},
		{"url", "http://me:pass@host/x", "http://me:[redacted]@host/x"},
		{"others", "ghp_abcdefghijklmnopqrst12 AKIAABCDEFGHIJKLMNOP xoxb-1234567890-abc", "[redacted] [redacted] [redacted]"},
		{"jwt", "eyJhbGciOiJI.eyJzdWIiOiIx.abc", "[redacted]"},
	}
	for _, tt := range tests {
		if got := r.Text(tt.in); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestValue(t *testing.T) {
	t.Parallel()
	in := map[string]any{
		"api_key":     "short",
		"api_key_env": "OPENAI_API_KEY",
		"max_tokens":  5,
		"token":       "",
		"headers":     map[string]string{"X-Api-Key": "v", "X-Stage": "{{stage}}", "Authorization": "${AUTH}"},
		"list":        []any{"my hunter2 here", nil, 1.5},
		"password":    map[string]any{"x": "y"},
		"auth_token":  5,
		"has_secret":  true,
	}
	want := map[string]any{
		"api_key":     Mask,
		"api_key_env": "OPENAI_API_KEY",
		"max_tokens":  5,
		"token":       "",
		"headers":     map[string]string{"X-Api-Key": Mask, "X-Stage": "{{stage}}", "Authorization": "${AUTH}"},
		"list":        []any{"my " + Mask + " here", nil, 1.5},
		"password":    Mask,
		"auth_token":  Mask,
		"has_secret":  true,
	}
	if diff := cmp.Diff(want, New("hunter2").Value(in)); diff != "" {
		t.Error(diff)
	}
	if in["api_key"] != "short" {
		t.Error("the input was changed")
	}
}

func TestKnownSecretNeverSurvives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[a-zA-Z0-9]{8,40}`).Draw(t, "secret")
		text := rapid.String().Draw(t, "before") + secret + rapid.String().Draw(t, "after")
		if got := New(secret, secret[:6]).Text(text); strings.Contains(got, secret) {
			t.Fatalf("%q still holds %q", got, secret)
		}
	})
}

func TestExact(t *testing.T) {
	t.Parallel()
	const secret = `q"Z7/key+value=?0`
	e := NewExact(secret, "short", "")
	for _, text := range append(echoes(secret), "x"+secret+"y") {
		if got := e.Text("a " + text + " b"); strings.Contains(got, text) || !strings.HasPrefix(got, "a ") {
			t.Errorf("%q became %q", text, got)
		}
	}
	// What only looks like a secret is part of an answer.
	for _, text := range []string{"", "short", "sk-abcDEF1234567890", "password: correct-horse"} {
		if got := e.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	quoted, err := json.Marshal(map[string]string{"say": secret})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.JSON(quoted); string(got) != `{"say":"[redacted]"}` {
		t.Errorf("JSON became %s", got)
	}
	if (*Exact)(nil).Text("x") != "x" || (&Exact{}).Text("x") != "x" {
		t.Error("an empty Exact changes text")
	}
}

func TestBase64IsFoundWithinMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringN(12, 60, -1).Draw(t, "secret")
		before, after := rapid.StringN(0, 20, -1).Draw(t, "before"), rapid.StringN(0, 20, -1).Draw(t, "after")
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
			text := enc.EncodeToString([]byte(before + secret + after))
			if !NewExact(secret).Has(text) || !strings.Contains(New(secret).Text(text), Mask) {
				t.Fatalf("%q is not found in %q", secret, text)
			}
		}
	})
}

func TestKnownFormsAreFound(t *testing.T) {
	t.Parallel()
	const secret = "correct horse/battery"
	for _, form := range echoes(secret) {
		if got := New(secret).Text("a " + form); got != "a [redacted]" {
			t.Errorf("%q became %q", form, got)
		}
	}
}

func TestWithoutARedactor(t *testing.T) {
	t.Parallel()
	const key = "sk-abcDEF1234567890"
	if got := Text("key " + key); got != "key "+Mask || !Has("key "+key) || Has("key") {
		t.Errorf("%q", got)
	}
	if got := Lines([]string{"a", key}); got[0] != "a" || got[1] != Mask {
		t.Errorf("%q", got)
	}
	if !IsSecret("password", "short") || !IsSecret("note", key) || IsSecret("note", "key "+key) || IsSecret("password", "") {
		t.Error("what is a secret as a whole is one, and nothing else")
	}
}

package wiring

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
)

// A seat hears of the gateway of its user's company. What it proves itself with
// does not come back in answers.
func TestLoginsHearOfTheirSurroundings(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a script of a shell")
	}
	dir := t.TempDir()
	program, seen := filepath.Join(dir, "claude"), filepath.Join(dir, "seen")
	script := "#!/bin/sh\nenv > " + seen + "\ncat > /dev/null\n" +
		`echo '{"type":"result","subtype":"success","result":"the token is '"$ANTHROPIC_AUTH_TOKEN"'"}'` + "\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": dir, "ANTHROPIC_BASE_URL": "https://llm.company.example", "ANTHROPIC_AUTH_TOKEN": "company-token-0123456789",
		"HTTPS_PROXY": "http://proxy.company.example:3128", "AWS_REGION": "eu-central-1", "CLAUDE_CODE_USE_BEDROCK": "1",
		"OPENAI_API_KEY": "sk-of-another", "EDITOR": "vi",
	}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	b, err := Client(model.Target, config.Model{Provider: "claude-cli", Model: "m", Command: program}, lookup, Clouds{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := b.Client.Generate(t.Context(), model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "q"}}})
	if err != nil || !strings.HasPrefix(res.Text, "the token is ") || strings.Contains(res.Text, "company-token") {
		t.Errorf("got %q, %v", res.Text, err)
	}
	data, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	for _, name := range []string{"ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "HTTPS_PROXY", "AWS_REGION", "CLAUDE_CODE_USE_BEDROCK"} {
		if !slices.Contains(lines, name+"="+env[name]) {
			t.Errorf("the program does not see %s", name)
		}
	}
	for _, name := range []string{"OPENAI_API_KEY", "EDITOR"} {
		if slices.Contains(lines, name+"="+env[name]) {
			t.Errorf("the program sees %s", name)
		}
	}
}

// A seat proves itself in one way: with a key that the profile names, and then it cannot find the login of its user; or with
// that login, and then no key of the environment reaches it.
func TestTrap29KeyOrLogin(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a script of a shell")
	}
	for name, tt := range map[string]struct {
		named  string // by api_key_env
		home   bool
		hasKey bool
	}{"a key": {"ANTHROPIC_API_KEY", false, true}, "a login": {"", true, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			home := filepath.Join(dir, "user")
			if err := os.Mkdir(home, 0o700); err != nil {
				t.Fatal(err)
			}
			program, seen := filepath.Join(dir, "claude"), filepath.Join(dir, "seen")
			script := "#!/bin/sh\nenv > " + seen + "\ncat > /dev/null\n" + `echo '{"type":"result","subtype":"success","result":"four"}'` + "\n"
			if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			env := map[string]string{"PATH": os.Getenv("PATH"), "HOME": home, "ANTHROPIC_API_KEY": "sk-ant-of-the-user-0123456789"}
			b, err := Client(model.Target, config.Model{Provider: "claude-cli", Model: "m", Command: program, APIKeyEnv: &tt.named}, func(name string) (string, bool) { v, ok := env[name]; return v, ok }, Clouds{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Client.Generate(t.Context(), model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "q"}}}); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(seen)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(data), "\n")
			if got := slices.Contains(lines, "HOME="+home); got != tt.home || strings.Contains(string(data), home) != tt.home {
				t.Errorf("the user's home is seen: %v", got)
			}
			if got := slices.Contains(lines, "ANTHROPIC_API_KEY="+env["ANTHROPIC_API_KEY"]); got != tt.hasKey || strings.Contains(string(data), "sk-ant-") != tt.hasKey {
				t.Errorf("the key is seen: %v", got)
			}
		})
	}
}

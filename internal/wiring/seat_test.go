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
	b, err := Client(model.Target, config.Model{Provider: "claude-cli", Model: "m", Command: program}, lookup)
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

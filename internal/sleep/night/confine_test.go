package night

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

// Nights with an agent are refused with what is on, or with what the system lacks, before anything starts.
func TestTrap31WhatCannotBeShutOff(t *testing.T) {
	t.Parallel()
	whole := sandbox.Support{Kind: "landlock", Network: true, Isolated: true}
	bare := sandbox.Support{Kind: "landlock", Network: true}
	for name, c := range map[string]struct {
		set     func(c *config.Config)
		home    map[string]string
		support sandbox.Support
		want    string // "": it is carried out
	}{
		"no agent":                      {set: func(c *config.Config) { c.Agent.Name = "" }},
		"all is shut off":               {support: whole},
		"unconfined":                    {set: func(c *config.Config) { c.Agent.Sandbox = "off" }, support: whole, want: "agent.sandbox: off"},
		"the network":                   {set: func(c *config.Config) { c.Agent.Network = true }, support: whole, want: "agent.network: true"},
		"what a workspace starts":       {set: func(c *config.Config) { c.Agent.WorkspaceTools = true }, support: whole, want: "agent.workspace_tools: true"},
		"the vendor's tools":            {set: func(c *config.Config) { c.Agent.HostedTools = []string{"web_search"} }, support: whole, want: "agent.hosted_tools: [web_search]"},
		"files of its own":              {set: func(c *config.Config) { c.Agent.Workspace = "w" }, support: whole, want: "agent.workspace: w"},
		"keys of ssh":                   {set: func(c *config.Config) { c.Agent.PassEnv = []string{"LANG", "SSH_AUTH_SOCK"} }, support: whole, want: "agent.pass_env: [SSH_AUTH_SOCK]"},
		"keys of gpg":                   {set: func(c *config.Config) { c.Agent.PassEnv = []string{"GPG_AGENT_INFO"} }, support: whole, want: "agent.pass_env: [GPG_AGENT_INFO]"},
		"a container engine":            {set: func(c *config.Config) { c.Agent.PassEnv = []string{"DOCKER_HOST"} }, support: whole, want: "agent.pass_env: [DOCKER_HOST]"},
		"a token":                       {set: func(c *config.Config) { c.Agent.PassEnv = []string{"MY_TOKEN"} }, support: whole, want: "agent.pass_env: [MY_TOKEN]"},
		"a harmless variable":           {set: func(c *config.Config) { c.Agent.PassEnv = []string{"LANG", "GOFLAGS"} }, support: whole},
		"a login":                       {set: func(c *config.Config) { c.Agent.Gateway = false }, support: whole, want: "sleep.own_login"},
		"a login that is agreed to":     {set: own("claude"), support: bare},
		"a login with servers":          {set: own("gemini"), home: map[string]string{".gemini/settings.json": `{"mcpServers": {"x": {}}}`}, support: whole, want: "mcpServers in ~/.gemini/settings.json"},
		"a login with none":             {set: own("gemini"), home: map[string]string{".gemini/settings.json": `{"mcpServers": {}, "ui": 1}`}, support: whole},
		"a login with an extension":     {set: own("qwen"), home: map[string]string{".qwen/extensions/x/a": ""}, support: whole, want: "~/.qwen/extensions"},
		"a login with a plugin":         {set: own("opencode"), home: map[string]string{".config/opencode/opencode.json": `{"plugin": ["x"]}`}, support: whole, want: "plugin in ~/.config/opencode/opencode.json"},
		"settings that nobody can read": {set: own("opencode"), home: map[string]string{".config/opencode/opencode.jsonc": `{// c`}, support: whole, want: "cannot be read"},
		"a custom agent's login":        {set: own("custom"), support: whole, want: "custom"},
		"no namespaces":                 {support: bare, want: "unprivileged user namespaces"},
		"no namespaces, built in":       {set: func(c *config.Config) { c.Agent.Name = "builtin" }, support: bare},
		"no sandbox":                    {support: sandbox.Support{Why: "Linux 4.0 has no Landlock"}, want: "Linux 4.0 has no Landlock"},
		"no sandbox, built in":          {set: func(c *config.Config) { c.Agent.Name = "builtin" }, support: sandbox.Support{Why: "no Landlock"}, want: "no Landlock"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for file, text := range c.home {
				path := filepath.Join(home, file)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			cfg := config.Default()
			cfg.Agent.Name = "pi"
			if c.set != nil {
				c.set(&cfg)
			}
			err := confinedBy(cfg, home, func() sandbox.Support { return c.support })
			var bad *skillopt.Error
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (!errors.As(err, &bad) || bad.Kind != skillopt.BadInput || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want one that names %q", err, c.want)
			}
		})
	}
}

func own(name string) func(c *config.Config) {
	return func(c *config.Config) { c.Agent.Name, c.Agent.Gateway, c.Sleep.OwnLogin = name, false, true }
}

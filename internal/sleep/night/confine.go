package night

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

// checkConfinement fails if the agent of a profile cannot be kept from what a replay does not have: the network but for the
// gateway, the user's home, logins, agents that hold keys, container engines, servers on this machine, servers of tools and
// plugins. home is the user's folder.
func checkConfinement(cfg config.Config, home string) error {
	return confinedBy(cfg, home, sandbox.Probe)
}

func confinedBy(cfg config.Config, home string, probe func() sandbox.Support) error {
	a := cfg.Agent
	if a.Name == "" {
		return nil
	}
	if on := open(a); on != "" {
		return confineError("%s: a replay has neither network but the gateway nor anything of yours, and this cannot be shut off while it is set; take it out of the profile of nights", on)
	}
	if !a.Gateway {
		if !cfg.Sleep.OwnLogin {
			return confineError("agent.gateway: false: the agent works with its user's login; set agent.gateway: true, or sleep.own_login: true if nights may use it")
		}
		if on := servers(a.Name, home); on != "" {
			return confineError("agent.gateway: false: with its user's login %s starts what the user has set up, and cannot be kept from it: %s; set agent.gateway: true, or remove that", a.Name, on)
		}
	}
	s := probe()
	switch {
	case s.Kind == "":
		return confineError("agents cannot be confined here: %s; without agent.name nights replay the tasks that need no files", s.Why)
	case !a.Gateway || a.Name == agent.BuiltinName: // commands of the second have no network at all
		return nil
	case !s.Isolated:
		return confineError("agent.name: %s: this system gives programs no namespaces of their own, so that the gateway's port would be open on every host; "+
			"allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces above 0) or run as root with CAP_SYS_ADMIN; "+
			"agent.name: builtin needs none", a.Name)
	}
	return nil
}

func confineError(format string, args ...any) error {
	return &skillopt.Error{Kind: skillopt.BadInput, Err: fmt.Errorf("no task is carried out: "+format, args...)}
}

// open says what of the agent's settings a replay cannot have; "": nothing.
func open(a config.Agent) string {
	switch {
	case a.Sandbox != "auto":
		return "agent.sandbox: " + a.Sandbox
	case a.Network:
		return "agent.network: true"
	case len(a.HostedTools) > 0:
		return "agent.hosted_tools: [" + strings.Join(a.HostedTools, ", ") + "]"
	case a.WorkspaceTools:
		return "agent.workspace_tools: true"
	case a.Workspace != "":
		return "agent.workspace: " + a.Workspace
	}
	if !a.Gateway {
		return "" // the user's login is passed on, which is asked for
	}
	for _, name := range a.PassEnv {
		if hands.MatchString(name) {
			return "agent.pass_env: [" + name + "]"
		}
	}
	return ""
}

// hands are variables by which a program gets at a login, an agent that holds keys, or a container engine.
var hands = pattern.New(`(?i)^(SSH|GPG|DOCKER|CONTAINER|PODMAN|KUBE|AWS|AZURE|ARM|GOOGLE|GCLOUD|GITHUB|GH|GITLAB|NPM|CARGO|VAULT|DBUS|XDG_RUNTIME|WAYLAND|DISPLAY|PULSE|TMUX|STY|MCP)(_|$)|TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|AUTH|SOCK(ET)?$|COOKIE`)

// settings returns the files, below a user's home, in which an agent finds what it starts, and the members that name it.
// The arguments of claude, codex and pi shut theirs off.
func settings(name string) (files, members, folders []string) {
	switch name {
	case "gemini", "qwen":
		return []string{"." + name + "/settings.json"}, []string{"mcpServers", "hooks"}, []string{"." + name + "/extensions"}
	case "copilot":
		return []string{".copilot/mcp-config.json", ".copilot/config.json"}, []string{"mcpServers", "hooks", "plugins"}, []string{".copilot/plugins"}
	case "cursor":
		return []string{".cursor/mcp.json", ".cursor/hooks.json"}, []string{"mcpServers", "hooks"}, nil
	case "opencode":
		return []string{".config/opencode/opencode.json", ".config/opencode/opencode.jsonc", ".config/opencode/config.json"}, []string{"mcp", "plugin"}, []string{".config/opencode/plugin", ".config/opencode/plugins"}
	}
	return nil, nil, nil
}

// maxSettings bounds the settings of an agent that are read, in bytes.
const maxSettings = 4 << 20

// servers says what an agent with its user's login starts of itself: servers of tools, plugins, hooks. "": nothing.
func servers(name, home string) string {
	if name == agent.CustomName {
		return "what a custom agent starts is not known"
	}
	files, members, folders := settings(name)
	for _, file := range files {
		path := filepath.Join(home, filepath.FromSlash(file))
		data, err := disk.Read(context.Background(), path, maxSettings)
		if errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(data)) == 0 {
			continue
		}
		var set map[string]json.RawMessage
		if err == nil {
			err = json.Unmarshal(data, &set)
		}
		if err != nil {
			return "what ~/" + file + " starts cannot be read"
		}
		for _, member := range members {
			if what := strings.TrimSpace(string(set[member])); what != "" && what != "{}" && what != "[]" && what != "null" {
				return member + " in ~/" + file
			}
		}
	}
	for _, dir := range folders {
		if entries, err := os.ReadDir(filepath.Join(home, filepath.FromSlash(dir))); err == nil && len(entries) > 0 {
			return "what lies in ~/" + dir
		}
	}
	return ""
}

package night

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

// confined fails where the agent of a profile cannot be kept from what a replay does not have: the network but for the
// gateway, the user's home, logins, agents that hold keys, container engines, servers on this machine, and servers of tools.
func confined(cfg config.Config) error { return confinedBy(cfg, sandbox.Probe) }

func confinedBy(cfg config.Config, probe func() sandbox.Support) error {
	a := cfg.Agent
	if a.Name == "" {
		return nil
	}
	if on, help := left(a); on != "" {
		return refused("%s: a replay of a task has neither network but the gateway nor anything of yours, and this cannot be shut off while it is set; %s", on, help)
	}
	if !a.Gateway && !cfg.Sleep.OwnLogin {
		return refused("agent.gateway: false: the agent works with its user's login, and with the settings, servers of tools and plugins that belong to it; set agent.gateway: true, or sleep.own_login: true if nights may use it")
	}
	s := probe()
	switch {
	case s.Kind == "":
		return refused("agents cannot be confined here: %s; a profile without agent.name replays tasks that need no files", s.Why)
	case !a.Gateway || a.Name == agent.BuiltinName: // its commands have no network at all
		return nil
	case !s.Isolated:
		return refused("agent.name: %s: this system gives programs no namespaces of their own, so that the port of the gateway would be open on every host; "+
			"allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces above 0), or run as root with CAP_SYS_ADMIN; "+
			"agent.name: builtin needs none", a.Name)
	}
	return nil
}

func refused(format string, args ...any) error {
	return &skillopt.Error{Kind: skillopt.BadInput, Err: fmt.Errorf("no task is carried out: "+format, args...)}
}

// left says what of the agent's settings a replay cannot have, and what helps.
func left(a config.Agent) (on, help string) {
	switch {
	case a.Sandbox != "auto":
		return "agent.sandbox: " + a.Sandbox, "take it out of the profile of nights"
	case a.Network:
		return "agent.network: true", "take it out of the profile of nights"
	case len(a.HostedTools) > 0:
		return "agent.hosted_tools: [" + strings.Join(a.HostedTools, ", ") + "]", "take it out of the profile of nights"
	case a.Workspace != "":
		return "agent.workspace: " + a.Workspace, "take it out: nights lay out the files of commits themselves"
	}
	if !a.Gateway {
		return "", "" // it is the user's login that is handed over
	}
	for _, name := range a.PassEnv {
		if hands.MatchString(name) {
			return "agent.pass_env: [" + name + "]", "take the variable off the list"
		}
	}
	return "", ""
}

// hands are variables by which a program gets at a login, an agent that holds keys, or a container engine.
var hands = regexp.MustCompile(`(?i)^(SSH|GPG|DOCKER|CONTAINER|PODMAN|KUBE|AWS|AZURE|ARM|GOOGLE|GCLOUD|GITHUB|GH|GITLAB|NPM|CARGO|VAULT|DBUS|XDG_RUNTIME|WAYLAND|DISPLAY|PULSE|TMUX|STY|MCP)(_|$)|TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|AUTH|SOCK(ET)?$|COOKIE`)

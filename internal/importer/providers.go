package importer

import (
	"net/url"
	"strings"
)

// openAI converts the backend of OpenAI's models: at Azure, or by a plain key at
// any address when its way of login says so.
func (p part) openAI() {
	auth := p.pick(p.of("azure_openai_", "auth_mode")...)
	mode := strings.ToLower(p.text(auth))
	endpoint := append(p.of("azure_openai_", "endpoint"), "azure_endpoint")
	keys := append(p.of("azure_openai_", "api_key"), "azure_api_key")
	switch mode {
	case "openai_compatible", "compat", "openai":
		p.provider("openai")
		p.note(auth, Taken, "", p.key+"provider")
		p.one(p.key+"base_url", endpoint...)
		p.apiKey("AZURE_OPENAI_API_KEY", keys...)
	default:
		p.provider("azure")
		p.azure(auth, mode)
		p.address("${AZURE_OPENAI_ENDPOINT}", "the variable that SkillOpt reads", endpoint...)
		p.version(append(p.of("azure_openai_", "api_version"), "azure_api_version")...)
		if mode == "api_key" || mode == "key" {
			p.apiKey("AZURE_OPENAI_API_KEY", keys...)
		} else if used := p.pick(keys...); used != "" {
			p.note(used, NotNeeded, "the login is "+p.login(mode)+"; the key is not copied")
		}
	}
	p.model()
	p.effort("reasoning_effort")
	p.limits("azure_openai_", 0)
}

func (p part) login(mode string) string {
	switch mode {
	case "", "azure_cli":
		return "azure_cli"
	case "managed_identity", "aad", "azure_ad":
		return "managed_identity"
	case "api_key", "key":
		return "api_key"
	}
	return ""
}

// azure converts what only Azure needs.
func (p part) azure(auth, mode string) {
	to := p.key + "azure_auth"
	switch login := p.login(mode); {
	case login == "":
		p.note(auth, Unusable, "found "+p.show(mode)+", allowed: azure_cli, managed_identity, api_key, openai_compatible")
	case auth == "":
		p.add(to, login, "SkillOpt's default")
	default:
		p.take(auth, to, login, "")
	}
	if used := p.pick(p.of("azure_openai_", "ad_scope")...); strings.HasPrefix(p.text(used), "https://cognitiveservices.azure.") {
		p.note(used, NotNeeded, "it follows from the address")
	}
	p.note(p.pick(p.of("azure_openai_", "managed_identity_client_id")...), NoCounterpart, "put it into the variable AZURE_CLIENT_ID")
}

// version adds the version of the API to the address of the server.
func (p part) version(names ...string) {
	to, used := p.key+"base_url", p.pick(names...)
	base, ok := p.out[to].(string)
	if used == "" || !ok {
		return
	}
	if state, problem := p.put(to, base+"?api-version="+url.QueryEscape(p.text(used))); state != Taken {
		p.note(used, state, problem)
		return
	}
	p.note(used, Taken, "", to)
}

// address takes over the address of a server. The default is only for a source
// that says none: what belongs to one server must not be sent to another.
func (p part) address(def, note string, names ...string) {
	if p.firstSet(names) == "" {
		p.add(p.key+"base_url", def, note)
		return
	}
	p.one(p.key+"base_url", names...)
}

func (p part) compatible() {
	p.provider("compatible")
	p.address("https://api.openai.com/v1", "SkillOpt's default", p.of("openai_compatible_", "base_url")...)
	p.apiKey("OPENAI_COMPATIBLE_API_KEY", p.of("openai_compatible_", "api_key")...)
	p.model()
	p.temperature("openai_compatible_", 0)
	p.limits("openai_compatible_", 8000)
}

func (p part) qwen() {
	p.provider("qwen")
	p.address("http://localhost:8000/v1", "SkillOpt's default", p.of("qwen_chat_", "base_url")...)
	p.apiKey("QWEN_CHAT_API_KEY", p.of("qwen_chat_", "api_key")...)
	p.model()
	p.temperature("qwen_chat_", 0.7)
	p.limits("qwen_chat_", 8000)
	p.convertThinking()
}

// convertThinking converts the mode, and the switch that was there before it: on, or
// left to the server.
func (p part) convertThinking() {
	to := p.key + "thinking"
	mode, older := p.of("qwen_chat_", "thinking_mode"), p.of("qwen_chat_", "enable_thinking")
	if used := p.pick(append(mode, older...)...); used != "" && !strings.HasSuffix(used, "enable_thinking") {
		p.take(used, to, strings.ToLower(p.text(used)), "")
	} else if used != "" {
		p.take(used, to, map[bool]string{true: "enabled", false: "server_default"}[p.yes(used, false)], "")
	}
}

func (p part) miniMax() {
	p.provider("minimax")
	p.one(p.key+"base_url", "minimax_base_url")
	if p.set("minimax_base_url") && p.set("minimax_region") {
		p.note("minimax_region", NotNeeded, "the address is given")
	} else {
		p.one(p.key+"region", "minimax_region")
	}
	p.apiKey("MINIMAX_API_KEY", "minimax_api_key")
	p.model()
	p.temperature("minimax_", 0.7)
	p.limits("minimax_", 8000)
	thinking := map[bool]string{true: "enabled", false: "disabled"}[p.yes("minimax_enable_thinking", false)]
	if p.set("minimax_enable_thinking") {
		p.take("minimax_enable_thinking", p.key+"thinking", thinking, "")
	} else {
		p.add(p.key+"thinking", thinking, "SkillOpt's default")
	}
}

// seat converts a command-line agent that is used as a plain model.
func (p part) seat(provider, effort string) {
	p.provider(provider)
	p.model()
	p.effort(effort)
	times := []string{}
	if p.name == "target" {
		times = append(times, "exec_timeout")
	}
	if p.backend == CopilotChat {
		times = append(times, "copilot_chat_timeout")
	}
	p.timeout(p.key+"timeout", times...)
	if p.backend == CodexExec {
		p.program()
	}
}

// effort takes over a reasoning effort. That of an agent has no key yet.
func (p part) effort(flat string) {
	to := p.key + "reasoning_effort"
	if _, agent := p.out["agent.name"]; agent && p.name == "target" {
		to = "agent.effort"
	}
	switch {
	case flat == "" || !p.set(flat):
	case strings.EqualFold(p.text(flat), "none") || strings.EqualFold(p.text(flat), "off"):
		p.note(flat, NotNeeded, "left to the model")
	default:
		p.take(flat, to, p.in[flat], "")
	}
}

// agent converts a coding agent that carries out the tasks. There it uses its own
// login; the seat of the same program is how a model is chosen for it here.
func (p part) agent() {
	if p.name == "optimizer" {
		p.note(p.source(), NoCounterpart, p.backend+" cannot be the optimizer")
		p.note("optimizer_model", NoCounterpart, "a model needs its backend")
		return
	}
	seat := map[string]string{CodexExec: "codex-cli", ClaudeCodeExec: "claude-cli", CopilotExec: "copilot-cli"}[p.backend]
	name := strings.TrimSuffix(seat, "-cli")
	if name == "" {
		name = "cursor"
	}
	p.take(p.source(), "agent.name", name, "")
	p.add("agent.gateway", false, "the agent uses its own login, as there")
	p.add("agent.network", true, "without the gateway the agent needs the network")
	p.timeout("agent.timeout", "exec_timeout")
	if seat != "" {
		p.add(p.key+"provider", seat, "the login of the agent")
		p.model()
	} else {
		p.note("target_model", NoCounterpart, "Cursor's agent chooses its model by itself")
	}
	p.program()
	p.effort(map[string]string{CodexExec: "codex_exec_reasoning_effort", ClaudeCodeExec: "claude_code_exec_effort"}[p.backend])
}

// program takes over where the program of an agent is.
func (p part) program() {
	flat, def := "codex_exec_path", "codex"
	switch p.backend {
	case ClaudeCodeExec:
		flat, def = "claude_code_exec_path", "claude"
	case CursorExec:
		flat, def = "cursor_exec_path", "cursor-agent"
	case CopilotExec:
		flat, def = "copilot_exec_path", "copilot"
	}
	switch to := p.key + "command"; {
	case !p.set(flat):
	case p.text(flat) == def:
		p.note(flat, NotNeeded, "found by its name")
	case p.name == "optimizer":
		p.take(flat, to, p.in[flat], "")
	default:
		p.take(flat, "agent.command", p.in[flat], "")
	}
}

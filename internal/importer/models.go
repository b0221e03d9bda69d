package importer

import (
	"net/url"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// models converts the two roles and says what happens to the keys of backends
// that no role has.
func (c *converter) models() {
	optimizer, target := RoleBackends(c.text("model_backend"), c.text("optimizer_backend"), c.text("target_backend"))
	c.role("optimizer", optimizer)
	c.role("target", target)
	if label := role(c.text("model_backend")); c.set("model_backend") && !slices.Contains(backends(), label) {
		c.note("model_backend", Unusable, c.meantBackend(label))
	}
	for _, flat := range []string{"model_backend", "optimizer_backend", "target_backend"} {
		if _, said := c.rows[flat]; !said && c.set(flat) {
			c.note(flat, NotNeeded, "the other keys of backends decide")
		}
	}
	c.noteUnusedKeys(optimizer, target)
}

// part is one role while it is converted.
type part struct {
	*converter
	name    string // "optimizer" or "target"
	backend string
	key     string // "models.optimizer."
}

func (c *converter) role(name, backend string) {
	p := part{c, name, backend, "models." + name + "."}
	switch backend {
	case OpenAIChat:
		p.openAI()
	case OpenAICompatible:
		p.compatible()
	case QwenChat:
		p.qwen()
	case MiniMaxChat:
		p.miniMax()
	case ClaudeChat:
		p.seat("claude-cli", "reasoning_effort")
	case CopilotChat:
		p.seat("copilot-cli", "")
	case CodexExec, ClaudeCodeExec, CursorExec, CopilotExec:
		if name == "optimizer" && backend == CodexExec {
			p.seat("codex-cli", "codex_exec_reasoning_effort")
			return
		}
		p.agent()
	default:
		p.unknown()
	}
}

func (p part) unknown() {
	p.note(p.source(), Unusable, p.meantBackend(p.backend))
	p.note(p.name+"_model", NoCounterpart, "a model needs its backend")
}

func (c *converter) meantBackend(name string) string {
	if near, ok := wording.Suggest(name, backends()); ok {
		return "no backend that is known; did you mean " + near + "?"
	}
	return "no backend that is known"
}

// source returns the key that chose the backend of the role.
func (p part) source() string {
	own := p.name + "_backend"
	if p.set(own) && role(p.text(own)) == p.backend && (p.backend != OpenAIChat || !p.set("model_backend")) {
		return own
	}
	if p.set("model_backend") && role(p.text("model_backend")) == p.backend {
		return "model_backend"
	}
	return own
}

func (p part) provider(name string) {
	if flat := p.source(); p.set(flat) {
		p.take(flat, p.key+"provider", name, "")
		return
	}
	p.add(p.key+"provider", name, "SkillOpt's default")
}

// one takes over the first of several keys that is set, and says so of the
// others.
func (p part) one(to string, names ...string) bool {
	used := p.pick(names...)
	return used != "" && p.take(used, to, p.in[used], "")
}

// pick returns the first of several keys that is set, "" if none is.
func (p part) pick(names ...string) string {
	used := ""
	for _, flat := range names {
		switch {
		case !p.set(flat):
		case used == "":
			used = flat
		default:
			p.note(flat, NotNeeded, p.written(used)+" comes before it")
		}
	}
	return used
}

// of returns the names of a key of a family: for the role, and for both.
func (p part) of(family, name string) []string {
	return []string{p.name + "_" + family + name, family + name}
}

// model takes over the name of the model. The names that SkillOpt's own file
// has are for OpenAI: other backends have a default of their own for them.
func (p part) model() {
	own := p.name + "_model"
	first := map[string][]string{
		MiniMaxChat: {"minimax_model"},
		CopilotChat: {"copilot_chat_" + p.name + "_model"},
	}[p.backend]
	if used := p.pick(first...); used != "" {
		p.take(used, p.key+"model", p.in[used], "")
		p.note(own, NotNeeded, p.written(used)+" comes before it")
		return
	}
	def, others := map[string]string{
		OpenAICompatible: "gpt-4o-mini",
		ClaudeChat:       "claude-sonnet-4-6",
		ClaudeCodeExec:   "claude-sonnet-4-6",
		QwenChat:         "Qwen/Qwen3.5-4B",
		MiniMaxChat:      "MiniMax-M3",
		CursorExec:       "composer-2.5",
		CopilotChat:      "",
		CopilotExec:      "",
	}[p.backend]
	asShipped := slices.Contains([]string{"gpt-5.5", "gpt-4o"}, p.text(own))
	if p.set(own) && !(others && asShipped) {
		p.take(own, p.key+"model", p.in[own], "")
		if p.backend == OpenAICompatible {
			p.pick(append([]string{own}, p.of("openai_compatible_", "model")...)...)
		}
		return
	}
	if p.backend == OpenAICompatible && p.one(p.key+"model", p.of("openai_compatible_", "model")...) {
		p.note(own, NotNeeded, "a default for OpenAI's own server")
		return
	}
	if !others {
		def = "gpt-4o"
	}
	note := "SkillOpt's default for " + p.backend
	switch {
	case def == "":
		p.note(own, NotNeeded, "a default for OpenAI; "+p.backend+" chooses its own")
	case p.set(own):
		p.take(own, p.key+"model", def, note)
	default:
		p.add(p.key+"model", def, note)
	}
}

// apiKey names the variable that holds the key. A key in the source is never
// copied.
func (p part) apiKey(variable string, names ...string) {
	to := p.key + "api_key_env"
	if used := p.pick(names...); used != "" {
		name := strings.Replace(strings.ToUpper(used), "AZURE_API_KEY", "AZURE_OPENAI_API_KEY", 1)
		p.take(used, to, name, "the key is not copied: put it into the variable "+name)
		return
	}
	if base, _ := p.out[p.key+"base_url"].(string); isLocal(base) {
		p.add(to, "", "a server on this machine needs no key")
		return
	}
	p.add(to, variable, "the variable that SkillOpt reads")
}

func isLocal(base string) bool {
	u, err := url.Parse(base)
	return err == nil && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
}

// limits takes over the limits of a call.
func (p part) limits(family string, def int64) {
	names := p.of(family, "max_tokens")
	if p.name == "target" && p.set("max_completion_tokens") {
		names = append([]string{"max_completion_tokens"}, names...)
		if a, ok := number(p.in["max_completion_tokens"]); ok {
			if b, ok := number(p.in[p.firstSet(names[1:])]); ok && b < a {
				names = append(names[1:], "max_completion_tokens")
			}
		}
	}
	if p.firstSet(names) != "" {
		p.one(p.key+"max_tokens", names...)
	} else if def > 0 {
		p.add(p.key+"max_tokens", def, "SkillOpt's default for "+p.backend)
	}
	times := p.of(family, "timeout_seconds")
	if p.name == "target" {
		times = append([]string{"exec_timeout"}, times...)
	}
	p.timeout(p.key+"timeout", times...)
}

func (p part) firstSet(names []string) string {
	for _, flat := range names {
		if p.set(flat) {
			return flat
		}
	}
	return ""
}

func (p part) timeout(to string, names ...string) {
	used := p.pick(names...)
	if used == "" {
		return
	}
	if text, ok := p.seconds(used); ok {
		p.take(used, to, text, "")
	}
}

// temperature takes over a temperature; words for none leave it to the server.
func (p part) temperature(family string, def float64) {
	names := p.of(family, "temperature")
	used := p.pick(names...)
	switch {
	case used != "" && slices.Contains([]string{"none", "off", "null"}, strings.ToLower(p.text(used))):
		p.note(used, NotNeeded, "left to the server")
	case used != "":
		p.take(used, p.key+"temperature", p.in[used], "")
	case p.has(names[0]) || p.has(names[1]):
		// empty: left to the server
	case def > 0:
		p.add(p.key+"temperature", def, "SkillOpt's default for "+p.backend)
	}
}

func (p part) has(flat string) bool {
	_, ok := p.in[flat]
	return ok
}

// noteUnusedKeys notes that the keys of backends that no role has are not needed.
func (c *converter) noteUnusedKeys(backends ...string) {
	families := map[string][]string{
		"azure_": {OpenAIChat}, "openai_compatible_": {OpenAICompatible}, "qwen_chat_": {QwenChat}, "minimax_": {MiniMaxChat},
		"copilot_chat_": {CopilotChat}, "codex_": {CodexExec}, "claude_": {ClaudeCodeExec}, "cursor_exec_": {CursorExec},
		"copilot_exec_": {CopilotExec}, "reasoning_effort": {OpenAIChat, ClaudeChat},
	}
	for _, flat := range sortedKeys(c.in) {
		if _, said := c.rows[flat]; said || !c.set(flat) {
			continue
		}
		name := flat
		for i, role := range []string{"optimizer_", "target_"} {
			if rest, ok := strings.CutPrefix(flat, role); ok {
				name = rest
				if family, of := findFamily(families, name); family != "" && !slices.Contains(of, backends[i]) {
					c.note(flat, NotNeeded, "the "+strings.TrimSuffix(role, "_")+" is "+backends[i])
				}
			}
		}
		family, of := findFamily(families, name)
		if family != "" && !slices.ContainsFunc(of, func(b string) bool { return slices.Contains(backends, b) }) {
			c.note(flat, NotNeeded, "no role is "+strings.Join(of, " or "))
		}
	}
}

func findFamily(families map[string][]string, name string) (string, []string) {
	for family, of := range families {
		if strings.HasPrefix(name, family) {
			return family, of
		}
	}
	return "", nil
}

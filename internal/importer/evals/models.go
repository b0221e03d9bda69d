package evals

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// model is one that the source names, and the agent that works with it.
type model struct {
	provider, name string
	agent          string
	keys           yamlx.Ordered // what else the source says of it, as keys of models.target
}

// provider returns our provider for the name that promptfoo or inspect has for it; "" if there is none.
func provider(name string) string {
	switch name {
	case "openai", "anthropic", "azure", "bedrock", "vertex", "mistral", "groq", "openrouter", "xai", "deepseek", "litellm", "minimax",
		"moonshot", "fireworks", "ollama", "vllm", "sglang", "together":
		return name
	}
	return map[string]string{
		"azureopenai": "azure", "google": "gemini", "palm": "gemini", "togetherai": "together", "grok": "xai", "localai": "compatible",
		"alibaba": "qwen", "alicloud": "qwen", "aliyun": "qwen", "dashscope": "qwen",
	}[name]
}

// findAgent returns our agent for an SDK that promptfoo starts, and the provider of its model.
func findAgent(id string) (agent, provider string) {
	vendor, rest, _ := strings.Cut(id, ":")
	kind, _, _ := strings.Cut(rest, ":")
	switch {
	case vendor == "anthropic" && slices.Contains([]string{"claude-agent-sdk", "claude-code"}, kind):
		return "claude", "anthropic"
	case vendor == "openai" && slices.Contains([]string{"codex", "codex-sdk", "codex-app-server", "codex-desktop"}, kind):
		return "codex", "openai"
	case vendor == "opencode":
		return "opencode", ""
	}
	return "", ""
}

// otherKinds lists what providers have apart from models that answer in text.
func otherKinds() []string {
	return strings.Fields(`embedding embeddings moderation image audio speech tts transcription realtime live video assistant agents chatkit
		browser voice feature-extraction text-classification foundry-agent agents-api rerank`)
}

// parseModel reads a model by the name that promptfoo or inspect has for it: openai:chat:gpt-5, google/vertex/gemini-2.5-pro.
func parseModel(id string) (model, bool) {
	if agent, vendor := findAgent(id); agent != "" {
		name := id[strings.LastIndex(id, ":")+1:]
		if strings.Count(id, ":") < 2 {
			name = ""
		}
		return model{provider: vendor, name: name, agent: agent}, true
	}
	sep := strings.IndexAny(id, ":/")
	if sep < 0 {
		return model{}, false
	}
	m := model{provider: provider(id[:sep]), name: id[sep+1:]}
	kind, rest, more := strings.Cut(m.name, id[sep:sep+1])
	switch {
	case slices.Contains(otherKinds(), kind):
		return model{}, false
	case more && id[sep] == ':' && slices.Contains(strings.Fields("chat responses messages completion converse"), kind):
		m.name = rest
	case more && id[sep] == '/' && slices.Contains([]string{"azure", "bedrock", "vertex"}, kind): // who serves the vendor's model
		m.provider, m.name = kind, rest
	}
	ours := m.provider != "bedrock" || strings.Contains(m.name, "anthropic") // Claude alone is reached there
	return m, ours && m.provider != "" && m.name != "" && !strings.ContainsAny(m.name, " ${}\n")
}

// splitEntry returns the id of an entry that names a model, and what else it says.
func splitEntry(v any) (id string, more map[string]any) {
	m, ok := v.(map[string]any)
	if !ok {
		id, _ = v.(string)
		return id, nil
	}
	if id, ok = m["id"].(string); !ok && len(m) == 1 { // {openai:gpt-5: {config: ...}}
		for key, inner := range m {
			id = key
			m, _ = inner.(map[string]any)
		}
	}
	return id, m
}

// modelKey returns the key of ours for a key that a source sets of a model; "" if there is none.
func modelKey(key string) string {
	return map[string]string{
		"temperature": "temperature", "max_tokens": "max_tokens", "max_completion_tokens": "max_tokens", "max_output_tokens": "max_tokens",
		"maxOutputTokens": "max_tokens", "num_predict": "max_tokens", "num_ctx": "context", "apiBaseUrl": "base_url", "apiHost": "base_url",
		"base_url": "base_url", "reasoning_effort": "reasoning_effort", "apiKeyEnvar": "api_key_env", "region": "region",
		"apiVersion": "base_url",
	}[key]
}

// modelSettings takes over what a source sets of a model. What nothing here sends is named; it is lost
// where answers take another form without it.
func (w *work) modelSettings(at place, role string, m *model, config map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(config)) {
		v, here := config[key], at.in("%s", key)
		switch to := modelKey(key); {
		case v == nil:
		case key == "model" && m.agent != "" && m.name == "":
			m.name, _ = v.(string)
		case key == "provider_id" && m.agent != "" && m.provider == "":
			id, _ := v.(string)
			m.provider = provider(id)
		case key == "apiKey":
			w.note(here, NoCounterpart, "the key is not copied: put it into the usual variable of %s, or name yours as models.%s.api_key_env", m.provider, role)
		case slices.Contains([]string{"tools", "functions", "tool_choice", "function_call", "response_format", "response_schema"}, key):
			w.lose(here, "nothing here sends it to a model, so that answers may have another form")
		case key == "projectId":
			w.note(here, NoCounterpart, "put it into the variable GOOGLE_CLOUD_PROJECT")
		case to == "" || m.agent != "":
			w.note(here, NoCounterpart, "nothing here sends it to a model")
		case !m.put(to, key, v):
			w.note(here, NoCounterpart, "models.%s.%s does not take %s", role, to, describe(redact.New().Value(v)))
		default:
			w.note(here, Taken, "models.%s.%s", role, to)
		}
	}
}

// judge takes over the model that grades.
func (w *work) judge(at place, v any) {
	if one, ok := v.(map[string]any); ok && one["text"] != nil {
		v = one["text"] // one for each kind of grading
	}
	id, more := splitEntry(v)
	m, known := parseModel(id)
	switch {
	case v == nil:
	case !known || m.agent != "":
		w.note(at, NoCounterpart, "no model that is known here by that name: set models.judge")
	case w.set.judge.name == "":
		config, _ := more["config"].(map[string]any)
		w.modelSettings(at.in("config"), "judge", &m, config)
		w.set.judge = m
		w.note(at, Taken, "models.judge is %s/%s", m.provider, m.name)
	case m.provider != w.set.judge.provider || m.name != w.set.judge.name:
		w.note(at, NoCounterpart, "one judge grades all: %s/%s", w.set.judge.provider, w.set.judge.name)
	}
}

// put sets a key, or reports that it cannot have the value.
func (m *model) put(to, from string, v any) bool {
	switch f, isNumber := yamlx.Number(v); to {
	case "temperature":
		if !isNumber || f < 0 || f > 2 {
			return false
		}
		v = f
	case "max_tokens", "context":
		if !isNumber || f < 0 || f != float64(int64(f)) {
			return false
		}
		v = int64(f)
	default:
		text, isText := v.(string)
		if !isText || text == "" || strings.ContainsAny(text, "{}$ \n") || !reflect.DeepEqual(redact.New().Value(v), v) {
			return false
		}
		if to == "base_url" {
			return m.address(from, text)
		}
	}
	m.keys = append(m.keys, yamlx.Entry{Key: to, Value: v})
	return true
}

// address sends the calls where the source sends them: those for a server of the user never reach the
// vendor.
func (m *model) address(from, text string) bool {
	switch {
	case from == "apiVersion":
		for i, e := range m.keys {
			if base, ok := e.Value.(string); ok && e.Key == "base_url" {
				m.keys[i].Value = base + "?api-version=" + url.QueryEscape(text)
				return true
			}
		}
		return false
	case from == "apiHost" && m.provider == "azure":
		text = "https://" + text
	case from == "apiHost":
		text = "https://" + text + "/v1"
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return false
	}
	if m.provider == "openai" && u.Host != "api.openai.com" {
		m.provider = "compatible"
	}
	m.keys = append(m.keys, yamlx.Entry{Key: "base_url", Value: text})
	return true
}

func (m model) entry() yamlx.Ordered {
	return append(yamlx.Ordered{{Key: "provider", Value: m.provider}, {Key: "model", Value: m.name}}, m.keys...)
}

// models returns the models that the source names. Where it names some and none is known here, they are
// left to the user: no other company is asked instead.
func (w *work) models(at place) yamlx.Ordered {
	target := w.set.target
	switch {
	case target.provider != "" && target.name != "":
	case w.set.unknown || target.agent != "":
		w.note(at, Added, "models.target is left to you, and so are models.optimizer and models.judge: no model that the source names is known here")
		return nil
	default:
		target = model{provider: "openai", name: "gpt-5-mini"}
		w.note(at, Added, "models.target is openai/gpt-5-mini: the source names none")
	}
	optimizer, note := target, "the target's: nothing there improves a skill"
	if w.set.target.name == "" {
		optimizer, note = model{provider: "openai", name: "gpt-5"}, "nothing there improves a skill"
	}
	w.note(at, Added, "models.optimizer is %s/%s: %s", optimizer.provider, optimizer.name, note)
	out := yamlx.Ordered{{Key: "target", Value: target.entry()}, {Key: "optimizer", Value: optimizer.entry()}}
	if w.needsJudge() || w.set.judge.name != "" {
		judge := w.set.judge
		if judge.name == "" {
			judge = optimizer
			w.note(at, Added, "models.judge is %s/%s: the source names no grader that is known here", judge.provider, judge.name)
		}
		out = append(out, yamlx.Entry{Key: "judge", Value: judge.entry()})
	}
	return out
}

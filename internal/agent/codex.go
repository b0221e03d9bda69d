package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// codex returns the adapter of OpenAI's Codex. It speaks the Responses protocol only.
func codex() adapter {
	return adapter{
		name: "codex", program: "codex", version: []string{"--version"}, tested: "0.171.0",
		help:      "npm install -g @openai/codex",
		abilities: Abilities{Wire: WireResponses, Skills: true, Images: true, Usage: true, Chat: true, Tools: true},
		state:     []string{".codex"},
		reads:     []string{"AGENTS.md", "AGENTS.override.md"},
		hidden:    map[string][]string{"AGENTS.md": {"AGENTS.override.md"}},
		shows:     []string{".codex/AGENTS.md", ".codex/AGENTS.override.md", ".codex/skills", ".agents/skills"},
		clients:   []string{"codex-mcp-client"}, vendor: []string{"api.openai.com", "chatgpt.com"},
		plugins: Plugins{User: Place{Folder: ".codex", Settings: "config.toml"}, Variable: "CODEX_HOME", Project: Place{Folder: ".codex", Settings: "config.toml"}},
		launch:  launchCodex,
		reader:  func() reader { return &codexReader{} },
	}
}

func launchCodex(l *launch) error {
	l.arg("exec", "--json", "--skip-git-repo-check", "--color", "never", "--ephemeral", "--ignore-user-config", "-C", l.workspace())
	l.codexConfig("features.plugins", "false") // it would ask for a catalogue of them
	l.set("CODEX_HOME", filepath.Join(l.home, ".codex"))
	if !l.login() {
		if _, err := l.file(".codex/.keep", ""); err != nil { // it wants the folder to be there
			return err
		}
		l.codexConfig("model_provider", `"skillopt"`)
		l.codexConfig("model_providers.skillopt.name", `"skillopt"`)
		l.codexConfig("model_providers.skillopt.base_url", strconv.Quote(l.job.Endpoint.base()+"/v1"))
		l.codexConfig("model_providers.skillopt.env_key", strconv.Quote(keyVar))
		l.codexConfig("model_providers.skillopt.wire_api", `"responses"`)
		l.codexConfig("model_providers.skillopt.request_max_retries", "2")
		l.codexConfig("model_providers.skillopt.stream_max_retries", "2")
		l.set(keyVar, l.job.Endpoint.Key)
	} else {
		l.codexRoute()
	}
	if l.login() {
		settings, _ := codexProvider(l.home)
		for _, s := range settings {
			l.arg("-c", s)
		}
	}
	if l.job.Tools != nil {
		l.codexConfig("mcp_servers."+toolsName+".url", strconv.Quote(l.job.Tools.URL))
		l.codexConfig("mcp_servers."+toolsName+".bearer_token_env_var", strconv.Quote(toolsKeyVar))
		l.set(toolsKeyVar, l.job.Tools.Key)
	}
	if l.job.Model != "" {
		l.codexConfig("model", strconv.Quote(l.job.Model))
	}
	if l.job.Context > 0 {
		l.codexConfig("model_context_window", strconv.Itoa(l.job.Context))
	}
	// Its commands are to find what the agent finds: a login shell would read a profile
	// that sets another search path, and a policy of the user's own is not ours.
	l.codexConfig("allow_login_shell", "false")
	l.codexConfig("shell_environment_policy.inherit", `"all"`)
	l.codexConfig("approval_policy", `"never"`)
	l.codexConfig("check_for_update_on_startup", "false")
	l.codexConfig("analytics.enabled", "false")
	l.codexConfig("web_search", `"disabled"`)
	if err := l.codexMode(); err != nil {
		return err
	}
	for _, path := range l.images {
		l.arg("--image=" + path) // apart from the value it would swallow what follows
	}
	l.arg("-")
	return nil
}

// codexMode chooses the sandbox. A confined agent goes without its own: it
// would have to mount, which a confined process may not, and ours is as narrow.
func (l *launch) codexMode() error {
	c := l.job.Chat
	switch {
	case c != nil:
		l.arg("--sandbox", "read-only")
		for _, name := range []string{"shell_tool", "unified_exec", "multi_agent", "goals", "view_image", "apps", "image_generation", "skills"} {
			l.codexConfig("features."+name, "false")
		}
		l.codexConfig("tools.experimental_request_user_input.enabled", "false")
		l.codexConfig("project_doc_max_bytes", "0")
		if err := l.codexBare(); err != nil {
			return err
		}
		return l.codexChat(c)
	case l.job.Confine:
		l.arg("--sandbox", "danger-full-access")
	default:
		l.arg("--sandbox", "workspace-write")
	}
	return nil
}

func (l *launch) codexChat(c *Chat) error {
	path, err := l.file("system.md", cmp.Or(c.System, "Answer the user.")) // or it gives its own
	if err != nil {
		return err
	}
	l.codexConfig("model_instructions_file", strconv.Quote(path))
	if c.Schema != nil {
		path, err := l.file("schema.json", string(c.Schema))
		if err != nil {
			return err
		}
		l.arg("--output-schema", path)
	}
	if c.Effort != "" {
		l.codexConfig("model_reasoning_effort", strconv.Quote(c.Effort))
	}
	return nil
}

func (l *launch) codexConfig(key, value string) { l.arg("-c", key+"="+value) }

// codexReader reads the events of codex exec --json.
type codexReader struct{}

type codexEvent struct {
	Type    string     `json:"type"`
	Message string     `json:"message"`
	Item    *codexItem `json:"item"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error"`
	Usage *struct {
		Input     int64 `json:"input_tokens"`
		Cached    int64 `json:"cached_input_tokens"`
		Write     int64 `json:"cache_write_input_tokens"`
		Output    int64 `json:"output_tokens"`
		Reasoning int64 `json:"reasoning_output_tokens"`
	} `json:"usage"`
}

type codexItem struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Message   string          `json:"message"`
	Command   string          `json:"command"`
	Output    string          `json:"aggregated_output"`
	ExitCode  *int            `json:"exit_code"`
	Status    string          `json:"status"`
	Changes   json.RawMessage `json:"changes"`
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Query     string          `json:"query"`
	Items     json.RawMessage `json:"items"`
}

func (*codexReader) line(r *record, text []byte, whole bool) {
	var e codexEvent
	if !whole || !r.decode(text, &e) {
		return
	}
	switch e.Type {
	case "turn.started":
		r.ended = false
	case "item.started":
		if e.Item != nil {
			e.Item.begin(r)
		}
	case "item.completed":
		if e.Item != nil {
			e.Item.complete(r)
		}
	case "error":
		if strings.HasPrefix(e.Message, "Reconnecting") {
			r.retry(0, e.Message)
		} else {
			r.fail(0, e.Message)
		}
	case "turn.failed":
		r.ended = true
		if e.Error != nil {
			r.fail(0, e.Error.Message)
		} else if r.fault == nil {
			r.fail(0, "the turn failed without a reason")
		}
	case "turn.completed":
		r.ended, r.fault, r.waiting = true, nil, nil
		if u := e.Usage; u != nil {
			r.usage = r.usage.Add(trajectory.Usage{Input: u.Input, Output: u.Output, Cached: u.Cached, Reasoning: u.Reasoning, CacheWrite: u.Write})
			r.known = true
		}
	}
}

// begin records the call of a tool: of a run that is cut off it is all there is.
func (i *codexItem) begin(r *record) {
	name, args := i.call()
	if name != "" {
		r.fault = nil
		r.call(i.ID, name, args)
	}
}

func (i *codexItem) complete(r *record) {
	switch i.Type {
	case "agent_message":
		r.fault = nil
		r.say(i.Text)
		r.answer = i.Text
		return
	case "reasoning":
		r.think(i.Text)
		return
	case "error": // a warning, such as a model that is not in its list
		return
	}
	if name, args := i.call(); name != "" {
		r.fault = nil
		if !r.hasOpenCall(i.ID) {
			r.call(i.ID, name, args)
		}
		r.result(i.ID, i.outcome(), i.Status == "failed" || i.Status == "declined")
	}
}

// call returns how an item reads as the call of a tool, "" if it is none.
func (i *codexItem) call() (name string, args json.RawMessage) {
	object := func(key string, value any) json.RawMessage {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false) // a command is to be read
		if enc.Encode(map[string]any{key: value}) != nil {
			return nil
		}
		return b.Bytes()
	}
	switch i.Type {
	case "command_execution":
		return "shell", object("command", i.Command)
	case "file_change":
		return "apply_patch", object("changes", orNull(i.Changes))
	case "mcp_tool_call":
		return i.Server + "." + i.Tool, i.Arguments
	case "web_search":
		return "web_search", object("query", i.Query)
	case "todo_list":
		return "todo_list", object("items", orNull(i.Items))
	}
	return "", nil
}

func (i *codexItem) outcome() string {
	text := i.Output
	if text == "" && len(i.Result) > 0 && string(i.Result) != "null" {
		text = parseText(i.Result)
	}
	if i.ExitCode != nil && *i.ExitCode != 0 {
		text = strings.TrimRight(text, "\n") + "\n(exit code " + strconv.Itoa(*i.ExitCode) + ")"
	}
	if text == "" {
		text = i.Status
	}
	return text
}

// orNull makes raw JSON that was not given encodable.
func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

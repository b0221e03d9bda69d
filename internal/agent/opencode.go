package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// opencode returns the adapter of OpenCode.
func opencode() adapter {
	return adapter{
		name: "opencode", program: "opencode", version: []string{"--version"}, tested: "1.18.33",
		help:      "npm install -g opencode-ai",
		abilities: Abilities{Wire: WireChat, Skills: true, Usage: true, Tools: true},
		state:     []string{".local/share/opencode", ".config/opencode", ".cache/opencode", ".local/state/opencode"},
		reads:     []string{"AGENTS.md", "CLAUDE.md"},
		hidden:    map[string][]string{"CLAUDE.md": {"AGENTS.md"}},
		exitZero:  true,
		needs: []need{{
			program: "rg", help: "install ripgrep: apt-get install ripgrep, dnf install ripgrep, brew install ripgrep, or a release of github.com/BurntSushi/ripgrep",
			why: "opencode needs ripgrep to load skills and to look for files, and cannot fetch it where it works",
		}},
		clients: []string{"opencode"}, vendor: []string{"opencode.ai"},
		plugins: Plugins{User: Place{Folder: ".config/opencode", Settings: "opencode.json"}, Variable: "XDG_CONFIG_HOME", Below: "opencode", Project: Place{Folder: ".opencode", Settings: "opencode.json"}},
		launch:  launchOpencode,
		reader:  func() reader { return &opencodeReader{} },
	}
}

// opencodeProvider is what the endpoint is called in its settings.
const opencodeProvider = "skillopt"

func launchOpencode(l *launch) error {
	// Without a title it asks the model for one.
	l.arg("run", "--format", "json", "--title", "task")
	for _, name := range []string{"AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"} {
		l.set("OPENCODE_DISABLE_"+name, "1")
	}
	settings := map[string]any{
		"autoupdate": false, "share": "disabled",
		"permission": map[string]string{"edit": "allow", "bash": "allow", "webfetch": "deny"},
	}
	if !l.job.WorkspaceTools {
		// Without the project's settings it reads none of its documents either: they are named.
		l.set("OPENCODE_DISABLE_PROJECT_CONFIG", "1")
		l.set("OPENCODE_PURE", "1")
		settings["instructions"] = l.opencodeDocuments()
	}
	if l.job.Tools != nil {
		settings["mcp"] = l.servers("url", map[string]any{"type": "remote", "enabled": true})
	}
	name := l.job.Model
	if !l.login() {
		name = opencodeProvider + "/" + l.job.Model
		settings["model"], settings["small_model"] = name, name
		settings["provider"] = map[string]any{opencodeProvider: map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": opencodeProvider,
			"options": map[string]string{"baseURL": l.job.Endpoint.base() + "/v1", "apiKey": "{env:" + keyVar + "}"},
			"models":  map[string]any{l.job.Model: map[string]any{"name": l.job.Model, "limit": l.opencodeLimits()}},
		}}
		l.set(keyVar, l.job.Endpoint.Key)
	}
	data, err := json.Marshal(settings)
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	// Not as a file: the settings that a workspace brings would win over it.
	l.set("OPENCODE_CONFIG_CONTENT", string(data))
	if name != "" {
		l.arg("-m", name)
	}
	return nil
}

// opencodeDocuments lists the document of the workspace that it would read by itself.
func (l *launch) opencodeDocuments() []string {
	for _, name := range opencode().reads {
		if isFile(filepath.Join(l.job.Workspace, name)) {
			return []string{filepath.Join(l.workspace(), name)}
		}
	}
	return []string{}
}

// opencodeLimits returns what the model takes and gives at once, in tokens. What it gives is taken
// off what it takes.
func (l *launch) opencodeLimits() map[string]int {
	window := cmp.Or(l.job.Context, 128000)
	return map[string]int{"context": window, "output": min(16000, window/2)}
}

// opencodeReader reads the events of opencode run --format json. None says that
// the run is over: a step that ends without calling tools is the last one. It prints
// one session: events of a second one are not this run's.
type opencodeReader struct {
	step    string // what the step has said since it last called a tool
	tool    bool   // the step has called one
	session string
	mixed   bool
}

type opencodeEvent struct {
	Type    string `json:"type"`
	Session string `json:"sessionID"`
	Part    struct {
		Text   string `json:"text"`
		Tool   string `json:"tool"`
		CallID string `json:"callID"`
		State  struct {
			Status string          `json:"status"`
			Input  json.RawMessage `json:"input"`
			Output string          `json:"output"`
			Error  string          `json:"error"`
		} `json:"state"`
		Reason string `json:"reason"`
		Tokens *struct {
			Input     int64 `json:"input"`
			Output    int64 `json:"output"`
			Reasoning int64 `json:"reasoning"`
			Cache     struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
	} `json:"part"`
	Error *struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
			Status  int    `json:"statusCode"`
		} `json:"data"`
	} `json:"error"`
}

func (o *opencodeReader) line(r *record, text []byte, whole bool) {
	var e opencodeEvent
	if !whole || !r.decode(text, &e) {
		return
	}
	if o.session == "" {
		o.session = e.Session
	}
	if e.Session != "" && e.Session != o.session {
		o.mixed = true
	}
	if o.mixed {
		r.broken = "the events are of two sessions"
		return
	}
	switch e.Type {
	case "step_start":
		o.step, o.tool, r.ended = "", false, false
	case "text":
		r.fault = nil
		r.say(e.Part.Text)
		o.step += e.Part.Text
	case "reasoning":
		r.think(e.Part.Text)
	case "tool_use":
		o.step, o.tool = "", true // what was said before it is no answer
		o.used(r, e)
	case "step_finish":
		o.finish(r, e)
	case "error":
		if e.Error != nil {
			r.fail(e.Error.Data.Status, e.Error.Name+" "+e.Error.Data.Message)
		}
	}
}

func (o *opencodeReader) used(r *record, e opencodeEvent) {
	s := e.Part.State
	r.fault = nil
	if e.Part.Tool == "" {
		r.broken = "a tool was used that has no name"
		return
	}
	if !r.hasOpenCall(e.Part.CallID) {
		r.call(e.Part.CallID, e.Part.Tool, s.Input)
	}
	if s.Status == "error" {
		if strings.Contains(s.Error, "ripgrep execution failed") {
			r.broken = "opencode could not run ripgrep (rg), which its tools and its skills need: " + excerpt(s.Error)
		}
		r.result(e.Part.CallID, s.Error, true)
		return
	}
	r.result(e.Part.CallID, s.Output, false)
}

// finish ends a step. Its input does not count what came from a cache, its
// output not what was thought.
func (o *opencodeReader) finish(r *record, e opencodeEvent) {
	r.calls++
	r.heard, r.waiting = true, nil
	r.answer = o.step
	if t := e.Part.Tokens; t != nil {
		r.usage = r.usage.Add(trajectory.Usage{
			Input: t.Input + t.Cache.Read + t.Cache.Write, Output: t.Output + t.Reasoning,
			Cached: t.Cache.Read, CacheWrite: t.Cache.Write, Reasoning: t.Reasoning,
		})
		r.known = true
	}
	r.own = ""
	switch e.Part.Reason {
	case "tool-calls":
		return
	case "length":
		r.own = "length: the answer was cut at the model's output limit"
	case "content-filter":
		r.own = "content_filter: the provider stopped the answer"
	case "error", "unknown", "other":
		r.fail(0, "a step of the agent ended with "+e.Part.Reason)
		return
	}
	// Some servers give another reason though tools were called: a step is to follow.
	r.ended = !o.tool || strings.TrimSpace(o.step) != "" || r.own != ""
}

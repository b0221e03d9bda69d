package plugin

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

//go:embed files
var source embed.FS

// The names that hosts show.
const (
	pluginName = "skillopt"
	skillName  = "skillopt-improve"
	about      = "Make a skill better: train it on scored tasks, prove the gain, show the diff"
)

// server is how a host starts the MCP server. Hosts look in the PATH, and start it in their project.
type server struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func newServer(args []string) server {
	return server{Command: pluginName, Args: append([]string{"mcp"}, args...)}
}

// bundle collects the files of one host, by their slash-separated path below the root.
type bundle struct {
	at      agent.Place
	user    bool // for the user, in all projects
	server  server
	version string
	files   map[string][]byte
}

// build returns the files of a host.
func (h Host) build(at agent.Place, o Options) map[string][]byte {
	b := &bundle{at: at, user: o.Project == "", server: newServer(o.Args), version: manifestVersion(o.Version), files: map[string][]byte{}}
	b.own("README.md", readme(h))
	b.skill()
	switch {
	case h.Name == "copilot" && b.user:
		b.addHostFile("hooks/skillopt.json", toJSON(copilotHook()))
	case h.Name == "opencode":
		b.commands("../../command/skillopt/%s.md", "$ARGUMENTS")
	case at.Own == "":
	case h.Name == "claude" || h.Name == "openclaw":
		b.own(".claude-plugin/plugin.json", b.manifest(false))
		b.own(".mcp.json", toJSON(b.servers()))
		b.commands("commands/%s.md", "$ARGUMENTS")
	case h.Name == "cursor":
		b.own(".cursor-plugin/plugin.json", b.manifest(false))
		b.own("mcp.json", toJSON(b.servers()))
		b.commands("commands/skillopt-%s.md", "$ARGUMENTS")
	case h.Name == "gemini":
		b.own("gemini-extension.json", b.manifest(true))
		b.commands("commands/skillopt/%s.toml", "{{args}}")
	case h.Name == "qwen":
		b.own("qwen-extension.json", b.manifest(true))
		b.commands("commands/skillopt/%s.md", "{{args}}")
	case h.Name == "pi":
		b.own("index.js", b.script())
		b.commands("commands/skillopt-%s.md", "$ARGUMENTS")
	}
	if variable, ok := hookFolders()[h.Name]; ok && b.user {
		b.own("hooks/hooks.json", toJSON(sessionEnd(fmt.Sprintf(touch, variable))))
	}
	return b.files
}

// own adds a file of the plugin's own folder, below one of the host's.
func (b *bundle) own(name string, text []byte) { b.files[path.Join(own(b.at), name)] = text }

func (b *bundle) addHostFile(name string, text []byte) { b.files[path.Join(b.at.Folder, name)] = text }

// skill adds the skill: to the plugin, if the host looks for skills there.
func (b *bundle) skill() {
	name := "skills/" + skillName + "/SKILL.md"
	if b.at.Own == "" {
		b.addHostFile(name, text("SKILL.md"))
		return
	}
	b.own(name, text("SKILL.md"))
}

// commands adds a file for each command. form is its path, arguments the host's word for the text that
// the user writes after the command.
func (b *bundle) commands(form, arguments string) {
	for _, name := range []string{"train", "sleep"} {
		body := strings.ReplaceAll(string(text(name+".md")), "$ARGUMENTS", arguments)
		if path.Ext(form) == ".toml" {
			head, prompt, _ := strings.Cut(strings.TrimPrefix(body, "---\ndescription: "), "\n---\n\n")
			body = fmt.Sprintf("description = %q\nprompt = '''\n%s'''\n", head, prompt)
		}
		b.own(fmt.Sprintf(form, name), []byte(body))
	}
}

// script returns the module that pi loads.
func (b *bundle) script() []byte {
	value := strings.TrimSpace(string(toJSON(b.server)))
	return []byte(strings.NewReplacer("SERVER", value, "HOOK", fmt.Sprint(b.user)).Replace(string(text("pi.js"))))
}

// manifest describes the plugin, with its MCP server where the host looks for it there.
func (b *bundle) manifest(servers bool) []byte {
	m := map[string]any{"name": pluginName, "version": b.version, "description": about}
	if servers {
		m["mcpServers"] = b.servers()["mcpServers"]
	}
	return toJSON(m)
}

func (b *bundle) servers() map[string]any {
	return map[string]any{"mcpServers": map[string]any{pluginName: b.server}}
}

// endedName is the file, in the plugin's own folder, that is touched when a session ends.
const endedName = "ended"

// touch is the command of a hook: no more than that, and never a failure.
const touch = `touch "%s/` + endedName + `" 2>/dev/null || true`

// hookFolders returns the variables by which hooks of a host find the plugin's own folder.
func hookFolders() map[string]string {
	return map[string]string{"claude": "${CLAUDE_PLUGIN_ROOT}", "gemini": "${extensionPath}", "qwen": "${CLAUDE_PLUGIN_ROOT}"}
}

func sessionEnd(command string) any {
	hook := map[string]any{"type": "command", "command": command}
	return map[string]any{"hooks": map[string]any{"SessionEnd": []any{map[string]any{"hooks": []any{hook}}}}}
}

func copilotHook() any {
	hook := map[string]any{"type": "command", "bash": fmt.Sprintf(touch, "${COPILOT_HOME:-$HOME/.copilot}/skills/"+skillName), "timeoutSec": 5}
	return map[string]any{"version": 1, "hooks": map[string]any{"sessionEnd": []any{hook}}}
}

// readme says whose folder it is.
func readme(h Host) []byte {
	t := fmt.Sprintf("# skillopt for %[1]s\n\n%[2]s. Written by `skillopt plugin install %[1]s`; `skillopt plugin remove %[1]s` takes it back.\n", h.Name, about)
	if h.Tested == "" {
		t += fmt.Sprintf("\nNot run here: these files follow what %s publishes of its formats, and were not tried with it.\n", h.Name)
	}
	return []byte(t)
}

// text returns an embedded file.
func text(name string) []byte {
	data, err := source.ReadFile("files/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return data
}

// toJSON returns a value of maps, texts and numbers as JSON, which cannot fail.
func toJSON(v any) []byte {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v)
	return []byte(out.String())
}

var versionForm = pattern.New(`^v?(\d+\.\d+\.\d+)`)

// manifestVersion returns a version as manifests have it: three numbers.
func manifestVersion(version string) string {
	if m := versionForm.FindStringSubmatch(version); m != nil {
		return m[1]
	}
	return "0.0.0"
}

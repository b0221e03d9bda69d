package acceptance_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/testing/hosttest"
)

func TestRealZZHosts(t *testing.T) {
	dir := realAgents(t)
	bin := os.Getenv("ZZ_BIN")
	files := map[string]map[string]string{
		"claude":   {".claude.json": `{"mcpServers":{"skillopt":{"command":"` + bin + `","args":["mcp"]}}}`},
		"codex":    {".codex/config.toml": "[mcp_servers.skillopt]\ncommand = \"" + bin + "\"\nargs = [\"mcp\"]\n"},
		"copilot":  {".copilot/mcp-config.json": `{"mcpServers":{"skillopt":{"type":"local","command":"` + bin + `","args":["mcp"],"tools":["*"]}}}`},
		"gemini":   {".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"mcpServers":{"skillopt":{"command":"` + bin + `","args":["mcp"],"trust":true}}}`},
		"qwen":     {".qwen/settings.json": `{"mcpServers":{"skillopt":{"command":"` + bin + `","args":["mcp"],"trust":true}}}`},
		"opencode": {".config/opencode/opencode.json": `{"mcp":{"skillopt":{"type":"local","enabled":true,"command":["` + bin + `","mcp"]}}}`},
	}
	for _, name := range []string{"claude", "codex", "copilot", "gemini", "opencode", "qwen"} {
		t.Run(name, func(t *testing.T) {
			program, _ := realProgram(t, dir, name)
			s := &hosttest.Script{Calls: []hosttest.Call{{Tool: "skill_lint", Arguments: map[string]any{"skill": "sk"}}, {Tool: "runs_list"}}, Then: "Finished."}
			home, project := t.TempDir(), t.TempDir()
			server := startAnswering(t, s)
			h := hosttest.Host{Name: name, Program: program, Home: home, Project: project, URL: server.url, Key: server.key}
			h.Prepare(t)
			for f, text := range files[name] {
				p := filepath.Join(home, f)
				os.MkdirAll(filepath.Dir(p), 0o755)
				os.WriteFile(p, []byte(text), 0o600)
			}
			os.MkdirAll(filepath.Join(project, "sk"), 0o755)
			os.WriteFile(filepath.Join(project, "sk", "SKILL.md"), []byte("---\nname: sk\ndescription: Does things.\n---\n\n# A\n"), 0o600)
			out := h.Ask(t, "Look at the skill.")
			t.Log(s.Offered())
			t.Log(s.Answers())
			if testing.Verbose() {
				t.Log(out[max(0, len(out)-1500):])
			}
		})
	}
}

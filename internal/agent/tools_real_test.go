package agent

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/score"
)

// bringTools has a workspace bring servers of tools and hooks for every agent, each of which
// leaves a file in a folder when it is started.
func bringTools(t *testing.T, workspace string) (marks string) {
	t.Helper()
	marks = t.TempDir()
	mark := func(name string) string { return "touch " + filepath.Join(marks, name) }
	server := func(name string) string {
		return `{"command": "sh", "args": ["-c", "` + mark(name) + `; exec cat"]}`
	}
	hooks := func(name string) string {
		return `{"SessionStart": [{"hooks": [{"type": "command", "command": "` + mark(name) + `"}]}]}`
	}
	files := map[string]string{
		".mcp.json":              `{"mcpServers": {"w": ` + server("mcp.json") + `}}`,
		".github/mcp.json":       `{"mcpServers": {"w": ` + server("github-mcp") + `}}`,
		".vscode/mcp.json":       `{"servers": {"w": ` + server("vscode-mcp") + `}}`,
		".cursor/mcp.json":       `{"mcpServers": {"w": ` + server("cursor-mcp") + `}}`,
		".gemini/settings.json":  `{"mcpServers": {"w": ` + server("gemini-mcp") + `}, "hooksConfig": {"enabled": true}, "hooks": ` + hooks("gemini-hook") + `}`,
		".qwen/settings.json":    `{"mcpServers": {"w": ` + server("qwen-mcp") + `}, "disableAllHooks": false, "hooks": ` + hooks("qwen-hook") + `}`,
		".claude/settings.json":  `{"hooks": ` + hooks("claude-hook") + `, "enableAllProjectMcpServers": true}`,
		".pi/mcp.json":           `{"mcpServers": {"w": ` + server("pi-mcp") + `}}`,
		".pi/extensions/w.ts":    `import {writeFileSync} from "node:fs"; export default function () { writeFileSync("` + filepath.Join(marks, "pi-extension") + `", ""); }`,
		".codex/config.toml":     "[mcp_servers.w]\ncommand = \"sh\"\nargs = [\"-c\", \"" + mark("codex-mcp") + "; exec cat\"]\n",
		".codex/hooks.json":      `{"hooks": ` + hooks("codex-hook") + `}`,
		".github/hooks/w.json":   `{"version": 1, "hooks": {"sessionStart": [{"type": "command", "bash": "` + mark("copilot-hook") + `"}]}}`,
		"opencode.json":          `{"mcp": {"w": {"type": "local", "enabled": true, "command": ["sh", "-c", "` + mark("opencode-mcp") + `; exec cat"]}}}`,
		".opencode/plugin/w.js":  `import {writeFileSync} from "node:fs"; export const W = async () => { writeFileSync("` + filepath.Join(marks, "opencode-plugin") + `", ""); return {}; }`,
		".opencode/plugins/w.js": `import {writeFileSync} from "node:fs"; export const W = async () => { writeFileSync("` + filepath.Join(marks, "opencode-plugins") + `", ""); return {}; }`,
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(workspace, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return marks
}

// TestRealWorkspaceTools: what a workspace brings to be started is started by no agent, unless
// it is asked for.
func TestRealWorkspaceTools(t *testing.T) {
	each(t, func(t *testing.T, a *Agent) {
		for _, allowed := range []bool{false, true} {
			f := newFakeModel(t, plotTool)
			j := realJob(t, f)
			j.WorkspaceTools = allowed
			marks := bringTools(t, j.Workspace)
			rep := realRun(t, a, j)
			if rep.Status != score.OK || rep.Answer != fakeAnswer {
				t.Errorf("%s %s: answer %q\n%s", rep.Status, rep.Reason, rep.Answer, rep.Raw)
			}
			started := strings.Join(slices.Sorted(maps.Keys(tree(t, marks))), ", ")
			t.Logf("allowed %v: started %q", allowed, started)
			if !allowed && started != "" {
				t.Errorf("%s were started", started)
			}
		}
	})
}

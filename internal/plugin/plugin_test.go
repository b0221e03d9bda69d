package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/plugin"
	"github.com/seed-f4525e22/skillopt/skill"
)

func host(t *testing.T, name string) plugin.Host {
	t.Helper()
	for _, h := range plugin.Hosts() {
		if h.Name == name {
			return h
		}
	}
	t.Fatalf("no host %s", name)
	return plugin.Host{}
}

func options(home string) plugin.Options {
	return plugin.Options{Home: home, Lookup: func(string) string { return "" }, Version: "v1.2.3"}
}

// install installs and returns what was planned.
func install(t *testing.T, name string, o plugin.Options) *plugin.Plan {
	t.Helper()
	return apply(t, plugin.Host.Install, name, o)
}

func remove(t *testing.T, name string, o plugin.Options) *plugin.Plan {
	t.Helper()
	return apply(t, plugin.Host.Remove, name, o)
}

func apply(t *testing.T, plan func(plugin.Host, context.Context, plugin.Options) (*plugin.Plan, error), name string, o plugin.Options) *plugin.Plan {
	t.Helper()
	p, err := plan(host(t, name), t.Context(), o)
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// tree returns all that is below a folder: folders as "", files as what they hold.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			all[filepath.ToSlash(rel)] = string(text)
			return err
		}
		all[filepath.ToSlash(rel)+"/"] = ""
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// Every host, for the user and in a project: a second installation changes no byte, and removal leaves what
// was there before.
func TestInstalledTwiceAndRemoved(t *testing.T) {
	t.Parallel()
	for _, h := range plugin.Hosts() {
		for _, scope := range []string{"user", "project"} {
			t.Run(h.Name+"/"+scope, func(t *testing.T) {
				t.Parallel()
				home := t.TempDir()
				put(t, home, "other.txt", "mine")
				o := options(home)
				if scope == "project" {
					o.Project = home
				}
				before := tree(t, home)
				p, err := h.Install(t.Context(), o)
				if h.Name == "openclaw" && scope == "project" {
					if e := (*plugin.Error)(nil); !errors.As(err, &e) {
						t.Fatalf("got %v, want that it reads no plugins in projects", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(before, tree(t, home)); diff != "" {
					t.Fatalf("a plan has written:\n%s", diff)
				}
				if err := p.Apply(); err != nil {
					t.Fatal(err)
				}
				first := tree(t, home)
				if again := install(t, h.Name, o); !again.Empty() {
					t.Errorf("the second installation is not empty: %v", again.Changes)
				}
				if diff := cmp.Diff(first, tree(t, home)); diff != "" {
					t.Errorf("the second installation changed:\n%s", diff)
				}
				if got := h.Version(t.Context(), o); got != "v1.2.3" {
					t.Errorf("installed: %q", got)
				}
				remove(t, h.Name, o)
				if diff := cmp.Diff(before, tree(t, home)); diff != "" {
					t.Errorf("removal left:\n%s", diff)
				}
			})
		}
	}
}

// What a host is given: the skill as it is, an MCP server that starts with what was allowed, JSON that can be read.
func TestFiles(t *testing.T) {
	t.Parallel()
	for _, h := range plugin.Hosts() {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			o := options(home)
			o.Args = []string{"--allow-calls", "3"}
			install(t, h.Name, o)
			skills, servers := 0, 0
			for name, text := range tree(t, home) {
				if strings.HasSuffix(name, "/SKILL.md") {
					skills++
				}
				if strings.HasSuffix(name, ".json") && !json.Valid([]byte(text)) {
					t.Errorf("%s is no JSON:\n%s", name, text)
				}
				if !strings.HasSuffix(name, "installed.json") && strings.Contains(strings.Join(strings.Fields(text), ""), `"mcp","--allow-calls","3"]`) {
					servers++
				}
				if strings.HasSuffix(name, "README.md") != strings.Contains(text, "plugin remove "+h.Name) {
					t.Errorf("%s:\n%s", name, text)
				}
				if strings.Contains(text, "Not run here") != (h.Tested == "" && strings.HasSuffix(name, "README.md")) {
					t.Errorf("%s says of %q: %s", name, h.Tested, text)
				}
			}
			if skills != 1 || servers != 1 {
				t.Errorf("%d skills and %d servers, want one of each", skills, servers)
			}
			o.Args = nil
			if p := install(t, h.Name, o); !p.Empty() {
				t.Errorf("what was allowed does not stay: %v", p.Changes)
			}
		})
	}
}

// The variables by which users move the folders of their agents.
func TestVariables(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"claude": "CLAUDE_CONFIG_DIR=skills/skillopt/.mcp.json", "codex": "CODEX_HOME=config.toml", "copilot": "COPILOT_HOME=mcp-config.json",
		"gemini": "GEMINI_CLI_HOME=.gemini/extensions/skillopt/gemini-extension.json", "qwen": "QWEN_HOME=extensions/skillopt/qwen-extension.json",
		"opencode": "XDG_CONFIG_HOME=opencode/opencode.json", "pi": "PI_CODING_AGENT_DIR=extensions/skillopt/index.js",
		"devin": "XDG_CONFIG_HOME=devin/config.json", "openclaw": "OPENCLAW_STATE_DIR=extensions/skillopt/.mcp.json",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), t.TempDir()
			variable, file, _ := strings.Cut(want, "=")
			o := options(home)
			o.Lookup = func(asked string) string {
				if asked == variable {
					return dir
				}
				return ""
			}
			install(t, name, o)
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(file))); err != nil || len(tree(t, home)) > 0 {
				t.Errorf("%v; in the home folder: %v", err, tree(t, home))
			}
			remove(t, name, o)
			if left := tree(t, dir); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// What is in the way is refused with its name, and nothing is written.
func TestRefusals(t *testing.T) {
	t.Parallel()
	const skillFile = ".codex/skills/skillopt-improve/SKILL.md"
	link := func(old, name string) func(*testing.T, string) {
		return func(t *testing.T, home string) {
			t.Helper()
			path := filepath.Join(home, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(old, path)); err != nil {
				t.Skip(err)
			}
		}
	}
	file := func(name, text string) func(*testing.T, string) {
		return func(t *testing.T, home string) { t.Helper(); put(t, home, name, text) }
	}
	for _, tc := range []struct {
		name, host string
		there      func(*testing.T, string)
		want       string
	}{
		{"a skill of somebody else", "codex", file(skillFile, "# Mine"), "SKILL.md: it is there already"},
		{"a file for a folder", "codex", file(".codex/skills", "x"), "skills: it is a file"},
		{"a link for a folder", "codex", link("/tmp", ".codex"), ".codex: it is a link"},
		{"a link for the settings", "codex", link("/etc/passwd", ".codex/config.toml"), "config.toml: it is a link"},
		{"a link to nothing", "claude", link("nowhere", ".claude/skills/skillopt/.mcp.json"), ".mcp.json: it is a link"},
		{"a folder for a file", "claude", file(".claude/skills/skillopt/.mcp.json/x", ""), "not a regular file"},
		{"broken TOML", "codex", file(".codex/config.toml", "model = \n[a"), "config.toml: it cannot be read"},
		{"broken JSON", "copilot", file(".copilot/mcp-config.json", "{\"mcpServers\": {"), "mcp-config.json: it cannot be read"},
		{"a list of JSON", "copilot", file(".copilot/mcp-config.json", "[]"), "mcp-config.json: it cannot be read"},
		{"servers that are none", "copilot", file(".copilot/mcp-config.json", `{"mcpServers": 3}`), "mcpServers is no table"},
		{"an inline table", "codex", file(".codex/config.toml", "mcp_servers = {a = {command = \"b\"}}\n"), "add this by hand"},
		{"another server of the name", "codex", file(".codex/config.toml", "[mcp_servers.skillopt]\ncommand = \"own\"\n"), "has a server skillopt already"},
		{"the same, dotted", "codex", file(".codex/config.toml", "mcp_servers.skillopt.command = \"own\"\n"), "has a server skillopt already"},
		{"the same, JSON", "copilot", file(".copilot/mcp-config.json", `{"mcpServers": {"skillopt": {"command": "own"}}}`), "has a server skillopt already"},
		{"a note that is none", "codex", file(".codex/skills/skillopt-improve/installed.json", "{"), "installed.json: it is not the note"},
		{"a file beyond bounds", "copilot", file(".copilot/mcp-config.json", strings.Repeat(" ", 5<<20)), "larger than 4 MB"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			tc.there(t, home)
			before := tree(t, home)
			_, err := host(t, tc.host).Install(t.Context(), options(home))
			var own *plugin.Error
			if !errors.As(err, &own) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if diff := cmp.Diff(before, tree(t, home)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Settings with whatever is in them get one entry, and are given back byte for byte.
func TestSettings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, host, file, text string }{
		{"comments and trailing commas", "copilot", ".copilot/mcp-config.json", "// mine\n{\n  \"mcpServers\": {\n    // one\n    \"a\": {\"command\": \"b\",},\n  },\n}\n"},
		{"without servers", "copilot", ".copilot/mcp-config.json", "{\n\t\"x\": [1, 2]\n}"},
		{"nothing in it", "copilot", ".copilot/mcp-config.json", "{}"},
		{"no servers yet", "copilot", ".copilot/mcp-config.json", "{\"mcpServers\": {}}\r\n"},
		{"empty", "copilot", ".copilot/mcp-config.json", "\n"},
		{"a brace in a comment", "devin", ".config/devin/config.json", "/* { */ {\"mcpServers\": {\"a{\": {}}}"},
		{"tables", "codex", ".codex/config.toml", "# mine\nmodel = \"m\"   # keep\n\n[mcp_servers.a]\ncommand = \"b\""},
		{"the name in a string", "codex", ".codex/config.toml", "note = '''\n[mcp_servers.skillopt]\n'''\n"},
		{"another form", "opencode", ".config/opencode/opencode.json", "{\n  \"$schema\": \"https://opencode.ai/config.json\", // x\n}\n"},
		{"empty TOML", "codex", ".codex/config.toml", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			put(t, home, tc.file, tc.text)
			install(t, tc.host, options(home))
			if got := tree(t, home)[tc.file]; !strings.Contains(got, "skillopt") || len(got) <= len(tc.text) {
				t.Errorf("no entry:\n%s", got)
			}
			if p := install(t, tc.host, options(home)); !p.Empty() {
				t.Errorf("again: %v", p.Changes)
			}
			remove(t, tc.host, options(home))
			if diff := cmp.Diff(tc.text, tree(t, home)[tc.file]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What the user, or the host, did since.
func TestChangedSince(t *testing.T) {
	t.Parallel()
	const settings = ".copilot/mcp-config.json"
	for _, tc := range []struct {
		name, host, file, text string
		kept                   bool   // by removal
		refused                string // by a newer installation
		left                   string // of the file after removal
	}{
		{name: "a file of ours", host: "claude", file: ".claude/skills/skillopt/.mcp.json", text: "{}", kept: true, refused: "changed since", left: "{}"},
		{name: "an entry with more allowed", host: "copilot", file: settings, text: `{"mcpServers": {"skillopt": {"command": "skillopt", "args": ["mcp", "--allow-calls", "9"]}}}`, kept: true, left: `{"mcpServers": {"skillopt": {"command": "skillopt", "args": ["mcp", "--allow-calls", "9"]}}}`},
		{name: "written again by the host", host: "copilot", file: settings, text: `{"mcpServers":{"skillopt":{"tools":["*"],"command":"skillopt","args":["mcp"]},"a":{"command":"b"}}}`, left: `{"mcpServers":{"a":{"command":"b"}}}`},
		{name: "taken out by the user", host: "copilot", file: settings, text: `{"mcpServers":{}}`, left: `{"mcpServers":{}}`},
		{name: "broken since", host: "copilot", file: settings, text: `{`, refused: "cannot be read", left: "{"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			install(t, tc.host, options(home))
			put(t, home, tc.file, tc.text)
			newer := options(home)
			newer.Version = "v2.0.0"
			_, err := host(t, tc.host).Install(t.Context(), newer)
			if tc.refused == "" && err != nil || tc.refused != "" && (err == nil || !strings.Contains(err.Error(), tc.refused)) {
				t.Errorf("a newer version: got %v, want %q", err, tc.refused)
			}
			p, err := host(t, tc.host).Remove(t.Context(), options(home))
			if tc.refused == "cannot be read" {
				if err == nil {
					t.Error("removal reads what cannot be read")
				}
				return
			}
			if err == nil {
				err = p.Apply()
			}
			if err != nil {
				t.Fatal(err)
			}
			kept := false
			for _, c := range p.Changes {
				kept = kept || c.Action == plugin.Keep && strings.HasSuffix(filepath.ToSlash(c.Path), tc.file) && c.Why != ""
			}
			if kept != tc.kept {
				t.Errorf("kept: %v, want %v: %v", kept, tc.kept, p.Changes)
			}
			if diff := cmp.Diff(tc.left, tree(t, home)[tc.file]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A newer version replaces what was not changed since, with other flags as well, and removal takes all back.
func TestNewerVersion(t *testing.T) {
	t.Parallel()
	for _, h := range plugin.Hosts() {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			install(t, h.Name, options(home))
			newer := options(home)
			newer.Version, newer.Args = "v2.0.0", []string{"--root", "/srv"}
			install(t, h.Name, newer)
			if got := h.Version(t.Context(), newer); got != "v2.0.0" {
				t.Errorf("installed: %q", got)
			}
			remove(t, h.Name, newer)
			if left := tree(t, home); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// A note in a project that somebody else wrote deletes no other files.
func TestForgedNote(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	o := options(home)
	o.Project = home
	put(t, home, "main.go", "")
	put(t, home, ".claude/skills/skillopt/installed.json", `{"files": {"main.go": "`+emptyDigest+`", "../x": "`+emptyDigest+`", "/x": "`+emptyDigest+`"}, "folders": ["main.go", ".."]}`)
	remove(t, "claude", o)
	if _, err := os.Stat(filepath.Join(home, "main.go")); err != nil {
		t.Error(err)
	}
}

const emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestRemoveWithoutAPlugin(t *testing.T) {
	t.Parallel()
	var own *plugin.Error
	if _, err := host(t, "pi").Remove(t.Context(), options(t.TempDir())); !errors.As(err, &own) {
		t.Errorf("got %v", err)
	}
}

// What came in the way since the plan was made is an error, and stays.
func TestLateObstacle(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p, err := host(t, "claude").Install(t.Context(), options(home))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, ".claude")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(); err == nil {
		t.Error("a file is in the way of a folder, and nothing says so")
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
}

// The skill is one that our own linter has nothing to say about.
func TestSkillIsClean(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	install(t, "claude", options(home))
	dir := filepath.Join(home, ".claude/skills/skillopt/skills/skillopt-improve")
	s := skill.New(tree(t, dir)["SKILL.md"])
	if found := skill.Lint(s, "skillopt-improve"); len(found) > 0 {
		t.Error(found)
	}
}

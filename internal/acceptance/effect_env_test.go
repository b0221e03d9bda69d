package acceptance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/testing/textgames"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// worldEffects are the keys of worlds.
func worldEffects() map[string]effect {
	differs := func(one, two func(*config.Env), see func(visit) any) effect {
		return effect{test: func(t *testing.T) {
			t.Helper()
			a, b := enter(t, one), enter(t, two)
			if diff := cmp.Diff(see(a), see(b)); diff == "" {
				t.Errorf("nothing changed: %v (errors: %v, %v)", see(a), a.err, b.err)
			}
		}}
	}
	tools := func(v visit) any { return v.tools }
	calls := func(v visit) any { return v.calls }
	observed := func(v visit) any { return v.observed }
	failed := func(v visit) any { return fmt.Sprint(v.err) }
	asIs := func(*config.Env) {}
	search := func(e *config.Env) { e.Mode, e.Search.URL = "search", "${URL}/one" }
	sheets := func(e *config.Env) { e.World = "spreadsheet" }
	game := func(e *config.Env) { e.World = "textgame" }
	return map[string]effect{
		"env.world":              differs(asIs, func(e *config.Env) { e.World = "" }, tools),
		"env.mode":               differs(asIs, func(e *config.Env) { e.Mode = "search"; e.Search.URL = "${URL}/one" }, tools),
		"env.turns":              differs(asIs, func(e *config.Env) { e.Turns = 5 }, calls),
		"env.tokens":             differs(asIs, func(e *config.Env) { e.Tokens = 30 }, calls),
		"env.action":             differs(game, func(e *config.Env) { game(e); e.Action = "tool" }, tools),
		"env.history":            differs(game, func(e *config.Env) { game(e); e.History = "1" }, func(v visit) any { return v.messages }),
		"env.mcp":                differs(offering("one"), offering("two"), tools),
		"env.docs":               differs(asIs, func(e *config.Env) { e.Docs += "2" }, observed),
		"env.search.url":         differs(search, func(e *config.Env) { search(e); e.Search.URL = "${URL}/two" }, func(v visit) any { return v.searched }),
		"env.search.api_key_env": differs(search, func(e *config.Env) { search(e); e.Search.APIKeyEnv = "KEY_ONE" }, func(v visit) any { return v.searched }),
		"env.python":             differs(func(e *config.Env) { sheets(e); e.Python = "/nowhere/one" }, func(e *config.Env) { sheets(e); e.Python = "/nowhere/two" }, failed),
		"env.recalc": {test: func(t *testing.T) {
			v := enter(t, func(e *config.Env) { sheets(e); e.Recalc, e.Python = "missing", "/nowhere/one" })
			if v.err == nil || !strings.Contains(v.err.Error(), "LibreOffice") {
				t.Errorf("got %v, want that LibreOffice is missing", v.err)
			}
		}},
	}
}

// offering has the target use a server of tools.
func offering(which string) func(*config.Env) {
	return func(e *config.Env) {
		e.World, e.Docs, e.MCP = "", "", []config.EnvMCP{{URL: "${URL}/tools/" + which}}
	}
}

// toolsBy is a server of tools: grep, and another one where its address says two.
func toolsBy(r *http.Request) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "tools", Version: "1"}, nil)
	names := []string{"grep"}
	if strings.HasSuffix(r.URL.Path, "two") {
		names = append(names, "glob")
	}
	for _, name := range names {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{}, nil, nil
		})
	}
	return s
}

// visit is what can be seen of a task in a world.
type visit struct {
	err      error
	calls    int
	tools    int
	messages int      // of the last request
	observed string   // results of calls
	searched []string // path and authorization
}

// enter carries out a task in a world of two documents, with a target that greps until it may no longer.
func enter(t *testing.T, change func(*config.Env)) (v visit) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"docs/a.txt": "port 41\n", "docs2/a.txt": "port 42\n", "docs/game": string(textgames.Make(1, textgames.Types[0], false).Data)} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	offered := mcp.NewStreamableHTTPHandler(toolsBy, &mcp.StreamableHTTPOptions{Stateless: true})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/tools/") {
			offered.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		v.searched = append(v.searched, r.URL.Path+" "+r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, `{"results": []}`)
	}))
	defer server.Close()
	cfg := config.Default()
	cfg.Tasks.Checks = []any{map[string]any{"type": "equals", "value": "$gold"}}
	cfg.Env.World, cfg.Env.Docs, cfg.Env.Turns = "corpus", filepath.Join(dir, "docs"), 3
	change(&cfg.Env)
	cfg.Env.Search.URL = strings.ReplaceAll(cfg.Env.Search.URL, "${URL}", server.URL)
	for i := range cfg.Env.MCP {
		cfg.Env.MCP[i].URL = strings.ReplaceAll(cfg.Env.MCP[i].URL, "${URL}", server.URL)
	}
	ask := modelBy(func(req model.Request) model.Response {
		v.calls++
		v.tools, v.messages = len(req.Tools), len(req.Messages)
		for _, m := range req.Messages {
			for _, p := range m.Parts {
				if p.Result != nil {
					v.observed = p.Result.Content
				}
			}
		}
		out := model.Response{Text: `<search_queries>["port"]</search_queries><action>inventory</action>`, Finish: model.FinishStop, Usage: trajectory.Usage{Input: 20, Output: 5}}
		if len(req.Tools) > 0 {
			out.Text = ""
			out.Parts = []model.Part{{Call: &model.ToolCall{ID: "1", Name: "grep", Arguments: json.RawMessage(`{"pattern": "port", "path": "a.txt"}`)}}}
		}
		return out
	})
	tasks := []task.Task{{ID: "a", Prompt: "Which number?", Gold: []string{"41"}, Data: map[string]any{"game": "game"}, Split: task.Test}}
	variables := map[string]string{"KEY_ONE": "one", "PATH": dir} // in which there is no LibreOffice
	l, err := config.Load(config.Options{Dir: dir, Lookup: func(name string) (string, bool) { value, ok := variables[name]; return value, ok }})
	if err != nil {
		t.Fatal(err)
	}
	_, v.err = skillopt.Evaluate(t.Context(), cfg, "test", skillopt.WithTasks(tasks), skillopt.WithSkill("# S\n"), skillopt.WithLoaded(l),
		skillopt.WithClient(model.Target, "t", ask), skillopt.WithRunDir(filepath.Join(dir, "run")))
	return v
}

// modelBy is a model that answers by a function, one request at a time.
type modelBy func(model.Request) model.Response

func (f modelBy) Generate(_ context.Context, req model.Request) (model.Response, error) {
	return f(req), nil
}
